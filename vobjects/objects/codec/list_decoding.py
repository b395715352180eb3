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

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import (
    coercion,
    decoders,
    lazy_list,
    prevalidation,
)
from vobjects.objects.codec.class_codec import READERS, ClassCodec, class_codec
from vobjects.objects.codec.json_text import RawJson, decode_raw
from vobjects.objects.codec.lazy_list import LazySource
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    are_replaceable,
    get_function,
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
    codec = _codec_in(_name_in(text))
    if codec is None:
        return None
    # False: the type has been checked, and is not a list.
    reader: ListObjectReader | bool | None = codec.list_reader
    if reader is None or (
        isinstance(reader, ListObjectReader) and not reader.is_current()
    ):
        reader = codec.list_reader = _list_reader(codec) or False
    if not isinstance(reader, ListObjectReader) or not reader.is_allowed():
        return None
    return reader.read(text, context)


def read_items(text: bytes, context: Any) -> list[Any] | None:
    """Return a list of objects of one type, all pending.

    :param text: JSON in UTF-8
    :returns: None if the text is not such a list, or cannot be read lazily
    """
    codec = _codec_in(_name_of_first_item_in(text))
    reader = None if codec is None else _objects_reader_of(codec)
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
    reader = _objects_reader_of(class_codec(cls))
    objects = None if reader is None else reader.from_columns(columns)
    if objects is not None:
        return objects
    return [from_row(cls, data) for data in _rows(columns)]


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
    return _read_one(cls, cls.VERSION, None, {data_key: data})


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _objects_reader_of(codec: ClassCodec) -> ObjectsReader | None:
    """Return a reader of lists of a type; None: read objects one by one."""
    reader: ObjectsReader | bool | None = codec.objects_reader
    if reader is None:
        reader = codec.objects_reader = _objects_reader(codec) or False
    if not isinstance(reader, ObjectsReader) or not reader.is_allowed():
        return None
    return reader


def _codec_in(match: re.Match[bytes] | None) -> ClassCodec | None:
    """Return the compiled codec of the type that a text names, if any."""
    cls = _newest_class(match[1].decode()) if match is not None else None
    return class_codec(cls) if cls is not None else None


class ObjectFactory:
    """Creates objects of one type from validated data."""

    def __init__(self, schema: prevalidation.StructSchema) -> None:
        self.codec = schema.codec
        self.schema = schema
        self.envelope = schema.envelope
        self.accepts = schema.accepts

    def is_current(self) -> bool:
        """Tell whether the type is still registered and unchanged."""
        codec = self.codec
        return _newest_class(codec.type_name) is codec.cls and _is_current(
            codec
        )

    def is_allowed(self) -> bool:
        """Tell whether all methods are those that were compiled for."""
        return self.codec.may_decode() and self.codec.may_skip_init()

    def source(self, context: Any, pending: int) -> LazySource:
        """Return how to create the objects.

        :param pending: number of objects
        """
        codec = self.codec
        return LazySource(
            self.envelope,
            codec,
            functools.partial(_read, codec, context),
            functools.partial(_equals_objects, codec),
            pending,
        )


class ObjectsReader:
    """Reads a list of objects of one type."""

    def __init__(self, factory: ObjectFactory) -> None:
        self._factory = factory
        self._element = ovo.ObjectField(
            factory.codec.type_name, subclasses=True
        )
        listed: Any = list[factory.envelope]  # type: ignore[name-defined]
        self._decode = msgspec.json.Decoder(listed).decode

    def is_allowed(self) -> bool:
        """Tell whether reading the items one by one would do the same."""
        factory = self._factory
        return (
            factory.is_current()
            and factory.codec.may_read_classes()
            and factory.is_allowed()
        )

    def read(self, text: bytes, context: Any) -> list[Any] | None:
        """Return the list; None: it cannot be read lazily."""
        try:
            items = self._decode(text)
        except _DECODE_ERRORS:
            return None
        if not self._factory.accepts(items):
            return None
        return self._lazy_list(items, context)

    def from_columns(
        self, columns: Mapping[str, Sequence[Any]]
    ) -> list[Any] | None:
        """Return a list from columns; None: the fields must coerce them."""
        items = self._factory.schema.items(columns)
        return None if items is None else self._lazy_list(items, None)

    def _lazy_list(self, items: list[Any], context: Any) -> list[Any]:
        source = self._factory.source(context, len(items))
        return lazy_list.new_list(self._element, None, '', items, source)


class ListObjectReader:
    """Reads one type whose only field is a list of objects."""

    def __init__(self, codec: ClassCodec, factory: ObjectFactory) -> None:
        self._codec = codec
        self._factory = factory
        field: Any = codec.fields['objects'].field
        self._element = field._type._element_type
        listed: Any = list[factory.envelope]  # type: ignore[name-defined]
        envelope = prevalidation.envelope(codec, {'objects': listed})
        self._decode = msgspec.json.Decoder(envelope).decode

    def is_current(self) -> bool:
        """Tell whether the types are still registered and unchanged."""
        return self._factory.is_current()

    def is_allowed(self) -> bool:
        """Tell whether all methods are those that were compiled for."""
        codec = self._codec
        return (
            codec.may_read_classes()
            and codec.may_decode()
            and codec.may_skip_init()
            and self._factory.is_allowed()
        )

    def read(self, text: bytes, context: Any) -> Any:
        """Return the object; None: it cannot be read lazily."""
        try:
            envelope = self._decode(text)
        except _DECODE_ERRORS:
            return None
        items = envelope.data.objects
        if items is msgspec.UNSET or not self._factory.accepts(items):
            return None
        codec = self._codec
        primitive: dict[str, Any] = {
            codec.data_key: {},
            codec.changes_key: envelope.changes or (),
        }
        (obj,) = _read(codec, context, [primitive])
        if items:
            obj.__dict__['_obj_objects'] = lazy_list.new_list(
                self._element,
                obj,
                'objects',
                items,
                self._factory.source(context, len(items)),
            )
        return obj


def _list_reader(codec: ClassCodec) -> ListObjectReader | None:
    """Return a reader of a class; None: it is not a list of objects."""
    if not (codec.is_list and [*codec.fields] == ['objects']):
        return None
    field: Any = codec.fields['objects'].field
    if not (
        type(field._type).from_primitive is ovo.List.from_primitive
        and decoders.decodes_by_default(field)
        and decoders.decodes_by_default(field._type._element_type)
        # coercion() supports the field and its items.
        and coercion.coercer_for(field)[1] != field.coerce
    ):
        return None
    item_type = field._type._element_type._type
    if type(item_type).coerce is not ovo.Object.coerce:
        return None
    cls = _newest_class(item_type._obj_name)
    if cls is None or not coercion.has_type_name(
        cls, item_type._obj_name, item_type._subclasses
    ):
        return None
    if (
        get_function(codec.cls, '_obj_from_primitive') not in READERS
        # A service with its own registry chooses classes itself.
        or not are_replaceable(codec.cls, 'obj_class_from_name')
    ):
        return None
    factory = _object_factory(class_codec(cls))
    return None if factory is None else ListObjectReader(codec, factory)


def _objects_reader(codec: ClassCodec) -> ObjectsReader | None:
    """Return a reader of lists of a class; None: it cannot be validated."""
    factory = _object_factory(codec)
    return None if factory is None else ObjectsReader(factory)


def _object_factory(codec: ClassCodec) -> ObjectFactory | None:
    """Return a factory of objects; None: a class cannot be validated."""
    if (
        get_function(codec.cls, '_obj_from_primitive') not in READERS
        or codec.tracking != 'base'
        or codec.is_list
    ):
        return None
    schema = prevalidation.struct_schema(codec)
    return None if schema is None else ObjectFactory(schema)


def _newest_class(
    name: str,
) -> type[VersionedObject] | None:
    registry = ovo_base.VersionedObjectRegistry._registry
    classes = registry._obj_classes.get(name) if registry else None
    return classes[0] if classes else None


def _is_current(codec: ClassCodec) -> bool:
    return class_codec(codec.cls) is codec


def _equals_objects(codec: ClassCodec) -> bool:
    """Tell whether a pending item is equivalent to its object."""
    return _is_current(codec) and codec.may_nest()


def _read(codec: ClassCodec, context: Any, primitives: list[Any]) -> list[Any]:
    """Return objects from primitives at the version of their class."""
    cls: Any = codec.cls
    version = cls.VERSION
    read = codec.readers.get(version)
    if read is None or not (
        _is_current(codec) and codec.may_decode() and codec.may_skip_init()
    ):
        read = functools.partial(_read_one, cls, version)
    return [read(context, primitive) for primitive in primitives]


def _read_one(cls: Any, version: str, context: Any, primitive: Any) -> Any:
    return cls._obj_from_primitive(context, version, primitive)
