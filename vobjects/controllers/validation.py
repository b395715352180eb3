# SPDX-License-Identifier: Apache-2.0
"""Decorators that declare schemas for controller methods, by version.

::

    @api_version('1.0')
    @schema(create, '1.0', '1.4')
    @schema(create_v15, '1.5')
    @query_schema(create_query)
    @response_body_schema(created)
    def create(self, req, body): ...

If a method declares request, query or response schemas, each of its versions
must have exactly one of that kind. ``api_version`` checks this when it is
applied, and the contract's tests check it again. Schemas are of draft 4 unless
``$schema`` names another dialect. Each is compiled once, and its lookup takes
the same time for any number of schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vobjects.controllers.compiled_schema import CompiledSchema
from vobjects.controllers.wrapper import Decorator, declare
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
