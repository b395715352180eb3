# SPDX-License-Identifier: Apache-2.0
"""Parse the version header and negotiate the version of a request.

The rules, from the API-SIG microversion specification and, where it is silent,
from this module (the service is ``clustering``)::

    clustering 1.7                  that version
    clustering latest               the highest version served now
    compute 2.1, clustering 1.7     1.7, at any position
    compute 2.1                     no version requested: the default or an
                                    error, depending on the policy
    (no header, or empty)           the default
    clustering 1.7, clustering 1.7  1.7: a repetition is allowed
    clustering 1.7, clustering 1.8  malformed: a contradiction
    clustering                      malformed: no version
    1.7                             malformed: no service
    clustering 1.07, +1.7, 1.1_0    malformed: parsing is strict
    clustering 1.99                 unsupported

Several header lines are equivalent to one line joined by commas (RFC 9110,
5.3). Spaces and tabs around an item are ignored, and so are empty items. The
versions of other services are not validated. Because clients repeat their
header, results are cached by its raw text. The cache is cleared when the
maximum changes, as it does during a rolling upgrade.
"""

from __future__ import annotations

from collections.abc import Sequence

from vobjects import exceptions
from vobjects.microversions import errors
from vobjects.microversions.version_policy import HEADER, VersionPolicy
from vobjects.versions import PATTERN, Maximum, Version

#: Maximum length of all version headers of a request together.
MAX_LENGTH = 8192

#: Maximum length of a cached header: longer ones must not fill memory.
MAX_CACHED_LENGTH = 256

#: Maximum number of cached results; the cache is cleared when it is full.
MAX_CACHED = 1024

LATEST = 'latest'

_WHITESPACE = ' \t'

#: Cache key: a header, followed by the legacy headers if there are any.
_Key = str | tuple[str, ...]


class Negotiator:
    """Negotiates the version of requests to one service; thread-safe.

    :param policy: version policy of the service; the caller collects the
        values of its legacy headers
    """

    def __init__(self, policy: VersionPolicy) -> None:
        self.policy = policy
        self._names = frozenset(policy.service_types)
        self._versions = {str(version): version for version in policy.versions}
        # A tuple, replaced as a whole: no thread may combine the results of
        # one maximum with another maximum.
        self._cache: tuple[Maximum | None, dict[_Key, Version]] = (None, {})

    def negotiate(
        self, header: str, maximum: Maximum, legacy: Sequence[str] = ()
    ) -> Version:
        """Return the version to serve.

        :param header: ``OpenStack-API-Version``
        :param maximum: highest version served now
        :param legacy: values of the policy's legacy headers, preferred one
            first; used if ``header`` does not name this service
        :raises vobjects.microversions.errors.MalformedVersion: see the
            module's docstring
        :raises vobjects.microversions.errors.OtherService: the header names
            other services only, and the policy rejects that
        :raises vobjects.microversions.errors.UnsupportedVersion: the version
            is out of range
        """
        key = (header, *legacy) if legacy else header
        cached_for, cache = self._cache
        if maximum is not cached_for:
            cache = cache if maximum == cached_for else {}
            self._cache = (maximum, cache)
        version = cache.get(key)
        if version is not None:
            return version
        version = self._choose(self._requested(header, legacy), maximum)
        length = len(header) + (sum(map(len, legacy)) if legacy else 0)
        if length <= MAX_CACHED_LENGTH:
            if len(cache) >= MAX_CACHED:
                cache.clear()
            cache[key] = version
        return version

    def _choose(self, requested: str, maximum: Maximum) -> Version:
        """Return the version to serve for a requested one."""
        limit = self.policy.limit(maximum)
        version = self._versions.get(requested)
        if version is not None and version <= limit.version:
            return version
        if not requested:
            return self.policy.default_for(limit)
        if requested == LATEST:
            return limit.version
        raise errors.UnsupportedVersion(requested, self.policy.minimum, limit)

    def _requested(self, header: str, legacy: Sequence[str]) -> str:
        """Return the version that the headers request from this service.

        :returns: the canonical text, such as ``'1.7'`` or ``'latest'``;
            ``''`` for none
        """
        if len(header) > MAX_LENGTH:
            raise _too_long(header)
        requested, names_others = self._parse(header)
        if not requested and legacy:
            requested = self._parse_legacy(legacy)
        if not requested and names_others and self.policy.other_service_status:
            raise errors.OtherService(
                f'{HEADER} names other services only; this one is'
                f' {self.policy.service_type!r}.'
            )
        return requested

    def _parse(self, text: str) -> tuple[str, bool]:
        """Return the requested version, and whether others are named."""
        requested, names_others = '', False
        for item in text.replace('\t', ' ').split(','):
            name, _, rest = item.strip(' ').partition(' ')
            if name in self._names or name.lower() in self._names:
                rest = rest.lstrip(' ')
                if not rest:
                    raise self._malformed(item, 'has no version')
                version = self._canonical(rest)
                if not version:
                    raise self._malformed(rest, 'is not a version')
                requested = _only(requested, version)
            elif name:
                names_others = True
                if not rest and self._canonical(name):
                    raise self._malformed(item, 'names no service')
        return requested, names_others

    def _parse_legacy(self, values: Sequence[str]) -> str:
        """Parse the first legacy header that is not empty."""
        value = next(
            (value for value in values if value.strip(_WHITESPACE)), ''
        )
        if len(value) > MAX_LENGTH:
            raise _too_long(value)
        requested = ''
        for item in value.split(','):
            if text := item.strip(_WHITESPACE):
                version = self._canonical(text)
                if not version:
                    raise errors.MalformedVersion(
                        f'{exceptions.cut(text)} is not a version; write'
                        " MAJOR.MINOR, for example '1.10', or 'latest'."
                    )
                requested = _only(requested, version)
        return requested

    def _canonical(self, text: str) -> str:
        """Return the canonical text of a version; ``''`` if it is none."""
        if text in self._versions or PATTERN.fullmatch(text):
            return text
        if self.policy.latest_any_case:
            text = text.lower()
        return LATEST if text == LATEST else ''

    def _malformed(self, value: str, problem: str) -> errors.MalformedVersion:
        name = self.policy.service_type
        return errors.MalformedVersion(
            f'{HEADER}: {exceptions.cut(value.strip(_WHITESPACE))} {problem};'
            f" write '{name} MAJOR.MINOR', for example '{name} 1.10', or"
            f" '{name} {LATEST}'."
        )


def _too_long(text: str) -> errors.MalformedVersion:
    return errors.MalformedVersion(
        f'The version header has {len(text)} characters; the maximum is'
        f' {MAX_LENGTH}.'
    )


def _only(first: str, second: str) -> str:
    """Return the requested version; reject two that differ."""
    # Some servers use the first version and others the last, so the client
    # cannot know which one applies.
    if first and first != second:
        raise errors.MalformedVersion(
            f'Both {exceptions.cut(first)} and {exceptions.cut(second)} are'
            ' requested of this service; send one version.'
        )
    return second
