# SPDX-License-Identifier: Apache-2.0
"""Types of things that nodes can be: entry points of ``vobjects.profiles``.

An entry point's name is the type's name with its version, such as
``os.nova.server-1.0``; its value names a class without arguments.
"""
