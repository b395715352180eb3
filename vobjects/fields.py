# SPDX-License-Identifier: Apache-2.0
"""Field types of oslo.versionedobjects, and types for HTTP APIs.

This module exports every name of ``oslo_versionedobjects.fields``, so you can
switch by changing an import; ``vobjects.field_corrections`` corrects some of
the types. The additional types suit an HTTP API. Each includes its limits in
``get_schema`` and in its ``repr``, so that changing a limit changes the
fingerprint of the types that use it.
"""

from __future__ import annotations

import re
from collections.abc import (
    Collection,
    Iterable,
    Mapping,
)
from typing import Any, ClassVar, TypeVar

from oslo_versionedobjects import fields as _ovo
from oslo_versionedobjects.fields import *  # noqa: F403 - see the docstring
from oslo_versionedobjects.fields import UnspecifiedDefault

from vobjects import exceptions, phrases
from vobjects.field_corrections import (
    CoercedDict,
    CoercedSet,
    DateTime,
    Dict,
    Enum,
    IPAddress,
    IPNetwork,
    IPV4AndV6Address,
    IPV6Network,
    MACAddress,
    PCIAddress,
    Set,
    StateMachine,
)
from vobjects.sensitive import sensitive

#: The value of a field without a default, which may be left out, beside an
#: annotation: ``note: str | None = UNSET``.
UNSET: Any = UnspecifiedDefault

#: Largest integer that the supported databases store in an INTEGER column.
MAX_INTEGER = 2**31 - 1


Value = TypeVar('Value')
FieldT = TypeVar('FieldT', bound='_ovo.Field[Any]')

_BOUNDS = '_vobjects_bounds'


def is_required(field: _ovo.Field[Any]) -> bool:
    """Tell whether a field is required: not nullable, without a default."""
    return not field.nullable and field.default is UnspecifiedDefault


def bounded(
    field: FieldT,
    *,
    max_length: int | None = None,
    max_items: int | None = None,
    max_properties: int | None = None,
) -> FieldT:
    """Set the bounds of a field in requests, at all depths.

    They replace the defaults in ``vobjects.microversions.schema_bounds``; the
    bounds of the field's own schema stay. Neither the fingerprint of the type
    nor its schema in the lock changes.

    :param max_length: characters of a text
    :param max_items: items of a list
    :param max_properties: names in an object
    :returns: the field
    :raises ValueError: a bound is negative
    """
    bounds = {
        'maxLength': max_length,
        'maxItems': max_items,
        'maxProperties': max_properties,
    }
    given = {key: value for key, value in bounds.items() if value is not None}
    for key, value in given.items():
        _check_least(key, value, 0)
    vars(field)[_BOUNDS] = given
    return field


def bounds_of(field: _ovo.Field[Any]) -> Mapping[str, int]:
    """Return keyword of JSON Schema -> bound; see :func:`bounded`."""
    bounds: Mapping[str, int] = getattr(field, _BOUNDS, {})
    return bounds


def _check_least(name: str, limit: int, least: int) -> None:
    if limit < least:
        raise ValueError(f'{name}={limit} must be at least {least}')


class Limited(_ovo.FieldType[Value]):
    """A field type with parameters that belong to its fingerprint."""

    def parameters(self) -> str:
        """Return the parameters in the form used in the ``repr``."""
        return ','.join(f'{key}={value}' for key, value in vars(self).items())


class LimitedField(_ovo.Field[Value]):
    """A field whose ``repr`` shows the parameters of its type."""

    _type: Limited[Value]

    def __repr__(self) -> str:
        kind = type(self._type).__name__
        return (
            f'{kind}({self._type.parameters()},default={self._default},'
            f'nullable={self._nullable})'
        )


class Name(Limited[str]):
    """A resource name; a subclass may accept fewer characters.

    :param minimum: minimum length, in characters
    :param maximum: maximum length, in characters
    :cvar PATTERN: regular expression that the whole name must match
    :cvar NEW_PATTERN: a stricter one for the names in requests, which the
        names in stored objects need not match; empty: the same
    :cvar REQUIREMENT: the pattern of requests in words, for error messages
    """

    PATTERN: ClassVar[str] = (
        r'^([^\s\x00-\x1f\x7f-\x9f]'
        r'([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?)?$'
    )
    NEW_PATTERN: ClassVar[str] = ''
    REQUIREMENT: ClassVar[str] = (
        'must have no control characters, and no white space at either end'
    )

    def __init__(self, minimum: int = 1, maximum: int = 255) -> None:
        super().__init__()
        _check_least('minimum', minimum, 0)
        _check_least('maximum', maximum, minimum)
        self.minimum, self.maximum = minimum, maximum

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f'{attr} must be a string')
        if not self.minimum <= len(value) <= self.maximum:
            raise ValueError(
                f'{attr} must have {self.minimum} to {self.maximum}'
                f' characters, not {len(value)}'
            )
        if not re.fullmatch(self.PATTERN, value):
            raise ValueError(
                f'{attr} {self.REQUIREMENT}, not {exceptions.cut(value)}'
            )
        return value

    def get_schema(self) -> dict[str, Any]:
        return {
            'type': ['string'],
            'minLength': self.minimum,
            'maxLength': self.maximum,
            'pattern': self.NEW_PATTERN or self.PATTERN,
        }


class Capacity(Limited[int]):
    """A number of nodes; strings of digits are accepted, as in Senlin."""

    def __init__(self, minimum: int = 0, maximum: int = MAX_INTEGER) -> None:
        super().__init__()
        _check_least('maximum', maximum, minimum)
        self.minimum, self.maximum = minimum, maximum

    def coerce(self, obj: Any, attr: str, value: Any) -> int:
        number = parse_integer(attr, value)
        if not self.minimum <= number <= self.maximum:
            raise ValueError(
                f'{attr} must be from {self.minimum} to {self.maximum},'
                f' not {exceptions.cut(number)}'
            )
        return number

    def get_schema(self) -> dict[str, Any]:
        return {
            'type': ['integer', 'string'],
            'minimum': self.minimum,
            'maximum': self.maximum,
            'pattern': '^-?[0-9]{1,10}$',
        }


class Sort(Limited[str]):
    """Comma-separated ``key[:asc|desc]`` items.

    :param keys: the accepted sort keys
    """

    def __init__(self, keys: Collection[str]) -> None:
        super().__init__()
        in_order = isinstance(keys, (list, tuple))
        self.keys = tuple(keys if in_order else sorted(keys))

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f'{attr} must be a string')
        error = self.fault(value)
        if error:
            raise ValueError(f'{attr}: {error}')
        return value

    def fault(self, value: str) -> str:
        """Return a description of the error in ``value``, or ``''``."""
        for item in value.split(','):
            key, _, direction = item.partition(':')
            for part, word, accepted in (
                ('key', key, self.keys),
                ('direction', direction or 'asc', ('asc', 'desc')),
            ):
                if word not in accepted:
                    return f'the {part} {phrases.not_one_of(word, accepted)}'
        return ''

    def get_schema(self) -> dict[str, Any]:
        item = f'({"|".join(map(re.escape, self.keys))})(:asc|:desc|:)?'
        return {'type': ['string'], 'pattern': f'^{item}(,{item})*$'}


class Json(_ovo.FieldType[dict[str, Any]]):
    """A JSON object with arbitrary content."""

    def coerce(self, obj: Any, attr: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f'{attr} must be a JSON object')
        return dict(value)

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['object']}


class JsonValue(_ovo.FieldType[Any]):
    """Any JSON value."""

    def get_schema(self) -> dict[str, Any]:
        return {
            'type': [
                'object',
                'array',
                'string',
                'number',
                'boolean',
            ]
        }


class IdentityList(Limited[list[str]]):
    """A list of unique names or IDs of resources.

    :param minimum: minimum number of items
    """

    def __init__(self, minimum: int = 0) -> None:
        super().__init__()
        _check_least('minimum', minimum, 0)
        self.minimum = minimum

    def coerce(self, obj: Any, attr: str, value: Any) -> list[str]:
        if isinstance(value, (str, Mapping)) or not isinstance(
            value, Iterable
        ):
            raise ValueError(f'{attr} must be a list of names or IDs')
        items = list(value)
        if isinstance(value, (set, frozenset)):
            items.sort()  # the same for any hash seed
        if not all(isinstance(item, str) and item for item in items):
            raise ValueError(f'{attr} must be a list of names or IDs')
        if len(items) < self.minimum:
            raise ValueError(f'{attr} needs at least {self.minimum} item(s)')
        if len(set(items)) != len(items):
            raise ValueError(f'{attr} names an item twice')
        return items

    def get_schema(self) -> dict[str, Any]:
        return {
            'type': ['array'],
            'items': {'type': 'string', 'minLength': 1, 'maxLength': 255},
            'minItems': self.minimum,
            'uniqueItems': True,
        }


class AnyCaseEnum(Enum):
    """Words accepted in any case, and stored in upper case, as in Senlin.

    A JSON schema cannot ignore case, so bodies and queries may have words in
    upper case, in lower case and with a capital first letter.

    :raises ValueError: a word is not in upper case
    """

    def __init__(self, valid_values: Collection[str]) -> None:
        super().__init__(valid_values)
        for word in valid_values:
            if str(word).upper() != word:
                raise ValueError(
                    f'the words of AnyCaseEnum are in upper case: write'
                    f' {str(word).upper()!r} instead of {word!r}'
                )

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        return super().coerce(
            obj, attr, value.upper() if isinstance(value, str) else value
        )

    def get_schema(self) -> dict[str, Any]:
        words = list(self._valid_values)
        spellings = dict.fromkeys(
            [*words, *map(str.lower, words), *map(str.capitalize, words)]
        )
        # The upper case of some letters is not the letter they came from.
        accepted = [text for text in spellings if text.upper() in words]
        return {'type': ['string'], 'enum': accepted}


class StrictBoolean(_ovo.FieldType[bool]):
    """A Boolean, or the words ``'true'`` and ``'false'`` in any case.

    ``BooleanField`` of oslo.versionedobjects accepts any value and uses its
    truth: the string ``'false'`` would force a deletion.
    """

    WORDS: Mapping[str, bool] = {'true': True, 'false': False}

    def coerce(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        word = value.lower() if isinstance(value, str) else ''
        if word in self.WORDS:
            return self.WORDS[word]
        raise ValueError(
            f"{attr} must be 'true' or 'false', not {exceptions.cut(value)}"
        )

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['boolean']}


def parse_integer(attr: str, value: Any) -> int:
    """Read an integer; digits in a string and whole floats are accepted.

    Booleans and fractions are rejected.

    :raises ValueError: with a message that starts with ``attr``
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and re.fullmatch(r'-?[0-9]{1,10}', value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError(f'{attr} must be an integer, not {exceptions.cut(value)}')


class NameField(LimitedField[str]):
    """Field of type :class:`Name`."""

    def __init__(
        self, minimum: int = 1, maximum: int = 255, **options: Any
    ) -> None:
        super().__init__(Name(minimum, maximum), **options)


class CapacityField(LimitedField[int]):
    """Field of type :class:`Capacity`."""

    def __init__(
        self, minimum: int = 0, maximum: int = MAX_INTEGER, **options: Any
    ) -> None:
        super().__init__(Capacity(minimum, maximum), **options)


class SortField(LimitedField[str]):
    """Field of type :class:`Sort`."""

    def __init__(self, keys: Collection[str], **options: Any) -> None:
        super().__init__(Sort(keys), **options)


class IdentityListField(LimitedField[list[str]]):
    """Field of type :class:`IdentityList`."""

    def __init__(self, minimum: int = 0, **options: Any) -> None:
        super().__init__(IdentityList(minimum), **options)


class JsonField(_ovo.AutoTypedField[dict[str, Any]]):
    """Field of type :class:`Json`."""

    AUTO_TYPE = Json()


class JsonValueField(_ovo.AutoTypedField[Any]):
    """Field of type :class:`JsonValue`."""

    AUTO_TYPE = JsonValue()


class AnyCaseEnumField(_ovo.BaseEnumField):
    """Field of type :class:`AnyCaseEnum`."""

    def __init__(self, valid_values: Collection[str], **options: Any) -> None:
        self.AUTO_TYPE = AnyCaseEnum(valid_values)
        super().__init__(**options)


class StrictBooleanField(_ovo.AutoTypedField[bool]):
    """Field of type :class:`StrictBoolean`."""

    AUTO_TYPE = StrictBoolean()


__all__ = [
    *(name for name in vars(_ovo) if not name.startswith('_')),
    'CoercedDict',
    'CoercedSet',
    'DateTime',
    'Dict',
    'Enum',
    'IPAddress',
    'IPNetwork',
    'IPV4AndV6Address',
    'IPV6Network',
    'MACAddress',
    'PCIAddress',
    'Set',
    'StateMachine',
    'AnyCaseEnum',
    'AnyCaseEnumField',
    'Capacity',
    'CapacityField',
    'IdentityList',
    'IdentityListField',
    'Json',
    'JsonField',
    'JsonValue',
    'JsonValueField',
    'Name',
    'NameField',
    'Sort',
    'SortField',
    'StrictBoolean',
    'StrictBooleanField',
    'UNSET',
    'UnspecifiedDefault',
    'bounded',
    'sensitive',
]
