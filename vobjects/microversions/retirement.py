# SPDX-License-Identifier: Apache-2.0
"""Announce the end of versions in the headers of their responses.

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
follow RFC 8288. A microversion does not have its own URL: its successor is the
same URL, requested at another version. The target of the link is therefore the
empty reference, which means the URL of the request (RFC 3986, 4.4), and its
title names the version. If the successor is a URL, such as that of a new major
version, the link points to that URL.

A retired version is still served, even after its sunset. To stop serving it,
raise the policy's minimum.
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
from vobjects.versions import Version, as_version

Headers: TypeAlias = list[tuple[str, str]]

# Characters that RFC 3986 allows in a URL; none of them can end the header
# value or its <...>.
_URL = re.compile(
    r"https?://[A-Za-z0-9\[][A-Za-z0-9:/?#\[\]@!$&'()*+,;=._~%-]*", re.ASCII
)


@dataclasses.dataclass(frozen=True, slots=True)
class Retirement:
    """A range of versions that is being retired; see :func:`retire`."""

    first: Version
    last: Version
    deprecated: datetime.datetime | None = None
    sunset: datetime.datetime | None = None
    successor: str = ''
    help_url: str = ''

    def headers(self, service_type: str, help_url: str) -> Headers:
        """Return the headers of every response at these versions.

        :param service_type: service type for the title of the successor
        :param help_url: page to link unless the retirement has its own
        """
        target = self.help_url or help_url
        headers: Headers = []
        links = []
        if self.deprecated is not None:
            seconds = int(self.deprecated.timestamp())
            headers.append(('Deprecation', f'@{seconds}'))
            links.append(_link(target, 'deprecation', 'type="text/html"'))
        if self.sunset is not None:
            text = email.utils.format_datetime(self.sunset, usegmt=True)
            headers.append(('Sunset', text))
            links.append(_link(target, 'sunset', 'type="text/html"'))
        if _URL.fullmatch(self.successor):
            links.append(_link(self.successor, 'successor-version'))
        elif self.successor:
            title = f'title="{service_type} {self.successor}"'
            links.append(_link('', 'successor-version', title))
        # A single header with all links: a client that keeps headers in a
        # mapping would lose repeated ones.
        headers.append(('Link', ', '.join(links)))
        return headers

    def __str__(self) -> str:
        """Return the dates and the successor in words."""
        parts = []
        if self.deprecated is not None:
            parts.append(f'deprecated from {_day(self.deprecated)} on')
        if self.sunset is not None:
            parts.append(f'may be removed from {_day(self.sunset)} on')
        if self.successor:
            parts.append(f'followed by {self.successor}')
        return ', '.join(parts)


def retire(
    first: str | Version,
    last: str | Version | None = None,
    *,
    deprecated: str | None = None,
    sunset: str | None = None,
    successor: str = '',
    help_url: str = '',
) -> Retirement:
    """Declare when a version, or a range of versions, ends.

    :param first: the version, or the first one of the range
    :param last: last version of the range, inclusive
    :param deprecated: date from which new clients should not use it: ISO 8601
        (UTC unless it names a time zone)
    :param sunset: date from which it may be unavailable; same form
    :param successor: version to use instead, or a URL
    :param help_url: page for people; empty: the policy's history or help page
    :raises vobjects.exceptions.DeclarationError: no date, an unreadable date,
        a sunset before the deprecation (RFC 9745, 4), an invalid range,
        successor or URL
    :raises vobjects.exceptions.InvalidVersion: a text is not a version
    """
    first = as_version(first)
    last = first if last is None else as_version(last)
    name = f'{first}' if first == last else f'{first} to {last}'
    if last < first or first.major != last.major:
        raise exceptions.DeclarationError(
            f'retire {name}: the last version must not be lower than the first'
            ' and must have the same major version'
        )
    retirement = Retirement(
        first,
        last,
        _date(name, 'deprecated', deprecated),
        _date(name, 'sunset', sunset),
        _successor(name, last, successor),
        help_url,
    )
    if retirement.deprecated is None and retirement.sunset is None:
        raise exceptions.DeclarationError(
            f'retire {name}: needs a date: deprecated, sunset, or both'
        )
    deprecation, end = retirement.deprecated, retirement.sunset
    if deprecation and end and end < deprecation:
        raise exceptions.DeclarationError(
            f'retire {name}: the sunset, {end.isoformat()}, is before the'
            f' deprecation, {deprecation.isoformat()}'
        )
    if help_url and not _URL.fullmatch(help_url):
        raise exceptions.DeclarationError(
            f'retire {name}: {exceptions.cut(help_url)} is not an http(s) URL'
        )
    return retirement


_SETTINGS = ('deprecated', 'sunset', 'successor', 'help_url')


def parse(text: str) -> Retirement:
    """Parse a line such as ``1.0-1.4 sunset=2027-06-30 successor=1.7``.

    The names are the parameters of :func:`retire`. A range has no spaces
    around its hyphen.

    :raises vobjects.exceptions.DeclarationError: see :func:`retire`; or a name
        is unknown or given twice
    :raises vobjects.exceptions.InvalidVersion: a text is not a version
    """
    versions, *settings = text.split() or ['']
    values: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition('=')
        if name not in _SETTINGS or not equals or not value or name in values:
            raise exceptions.DeclarationError(
                f'retire {versions}: {exceptions.cut(setting)} is not'
                f' NAME=VALUE with one of {", ".join(_SETTINGS)}, each at most'
                ' once'
            )
        values[name] = value
    first, hyphen, last = versions.partition('-')
    return retire(first, last if hyphen else None, **values)


def check(
    retired: Iterable[Retirement], minimum: Version, maximum: Version
) -> None:
    """Reject retirements that contradict the versions of a service.

    :raises ValueError: a version is retired twice or is not served, or its
        successor is above the maximum
    """
    ordered = sorted(retired, key=lambda each: each.first)
    for before, after in pairwise(ordered):
        if after.first <= before.last:
            raise ValueError(f'version {after.first} is retired twice')
    for each in ordered:
        if each.first < minimum or each.last > maximum:
            raise ValueError(
                f'retired versions {each.first} to {each.last} must lie within'
                f' the versions of the service, {minimum} to {maximum}'
            )
        if _URL.fullmatch(each.successor):
            continue
        if each.successor and Version.parse(each.successor) > maximum:
            raise ValueError(
                f'{each.successor}, the successor of {each.last}, is above'
                f' {maximum}, the highest version of the service'
            )


def retirement_of(
    retired: Iterable[Retirement], version: Version
) -> Retirement | None:
    """Return the retirement of a version; None if it is not retired."""
    return next(
        (each for each in retired if each.first <= version <= each.last), None
    )


def headers(
    retired: Iterable[Retirement], service_type: str, help_url: str
) -> Mapping[Version, Headers]:
    """Return version -> headers for all retired versions."""
    return {
        Version(each.first.major, minor): each.headers(service_type, help_url)
        for each in retired
        for minor in range(each.first.minor, each.last.minor + 1)
    }


def _link(target: str, relation: str, *attributes: str) -> str:
    return '; '.join([f'<{target}>', f'rel="{relation}"', *attributes])


def _successor(name: str, last: Version, successor: str) -> str:
    if not successor or _URL.fullmatch(successor):
        return successor
    if Version.parse(successor) <= last:
        raise exceptions.DeclarationError(
            f'retire {name}: the successor {successor} must be a later version'
        )
    return successor


def _date(
    name: str, option: str, value: str | None
) -> datetime.datetime | None:
    if value is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        raise exceptions.DeclarationError(
            f'retire {name}: {option}: {exceptions.cut(value)} is not a'
            ' date; write it as 2027-06-30 or 2027-06-30T12:00:00Z'
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    try:
        return moment.astimezone(datetime.UTC)
    except OverflowError:
        raise exceptions.DeclarationError(
            f'retire {name}: {option}: {moment} is outside the calendar'
        ) from None


def _day(moment: datetime.datetime) -> str:
    if moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.strftime('%Y-%m-%d %H:%M:%S UTC')
