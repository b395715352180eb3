# SPDX-License-Identifier: Apache-2.0
"""Schemas for the methods of controllers, by version (seed 002).

::

    @api_version('1.0')
    @schema(create, '1.0', '1.4')
    @schema(create_v15, '1.5')
    @query_schema(create_query)
    @response_body_schema(created)
    def create(self, req, body): ...

Where a kind of schema is declared it must be there for every version of the
method; that is seen when ``api_version`` reads them, and by the contract's
meta-test. A schema is of draft 4 unless its ``$schema`` says another. It is
compiled once; choosing it does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema

from vobjects import exceptions
from vobjects.microversions import acceptance, errors, facts, query
from vobjects.microversions import schema as schemas
from vobjects.microversions.ranges import Ranges
from vobjects.versions import Version


def schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> facts.Decorator:
    """Declare what the method's argument ``body`` must be.

    :raises vobjects.exceptions.DeclarationError: it is no schema, or there
        are two for one version
    """
    return facts.declare(
        'bodies', Checked(definition), min_version, max_version
    )


def query_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> facts.Decorator:
    """Declare the query: an object whose properties are the parameters.

    Texts are read as the properties' types; a list may be given repeatedly.
    """
    return facts.declare(
        'queries', Checked(definition), min_version, max_version
    )


def response_body_schema(
    definition: Mapping[str, Any],
    min_version: str | Version | None = None,
    max_version: str | Version | None = None,
) -> facts.Decorator:
    """Declare what the method returns.

    It is looked at only where the environ has ``facts.CHECK_ANSWERS``: in
    tests. A client gains nothing from an error instead of its answer.
    """
    return facts.declare(
        'answers', Checked(definition), min_version, max_version
    )


class Checked:
    """A schema made ready.

    :raises vobjects.exceptions.DeclarationError: it is no schema
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
        self._validator = cls(made, format_checker=acceptance.FORMATS)
        self._accepts = (
            acceptance.of(made) if cls is jsonschema.Draft4Validator else None
        )

    def check(
        self, value: Any, where: str, version: Version, all_: Ranges[Checked]
    ) -> None:
        """Refuse what the schema does not allow.

        :param all_: the schemas of all versions, to tell which has a property
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
        """Return what is wrong with a value; empty: nothing."""
        if self._accepts is not None and self._accepts(value):
            return ''
        fault = next(self._validator.iter_errors(value), None)
        return '' if fault is None else f'{fault.json_path}: {fault.message}'

    def read(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return the values of a query, read by the properties' types.

        :raises vobjects.microversions.errors.ValidationError: one value is
            given twice
        """
        properties = self.definition.get('properties', {})
        values: dict[str, Any] = {}
        for name, text in pairs:
            query.put(values, name, text, properties.get(name, {}), 'query')
        return values


def _later(
    fault: jsonschema.ValidationError, version: Version, all_: Ranges[Checked]
) -> tuple[str, Version] | None:
    """Return a property that a later schema has, and since when."""
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
