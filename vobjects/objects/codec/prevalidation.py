# SPDX-License-Identifier: Apache-2.0
"""Validate the JSON text of objects with msgspec, a parser in C.

An *envelope* is a msgspec type made from the fields of a class. Text that
matches it is text that all fields accept, with the same values, so an object
can stay pending until it is accessed. Other text may still be valid (an
integer in a string, a time with an offset, an older version, a field type not
listed here). The fields read it at once, and raise the errors.
"""

from __future__ import annotations

import collections
import datetime
import operator
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from oslo_versionedobjects import fields as ovo

from vobjects import field_corrections
from vobjects import fields as our_fields
from vobjects.objects.codec import coercion, generate, lazy_list
from vobjects.objects.codec.class_codec import (
    ClassCodec,
    class_codec,
)
from vobjects.objects.codec.coercion import AnyField, Coercer, default_method
from vobjects.objects.codec.field_codecs import FieldCodec
from vobjects.objects.codec.field_properties import attribute_of
from vobjects.objects.codec.json_text import RawJson, decode_raw, is_finite
from vobjects.objects.codec.override_detection import (
    newest_class,
)

_UNSET = msgspec.UNSET

_TIME_SHAPE = b'0000-00-00T00:00:00Z'
_UUID_SHAPE = b'00000000-0000-0000-0000-000000000000'


def _as_long_as(shape: bytes) -> Any:
    size = len(shape)
    return Annotated[str, msgspec.Meta(min_length=size, max_length=size)]


_DICTS = (ovo.Dict.coerce, field_corrections.Dict.coerce)
_NOT_NULL = str | int | float | bool | list[Any] | dict[str, Any]
_decode_object = msgspec.json.Decoder(dict[str, Any] | None).decode

#: ``coerce`` of a field type -> the JSON values that it keeps unchanged.
_MSGSPEC_TYPES: dict[Any, Any] = {
    **coercion.UNCHANGED,
    ovo.NonNegativeInteger.coerce: Annotated[int, msgspec.Meta(ge=0)],
    ovo.NonNegativeFloat.coerce: Annotated[float, msgspec.Meta(ge=0)],
    our_fields.StrictBoolean.coerce: bool,
    our_fields.Json.coerce: dict[str, Any],
    ovo.FieldType.coerce: _NOT_NULL,
}

#: Methods of containers -> returns the msgspec type from that of the items.
_CONTAINERS: dict[Any, Callable[[Any], Any]] = {
    (ovo.List.coerce, ovo.List.from_primitive): list.__class_getitem__,
    **dict.fromkeys(
        ((method, ovo.Dict.from_primitive) for method in _DICTS),
        lambda inner: dict[str, inner],  # type: ignore[valid-type]
    ),
}

#: ``coerce`` of the types whose valid JSON values are values of the field.
_SCALARS = {
    ovo.UUID.coerce,
    *coercion.ENUMS,
    *_MSGSPEC_TYPES,
} - {our_fields.Json.coerce, ovo.FieldType.coerce}


TextCheck = Callable[[list[str]], bool]

_DIGITS = bytes.maketrans(b'123456789', b'0' * 9)
_HEX = bytes.maketrans(b'123456789abcdefABCDEF', b'0' * 21)


def are_times(texts: list[str]) -> bool:
    """Tell whether texts of 20 characters are valid UTC times."""
    if not _have_shape(texts, _DIGITS, _TIME_SHAPE):
        return False
    try:
        # A loop in C takes half the time of one in Python.
        collections.deque(map(datetime.datetime.fromisoformat, texts), 0)
    except ValueError:
        return False
    return True


def are_uuids(texts: list[str]) -> bool:
    """Tell whether texts of 36 characters are hyphenated UUIDs."""
    return _have_shape(texts, _HEX, _UUID_SHAPE)


def _have_shape(texts: list[str], table: bytes, shape: bytes) -> bool:
    """Tell whether texts, each as long as ``shape``, all match it."""
    return ''.join(texts).encode().translate(table) == shape * len(texts)


#: Methods of types with a fixed text length -> the length, and the check.
_TEXT_TYPES: dict[Any, tuple[Any, TextCheck]] = {
    **dict.fromkeys(
        ((method, ovo.DateTime.from_primitive) for method in coercion.TIMES),
        (_as_long_as(_TIME_SHAPE), are_times),
    ),
    (ovo.UUID.coerce, ovo.FieldType.from_primitive): (
        _as_long_as(_UUID_SHAPE),
        are_uuids,
    ),
}


def _msgspec_type(field: AnyField) -> tuple[Any, TextCheck | None]:
    """Return a msgspec type for a field, and an additional check.

    :returns: None for the type if the field cannot be validated
    """
    kind: Any = field._type
    method, load = type(kind).coerce, type(kind).from_primitive
    if (
        default_method(field, 'coerce') is None
        or type(field)._null is not ovo.Field._null
        or default_method(field, 'from_primitive') is None
        or not getattr(kind, 'tzinfo_aware', True)
    ):
        return None, None
    msgspec_type, check = _TEXT_TYPES.get((method, load), (None, None))
    if method in coercion.ENUMS and load is ovo.FieldType.from_primitive:
        valid = tuple(kind._valid_values)
        if valid and all(type(value) is str for value in valid):
            msgspec_type = typing.Literal[valid]
    elif load is ovo.FieldType.from_primitive and check is None:
        msgspec_type = _MSGSPEC_TYPES.get(method)
    elif (method, load) in _CONTAINERS:
        # The texts in a container cannot be checked.
        inner, inner_check = _msgspec_type(kind._element_type)
        if inner is not None and inner_check is None:
            msgspec_type = _CONTAINERS[method, load](inner)
    if msgspec_type is not None and field.nullable:
        msgspec_type = msgspec_type | None
    return msgspec_type, check


class StructSchema:
    """Validates objects of one class, at the class's version.

    :ivar envelope: the msgspec type of a primitive
    """

    def __init__(
        self,
        codec: ClassCodec,
        types: dict[str, Any],
        checks: Mapping[str, TextCheck],
    ) -> None:
        self.codec = codec
        json_fields = [
            name
            for name in types
            if type(codec.fields[name].field._type).coerce
            is our_fields.Json.coerce
        ]
        # An object in memory can be 30 times as large as its text.
        self.envelope = envelope(
            codec, {**types, **dict.fromkeys(json_fields, RawJson)}
        )
        self._json_fields = [
            (attribute_of(name), codec.fields[name].field.nullable)
            for name in json_fields
        ]
        self._data_type = typing.get_type_hints(self.envelope)['data']
        self._identity = (
            codec.type_name,
            codec.cls.OBJ_PROJECT_NAMESPACE,
            codec.cls.VERSION,
        )
        self._columns = {
            name: list.__class_getitem__(type_)
            for name, type_ in types.items()
        }
        self._checks_of = checks
        self._checks = [
            (check, operator.attrgetter(attribute_of(name)))
            for name, check in checks.items()
        ]
        self._read = generate.reader(
            codec.title,
            (
                (
                    attribute_of(name),
                    name,
                    _decoder(codec.fields[name], checks.get(name)),
                )
                for name in types
            ),
        )

    def is_current(self) -> bool:
        """Tell whether the class is still registered and unchanged."""
        codec = self.codec
        return (
            newest_class(codec.type_name) is codec.cls
            and class_codec(codec.cls) is codec
        )

    def equals_objects(self) -> bool:
        """Tell whether an item is equivalent to its object."""
        codec = self.codec
        return class_codec(codec.cls) is codec and codec.may_nest()

    def accepts(self, items: list[Any]) -> bool:
        """Tell whether the fields accept these instances of ``envelope``."""
        data = [item.data for item in items]
        # None and UNSET are false; a text to check is never empty.
        for check, get in self._checks:
            texts = list(filter(None, map(get, data)))
            if texts and not check(texts):
                return False
        return all(
            _accept_object(struct, attribute, nullable)
            for attribute, nullable in self._json_fields
            for struct in data
        )

    def items(self, columns: Mapping[str, Sequence[Any]]) -> list[Any] | None:
        """Return instances of ``envelope`` from columns of values.

        :param columns: field -> one value per instance
        :returns: None if a field might reject a value
        """
        validated: dict[str, list[Any]] = {}
        for name, values in columns.items():
            valid = self._valid_column(name, values)
            if valid is None:
                return None
            validated[name] = valid
        # Arguments are positional: the last columns may be missing.
        names = [*self._columns]
        while names and names[-1] not in validated:
            names.pop()
        size = len(next(iter(columns.values()), ()))
        unset = [_UNSET] * size
        identity, data_type = self._identity, self._data_type
        return [
            self.envelope(*identity, data_type(*values))
            for values in zip(
                *(validated.get(name, unset) for name in names), strict=True
            )
        ]

    def _valid_column(
        self, name: str, values: Sequence[Any]
    ) -> list[Any] | None:
        """Return values of a field as after reading; None: not valid."""
        if name not in self._columns:
            return None
        field = self.codec.fields[name]
        if values and values[0].__class__ is RawJson:
            is_raw = {*map(type, values)} == {RawJson}
            return [*values] if is_raw and not _is_scalar(field) else None
        try:
            converted: list[Any] = msgspec.convert(values, self._columns[name])
        except (msgspec.ValidationError, UnicodeEncodeError):
            return None  # the latter: a lone surrogate in place of a number
        check = self._checks_of.get(name)
        texts = list(filter(None, converted)) if check else []
        if check and texts and not check(texts):
            return None
        # msgspec would write NaN and Infinity as null.
        is_safe = not field.may_hold_float or is_finite(converted)
        return converted if is_safe else None

    def create(self, context: Any, items: list[Any]) -> list[Any]:
        """Return the objects of valid instances of ``envelope``."""
        codec = self.codec
        cls: Any = codec.cls
        if not (class_codec(cls) is codec and codec.may_decode()):
            return [
                cls._obj_from_primitive(context, cls.VERSION, primitive)
                for primitive in lazy_list.to_primitives(items)
            ]
        objects = []
        for item in items:
            obj = codec.new(context, cls.VERSION)
            codec.fill(obj, self._read(obj, item.data), item.changes or ())
            objects.append(obj)
        return objects


def _accept_object(struct: Any, attribute: str, nullable: bool) -> bool:
    """Validate the text of a JSON field, and replace the text of null."""
    written = getattr(struct, attribute)
    if written is _UNSET:
        return True
    try:
        is_null = _decode_object(written) is None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    if is_null:
        setattr(struct, attribute, None)
    return nullable or not is_null


def _decoder(
    field_codec: FieldCodec, check: TextCheck | None
) -> Coercer | None:
    """Return a function from valid JSON value to value; None: keep it."""
    if _is_scalar(field_codec):
        return None
    decode = field_codec.decode

    def decode_json(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is RawJson:
            value = decode_raw(value)
        return decode(obj, name, value)

    def decode_time(obj: Any, name: str, value: Any) -> Any:
        if value.__class__ is str:
            return datetime.datetime.fromisoformat(value)
        return decode_json(obj, name, value)

    return decode_json if check is None else decode_time


def _is_scalar(field_codec: FieldCodec) -> bool:
    """Tell whether a valid JSON value of a field is the field's value."""
    return (
        not field_codec.field.read_only
        and type(field_codec.field._type).coerce in _SCALARS
    )


def struct_schema(codec: ClassCodec) -> StructSchema | None:
    """Return a validator for a class; None: a field has no msgspec type."""
    types: dict[str, Any] = {}
    checks: dict[str, TextCheck] = {}
    for name, field_codec in codec.fields.items():
        if not attribute_of(name).isidentifier():
            return None
        type_, check = _msgspec_type(field_codec.field)
        if type_ is None:
            return None
        types[name] = type_
        if check is not None:
            checks[name] = check
    return StructSchema(codec, types, checks)


def envelope(codec: ClassCodec, data: dict[str, Any]) -> Any:
    """Return the msgspec type of a primitive at the class's version.

    :param data: field name -> msgspec type; each field may be missing
    """
    title = codec.cls.__name__
    inside = msgspec.defstruct(
        f'{title}Data',
        [(attribute_of(name), type_, _UNSET) for name, type_ in data.items()],
        rename={attribute_of(name): name for name in data},
        forbid_unknown_fields=True,
        gc=False,
    )
    changes: Any = list[typing.Literal[tuple(data)]] if data else list[str]  # type: ignore[misc]
    return msgspec.defstruct(
        title,
        [
            ('name', typing.Literal[codec.type_name]),
            ('namespace', typing.Literal[codec.cls.OBJ_PROJECT_NAMESPACE]),
            ('version', typing.Literal[codec.cls.VERSION]),
            ('data', inside),
            ('changes', changes, _UNSET),
        ],
        rename={
            'name': codec.name_key,
            'namespace': codec.namespace_key,
            'version': codec.version_key,
            'data': codec.data_key,
            'changes': codec.changes_key,
        },
        forbid_unknown_fields=True,
        gc=False,
    )
