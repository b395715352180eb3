# SPDX-License-Identifier: Apache-2.0
"""The end of a version: told in the headers of each of its responses.

::

    retire('1.0', '1.4', deprecated='2026-01-01', sunset='2027-06-30',
           successor='1.7')

    Deprecation: @1767225600
    Sunset: Wed, 30 Jun 2027 00:00:00 GMT
    Link: <https://docs.example.org/>; rel="deprecation"; type="text/html",
          <https://docs.example.org/>; rel="sunset"; type="text/html",
          <>; rel="successor-version"; title="clustering 1.7"

``Deprecation`` is a Date of structured fields (RFC 9745, 2.1; RFC 9651,
3.3.7), ``Sunset`` an HTTP-date (RFC 8594, 3; RFC 9110, 5.6.7), and the links
follow RFC 8288. A microversion is no resource of its own: its successor is
the same URL, asked at another version. So the link's target is the empty
reference, which stands for the URL of the request (RFC 3986, 4.4), and its
title says which version to ask for. A successor that is a URL, such as that
of a new major version, is linked as it is.

Nothing is refused here, also after the sunset: a version is gone when the
policy's minimum is above it.
"""

from __future__ import annotations

import dataclasses
import datetime
import email.utils
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TypeAlias

from vobjects import exceptions
from vobjects.versions import Version

Headers: TypeAlias = list[tuple[str, str]]
Date: TypeAlias = str | datetime.datetime

# What RFC 3986 lets a URL have; nothing that ends a header or its <...>.
_URL = re.compile(
    r"https?://[A-Za-z0-9\[][A-Za-z0-9:/?#\[\]@!$&'()*+,;=._~%-]*", re.ASCII
)


@dataclasses.dataclass(frozen=True, slots=True)
class Retirement:
    """A range of versions on their way out; see :func:`retire`."""

    first: Version
    last: Version
    deprecated: datetime.datetime | None = None
    sunset: datetime.datetime | None = None
    successor: str = ''
    help_url: str = ''

    def covers(self, version: Version) -> bool:
        """Tell whether a version is among them."""
        return self.first <= version <= self.last

    def headers(self, service_type: str, help_url: str) -> Headers:
        """Return what every response at these versions carries.

        :param service_type: of the successor
        :param help_url: linked to unless the retirement has its own
        """
        target = self.help_url or help_url
        found: Headers = []
        if self.deprecated is not None:
            seconds = int(self.deprecated.timestamp())
            found.append(('Deprecation', f'@{seconds}'))
        if self.sunset is not None:
            text = email.utils.format_datetime(self.sunset, usegmt=True)
            found.append(('Sunset', text))
        links = []
        if self.deprecated is not None:
            links.append(_link(target, 'deprecation', 'type="text/html"'))
        if self.sunset is not None:
            links.append(_link(target, 'sunset', 'type="text/html"'))
        if _URL.fullmatch(self.successor):
            links.append(_link(self.successor, 'successor-version'))
        elif self.successor:
            title = f'title="{service_type} {self.successor}"'
            links.append(_link('', 'successor-version', title))
        # One header of several values: a client that keeps headers in a
        # mapping has all of them.
        found.append(('Link', ', '.join(links)))
        return found

    def __str__(self) -> str:
        """Return it in words: ``deprecated since ..., ends on ...``."""
        parts = []
        if self.deprecated is not None:
            parts.append(f'deprecated from {_day(self.deprecated)} on')
        if self.sunset is not None:
            parts.append(f'may be gone from {_day(self.sunset)} on')
        if self.successor:
            parts.append(f'followed by {self.successor}')
        return ', '.join(parts)


def retire(
    first: str | Version,
    last: str | Version | None = None,
    *,
    deprecated: Date | None = None,
    sunset: Date | None = None,
    successor: str = '',
    help_url: str = '',
) -> Retirement:
    """Say when a version, or a range of them, ends.

    :param first: the version, or the first of the range
    :param last: the last of the range, itself included
    :param deprecated: since when nobody should begin to use it; ISO 8601,
        in UTC if it names no zone, or an aware datetime
    :param sunset: from when on it may be gone; likewise
    :param successor: the version to use instead, or a URL
    :param help_url: what a human should read about it; empty: what the
        policy says of its history
    :raises vobjects.exceptions.DeclarationError: no date, no readable date,
        a sunset before the deprecation (RFC 9745, 4), no range, no URL
    :raises vobjects.exceptions.InvalidVersion: a version that is none
    """
    begins = _version(first)
    ends = begins if last is None else _version(last)
    name = f'{begins}' if begins == ends else f'{begins} to {ends}'
    if ends < begins or begins.major != ends.major:
        raise exceptions.DeclarationError(
            f'retire {name}: this is no range of one major version'
        )
    made = Retirement(
        begins,
        ends,
        _date(name, 'deprecated', deprecated),
        _date(name, 'sunset', sunset),
        _successor(name, ends, successor),
        help_url,
    )
    if made.deprecated is None and made.sunset is None:
        raise exceptions.DeclarationError(
            f'retire {name}: say since when it is deprecated, or its sunset'
        )
    if made.deprecated and made.sunset and made.sunset < made.deprecated:
        raise exceptions.DeclarationError(
            f'retire {name}: the sunset, {made.sunset.isoformat()}, is before'
            f' the deprecation, {made.deprecated.isoformat()}'
        )
    if help_url and not _URL.fullmatch(help_url):
        raise exceptions.DeclarationError(
            f'retire {name}: {exceptions.cut(help_url)} is no http(s) URL'
        )
    return made


_WORDS = ('deprecated', 'sunset', 'successor', 'help_url')


def parse(text: str) -> Retirement:
    """Read a line such as ``1.0-1.4 sunset=2027-06-30 successor=1.7``.

    The names are those of :func:`retire`; a range has no spaces around its
    hyphen.

    :raises vobjects.exceptions.DeclarationError: see :func:`retire`; or an
        unknown name, or one given twice
    :raises vobjects.exceptions.InvalidVersion: a version that is none
    """
    versions, *settings = text.split() or ['']
    given: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition('=')
        if name not in _WORDS or not equals or not value or name in given:
            raise exceptions.DeclarationError(
                f'retire {versions}: {exceptions.cut(setting)} is not'
                f' NAME=VALUE, once, with a name of {", ".join(_WORDS)}'
            )
        given[name] = value
    first, hyphen, last = versions.partition('-')
    return retire(first, last if hyphen else None, **given)


def check(
    retired: Iterable[Retirement], minimum: Version, maximum: Version
) -> None:
    """Refuse what cannot hold for a service's versions.

    :raises ValueError: a version is retired twice, is not served, or has a
        successor that is not
    """
    ordered = sorted(retired, key=lambda each: each.first)
    for before, now in pairwise(ordered):
        if now.first <= before.last:
            raise ValueError(f'version {now.first} is retired twice')
    for each in ordered:
        if each.first < minimum or each.last > maximum:
            raise ValueError(
                f'{each.first} to {each.last} is retired, but {minimum} to'
                f' {maximum} is what the service has'
            )
        if _URL.fullmatch(each.successor):
            continue
        if each.successor and Version.parse(each.successor) > maximum:
            raise ValueError(
                f'{each.successor}, the successor of {each.last}, is above'
                f' {maximum}, the highest version of the service'
            )


def of(retired: Iterable[Retirement], version: Version) -> Retirement | None:
    """Return the retirement of a version; None when it is not retired."""
    return next((each for each in retired if each.covers(version)), None)


def headers(
    retired: Iterable[Retirement], service_type: str, help_url: str
) -> Mapping[Version, Headers]:
    """Return the headers of each retired version."""
    return {
        Version(each.first.major, minor): each.headers(service_type, help_url)
        for each in retired
        for minor in range(each.first.minor, each.last.minor + 1)
    }


def _link(target: str, relation: str, *attributes: str) -> str:
    return '; '.join([f'<{target}>', f'rel="{relation}"', *attributes])


def _version(version: str | Version) -> Version:
    return Version.parse(version) if isinstance(version, str) else version


def _successor(name: str, last: Version, successor: str) -> str:
    if not successor or _URL.fullmatch(successor):
        return successor
    if Version.parse(successor) <= last:
        raise exceptions.DeclarationError(
            f'retire {name}: its successor, {successor}, is no later version'
        )
    return successor


def _date(
    name: str, what: str, value: Date | None
) -> datetime.datetime | None:
    if value is None:
        return None
    found = value
    if isinstance(found, str):
        try:
            found = datetime.datetime.fromisoformat(found)
        except ValueError:
            raise exceptions.DeclarationError(
                f'retire {name}: {what}: {exceptions.cut(value)} is no date;'
                ' write it as 2027-06-30 or 2027-06-30T12:00:00Z'
            ) from None
        if found.tzinfo is None:
            found = found.replace(tzinfo=datetime.UTC)
    if found.tzinfo is None:
        raise exceptions.DeclarationError(
            f'retire {name}: {what}: {found} has no time zone'
        )
    try:
        return found.astimezone(datetime.UTC)
    except OverflowError:
        raise exceptions.DeclarationError(
            f'retire {name}: {what}: {found} is beyond the calendar'
        ) from None


def _day(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.strftime('%Y-%m-%d %H:%M:%S UTC')
