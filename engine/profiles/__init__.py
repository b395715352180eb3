# SPDX-License-Identifier: Apache-2.0
"""Profile types: entry points of ``vobjects.profiles``.

The name of an entry point is the name of the type with its version, such as
``os.nova.server-1.0``. Its value names a class that takes no arguments.
"""
