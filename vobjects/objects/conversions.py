# SPDX-License-Identifier: Apache-2.0
"""Conversions of values whose inverse and loss are known.

::

    size: int = changed('1.1', int, by=unit(1024))          # KiB, then bytes
    tags: list[str] = changed('1.2', str, by=split(','))
    hosts: list[str] = changed('1.3', str, by=wrap())
    kind: str = changed('1.4', OLD, NEW, by=translate({'disc': 'disk'}))

Each one maps some old values to some new values, one to one: a value that the
other side can hold comes back unchanged, and ``ValueError`` is raised for any
other value. So a conversion loses no value silently, and
:mod:`vobjects.lock.losses` describes the values that it refuses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from vobjects import exceptions

Converter = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Conversion:
    """A pair of functions of primitive values (JSON, never None).

    :ivar up: converts an old value to a new one
    :ivar down: converts a new value to an old one
    :ivar name: for people; empty: functions of a service, whose loss is
        unknown
    :ivar refused_up: the old values that ``up`` refuses; empty: none
    :ivar refused_down: the new values that ``down`` refuses
    """

    up: Converter
    down: Converter
    name: str = ''
    refused_up: str = ''
    refused_down: str = ''

    @property
    def inverse(self) -> Conversion:
        """The conversion in the other direction."""
        return Conversion(
            self.down,
            self.up,
            f'inverse of {self.name}' if self.name else '',
            self.refused_down,
            self.refused_up,
        )


def _unchanged(value: Any) -> Any:
    return value


#: Values stay the same.
SAME = Conversion(_unchanged, _unchanged, 'same values')


def translate(words: Mapping[str, str]) -> Conversion:
    """Return a conversion of words, also of those in a list.

    Other words stay the same.

    :param words: old word -> new word
    :raises vobjects.exceptions.DeclarationError: two old words have the same
        new word
    """
    inverse = {new: old for old, new in words.items()}
    if len(inverse) != len(words):
        raise exceptions.DeclarationError(
            'translate(): two old words have the same new word, so that it'
            ' has no inverse; write up= and down='
        )
    return Conversion(
        _translator(words, inverse),
        _translator(inverse, words),
        f'translate({dict(words)})',
        _listed(inverse, words),
        _listed(words, inverse),
    )


def _translator(
    words: Mapping[str, str], used: Mapping[str, str]
) -> Converter:
    def convert(value: Any) -> Any:
        if isinstance(value, list):
            return [convert(item) for item in value]
        if value in used and value not in words:
            raise ValueError(f'{value!r} has another meaning')
        return words.get(value, value)

    return convert


def _listed(words: Mapping[str, str], others: Mapping[str, str]) -> str:
    return ', '.join(repr(word) for word in words if word not in others)


def unit(factor: int) -> Conversion:
    """Return a conversion of whole numbers to a smaller unit.

    :param factor: the number of new units in an old one; its inverse converts
        to a larger unit
    """

    def up(value: Any) -> int:
        return _whole(value) * factor

    def down(value: Any) -> int:
        quotient, rest = divmod(_whole(value), factor)
        if rest:
            raise ValueError(f'{value} is no multiple of {factor}')
        return quotient

    refused = f'numbers that are no multiple of {factor}'
    return Conversion(up, down, f'unit({factor})', refused_down=refused)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f'{value!r} is not a whole number')
    return value


def split(separator: str) -> Conversion:
    """Return a conversion of a text to the list of its parts.

    The empty text is the empty list.
    """

    def up(value: Any) -> list[str]:
        return str(value).split(separator) if value else []

    def down(value: Any) -> str:
        if value == [''] or any(separator in item for item in value):
            raise ValueError(f'items cannot contain {separator!r}')
        return separator.join(value)

    refused = f'lists with {separator!r} in an item, or of one empty text'
    return Conversion(up, down, f'split({separator!r})', refused_down=refused)


def join(separator: str) -> Conversion:
    """Return a conversion of a list of texts to a text."""
    return split(separator).inverse


def wrap(key: str | None = None) -> Conversion:
    """Return a conversion of a value to a list or an object with this value.

    :param key: the key of the object; None: a list
    """

    def up(value: Any) -> Any:
        return [value] if key is None else {key: value}

    def down(value: Any) -> Any:
        if key is not None:
            value = [value[key]] if value.keys() == {key} else []
        if len(value) != 1:
            raise ValueError('the older field has exactly one value')
        return value[0]

    if key is None:
        name, refused = 'wrap()', 'lists of no or several items'
    else:
        name = f'wrap({key!r})'
        refused = f'objects with other keys than {key!r}'
    return Conversion(up, down, name, refused_down=refused)
