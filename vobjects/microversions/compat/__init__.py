# SPDX-License-Identifier: Apache-2.0
"""The functions of the library microversion-parse, for who calls them today.

Names, arguments and results are those of ``microversion_parse``, whose own
tests pass here; so it can be replaced where it is imported::

    from vobjects.microversions import compat as microversion_parse

Two things are different. A version is read strictly: ``1.03``, ``+1.3`` and
``1.1_0``, which ``int()`` takes, are refused. And the middleware puts its
headers on every response, and answers with the errors of the API-SIG
guideline; see :mod:`vobjects.microversions.compat.middleware`.

New code has :class:`~vobjects.microversions.header.Negotiator` and
:class:`~vobjects.microversions.middleware.Microversions`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from vobjects import exceptions, versions

STANDARD_HEADER = 'openstack-api-version'
ENVIRON_HTTP_HEADER_FMT = 'http_{}'

#: A header by name; or pairs, in which a name may repeat.
Headers = Mapping[str, str] | Iterable[tuple[str, str]]

_NEVER = (-1, 0)


class Version(namedtuple('Version', 'major minor')):
    """A pair of numbers that knows the range it was accepted in.

    :ivar min_version: lowest version of the service
    :ivar max_version: highest; a version made by hand has no range, and
        matches none unless told one
    """

    min_version: tuple[int, int]
    max_version: tuple[int, int]

    def __new__(cls, major: int, minor: int) -> Self:
        made = super().__new__(cls, major, minor)
        made.min_version = made.max_version = _NEVER
        return made

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'

    def matches(
        self,
        min_version: tuple[int, int] | None = None,
        max_version: tuple[int, int] | None = None,
    ) -> bool:
        """Tell whether it lies in a range, or in the one it knows."""
        lowest = self.min_version if min_version is None else min_version
        highest = self.max_version if max_version is None else max_version
        return lowest <= self <= highest


def get_version(
    headers: Headers,
    service_type: str,
    legacy_headers: Iterable[str] | None = None,
) -> str | None:
    """Return the text asked of a service; the last one, if several are.

    :param legacy_headers: with a bare version; the first that is there counts
    :returns: what stands there, not judged; None: nothing does
    """
    folded = fold_headers(headers)
    found = check_standard_header(folded, service_type)
    if found or not legacy_headers:
        return found or None
    return check_legacy_headers(folded, legacy_headers)


def extract_version(
    headers: Headers, service_type: str, versions_list: Sequence[str]
) -> Version:
    """Return the version to serve.

    :param versions_list: every version served, oldest first; one that is
        missing between two is not served
    :raises TypeError: what is asked is no version
    :raises ValueError: it is not in the list
    """
    lowest = parse_version_string(versions_list[0])
    highest = parse_version_string(versions_list[-1])
    text = get_version(headers, service_type) or versions_list[0]
    found = highest if text == 'latest' else parse_version_string(text)
    if str(found) not in versions_list:
        raise ValueError(f'Unacceptable version header: {text}')
    version = Version(*found)
    version.min_version, version.max_version = lowest, highest
    return version


def parse_version_string(version_string: str) -> Version:
    """Read ``'X.Y'``, strictly but for spaces around it.

    :raises TypeError: it is not of that form
    """
    try:
        return Version(*versions.Version.parse(version_string.strip()))
    except (AttributeError, exceptions.InvalidVersion):
        raise TypeError(
            f'invalid version string: {exceptions.cut(version_string)}'
            ' is an invalid literal; write MAJOR.MINOR, for example 1.10'
        ) from None


def fold_headers(headers: Any) -> dict[str, str]:
    """Return lower-case name to value; values of one name joined by commas.

    :raises ValueError: these are neither pairs nor a mapping
    """
    if hasattr(headers, 'items'):
        return {name.lower(): value for name, value in headers.items()}
    folded: dict[str, list[str]] = {}
    for name, value in headers:
        folded.setdefault(name.lower(), []).append(value.strip())
    return {name: ','.join(values) for name, values in folded.items()}


def headers_from_wsgi_environ(environ: Mapping[str, Any]) -> dict[str, Any]:
    """Return the headers of a WSGI environ, by their names there."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith('HTTP_')
    }


def check_standard_header(
    headers: Mapping[str, str], service_type: str
) -> str | None:
    """Return what the standard header asks of a service; the last counts."""
    value = _value(headers, STANDARD_HEADER) or ''
    for item in reversed(value.split(',')):
        name, *rest = item.split(None, 1) or ('',)
        if rest and name.lower() == service_type.lower():
            return rest[0].strip()
    return None


def check_legacy_headers(
    headers: Mapping[str, str], legacy_headers: Iterable[str]
) -> str | None:
    """Return the last value of the first of these headers that is there."""
    for name in legacy_headers:
        value = _value(headers, name.lower())
        if value is not None:
            return value.rpartition(',')[2].strip()
    return None


def _value(headers: Mapping[str, str], name: str) -> str | None:
    """Return a header by its name, or by that of a WSGI environ."""
    if name in headers:
        return headers[name]
    key = ENVIRON_HTTP_HEADER_FMT.format(name.replace('-', '_'))
    return headers.get(key)
