# SPDX-License-Identifier: Apache-2.0
"""Compile functions for each versioned class, to convert objects faster.

For every field, oslo.versionedobjects calls methods of the field object. A
compiled class has functions whose source is generated from its fields. They
are compiled once, at the first use, and give the same primitives, errors and
changes.

::

    override_detection  detect methods that a class or a test overrides, for
                        which compiled code must not run
    coercion            coerce values                     ┐
    encoders            convert values to primitives      │ by field type
    decoders            convert primitives to values      │
    copying             copy values deeply                ┘
    field_codecs        FieldCodec: all of the above for one field
    generate            source of the functions of one class
    field_properties    properties that read and set fields
    class_codec         ClassCodec: the compiled functions of one class
    ovo_methods         VersionedObject's methods, using ClassCodec
    downgrade           convert objects to a peer's version
    json_text           convert primitives to and from JSON
    nan_check           detect NaN, which JSON cannot represent
    lazy_list           LazyObjectList creates objects on first access
    prevalidation       StructSchema validates JSON with msgspec
    list_decoding       read JSON as a LazyObjectList

Three changes to a compiled class are not detected: replacing the property of
a field, changing attributes of a field object, and setting methods on a field
object (not on its class).
"""
