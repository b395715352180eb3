# SPDX-License-Identifier: Apache-2.0
"""Version ranges of a feature, and the error message about them.

A feature is anything that a request can name: a field or its value, a query
parameter, an action, a route. The message has the same form for all::

    'config' needs API version 1.7 or later; this request asked for 1.2
    'legacy' was removed in API version 1.10; this request asked for 1.12
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    from vobjects import objects

#: First and last version; None as the last one: no end.
InclusiveRange: TypeAlias = tuple[Version, Version | None]


class VersionRange(NamedTuple):
    """A range of versions that have a feature.

    :ivar first: first version of the range; null: no lower limit
    :ivar gone: first version after the range; None: no upper limit
    """

    first: Version
    gone: Version | None = None

    def covers(self, version: Version) -> bool:
        """Return whether a version lies in the range."""
        return self.first <= version and (
            self.gone is None or version < self.gone
        )


VersionRanges: TypeAlias = tuple[VersionRange, ...]


def from_inclusive(ranges: Iterable[InclusiveRange]) -> VersionRanges:
    """Convert ranges with an inclusive end to spans."""
    return tuple(
        VersionRange(first, last and Version(last.major, last.minor + 1))
        for first, last in ranges
    )


def ranges_having(
    cls: type[objects.Object], has: Callable[[str], bool]
) -> VersionRanges:
    """Return the API versions at which a type has a feature.

    :param has: called with each object version that the type is mapped to
    """
    spans: list[VersionRange] = []
    began = NULL if cls.introduced() is None and has('1.0') else None
    for text, object_version in cls.VERSION_MAP.items():
        at = Version.parse(text)
        if has(object_version):
            began = at if began is None else began
        elif began is not None:
            spans.append(VersionRange(began, at))
            began = None
    if began is not None:
        spans.append(VersionRange(began))
    return tuple(spans)


def next_available(spans: VersionRanges, asked: Version) -> Version | None:
    """Return the next version after ``asked`` that has the feature."""
    return next((span.first for span in spans if span.first > asked), None)


def last_removal(spans: VersionRanges, asked: Version) -> Version | None:
    """Return the latest version up to ``asked`` that removed the feature."""
    gone = [span.gone for span in spans if span.gone and span.gone <= asked]
    return gone[-1] if gone else None


def explain(thing: str, spans: VersionRanges, asked: Version) -> str:
    """Return why a request cannot use a feature; no full stop.

    :param thing: the feature in words, quoted if it is a name
    :param spans: versions that have it, oldest first, without ``asked``
    :param asked: version of the request
    """
    later = [span for span in spans if span.first > asked]
    if later:
        versions = ', or '.join(map(_in_words, later))
        said = f'{thing} needs API version {versions}'
    elif gone := last_removal(spans, asked):
        said = f'{thing} was removed in API version {gone}'
    else:
        said = f'{thing} is not there'
    return f'{said}; this request asked for {asked}'


def _in_words(span: VersionRange) -> str:
    first, gone = span
    if gone is None:
        return f'{first} or later'
    if not gone.minor:
        return f'{first} or later, before {gone}'
    last = Version(gone.major, gone.minor - 1)
    return f'{first}' if first == last else f'{first} to {last}'
