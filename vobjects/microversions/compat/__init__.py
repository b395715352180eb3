# SPDX-License-Identifier: Apache-2.0
"""Drop-in replacement for the functions of microversion-parse.

Names, arguments and results are those of ``microversion_parse``; its own tests
pass with this module. To replace it, change the import::

    from vobjects.microversions import compat as microversion_parse

There are two differences. Versions are parsed strictly: ``1.03``, ``+1.3`` and
``1.1_0``, which ``int()`` accepts, are rejected. And the middleware adds its
headers to every response, and formats errors as in the API-SIG guideline; see
:mod:`vobjects.microversions.compat.middleware`.

In new code, use :class:`~vobjects.microversions.header.Negotiator` and
:class:`~vobjects.microversions.middleware.Microversions`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from vobjects import exceptions, versions

STANDARD_HEADER = 'openstack-api-version'
ENVIRON_HTTP_HEADER_FMT = 'http_{}'

#: Headers by name; or pairs, in which a name may repeat.
Headers = Mapping[str, str] | Iterable[tuple[str, str]]

_NO_VERSION = (-1, 0)


class Version(namedtuple('Version', 'major minor')):
    """A version together with the range of the service.

    :ivar min_version: lowest version of the service
    :ivar max_version: highest version of the service; a version created
        directly has no range, and matches only an explicit one
    """

    min_version: tuple[int, int]
    max_version: tuple[int, int]

    def __new__(cls, major: int, minor: int) -> Self:
        version = super().__new__(cls, major, minor)
        version.min_version = version.max_version = _NO_VERSION
        return version

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'

    def matches(
        self,
        min_version: tuple[int, int] | None = None,
        max_version: tuple[int, int] | None = None,
    ) -> bool:
        """Return whether the version lies in a range, by default its own."""
        lowest = self.min_version if min_version is None else min_version
        highest = self.max_version if max_version is None else max_version
        return lowest <= self <= highest


def get_version(
    headers: Headers,
    service_type: str,
    legacy_headers: Iterable[str] | None = None,
) -> str | None:
    """Return the requested version of a service; the last one counts.

    :param legacy_headers: names of headers with a bare version; the first one
        present counts
    :returns: the text, which is not validated; None if there is none
    """
    folded = fold_headers(headers)
    version = check_standard_header(folded, service_type)
    if version or not legacy_headers:
        return version or None
    return check_legacy_headers(folded, legacy_headers)


def extract_version(
    headers: Headers, service_type: str, versions_list: Sequence[str]
) -> Version:
    """Return the version to serve.

    :param versions_list: every version served, oldest first; the list may have
        gaps
    :raises TypeError: the requested text is not a version
    :raises ValueError: the version is not in the list
    """
    lowest = parse_version_string(versions_list[0])
    highest = parse_version_string(versions_list[-1])
    text = get_version(headers, service_type) or versions_list[0]
    requested = highest if text == 'latest' else parse_version_string(text)
    if str(requested) not in versions_list:
        raise ValueError(f'Unacceptable version header: {text}')
    version = Version(*requested)
    version.min_version, version.max_version = lowest, highest
    return version


def parse_version_string(version_string: str) -> Version:
    """Parse ``'X.Y'`` strictly, except for spaces around it.

    :raises TypeError: the text does not have this form
    """
    try:
        return Version(*versions.Version.parse(version_string.strip()))
    except (AttributeError, exceptions.InvalidVersion):
        raise TypeError(
            f'invalid version string: {exceptions.cut(version_string)}'
            ' is an invalid literal; write MAJOR.MINOR, for example 1.10'
        ) from None


def fold_headers(headers: Any) -> dict[str, str]:
    """Return lower-case name -> value, joining repeated headers with commas.

    :raises ValueError: ``headers`` is neither a mapping nor pairs
    """
    if hasattr(headers, 'items'):
        return {name.lower(): value for name, value in headers.items()}
    folded: dict[str, list[str]] = {}
    for name, value in headers:
        folded.setdefault(name.lower(), []).append(value.strip())
    return {name: ','.join(values) for name, values in folded.items()}


def headers_from_wsgi_environ(environ: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headers of a WSGI environ, under their environ keys."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith('HTTP_')
    }


def check_standard_header(
    headers: Mapping[str, str], service_type: str
) -> str | None:
    """Return a service's version in the standard header; the last counts."""
    value = _value(headers, STANDARD_HEADER) or ''
    for item in reversed(value.split(',')):
        name, *rest = item.split(None, 1) or ('',)
        if rest and name.lower() == service_type.lower():
            return rest[0].strip()
    return None


def check_legacy_headers(
    headers: Mapping[str, str], legacy_headers: Iterable[str]
) -> str | None:
    """Return the last value of the first of these headers that is present."""
    for name in legacy_headers:
        value = _value(headers, name.lower())
        if value is not None:
            return value.rpartition(',')[2].strip()
    return None


def _value(headers: Mapping[str, str], name: str) -> str | None:
    """Return a header by its name or by its WSGI environ key."""
    if name in headers:
        return headers[name]
    key = ENVIRON_HTTP_HEADER_FMT.format(name.replace('-', '_'))
    return headers.get(key)
