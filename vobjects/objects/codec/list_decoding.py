# SPDX-License-Identifier: Apache-2.0
"""Read lists of objects from JSON, and create each object on first access.

An item becomes an object when it is first accessed, from data that a parser in
C has validated. :mod:`vobjects.objects.codec.prevalidation` describes the
validation, and :mod:`vobjects.objects.codec.lazy_list` the operations that do
not create objects.

A service that returns the rows of its tables has no JSON text, but the values
of each field. :func:`from_columns` returns a list that is serialized without
creating any object, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import coercion, lazy_list, prevalidation
from vobjects.objects.codec.class_codec import (
    ClassCodec,
    class_codec,
    what_changed,
)
from vobjects.objects.codec.coercion import default_method
from vobjects.objects.codec.json_text import RawJson, decode_raw
from vobjects.objects.codec.lazy_list import LazySource
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    are_replaceable,
    newest_class,
)

_DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

#: The name at the start of a primitive's text, where serializers put it.
_NAME = rb'\s*\{\s*"%b\.name"\s*:\s*"(\w+)"' % (
    re.escape(VersionedObject.OBJ_SERIAL_NAMESPACE).encode()
)
_name_in = re.compile(_NAME).match
_name_of_first_item_in = re.compile(rb'\s*\[' + _NAME).match


def read_list(text: bytes, context: Any) -> Any:
    """Return an object that is a list, with pending items.

    :param text: JSON in UTF-8
    :returns: None if the text is not such a list, or cannot be read lazily
    """
    reader = _reader(_codec_in(_name_in(text)), _list_reader)
    return None if reader is None else reader.read(text, context)


def read_items(text: bytes, context: Any) -> Any:
    """Return a list of objects of one type, all pending.

    :param text: JSON in UTF-8
    :returns: None if the text is not such a list, or cannot be read lazily
    """
    reader = _reader(_codec_in(_name_of_first_item_in(text)), _objects_reader)
    return None if reader is None else reader.read(text, context)


def from_columns(
    cls: type[VersionedObject],
    columns: Mapping[str, Sequence[Any]],
) -> list[Any]:
    """Return a list of pending objects from columns of values.

    :param columns: field -> one primitive per object. You can pass a JSON
        object as ``json_text.RawJson``, if its text is known to be valid. A
        field without a column stays unset
    :returns: objects without changes, as after reading
    :raises ValueError: a field rejects a value
    """
    codec = class_codec(cls)
    is_complete = not codec.must_be_complete or (
        columns.keys() >= {*cls._required}  # type: ignore[attr-defined]
    )
    reader = _reader(codec, _objects_reader) if is_complete else None
    objects = None if reader is None else reader.from_columns(columns)
    if objects is not None:
        return objects
    objects = [
        from_row(cls, dict(zip(columns, values, strict=True)))
        for values in zip(*columns.values(), strict=True)
    ]
    if not is_complete:
        for obj in objects:
            del obj.VERSION  # new, not read: sending it raises the error
    return objects


def from_row(cls: type[VersionedObject], row: Mapping[str, Any]) -> Any:
    """Return an object with the values of a row.

    :param row: field -> primitive; see :func:`from_columns`
    :raises ValueError: a field rejects a value
    """
    data = {
        name: decode_raw(value) if value.__class__ is RawJson else value
        for name, value in row.items()
    }
    data_key = class_codec(cls).data_key
    return cls._obj_from_primitive(None, cls.VERSION, {data_key: data})


def _reader(
    codec: ClassCodec | None,
    make: Callable[[ClassCodec], ObjectsReader | None],
) -> ObjectsReader | None:
    """Return a reader of a type; None: read objects one by one.

    :param make: creates the reader, if the type has none yet
    """
    if codec is None:
        return None
    reader: ObjectsReader | None = codec.readers.get(make)
    if make not in codec.readers or (reader and not reader.is_current()):
        reader = codec.readers[make] = make(codec)
    return reader if reader is not None and reader.is_allowed() else None


def _codec_in(match: re.Match[bytes] | None) -> ClassCodec | None:
    """Return the compiled codec of the type that a text names, if any."""
    cls = newest_class(match[1].decode()) if match is not None else None
    return class_codec(cls) if cls is not None else None


class ObjectsReader:
    """Reads a list of objects of one type, or an object that is such a list.

    :param schema: of the items
    :param owner: codec of a type whose only field is the list; None: read
        a list
    """

    def __init__(
        self,
        schema: prevalidation.StructSchema,
        owner: ClassCodec | None = None,
    ) -> None:
        self._schema = schema
        self._owner = owner
        listed: Any = list[schema.envelope]  # type: ignore[name-defined]
        self._element: Any
        if owner is None:
            self._element = ovo.ObjectField(
                schema.codec.type_name, subclasses=True
            )
        else:
            field: Any = owner.fields['objects'].field
            self._element = field._type._element_type
            listed = prevalidation.envelope(owner, {'objects': listed})
        self._decode = msgspec.json.Decoder(listed).decode

    def is_current(self) -> bool:
        """Tell whether the type is still registered and unchanged."""
        return self._schema.is_current()

    def is_allowed(self) -> bool:
        """Tell whether reading the items one by one would do the same."""
        owner = self._owner
        return self._schema.codec.may_decode_nested() and (
            self.is_current() if owner is None else owner.may_decode_nested()
        )

    def read(self, text: bytes, context: Any) -> Any:
        """Return the list, or the object; None: it cannot be read lazily."""
        try:
            decoded = self._decode(text)
        except _DECODE_ERRORS:
            return None
        codec = self._owner
        items = decoded if codec is None else decoded.data._obj_objects
        if items is msgspec.UNSET or not self._schema.accepts(items):
            return None
        if codec is None:
            return self._lazy_list(items, context)
        obj = codec.new(context, codec.cls.VERSION)
        listed = self._lazy_list(items, context, obj, 'objects')
        codec.fill(obj, {'_obj_objects': listed}, decoded.changes or ())
        return obj

    def from_columns(
        self, columns: Mapping[str, Sequence[Any]]
    ) -> list[Any] | None:
        """Return a list from columns; None: the fields must coerce them."""
        items = self._schema.items(columns)
        return None if items is None else self._lazy_list(items, None)

    def _lazy_list(
        self, items: list[Any], context: Any, obj: Any = None, name: str = ''
    ) -> list[Any]:
        source = LazySource(self._schema, context, len(items))
        return lazy_list.new_list(self._element, obj, name, items, source)


def _list_reader(codec: ClassCodec) -> ObjectsReader | None:
    """Return a reader of a class; None: it is not a list of objects."""
    if not (
        codec.is_list
        and codec.skips_init
        and [*codec.fields] == ['objects']
        and are_replaceable(codec.cls, '_obj_from_primitive')
    ):
        return None
    field: Any = codec.fields['objects'].field
    if (
        default_method(field, 'from_primitive') is not ovo.List.from_primitive
        or default_method(field._type._element_type, 'from_primitive')
        is not ovo.Object.from_primitive
        # The compiled coercion supports the field and its items.
        or codec.fields['objects'].coerce == field.coerce
    ):
        return None
    item_type = field._type._element_type._type
    cls = newest_class(item_type._obj_name)
    if cls is None or not coercion.has_type_name(
        cls, item_type._obj_name, item_type._subclasses
    ):
        return None
    schema = _schema(class_codec(cls))
    return None if schema is None else ObjectsReader(schema, codec)


def _objects_reader(codec: ClassCodec) -> ObjectsReader | None:
    """Return a reader of lists of a class; None: it cannot be validated."""
    schema = _schema(codec)
    return None if schema is None else ObjectsReader(schema)


def _schema(codec: ClassCodec) -> prevalidation.StructSchema | None:
    """Return the schema of a class; None: the class cannot be validated."""
    if (
        not are_replaceable(codec.cls, '_obj_from_primitive')
        or not codec.skips_init
        or codec.changes is not what_changed
        or codec.is_list
    ):
        return None
    return prevalidation.struct_schema(codec)
