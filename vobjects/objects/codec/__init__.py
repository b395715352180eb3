# SPDX-License-Identifier: Apache-2.0
"""Compile functions for each versioned class, to convert objects faster.

For every field, oslo.versionedobjects calls methods of the field object. A
compiled class has functions made from its fields, at the first use. They give
the same primitives, errors and changes.

::

    override_detection  detect methods that a class or a test overrides, for
                        which compiled code must not run
    coercion            coerce values, by field type
    field_codecs        FieldCodec: coerce, convert and copy the values of one
                        field
    field_properties    the properties by which attributes read and set fields
    generate            source of the functions that run for each object
    class_codec         ClassCodec: the compiled functions of one class
    ovo_methods         VersionedObject's methods, using ClassCodec
    json_text           convert primitives to and from JSON
    lazy_list           LazyObjectList creates objects on first access
    prevalidation       StructSchema validates JSON with msgspec
    list_decoding       read JSON as a LazyObjectList

Three changes to a compiled class are not detected: replacing the property of
a field, changing attributes of a field object, and setting methods on a field
object (not on its class).
"""
