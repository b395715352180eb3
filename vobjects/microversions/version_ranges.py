# SPDX-License-Identifier: Apache-2.0
"""Version ranges of a feature, and the error message about them.

A feature is anything that a request can name: a field or its value, a query
parameter, an action, a route. The message has the same form for all::

    'config' needs API version 1.7 or later; this request asked for 1.2
    'legacy' was removed in API version 1.10; this request asked for 1.12
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    from vobjects import objects


class VersionRange(NamedTuple):
    """A range of versions that have a feature.

    :ivar first: first version of the range; null: no lower limit
    :ivar removed: first version after the range; None: no upper limit
    """

    first: Version
    removed: Version | None = None


VersionRanges: TypeAlias = tuple[VersionRange, ...]


def ranges_having(
    cls: type[objects.Object], has: Callable[[str], bool]
) -> VersionRanges:
    """Return the API versions at which a type has a feature.

    :param has: called with each object version that the type is mapped to
    """
    ranges: list[VersionRange] = []
    is_first = cls.introduced() is None and has(cls.OLDEST_VERSION)
    first = NULL if is_first else None
    for text, object_version in cls.VERSION_MAP.items():
        microversion = Version.parse(text)
        if has(object_version):
            first = microversion if first is None else first
        elif first is not None:
            ranges.append(VersionRange(first, microversion))
            first = None
    if first is not None:
        ranges.append(VersionRange(first))
    return tuple(ranges)


def next_available(
    ranges: VersionRanges, requested: Version
) -> Version | None:
    """Return the next version after ``requested`` that has the feature."""
    return next((r.first for r in ranges if r.first > requested), None)


def last_removal(ranges: VersionRanges, requested: Version) -> Version | None:
    """Return the latest version up to ``requested`` without the feature."""
    removals = [r.removed for r in ranges if r.removed]
    return max((v for v in removals if v <= requested), default=None)


def explain(feature: str, ranges: VersionRanges, requested: Version) -> str:
    """Return why a request cannot use a feature; no full stop.

    :param feature: the feature in words, quoted if it is a name
    :param ranges: versions that have it, oldest first, without ``requested``
    :param requested: version of the request
    """
    later = [r for r in ranges if r.first > requested]
    if later:
        versions = ', or '.join(map(_describe, later))
        problem = f'{feature} needs API version {versions}'
    elif removal := last_removal(ranges, requested):
        problem = f'{feature} was removed in API version {removal}'
    else:
        problem = f'{feature} does not exist in any API version'
    return f'{problem}; this request asked for {requested}'


def _describe(version_range: VersionRange) -> str:
    first, removed = version_range
    if removed is None:
        return f'{first} or later'
    if not removed.minor:
        return f'{first} or later, before {removed}'
    last = Version(removed.major, removed.minor - 1)
    return f'{first}' if first == last else f'{first} to {last}'
