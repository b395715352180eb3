# SPDX-License-Identifier: Apache-2.0
"""Decorators for the outcomes of a method: status, errors, removal.

::

    @response(202, '1.0', '1.4')
    @response(200, '1.5')
    @expected_errors((404, 409))
    @removed('1.9', 'Use POST /v1/actions.')
    @experimental
    def collect(self, req): ...

::

    ApiError
    ├── MethodRemoved      410  removed in a version; says why
    ├── ExperimentalMethod 404  the request must opt in
    └── UnexpectedError    500  the method raised an undeclared error
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable
from typing import Any

from vobjects.controllers import method_spec
from vobjects.controllers.ranges import bound
from vobjects.microversions import errors
from vobjects.microversions.policy import Experimental
from vobjects.versions import Version

LOG = logging.getLogger(__name__)

#: Statuses that need no declaration: authentication may fail for any method.
ALWAYS = frozenset((401, 403))


class MethodRemoved(errors.NegotiationError):
    """The method was removed before the requested version.

    :param name: the method, for people
    :param version: first version without it
    :param reason: sentence with the reason and the replacement
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
    """The method is experimental, and the request does not opt in.

    :param name: the method, for people
    :param header: header for opting in; empty: the service does not offer
        experimental methods
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
    """The method raised an error that it does not declare."""

    status = 500
    code = 'internal'
    title = 'Internal error'
    type_name = 'InternalError'

    def __init__(self) -> None:
        super().__init__('The server failed while it served this request.')


@dataclasses.dataclass(frozen=True, slots=True)
class Removed:
    """First version without a method, and the reason."""

    version: Version
    reason: str


def response(
    status: int,
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> method_spec.Decorator:
    """Declare the status of a success in a range of versions.

    :func:`vobjects.controllers.method_spec.success` returns it.

    :raises vobjects.exceptions.DeclarationError: a version has two statuses
    """
    return method_spec.declare('successes', status, min_version, max_version)


def expected_errors(
    statuses: int | Iterable[int],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> method_spec.Decorator:
    """Declare the statuses of errors that a method may raise.

    Any other error becomes a 500 and is logged, because clients cannot expect
    an undocumented response. Invalid input and :data:`ALWAYS` need no
    declaration. The status of an exception is its integer attribute
    ``status_int``, ``status_code``, ``status`` or ``code``, or the number at
    the beginning of a text.
    """
    expected = [statuses] if isinstance(statuses, int) else list(statuses)
    return method_spec.declare(
        'failures', frozenset(expected), min_version, max_version
    )


def removed(
    version: str | Version, reason: str
) -> Callable[[method_spec.Function], method_spec.Function]:
    """Declare that a method responds with 410 from a version on.

    :param version: first version without the method
    :param reason: sentence for clients with the reason and the replacement
    """
    ended = Removed(bound(version), reason)

    def decorate(function: method_spec.Function) -> method_spec.Function:
        wrapped = method_spec.wrapped(function)
        method_spec.facts_of(wrapped).removed = ended
        return wrapped

    return decorate


def experimental(function: method_spec.Function) -> method_spec.Function:
    """Restrict a method to requests that opt in to experimental methods.

    Other requests get 404. A request opts in with ``true`` in the header that
    the policy names as ``experimental_header``. An experimental method may
    change without a new version.
    """
    wrapped = method_spec.wrapped(function)
    method_spec.facts_of(wrapped).experimental = True
    return wrapped


def refuse_experimental(name: str, asked: Experimental | None) -> None:
    """Reject a request that does not opt in to experimental methods.

    :param name: the method, for people
    :param asked: the request's opt-in, from the version middleware; None: the
        service offers none
    :raises ExperimentalMethod: the request does not opt in
    """
    if asked is None or not asked.wanted:
        raise ExperimentalMethod(name, asked.header if asked else '')


def refuse_removed(name: str, ended: Removed, version: Version) -> None:
    """Reject versions that no longer have a method.

    :raises MethodRemoved: the version is not lower than that of the removal
    """
    if version >= ended.version:
        raise MethodRemoved(name, ended.version, ended.reason)


def judge(error: Exception, expected: frozenset[int]) -> Exception:
    """Return the error to raise for an exception of a method."""
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
