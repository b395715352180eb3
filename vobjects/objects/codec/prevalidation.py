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
import keyword
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from oslo_versionedobjects import fields as ovo

from vobjects import fields as our_fields
from vobjects.objects.codec import decoders, generate
from vobjects.objects.codec.class_codec import ClassCodec
from vobjects.objects.codec.coercion import AnyField
from vobjects.objects.codec.json_text import RawJson, is_finite
from vobjects.objects.codec.nan_check import may_hold_float

_UNSET = msgspec.UNSET

_TIME_SHAPE = b'0000-00-00T00:00:00Z'
_UUID_SHAPE = b'00000000-0000-0000-0000-000000000000'


def _as_long_as(shape: bytes) -> Any:
    size = len(shape)
    return Annotated[str, msgspec.Meta(min_length=size, max_length=size)]


_NOT_NULL = str | int | float | bool | list[Any] | dict[str, Any]

#: ``coerce`` of a field type -> the JSON values that it keeps unchanged.
_MSGSPEC_TYPES: dict[Any, Any] = {
    ovo.String.coerce: str,
    ovo.Integer.coerce: int,
    ovo.Float.coerce: float,
    ovo.Boolean.coerce: bool,
    ovo.FlexibleBoolean.coerce: bool,
    ovo.NonNegativeInteger.coerce: Annotated[int, msgspec.Meta(ge=0)],
    ovo.NonNegativeFloat.coerce: Annotated[float, msgspec.Meta(ge=0)],
    our_fields.StrictBoolean.coerce: bool,
    our_fields.Json.coerce: dict[str, Any],
    ovo.FieldType.coerce: _NOT_NULL,
}


def _msgspec_type(
    field: AnyField, lookup: Callable[[Any], tuple[Any, TextCheck | None]]
) -> tuple[Any, TextCheck | None]:
    """Return a msgspec type for a field, and an additional check.

    :param lookup: returns both for a field type
    :returns: None for the type if the field cannot be validated
    """
    kind: Any = field._type
    if (
        type(field).coerce is not ovo.Field.coerce
        or type(field)._null is not ovo.Field._null
        or 'coerce' in vars(field)
        or 'coerce' in vars(kind)
        or not decoders.decodes_by_default(field)
    ):
        return None, None
    msgspec_type, check = lookup(kind)
    if msgspec_type is not None and field.nullable:
        msgspec_type = msgspec_type | None
    return msgspec_type, check


def _plain_type(kind: Any) -> tuple[Any, None]:
    method, load = type(kind).coerce, type(kind).from_primitive
    msgspec_type: Any = None
    if load is ovo.FieldType.from_primitive:
        msgspec_type = _MSGSPEC_TYPES.get(method)
        if method is ovo.Enum.coerce:
            valid = tuple(kind._valid_values)
            if valid and all(type(value) is str for value in valid):
                msgspec_type = typing.Literal[valid]
    elif method is ovo.List.coerce and load is ovo.List.from_primitive:
        inner, _ = _msgspec_type(kind._element_type, _plain_type)
        msgspec_type = (
            inner if inner is None else list.__class_getitem__(inner)
        )
    elif method is ovo.Dict.coerce and load is ovo.Dict.from_primitive:
        inner, _ = _msgspec_type(kind._element_type, _plain_type)
        msgspec_type = (
            inner if inner is None else dict.__class_getitem__((str, inner))
        )
    return msgspec_type, None


TextCheck = Callable[[list[str]], bool]

_DIGITS = bytes.maketrans(b'123456789', b'0' * 9)
_HEX = bytes.maketrans(b'123456789abcdefABCDEF', b'0' * 21)


def are_times(texts: list[str]) -> bool:
    """Tell whether texts of 20 characters are valid UTC times."""
    # oslo.versionedobjects writes years before 1000 with fewer digits.
    if not _have_shape(texts, _DIGITS, _TIME_SHAPE) or min(texts) < '1':
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
    (ovo.DateTime.coerce, ovo.DateTime.from_primitive): (
        _as_long_as(_TIME_SHAPE),
        are_times,
    ),
    (ovo.UUID.coerce, ovo.FieldType.from_primitive): (
        _as_long_as(_UUID_SHAPE),
        are_uuids,
    ),
}


def _text_type(kind: Any) -> tuple[Any, TextCheck | None]:
    method, load = type(kind).coerce, type(kind).from_primitive
    if not getattr(kind, 'tzinfo_aware', True):
        return None, None
    return _TEXT_TYPES.get((method, load), (None, None))


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
        self.envelope = envelope(codec, types)
        self._columns = {
            name: ColumnSchema(
                list.__class_getitem__(type_),
                checks.get(name),
                may_hold_float=may_hold_float(codec.fields[name]),
            )
            for name, type_ in types.items()
        }
        self._writers: dict[tuple[str, ...], Callable[..., list[Any]]] = {}
        self._checks: list[tuple[TextCheck, Callable[[list[Any]], Any]]] = [
            (
                check,
                _attributes_getter(
                    [name for name in checks if checks[name] is check]
                ),
            )
            for check in dict.fromkeys(checks.values())
        ]

    def accepts(self, items: list[Any]) -> bool:
        """Tell whether the fields accept these instances of ``envelope``."""
        data = [item.data for item in items]
        # None and UNSET are false; a text to check is never empty.
        for check, get in self._checks:
            texts = list(filter(None, get(data)))
            if texts and not check(texts):
                return False
        return True

    def items(self, columns: Mapping[str, Sequence[Any]]) -> list[Any] | None:
        """Return instances of ``envelope`` from columns of values.

        :param columns: field -> one value per instance
        :returns: None if a field might reject a value
        """
        validated: list[list[Any]] = []
        for name, values in columns.items():
            column = self._columns.get(name)
            valid = None if column is None else column.validate(values)
            if valid is None:
                return None
            validated.append(valid)
        names = tuple(columns)
        write = self._writers.get(names)
        if write is None:
            write = self._writers[names] = _struct_constructor(
                self.envelope, names
            )
        return write(*validated)


class ColumnSchema:
    """Validates the values of one field of several objects.

    :param type_: the msgspec type of a list of the values
    :param check: an additional check of texts
    :param may_hold_float: whether the values may contain floats
    """

    __slots__ = ('_check', '_may_hold_float', '_type')

    def __init__(
        self, type_: Any, check: TextCheck | None, *, may_hold_float: bool
    ) -> None:
        self._type = type_
        self._check = check
        self._may_hold_float = may_hold_float

    def validate(self, values: Sequence[Any]) -> list[Any] | None:
        """Return the values as after reading; None: they are not valid."""
        if values and values[0].__class__ is RawJson:
            return [*values] if {*map(type, values)} == {RawJson} else None
        try:
            converted: list[Any] = msgspec.convert(values, self._type)
        except (msgspec.ValidationError, UnicodeEncodeError):
            return None  # the latter: a lone surrogate in place of a number
        if self._check is not None:
            texts = list(filter(None, converted))
            if texts and not self._check(texts):
                return None
        # msgspec would write NaN and Infinity as null.
        return (
            None
            if self._may_hold_float and not is_finite(converted)
            else converted
        )


def _struct_constructor(
    envelope: Any, names: tuple[str, ...]
) -> Callable[..., list[Any]]:
    """Return a function that converts columns to envelopes."""
    types = {
        field.name: field.type for field in msgspec.structs.fields(envelope)
    }
    module = generate.GeneratedModule(f'columns of {envelope.__name__}')
    envelope_name = module.bind(envelope, 'envelope')
    data_name = module.bind(types['data'], 'data')
    identity = ', '.join(
        repr(typing.get_args(types[name])[0])
        for name in ('name', 'namespace', 'version')
    )
    values = [f'v{index}' for index in range(len(names))]
    columns = ', '.join(f'c{value}' for value in values)
    keywords = ', '.join(
        f'{name}={value}' for name, value in zip(names, values, strict=True)
    )
    module.add(f'def write({columns}):')
    module.add(
        f' return [{envelope_name}({identity}, {data_name}({keywords}))'
    )
    module.add(f'  for {", ".join(values)}, in zip({columns}, strict=True)]')
    write: Callable[..., list[Any]] = module.run()['write']
    return write


def _attributes_getter(names: list[str]) -> Callable[[list[Any]], list[Any]]:
    """Return a function that gets attributes of several objects."""
    values = ', '.join(f'*[item.{name} for item in data]' for name in names)
    module = generate.GeneratedModule(f'attributes {names}')
    module.add(f'def get(data): return [{values}]')
    get: Callable[[list[Any]], list[Any]] = module.run()['get']
    return get


def struct_schema(codec: ClassCodec) -> StructSchema | None:
    """Return a validator for a class; None: a field has no msgspec type."""
    types: dict[str, Any] = {}
    checks: dict[str, TextCheck] = {}
    for name, field_codec in codec.fields.items():
        if (
            not name.isidentifier()
            or keyword.iskeyword(name)
            or name.startswith('__')
        ):
            return None
        type_, check = _msgspec_type(field_codec.field, _text_type)
        if type_ is None:
            type_, _ = _msgspec_type(field_codec.field, _plain_type)
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
        [(name, type_, _UNSET) for name, type_ in data.items()],
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
