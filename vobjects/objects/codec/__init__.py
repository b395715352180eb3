# SPDX-License-Identifier: Apache-2.0
"""Compile functions for each versioned class, to convert objects faster.

For every field, oslo.versionedobjects calls methods of the field object. A
compiled class has functions whose source is generated from its fields. They
are compiled once, at the first use, and give the same primitives, errors and
changes.

::

    hooks       the methods that compiled code replaces, and guards that
                detect when a class or a test overrides one
    coercion    coerce values, by field type                ┐
    dumping     convert values to primitives                │ values: all of
    loading     convert primitives to values                │ it for a field
    copying     deep copies                                 ┘
    generate    the source of a class's functions
    properties  attributes that read and set fields
    compiled    the compiled form of a class
    methods     VersionedObject's methods on compiled forms; install()
    down        objects at a peer's version, with the plan of
                vobjects.objects.history compiled in
    text        primitives to JSON and back
    finite      detect NaN, which JSON cannot represent
    vouching    validate JSON text with msgspec, a parser in C
    unread      a list whose objects are made when they are first accessed
    lists       JSON text to an object with such a list

Three changes to a compiled class are not detected: replacing the property of
a field, changing attributes of a field object, and setting methods on a field
object (not on its class).
"""
