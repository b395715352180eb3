# SPDX-License-Identifier: Apache-2.0
"""The version header: what it asks, and which version that is now.

The rules (API-SIG microversion specification; where it is silent, ours)::

    clustering 1.7                  that version
    clustering latest               the highest served now; any case
    compute 2.1, clustering 1.7     ours counts, in any place
    compute 2.1                     nothing asked of us: the minimum
    (no header, or empty)           the minimum
    clustering 1.7, clustering 1.7  said twice
    clustering 1.7, clustering 1.8  malformed: a contradiction
    clustering                      malformed: no version
    1.7                             malformed: no service, and surely meant
    clustering 1.07, +1.7, 1.1_0    malformed: the strict pattern
    clustering 1.99                 unsupported

Several header lines are one line joined by commas (RFC 9110, 5.3). Around an
item, spaces and tabs are free; an empty item is skipped; what is said to
other services is not judged. Reading is cached on the raw header, because
clients repeat it. The maximum is applied after the cache, because it moves
during a rolling upgrade.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from vobjects import exceptions
from vobjects.microversions import errors
from vobjects.microversions.policy import HEADER, Maximum, Policy
from vobjects.versions import MAX_DIGITS, NULL, Version

#: Characters of all version headers of a request, together.
MAX_LENGTH = 8192

#: Longer headers are read anew each time: nobody fills memory with them.
MAX_CACHED_LENGTH = 256

LATEST = 'latest'

_NUMBERS = re.compile(r'([1-9][0-9]*)\.([1-9][0-9]*|0)', re.ASCII)
_BLANKS = re.compile(r'[ \t]+')
_WHITE = ' \t'

#: Stands for numbers too long to be anybody's version.
_BEYOND = Version(10**MAX_DIGITS, 0)


class Requested(NamedTuple):
    """What a request asks of our service.

    :ivar text: canonical: ``'1.7'``, ``'latest'``, or ``''`` for nothing
    :ivar version: the null version for ``latest`` and for nothing
    """

    text: str = ''
    version: Version = NULL


NOTHING = Requested()


def requested(
    header: str | Sequence[str], policy: Policy, legacy: Sequence[str] = ()
) -> Requested:
    """Read what the headers ask of the service.

    :param header: ``OpenStack-API-Version``, one line or several
    :param policy: names the service; its legacy headers are the caller's to
        collect
    :param legacy: values of the policy's legacy headers, most wanted first;
        they count when ``header`` asks nothing of us
    :raises vobjects.microversions.errors.MalformedVersion: see the module
    """
    text = header if isinstance(header, str) else ','.join(header)
    if len(text) <= MAX_CACHED_LENGTH:
        asked = _read_cached(text, policy.service_types)
    else:
        asked = _read(text, policy.service_types)
    if asked is NOTHING and legacy:
        return _legacy(legacy)
    return asked


def negotiate(
    header: str | Sequence[str],
    policy: Policy,
    maximum: Maximum,
    legacy: Sequence[str] = (),
) -> Version:
    """Return the version to serve.

    :param maximum: highest version served now
    :raises vobjects.microversions.errors.MalformedVersion: see the module
    :raises vobjects.microversions.errors.UnsupportedVersion: out of range
    """
    return settle(requested(header, policy, legacy), policy, maximum)


def settle(asked: Requested, policy: Policy, maximum: Maximum) -> Version:
    """Return the version to serve for what was asked.

    :raises vobjects.microversions.errors.UnsupportedVersion: out of range
    """
    text, version = asked
    if not text:
        return policy.minimum
    highest = maximum.version
    if policy.minimum <= version <= highest <= policy.maximum:
        return version
    limit = policy.limit(maximum)
    if text == LATEST:
        return limit.version
    if policy.minimum <= version <= limit.version:
        return version
    raise errors.UnsupportedVersion(text, policy.minimum, limit)


def _read(text: str, service_types: tuple[str, ...]) -> Requested:
    _check_length(text)
    asked = NOTHING
    for item in text.split(','):
        name, *versions = _BLANKS.split(item.strip(_WHITE), maxsplit=1)
        if name.lower() not in service_types:
            if not versions and _is_version(name):
                raise _malformed(item, 'names no service', service_types[0])
            continue
        if not versions:
            raise _malformed(item, 'has no version', service_types[0])
        found = _version(versions[0])
        if found is None:
            raise _malformed(versions[0], 'is not a version', service_types[0])
        asked = _agreeing(asked, found)
    return asked


_read_cached = functools.lru_cache(maxsize=1024)(_read)


def _legacy(values: Sequence[str]) -> Requested:
    """Read the first legacy header that is there; it may have many lines."""
    value = next((value for value in values if value.strip(_WHITE)), '')
    _check_length(value)
    asked = NOTHING
    for item in value.split(','):
        if text := item.strip(_WHITE):
            found = _version(text)
            if found is None:
                raise errors.MalformedVersion(
                    f'{exceptions.cut(text)} is not a version; write'
                    " MAJOR.MINOR, for example '1.10', or 'latest'."
                )
            asked = _agreeing(asked, found)
    return asked


def _version(text: str) -> Requested | None:
    match = _NUMBERS.fullmatch(text)
    if match is None:
        return Requested(LATEST) if text.lower() == LATEST else None
    if max(len(match[1]), len(match[2])) > MAX_DIGITS:
        return Requested(text, _BEYOND)
    return Requested(text, Version(int(match[1]), int(match[2])))


def _check_length(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise errors.MalformedVersion(
            f'The version header has {len(text)} characters; {MAX_LENGTH}'
            ' are read.'
        )


def _is_version(text: str) -> bool:
    return _version(text) is not None


def _agreeing(before: Requested, now: Requested) -> Requested:
    # Servers in the field disagree on whether the first or the last counts,
    # so whoever sends both cannot know what will be served.
    if before.text and before != now:
        raise errors.MalformedVersion(
            f'Both {exceptions.cut(before.text)} and'
            f' {exceptions.cut(now.text)} are requested of this service;'
            ' send one version.'
        )
    return now


def _malformed(
    value: str, problem: str, service_type: str
) -> errors.MalformedVersion:
    return errors.MalformedVersion(
        f'{HEADER}: {exceptions.cut(value.strip(_WHITE))} {problem}; write'
        f" '{service_type} MAJOR.MINOR', for example"
        f" '{service_type} 1.10', or '{service_type} {LATEST}'."
    )
