# SPDX-License-Identifier: Apache-2.0
"""Values by range of versions, at most one value per version.

Decorators apply from the innermost out, so ranges may be declared in any
order. A lookup is one dictionary access for any number of ranges, once its
result is cached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from vobjects import exceptions
from vobjects.versions import NULL, Version

T = TypeVar('T')

#: Maximum number of cached versions; a service has far fewer.
_REMEMBERED = 10_000


class Range(NamedTuple, Generic[T]):
    """A value and its range of versions.

    :ivar value: the value
    :ivar first: first version; null: no lower limit
    :ivar last: last version; null: no upper limit
    :ivar place: ``FILE:LINE`` of the declaration
    """

    value: T
    first: Version
    last: Version
    place: str

    def __str__(self) -> str:
        first = str(self.first) if self.first else 'the first'
        last = str(self.last) if self.last else 'later'
        return f'{first} to {last} ({self.place})'


class Ranges(Generic[T]):
    """A collection of values by range of versions.

    :param what: description of a value for messages: ``'request schema'``
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._ranges: list[Range[T]] = []
        self._found: dict[Version, T | None] = {}

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def __iter__(self) -> Iterator[Range[T]]:
        return iter(self._ranges)

    def add(self, value: T, first: Version, last: Version, place: str) -> None:
        """Declare a value for a range of versions.

        :raises vobjects.exceptions.DeclarationError: the range is empty, or
            overlaps another one
        """
        new = Range(value, first, last, place)
        if last and last < first:
            raise exceptions.DeclarationError(
                f'{self.what} {new}: no version lies between'
            )
        for old in self._ranges:
            if _begins_within(new, old) or _begins_within(old, new):
                raise exceptions.DeclarationError(
                    f'{self.what} {new} overlaps {self.what} {old}'
                )
        self._ranges.append(new)
        self._ranges.sort(key=lambda one: one.first)
        self._found.clear()

    def at(self, version: Version) -> T | None:
        """Return the value for a version, or None."""
        try:
            return self._found[version]
        except KeyError:
            pass
        found = next(
            (
                one.value
                for one in self._ranges
                if one.first <= version
                and not (one.last and one.last < version)
            ),
            None,
        )
        if len(self._found) < _REMEMBERED:
            self._found[version] = found
        return found

    def check_covers(self, first: Version, last: Version, owner: str) -> None:
        """Reject ranges that do not match the versions of a function.

        :param first: first version of the function
        :param last: last version of the function; null: no end
        :param owner: the function with its place, for messages
        :raises vobjects.exceptions.DeclarationError: a version of the function
            has no value, or a value is for none of its versions; the message
            names both places
        """
        if not self._ranges:
            return
        for one in self._ranges:
            if (last and one.first > last) or (one.last and one.last < first):
                raise exceptions.DeclarationError(
                    f'{self.what} {one} is for no version of {owner}'
                )
        expected = first
        for one in self._ranges:
            if one.first > expected:
                raise exceptions.DeclarationError(
                    f'{owner} has no {self.what} from {expected} until'
                    f' {self.what} {one} begins'
                )
            if not one.last:
                return
            expected = Version(one.last.major, one.last.minor + 1)
        if not last or last >= expected:
            raise exceptions.DeclarationError(
                f'{owner} has no {self.what} from {expected} on, where'
                f' {self.what} {self._ranges[-1]} ends'
            )


def bound(version: str | Version | None) -> Version:
    """Return a declared bound of a range as a version; None becomes null.

    :raises vobjects.exceptions.InvalidVersion: the text is not a version
    """
    if version is None:
        return NULL
    return Version.parse(version) if isinstance(version, str) else version


def _begins_within(one: Range[T], other: Range[T]) -> bool:
    return other.first <= one.first and not (
        other.last and other.last < one.first
    )
