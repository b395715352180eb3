# SPDX-License-Identifier: Apache-2.0
"""Compiled classes: functions written for one class instead of for any.

What oslo.versionedobjects does for every field by asking it, a compiled class
does by code that was written, as source, from the class's fields. It is made
at the first use, once, and says the same: primitives, errors, changes.

::

    hooks       which methods compiled code stands for, and guards that see
                when a class or a test replaced one
    coercion    what each field type does to a value        ┐
    dumping     values to primitives                        │ values: all of
    loading     primitives to values                        │ it for a field
    copying     deep copies                                 ┘
    generate    the source of a class's functions
    properties  attributes that read and set fields
    compiled    the compiled form of a class
    methods     VersionedObject's methods by way of compiled forms; install()
    down        declared types at a peer's version: the plan of
                vobjects.history folded in
    text        primitives to JSON and back
    finite      whether objects hold a NaN, which JSON text has to know
    vouching    JSON text that a parser in C can say will be read
    unread      a list whose objects are made when they are first taken
    lists       JSON text to an object with such a list

Three things are not noticed once a class is compiled: another property put
in a field's place, attributes changed on a field object, and methods put on
one field object (not on its class).
"""
