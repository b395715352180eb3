# SPDX-License-Identifier: Apache-2.0
"""Which API versions have a thing, and the sentence that says so.

A thing is whatever a request can name: a field, a value of it, a query
parameter, an action, a route. Clients are told in the same words of each::

    'config' needs API version 1.7 or later; this request asked for 1.2
    'legacy' was removed in API version 1.10; this request asked for 1.12
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    from vobjects import base

#: First and last version; the second None means that it has no end.
Range: TypeAlias = tuple[Version, Version | None]


class Span(NamedTuple):
    """Versions that have a thing.

    :ivar first: the first of them; null: it was always there
    :ivar gone: the first version that lacks it again; None: none does
    """

    first: Version
    gone: Version | None = None

    def covers(self, version: Version) -> bool:
        """Tell whether a version is one of them."""
        return self.first <= version and (
            self.gone is None or version < self.gone
        )


Spans: TypeAlias = tuple[Span, ...]


def spans_of(ranges: Iterable[Range]) -> Spans:
    """Return ranges, whose last version is in them, as spans."""
    return tuple(
        Span(first, last and Version(last.major, last.minor + 1))
        for first, last in ranges
    )


def along(cls: type[base.Object], has: Callable[[str], bool]) -> Spans:
    """Return the API versions at which a type has something.

    :param has: asked for the object versions that the type is mapped to
    """
    spans: list[Span] = []
    began = NULL if cls.introduced() is None and has('1.0') else None
    for text, object_version in cls.VERSION_MAP.items():
        at = Version.parse(text)
        if has(object_version):
            began = at if began is None else began
        elif began is not None:
            spans.append(Span(began, at))
            began = None
    if began is not None:
        spans.append(Span(began))
    return tuple(spans)


def needed(spans: Spans, asked: Version) -> Version | None:
    """Return the next version after ``asked`` that has the thing."""
    return next((span.first for span in spans if span.first > asked), None)


def removed(spans: Spans, asked: Version) -> Version | None:
    """Return in which version the thing had gone, last before ``asked``."""
    gone = [span.gone for span in spans if span.gone and span.gone <= asked]
    return gone[-1] if gone else None


def sentence(thing: str, spans: Spans, asked: Version) -> str:
    """Return why a request cannot have a thing; no full stop.

    :param thing: in words, quoted if it is a name
    :param spans: the versions that have it, oldest first; not ``asked``
    :param asked: the version of the request
    """
    later = [span for span in spans if span.first > asked]
    if later:
        versions = ', or '.join(map(_in_words, later))
        said = f'{thing} needs API version {versions}'
    elif gone := removed(spans, asked):
        said = f'{thing} was removed in API version {gone}'
    else:
        said = f'{thing} is not there'
    return f'{said}; this request asked for {asked}'


def _in_words(span: Span) -> str:
    first, gone = span
    if gone is None:
        return f'{first} or later'
    if not gone.minor:
        return f'{first} or later, before {gone}'
    last = Version(gone.major, gone.minor - 1)
    return f'{first}' if first == last else f'{first} to {last}'
