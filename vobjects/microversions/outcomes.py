# SPDX-License-Identifier: Apache-2.0
"""What a method may come to: its success, its errors, its end.

::

    @response(202, '1.0', '1.4')
    @response(200, '1.5')
    @expected_errors((404, 409))
    @removed('1.9', 'Use POST /v1/actions.')
    @experimental
    def collect(self, req): ...

::

    ApiError
    ├── MethodRemoved      410  there until a version, and why not since
    ├── ExperimentalMethod 404  only for those who ask for what may change
    └── UnexpectedError    500  not among the errors that were declared
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable
from typing import Any

from vobjects.microversions import errors, facts
from vobjects.microversions.policy import Experimental
from vobjects.microversions.ranges import bound
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: Statuses that need no declaration: who asks may be anybody.
ALWAYS = frozenset((401, 403))


class MethodRemoved(errors.NegotiationError):
    """The method has ended before the requested version.

    :param name: the method, for people
    :param version: first version without it
    :param reason: a sentence: why, and what to use
    """

    status = 410
    code = 'microversion-method-removed'
    title = 'Method was removed before the requested microversion'
    type_name = 'HTTPGone'

    def __init__(self, name: str, version: Version, reason: str) -> None:
        self.version = version
        self.reason = reason
        super().__init__(
            f"{name} is gone since API version '{version}'. {reason}"
        )


class ExperimentalMethod(errors.NegotiationError):
    """The method may still change; who wants it nevertheless has to say so.

    :param name: the method, for people
    :param header: in which to say so; empty: this service does not offer it
    """

    status = 404
    code = 'microversion-method-experimental'
    title = 'Method is experimental'
    type_name = 'HTTPNotFound'

    def __init__(self, name: str, header: str) -> None:
        self.header = header
        super().__init__(
            f'{name} is experimental: it may change without another version.'
            f" To use it, send '{header}: true'."
            if header
            else f'{name} is experimental, and not offered by this service.'
        )


class UnexpectedError(errors.ApiError):
    """A method failed in a way that it does not declare."""

    status = 500
    code = 'internal'
    title = 'Internal error'
    type_name = 'InternalError'

    def __init__(self) -> None:
        super().__init__('The server failed while it served this request.')


@dataclasses.dataclass(frozen=True, slots=True)
class Removed:
    """Since when a method is gone, and why."""

    version: Version
    reason: str


def response(
    status: int,
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> facts.Decorator:
    """Declare the status of a success, in a range of versions.

    :func:`vobjects.microversions.facts.success` returns it.

    :raises vobjects.exceptions.DeclarationError: two for one version
    """
    return facts.declare('successes', status, min_version, max_version)


def expected_errors(
    statuses: int | Iterable[int],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> facts.Decorator:
    """Declare the statuses of errors that a method may raise.

    Any other error becomes 500, with its reason in the log: an answer that
    no client was told of is a fault. Refused input and :data:`ALWAYS` need
    not be declared. What has a status is any exception with an integer
    ``status``, ``code``, ``status_int`` or ``status_code``.
    """
    expected = [statuses] if isinstance(statuses, int) else list(statuses)
    return facts.declare(
        'failures', frozenset(expected), min_version, max_version
    )


def removed(
    version: str | Version, reason: str
) -> Callable[[facts.Function], facts.Function]:
    """Declare that from a version on the method answers 410.

    :param version: the first one without it
    :param reason: a sentence for clients: why, and what to use
    """
    ended = Removed(bound(version), reason)

    def decorate(function: facts.Function) -> facts.Function:
        wrapped = facts.wrapped(function)
        facts.facts_of(wrapped).removed = ended
        return wrapped

    return decorate


def experimental(function: facts.Function) -> facts.Function:
    """Keep a method from all who do not ask for what is experimental.

    They get 404. Who sends ``true`` in the policy's ``experimental_header``
    is served; the version says nothing of such a method, which may change.
    """
    wrapped = facts.wrapped(function)
    facts.facts_of(wrapped).experimental = True
    return wrapped


def refuse_experimental(name: str, asked: Experimental | None) -> None:
    """Refuse who did not ask for what is experimental.

    :param asked: what the version middleware has heard; None: nothing
    :raises ExperimentalMethod: it was not asked for
    """
    if asked is None or not asked.wanted:
        raise ExperimentalMethod(name, asked.header if asked else '')


def refuse_removed(name: str, ended: Removed, version: Version) -> None:
    """Refuse a version at which a method is gone.

    :raises MethodRemoved: it is
    """
    if version >= ended.version:
        raise MethodRemoved(name, ended.version, ended.reason)


def judge(error: Exception, expected: frozenset[int]) -> Exception:
    """Return the error to raise for what a method raised."""
    if isinstance(error, errors.InputError):
        return error
    if _status_of(error) in expected | ALWAYS:
        return error
    LOG.error('A method raised what it does not declare', exc_info=error)
    return UnexpectedError()


def _status_of(error: Exception) -> int:
    for name in ('status_int', 'status_code', 'status', 'code'):
        found: Any = getattr(error, name, None)
        if isinstance(found, int):
            return found
        if isinstance(found, str) and found[:3].isdecimal():
            return int(found[:3])  # '404 Not Found'
    return 500
