# SPDX-License-Identifier: Apache-2.0
"""Types of policies: entry points of ``vobjects.policies``.

An entry point's name is the type's name with its version, such as
``senlin.policy.scaling-1.0``; its value names a class without arguments.
The properties are those of Senlin's types of the same names.
"""
