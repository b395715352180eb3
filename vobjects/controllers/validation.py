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

from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema

from vobjects import exceptions
from vobjects.controllers import method_spec
from vobjects.controllers.ranges import Ranges
from vobjects.microversions import errors, fast_validation, query
from vobjects.microversions import schema as schemas
from vobjects.versions import Version


def schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> method_spec.Decorator:
    """Declare the schema of the method's argument ``body``.

    :raises vobjects.exceptions.DeclarationError: the schema is invalid, or a
        version has two schemas
    """
    return method_spec.declare(
        'bodies', Checked(definition), min_version, max_version
    )


def query_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> method_spec.Decorator:
    """Declare the schema of the query: an object with its parameters.

    Texts are converted to the types of the properties. A parameter whose type
    is a list may be repeated.
    """
    return method_spec.declare(
        'queries', Checked(definition), min_version, max_version
    )


def response_body_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> method_spec.Decorator:
    """Declare the schema of the method's return value.

    It is checked only if the environ has ``facts.CHECK_ANSWERS``, as in tests.
    In production, a client would gain nothing from an error in place of its
    response.
    """
    return method_spec.declare(
        'answers', Checked(definition), min_version, max_version
    )


class Checked:
    """A compiled schema.

    :raises vobjects.exceptions.DeclarationError: the schema is invalid
    """

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.definition = definition
        made = schemas.with_python_patterns(dict(definition))
        cls = jsonschema.validators.validator_for(
            made, default=jsonschema.Draft4Validator
        )
        try:
            cls.check_schema(made)
        except jsonschema.SchemaError as error:
            raise exceptions.DeclarationError(
                f'{exceptions.cut(definition)} is no schema: {error.message}'
            ) from None
        self._validator = cls(made, format_checker=fast_validation.FORMATS)
        self._accepts = (
            fast_validation.of(made)
            if cls is jsonschema.Draft4Validator
            else None
        )

    def check(
        self, value: Any, where: str, version: Version, all_: Ranges[Checked]
    ) -> None:
        """Raise an error if the schema rejects a value.

        :param value: the value
        :param where: name of the part, for error messages
        :param version: version of the request
        :param all_: schemas of all versions, used to find the one with an
            unknown property
        :raises vobjects.microversions.errors.ValidationError: the first fault
        """
        if self._accepts is not None and self._accepts(value):
            return
        fault = next(self._validator.iter_errors(value), None)
        if fault is None:
            return
        if fault.validator == 'additionalProperties':
            later = _later(fault, version, all_)
            if later is not None:
                name, since = later
                raise errors.ValidationError(
                    where,
                    f'{exceptions.cut(name)} needs API version {since} or'
                    f' later; this request asked for {version}',
                )
        raise schemas.refusal(fault, where, nulls=where != 'query')

    def fault(self, value: Any) -> str:
        """Return the first fault of a value; empty if it is valid."""
        if self._accepts is not None and self._accepts(value):
            return ''
        fault = next(self._validator.iter_errors(value), None)
        return '' if fault is None else f'{fault.json_path}: {fault.message}'

    def read(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return the values of a query, converted to the properties' types.

        :raises vobjects.microversions.errors.ValidationError: a parameter that
            is not a list occurs twice
        """
        properties = self.definition.get('properties', {})
        values: dict[str, Any] = {}
        for name, text in pairs:
            query.put(values, name, text, properties.get(name, {}), 'query')
        return values


def _later(
    fault: jsonschema.ValidationError, version: Version, all_: Ranges[Checked]
) -> tuple[str, Version] | None:
    """Return a property that a later schema has, and its first version."""
    closed: Any = fault.schema
    given: Any = fault.instance
    known = closed.get('properties', {})
    for one in all_:
        if one.first <= version:
            continue
        there: Any = one.value.definition
        for step in fault.absolute_path:
            there = (
                there.get('items', {})
                if isinstance(step, int)
                else there.get('properties', {}).get(step, {})
            )
        for name in given:
            if name not in known and name in there.get('properties', {}):
                return name, one.first
    return None
