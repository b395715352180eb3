# SPDX-License-Identifier: Apache-2.0
"""Validate the JSON text of objects with msgspec, a parser in C.

An *envelope* is a msgspec type made from the fields of a class. Text that
matches it is text that all fields accept, with the same values, so an object
can stay unread until it is accessed. Other text may still be valid (an
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
from vobjects.objects.codec.coercion import AnyField
from vobjects.objects.codec.compiled import Compiled
from vobjects.objects.codec.json_text import Written, is_finite
from vobjects.objects.codec.nan_check import may_float

_UNSET = msgspec.UNSET

_TIME_SHAPE = b'0000-00-00T00:00:00Z'
_UUID_SHAPE = b'00000000-0000-0000-0000-000000000000'


def _as_long_as(shape: bytes) -> Any:
    size = len(shape)
    return Annotated[str, msgspec.Meta(min_length=size, max_length=size)]


_NOT_NULL = str | int | float | bool | list[Any] | dict[str, Any]

#: ``coerce`` of a field type -> the JSON values that it keeps unchanged.
_TAKES: dict[Any, Any] = {
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


def _taken(
    field: AnyField, by: Callable[[Any], tuple[Any, Check | None]]
) -> tuple[Any, Check | None]:
    """Return a msgspec type for a field, and an additional check.

    :param by: returns both for a field type
    :returns: None for the type if the field cannot be validated
    """
    kind: Any = field._type
    if (
        type(field).coerce is not ovo.Field.coerce
        or type(field)._null is not ovo.Field._null
        or 'coerce' in vars(field)
        or 'coerce' in vars(kind)
        or not decoders.loads_plainly(field)
    ):
        return None, None
    taken, check = by(kind)
    if taken is not None and field.nullable:
        taken = taken | None
    return taken, check


def _taken_by(kind: Any) -> tuple[Any, None]:
    method, load = type(kind).coerce, type(kind).from_primitive
    taken: Any = None
    if load is ovo.FieldType.from_primitive:
        taken = _TAKES.get(method)
        if method is ovo.Enum.coerce:
            valid = tuple(kind._valid_values)
            if valid and all(type(value) is str for value in valid):
                taken = typing.Literal[valid]
    elif method is ovo.List.coerce and load is ovo.List.from_primitive:
        inner, _ = _taken(kind._element_type, _taken_by)
        taken = inner if inner is None else list.__class_getitem__(inner)
    elif method is ovo.Dict.coerce and load is ovo.Dict.from_primitive:
        inner, _ = _taken(kind._element_type, _taken_by)
        taken = (
            inner if inner is None else dict.__class_getitem__((str, inner))
        )
    return taken, None


Check = Callable[[list[str]], bool]

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
_CHECKED: dict[Any, tuple[Any, Check]] = {
    (ovo.DateTime.coerce, ovo.DateTime.from_primitive): (
        _as_long_as(_TIME_SHAPE),
        are_times,
    ),
    (ovo.UUID.coerce, ovo.FieldType.from_primitive): (
        _as_long_as(_UUID_SHAPE),
        are_uuids,
    ),
}


def _checked(kind: Any) -> tuple[Any, Check | None]:
    method, load = type(kind).coerce, type(kind).from_primitive
    if not getattr(kind, 'tzinfo_aware', True):
        return None, None
    return _CHECKED.get((method, load), (None, None))


class Voucher:
    """Validates objects of one class, at the class's version.

    :ivar envelope: the msgspec type of a primitive
    """

    def __init__(
        self,
        form: Compiled,
        taken: dict[str, Any],
        checks: Mapping[str, Check],
    ) -> None:
        self.form = form
        self.envelope = envelope(form, taken)
        self._columns = {
            name: Column(
                list.__class_getitem__(one),
                checks.get(name),
                may_float=may_float(form.fields[name]),
            )
            for name, one in taken.items()
        }
        self._writers: dict[tuple[str, ...], Callable[..., list[Any]]] = {}
        self._checks: list[tuple[Check, Callable[[list[Any]], Any]]] = [
            (
                check,
                _getter([name for name in checks if checks[name] is check]),
            )
            for check in dict.fromkeys(checks.values())
        ]

    def vouches_for(self, items: list[Any]) -> bool:
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
        taken = []
        for name, values in columns.items():
            column = self._columns.get(name)
            held = None if column is None else column.taken(values)
            if held is None:
                return None
            taken.append(held)
        names = tuple(columns)
        write = self._writers.get(names)
        if write is None:
            write = self._writers[names] = _writer(self.envelope, names)
        return write(*taken)


class Column:
    """Validates the values of one field of several objects.

    :param kind: the msgspec type of a list of the values
    :param check: an additional check of texts
    :param may_float: whether the values may contain floats
    """

    __slots__ = ('_check', '_kind', '_may_float')

    def __init__(
        self, kind: Any, check: Check | None, *, may_float: bool
    ) -> None:
        self._kind = kind
        self._check = check
        self._may_float = may_float

    def taken(self, values: Sequence[Any]) -> list[Any] | None:
        """Return the values as after reading; None: they are not valid."""
        if values and values[0].__class__ is Written:
            return [*values] if {*map(type, values)} == {Written} else None
        try:
            found: list[Any] = msgspec.convert(values, self._kind)
        except msgspec.ValidationError:
            return None
        if self._check is not None:
            texts = list(filter(None, found))
            if texts and not self._check(texts):
                return None
        # msgspec would write NaN and Infinity as null.
        return None if self._may_float and not is_finite(found) else found


def _writer(kind: Any, names: tuple[str, ...]) -> Callable[..., list[Any]]:
    """Return a function that converts columns to envelopes."""
    fields = {one.name: one.type for one in msgspec.structs.fields(kind)}
    source = generate.Source(f'columns of {kind.__name__}')
    made = source.name(kind, 'envelope')
    inside = source.name(fields['data'], 'data')
    label = [
        typing.get_args(fields[name])[0]
        for name in ('name', 'namespace', 'version')
    ]
    shown = ', '.join(repr(one) for one in label)
    locals_ = [f'v{number}' for number in range(len(names))]
    given = ', '.join(
        f'{name}={local}' for name, local in zip(names, locals_, strict=True)
    )
    source.add(f'def write({", ".join(f"c{one}" for one in locals_)}):')
    source.add(f' return [{made}({shown}, {inside}({given}))')
    source.add(f'  for {", ".join(locals_)}, in')
    source.add(f'  zip({", ".join(f"c{one}" for one in locals_)},')
    source.add('  strict=True)]')
    found: Callable[..., list[Any]] = source.run()['write']
    return found


def _getter(names: list[str]) -> Callable[[list[Any]], list[Any]]:
    """Return a function that gets attributes of several objects."""
    each = ', '.join(f'*[one.{name} for one in data]' for name in names)
    source = generate.Source(f'attributes {names}')
    source.add(f'def get(data): return [{each}]')
    made: Callable[[list[Any]], list[Any]] = source.run()['get']
    return made


def voucher(form: Compiled) -> Voucher | None:
    """Return a validator for a class; None: a field has no msgspec type."""
    taken: dict[str, Any] = {}
    checks: dict[str, Check] = {}
    for name, handling in form.fields.items():
        if (
            not name.isidentifier()
            or keyword.iskeyword(name)
            or name.startswith('__')
        ):
            return None
        found, check = _taken(handling.field, _checked)
        if found is None:
            found, _ = _taken(handling.field, _taken_by)
        if found is None:
            return None
        taken[name] = found
        if check is not None:
            checks[name] = check
    return Voucher(form, taken, checks)


def envelope(form: Compiled, data: dict[str, Any]) -> Any:
    """Return the msgspec type of a primitive at the class's version.

    :param data: field name -> msgspec type; each field may be missing
    """
    title = form.cls.__name__
    inside = msgspec.defstruct(
        f'{title}Data',
        [(name, taken, _UNSET) for name, taken in data.items()],
        forbid_unknown_fields=True,
        gc=False,
    )
    changes: Any = list[typing.Literal[tuple(data)]] if data else list[str]  # type: ignore[misc]
    return msgspec.defstruct(
        title,
        [
            ('name', typing.Literal[form.type_name]),
            ('namespace', typing.Literal[form.cls.OBJ_PROJECT_NAMESPACE]),
            ('version', typing.Literal[form.cls.VERSION]),
            ('data', inside),
            ('changes', changes, _UNSET),
        ],
        rename={
            'name': form.name_key,
            'namespace': form.namespace_key,
            'version': form.version_key,
            'data': form.data_key,
            'changes': form.changes_key,
        },
        forbid_unknown_fields=True,
        gc=False,
    )
