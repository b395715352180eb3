# SPDX-License-Identifier: Apache-2.0
"""Decorators for the outcomes of a method: status, errors, removal.

::

    @response(202, '1.0', '1.4')
    @response(200, '1.5')
    @expected_errors((404, 409))
    @gone('1.9', 'Use POST /v1/actions.')
    def collect(self, req): ...
"""

from __future__ import annotations

from collections.abc import Iterable

from vobjects.controllers.method_spec import Removal, spec_of
from vobjects.controllers.ranges import bound
from vobjects.controllers.wrapper import Decorator, Function, declare, wrap
from vobjects.versions import Version


def response(
    status: int,
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> Decorator:
    """Declare the status of a success in a range of versions.

    :func:`vobjects.controllers.method_spec.success_status` returns it.

    :raises vobjects.exceptions.DeclarationError: a version has two statuses
    """
    return declare('success_statuses', status, min_version, max_version)


def expected_errors(
    statuses: int | Iterable[int],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> Decorator:
    """Declare the statuses of errors that a method may raise.

    Any other error becomes a 500 and is logged, because clients cannot expect
    an undocumented response. Invalid input, errors about versions and live
    servers, and the statuses in ``wrapper.ALWAYS_EXPECTED`` need no
    declaration. The status of an exception is its integer attribute
    ``status_int``, ``status_code``, ``status`` or ``code``, or the number at
    the beginning of a text.
    """
    expected = [statuses] if isinstance(statuses, int) else statuses
    return declare(
        'error_statuses', frozenset(expected), min_version, max_version
    )


def gone(version: str | Version, reason: str) -> Decorator:
    """Declare that a method responds with 410 from a version on.

    :param version: first version without the method
    :param reason: sentence for clients with the reason and the replacement
    """
    removal = Removal(bound(version), reason)

    def decorate(function: Function) -> Function:
        wrapped = wrap(function)
        spec_of(wrapped).removal = removal
        return wrapped

    return decorate
