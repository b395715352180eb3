# SPDX-License-Identifier: Apache-2.0
"""Map ranges of versions to values, at most one value per version.

Decorators apply from the innermost out, so ranges may be declared in any
order. A lookup is one dictionary access for any number of ranges, once its
result is cached.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from vobjects import exceptions
from vobjects.microversions.version_ranges import VersionRange, VersionRanges
from vobjects.versions import NULL, Version, as_version

T = TypeVar('T')

#: Maximum number of cached versions; a service has far fewer.
_MAX_CACHED = 10_000


class RangeEntry(NamedTuple, Generic[T]):
    """A value with its range of versions.

    :ivar value: the value
    :ivar first: first version; null: no lower limit
    :ivar last: last version; null: no upper limit
    :ivar location: ``FILE:LINE`` of the declaration
    """

    value: T
    first: Version
    last: Version
    location: str

    def __str__(self) -> str:
        first = str(self.first) if self.first else 'the first'
        last = str(self.last) if self.last else 'later'
        return f'{first} to {last} ({self.location})'


class RangeMap(Generic[T]):
    """Values by range of versions.

    :param name: name of a value in messages: ``'request schema'``
    :param may_overlap: whether ranges may overlap; the value declared first
        then applies
    """

    def __init__(self, name: str, *, may_overlap: bool = False) -> None:
        self.name = name
        self._may_overlap = may_overlap
        self._declared: list[RangeEntry[T]] = []
        #: The same in the order of versions.
        self._entries: list[RangeEntry[T]] = []
        #: Results of :meth:`at`, for callers that cannot afford a call.
        self.cache: dict[Version, T | None] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    def __iter__(self) -> Iterator[RangeEntry[T]]:
        return iter(self._entries)

    @property
    def last(self) -> RangeEntry[T]:
        """The entry of the highest versions."""
        return self._entries[-1]

    def gaps(self) -> Iterator[tuple[RangeEntry[T], RangeEntry[T]]]:
        """Yield successive entries with versions between them."""
        for before, after in itertools.pairwise(self._entries):
            if after.first not in (
                _after(before),
                Version(before.last.major + 1, 0),
            ):
                yield before, after

    def merged(self) -> VersionRanges:
        """Return the ranges between gaps, oldest first."""
        starts = [self._entries[0], *(after for _, after in self.gaps())]
        ends = [*(before for before, _ in self.gaps()), self._entries[-1]]
        return tuple(
            VersionRange(start.first, _after(end) if end.last else None)
            for start, end in zip(starts, ends, strict=True)
        )

    def add(self, new: RangeEntry[T]) -> None:
        """Declare a value for a range of versions.

        :raises vobjects.exceptions.DeclarationError: the range is empty, or
            overlaps another one
        """
        if new.last and new.last < new.first:
            raise exceptions.DeclarationError(
                f'{self.name} {new}: the last version is lower than the first'
            )
        at = bisect.bisect_left(
            self._entries, new.first, key=lambda entry: entry.first
        )
        neighbours = self._entries[max(at - 1, 0) : at + 1]
        for old in () if self._may_overlap else neighbours:
            if _begins_within(new, old) or _begins_within(old, new):
                raise exceptions.DeclarationError(
                    f'{self.name} {new} overlaps {self.name} {old}'
                )
        self._entries.insert(at, new)
        self._declared.append(new)
        self.cache.clear()

    def at(self, version: Version) -> T | None:
        """Return the value for a version, or None."""
        try:
            return self.cache[version]
        except KeyError:
            pass
        value = next(
            (
                entry.value
                for entry in self._declared
                if (
                    version.matches(entry.first, entry.last)
                    if version
                    else not entry.first
                )
            ),
            None,
        )
        if len(self.cache) < _MAX_CACHED:
            self.cache[version] = value
        return value

    def check_covers(self, first: Version, last: Version, owner: str) -> None:
        """Reject ranges that do not match the versions of a function.

        :param first: first version of the function
        :param last: last version of the function; null: no end
        :param owner: the function with its location, for messages
        :raises vobjects.exceptions.DeclarationError: a version of the function
            has no value, or a value is for none of its versions; the message
            names both locations
        """
        if not self._entries:
            return
        for entry in self._entries:
            if (last and entry.first > last) or (
                entry.last and entry.last < first
            ):
                raise exceptions.DeclarationError(
                    f'{self.name} {entry} is for no version of {owner}'
                )
        expected = first
        for entry in self._entries:
            if entry.first > expected:
                raise exceptions.DeclarationError(
                    f'{owner} has no {self.name} from {expected} until'
                    f' {self.name} {entry} begins'
                )
            if not entry.last:
                return
            expected = _after(entry)
        if not last or last >= expected:
            raise exceptions.DeclarationError(
                f'{owner} has no {self.name} from {expected} on, where'
                f' {self.name} {self._entries[-1]} ends'
            )


@functools.lru_cache(maxsize=512)
def bound(version: str | Version | None) -> Version:
    """Return a declared bound of a range as a version; None becomes null.

    :raises vobjects.exceptions.InvalidVersion: the text is not a version
    """
    return NULL if version is None else as_version(version)


def _after(entry: RangeEntry[T]) -> Version:
    """Return the version after the last one of an entry, which has one."""
    return Version(entry.last.major, entry.last.minor + 1)


def _begins_within(inner: RangeEntry[T], outer: RangeEntry[T]) -> bool:
    return outer.first <= inner.first and not (
        outer.last and outer.last < inner.first
    )
