# SPDX-License-Identifier: Apache-2.0
"""Policy types: entry points of ``vobjects.policies``.

The name of an entry point is the name of the type with its version, such as
``senlin.policy.scaling-1.0``. Its value names a class that takes no arguments.
The properties of a type are those of Senlin's type of the same name.
"""
