# SPDX-License-Identifier: Apache-2.0
"""Compiled schemas of bodies, queries and responses.

The decorators of :mod:`~vobjects.controllers.decorators` create a
:class:`CompiledSchema`, and :mod:`~vobjects.controllers.wrapper` applies it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jsonschema

from vobjects import exceptions
from vobjects.controllers.ranges import RangeMap
from vobjects.microversions import errors, fault_search, query, validation
from vobjects.microversions.version_ranges import VersionRange, explain
from vobjects.versions import Version


class CompiledSchema:
    """A compiled schema.

    :raises vobjects.exceptions.DeclarationError: the schema is invalid
    """

    def __init__(self, definition: Mapping[str, Any]) -> None:
        self.definition = definition
        dialect = jsonschema.validators.validator_for(
            definition, default=jsonschema.Draft4Validator
        )
        try:
            self._validator = fault_search.Validator(definition, dialect)
        except jsonschema.SchemaError as error:
            raise exceptions.DeclarationError(
                f'{exceptions.cut(definition)} is not a valid JSON schema:'
                f' {error.message}'
            ) from None

    def check(
        self,
        value: Any,
        where: str,
        version: Version,
        all_schemas: RangeMap[CompiledSchema],
    ) -> None:
        """Raise an error if the schema rejects a value.

        :param value: the value
        :param where: name of the part, for error messages
        :param version: version of the request
        :param all_schemas: schemas of all versions, used to find the one with
            an unknown property
        :raises vobjects.microversions.errors.ValidationError: the first fault
        """
        fault = self._validator.first_fault(value)
        if fault is None:
            return
        if fault.validator == 'additionalProperties':
            later = _later_property(fault, version, all_schemas)
            if later is not None:
                name, first = later
                ranges = (VersionRange(first),)
                raise errors.ValidationError.about_versions(
                    where,
                    explain(exceptions.cut(name), ranges, version),
                    ranges,
                    version,
                )
        raise validation.schema_error(fault, where)

    def fault(self, value: Any) -> str:
        """Return the first fault of a value; empty if it is valid."""
        fault = self._validator.first_fault(value)
        return '' if fault is None else f'{fault.json_path}: {fault.message}'

    def parse_query(self, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return the values of a query, converted to the properties' types.

        :raises vobjects.microversions.errors.ValidationError: a parameter that
            is not a list occurs twice
        """
        properties = self.definition.get('properties', {})
        values: dict[str, Any] = {}
        for name, text in pairs:
            query.add_parameter(
                values, name, text, properties.get(name, {}), 'query'
            )
        return values


def _later_property(
    fault: jsonschema.ValidationError,
    version: Version,
    all_schemas: RangeMap[CompiledSchema],
) -> tuple[str, Version] | None:
    """Return an unknown property of a later schema, and its first version."""
    rejecting: Any = fault.schema
    value: Any = fault.instance
    known = rejecting.get('properties', {})
    for entry in all_schemas:
        if entry.first <= version:
            continue
        later: Any = entry.value.definition
        for step in fault.absolute_path:
            later = (
                later.get('items', {})
                if isinstance(step, int)
                else later.get('properties', {}).get(step, {})
            )
        for name in value:
            if name not in known and name in later.get('properties', {}):
                return name, entry.first
    return None
