# SPDX-License-Identifier: Apache-2.0
"""Decorators that declare the input and outcomes of methods, by version.

::

    @api_version('1.0')
    @schema(create, '1.0', '1.4')
    @schema(create_v15, '1.5')
    @query_schema(create_query)
    @response_body_schema(created)
    @response(202, '1.0', '1.4')
    @response(200, '1.5')
    @expected_errors((404, 409))
    @gone('1.9', 'Use POST /v1/actions.')
    def create(self, req, body): ...

If a method declares request, query or response schemas, each of its versions
must have exactly one of that kind. ``api_version`` checks this when it is
applied, and the contract's tests check it again. Schemas are of draft 4 unless
``$schema`` names another dialect. Each is compiled once, and its lookup takes
the same time for any number of schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vobjects.controllers.compiled_schema import CompiledSchema
from vobjects.controllers.method_spec import Removal, spec_of
from vobjects.controllers.ranges import bound
from vobjects.controllers.wrapper import Decorator, Function, declare, wrap
from vobjects.versions import Version


def schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> Decorator:
    """Declare the schema of the method's argument ``body``.

    :raises vobjects.exceptions.DeclarationError: the schema is invalid, or a
        version has two schemas
    """
    compiled = CompiledSchema(definition)
    return declare('request_schemas', compiled, min_version, max_version)


def query_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> Decorator:
    """Declare the schema of the query: an object with its parameters.

    Texts are converted to the types of the properties. A parameter whose type
    is a list may be repeated.
    """
    compiled = CompiledSchema(definition)
    return declare('query_schemas', compiled, min_version, max_version)


def response_body_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> Decorator:
    """Declare the schema of the method's return value.

    It is checked only if the environ has ``wrapper.CHECK_RESPONSES``, as in
    tests. In production, a client would gain nothing from an error in place of
    its response.
    """
    compiled = CompiledSchema(definition)
    return declare('response_schemas', compiled, min_version, max_version)


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
