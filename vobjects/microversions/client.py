# SPDX-License-Identifier: Apache-2.0
"""Version negotiation for clients that talk to more than one cloud.

A server has one range of versions. A client may have several, for instance if
it implements an operation in different ways for old and new servers.
:func:`negotiate` returns the version to use::

    version = negotiate(('2.100', '2.300'), [('2.60', '2.250'), '2.290'])

Discovery gives the range of a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from vobjects import exceptions
from vobjects.microversions.version_policy import HEADER
from vobjects.versions import Version, as_version

#: A version, or the first and last version of a range.
VersionOrRange: TypeAlias = str | Version | tuple[str | Version, str | Version]
Range: TypeAlias = tuple[Version, Version]


class NoCommonVersion(exceptions.VobjectsError):
    """Server and client have no version in common.

    :ivar server: range of the server
    :ivar client: ranges of the client
    """

    def __init__(self, server: Range, client: tuple[Range, ...]) -> None:
        self.server = server
        self.client = client
        if all(last < server[0] for _, last in client):
            verdict = 'the client is too old'
        elif all(first > server[1] for first, _ in client):
            verdict = 'the server is too old'
        else:
            verdict = 'each has versions that the other lacks'
        client_ranges = ', '.join(map(_describe, client)) or 'none'
        super().__init__(
            f'The server has the API versions {_describe(server)}, the'
            f' client {client_ranges}; {verdict}.'
        )


class NoRange(exceptions.VobjectsError):
    """A server does not announce its API versions."""


def negotiate(
    server: VersionOrRange, client: Iterable[VersionOrRange]
) -> Version:
    """Return the highest version that both sides support.

    :param server: lowest and highest version of the server
    :param client: ranges or single versions that the client supports
    :raises NoCommonVersion: there is none
    :raises vobjects.exceptions.InvalidVersion: a text is not a version
    :raises ValueError: a range ends before it begins
    """
    lowest, highest = _range(server)
    ranges = tuple(map(_range, client))
    common = [
        min(last, highest)
        for first, last in ranges
        if max(first, lowest) <= min(last, highest)
    ]
    if not common:
        raise NoCommonVersion((lowest, highest), ranges)
    return max(common)


def range_of(document: Any, major: int | None = None) -> Range:
    """Return the version range in a discovery document.

    The function reads the documents of every preset and of the original
    OpenStack services.

    :param document: decoded document of ``/`` or of a major version
    :param major: major version to use if there are several; None: the highest
    :raises NoRange: the document has no range, or none for that major version
    """
    ranges = [
        version_range
        for version_range in map(_range_of_entry, _entries(document))
        if version_range and major in (None, version_range[1].major)
    ]
    if not ranges:
        for_major = '' if major is None else f' for major version {major}'
        raise NoRange(
            f'The discovery document has no API versions{for_major}.'
        )
    return max(ranges, key=lambda version_range: version_range[1])


def served_version(
    headers: Mapping[str, str], service_type: str
) -> Version | None:
    """Return the version at which a server processed a request.

    :param headers: headers of the response, in a case-insensitive mapping
    :param service_type: service type in the header
    :returns: None if the response has no version
    """
    for item in headers.get(HEADER, '').split(','):
        name, _, text = item.strip().partition(' ')
        if name == service_type:
            try:
                return Version.parse(text)
            except exceptions.InvalidVersion:
                return None
    return None


def required_version(document: Any) -> Version | None:
    """Return the version that an error response recommends.

    :param document: the decoded body of the response
    :returns: None if the error names no version
    """
    for item in _dicts(document, 'errors'):
        try:
            return Version.parse(str(item['available_from']))
        except (KeyError, exceptions.InvalidVersion):
            continue
    return None


def _range(value: VersionOrRange) -> Range:
    # A Version is a tuple, so check for it first.
    if isinstance(value, (str, Version)):
        value = (value, value)
    first, last = map(as_version, value)
    if last < first:
        raise ValueError(f'{first} to {last} is not a range')
    return first, last


def _describe(version_range: Range) -> str:
    first, last = version_range
    return str(first) if first == last else f'{first} to {last}'


def _entries(document: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the versions of a document, in any of the known formats."""
    if not isinstance(document, dict):
        return
    if isinstance(document.get('version'), dict):
        yield document['version']
    versions = document.get('versions')
    if isinstance(versions, dict):  # the form of keystone and barbican
        document = {'versions': versions.get('values')}
    yield from _dicts(document, 'versions')


def _dicts(document: Any, key: str) -> Iterator[Mapping[str, Any]]:
    items = document.get(key) if isinstance(document, dict) else None
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            yield item


def _range_of_entry(entry: Mapping[str, Any]) -> Range | None:
    highest = entry.get('max_version') or entry.get('version')
    try:
        return (
            Version.parse(str(entry.get('min_version'))),
            Version.parse(str(highest)),
        )
    except exceptions.InvalidVersion:
        return None
