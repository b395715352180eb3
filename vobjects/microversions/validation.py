# SPDX-License-Identifier: Apache-2.0
"""Validation of the parts of a request, and the messages about their faults.

Valid input takes a fast path (``fast_validation``). For invalid input, the
error gives the location and the expected value. If a field belongs to another
API version, the error names that version: this is the mistake that users ask
about most.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jsonschema

from vobjects import exceptions, field_values, fields, phrases, suggestions
from vobjects.microversions import (
    errors,
    nested_objects,
    schema,
    version_ranges,
)
from vobjects.microversions.nested_objects import ObjectType
from vobjects.sensitive import HIDDEN
from vobjects.versions import NULL, Version


def validate(
    cls: ObjectType,
    microversion: Version,
    names: tuple[str, ...],
    values: Any,
    where: str = 'body',
    *,
    early: bool = False,
    by_fields: bool = True,
) -> None:
    """Validate a part of a request at an API version.

    :param cls: the request type
    :param microversion: version of the request
    :param names: every field that the part had at any version
    :param values: the part, as JSON values
    :param where: name of the part, for error messages
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :param by_fields: whether the fields check the values, too, such as dates;
        building the object checks those of its newest version
    :raises vobjects.microversions.errors.ValidationError: the first fault
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    compiled = schema.request_schema_at(cls, microversion, names, early)
    if not compiled.validator.accepts(values):
        _check(compiled, microversion, values, where)
    for name in compiled.properties if by_fields else compiled.not_built:
        if name in values and name not in compiled.object_fields:
            compiled.check_value(name, values[name], where)
    if compiled.object_fields:

        def check(inner: Any, value: Any, path: field_values.Path) -> None:
            """Validate an object inside the part."""
            inner_cls = nested_objects.class_of(inner)
            place = phrases.format_path(where, path)
            _check_exists(inner_cls, microversion, place, early)
            validate(
                inner_cls,
                microversion,
                schema.all_field_names(inner_cls),
                value,
                place,
                early=early,
                by_fields=by_fields,
            )

        nested_objects.map_fields(compiled.object_fields, values, check)


def _check_exists(
    cls: ObjectType, microversion: Version, where: str, early: bool
) -> None:
    """Reject an object whose type the version lacks."""
    if cls.version_at(microversion, early=early) is None:
        ranges = version_ranges.ranges_having(cls, lambda _: True)
        problem = version_ranges.explain(cls.obj_name(), ranges, microversion)
        raise errors.ValidationError.about_versions(
            where, problem, ranges, microversion
        )


def _check(
    compiled: schema.RequestSchema,
    microversion: Version,
    values: Any,
    where: str,
) -> None:
    """Raise the first fault; do nothing if the fast path was too strict."""
    if not isinstance(values, dict):
        raise errors.ValidationError(
            where, f'must be a JSON object, not {phrases.format_value(values)}'
        )
    unknown = [name for name in values if name not in compiled.properties]
    if unknown:
        raise _unknown_field_error(compiled, microversion, unknown, where)
    for name in compiled.required:
        if name not in values:
            raise _missing(compiled, microversion, name, where)
    # Faults of the whole part have been found above.
    fault = compiled.validator.first_fault(values)
    if fault is not None:
        raise _value_error(compiled, microversion, values, fault, where)


def _value_error(
    compiled: schema.RequestSchema,
    microversion: Version,
    values: Mapping[str, Any],
    fault: jsonschema.ValidationError,
    where: str,
) -> errors.ValidationError:
    """Return the error for a field whose value the schema rejects."""
    name = str(fault.absolute_path[0])
    is_secret = name in compiled.secrets
    if is_secret:
        fault = _without_value(fault)
    ranges = _ranges_accepting(compiled, name, values[name])
    if ranges:
        error = schema_error(fault, where, suggests=False)
        shown = phrases.format_value(fault.instance)
        hint = version_ranges.explain(shown, ranges, microversion)
        return errors.ValidationError.about_versions(
            error.path, f'{error.problem}; {hint}', ranges, microversion
        )
    error = schema_error(fault, where)
    if is_secret:
        return error
    field = compiled.fields[name]
    type_message = ''
    if fault.validator == 'pattern':
        problem = _pattern_problem(field._type, fault.instance)
        error = errors.ValidationError(error.path, problem)
    elif fault.validator == 'type':
        type_message = phrases.shorten(fault.message, fault.instance)
    error.fault = errors.FieldFault(
        'value', (name,), field, values[name], fault.instance, type_message
    )
    return error


def _ranges_accepting(
    compiled: schema.RequestSchema, name: str, value: Any
) -> version_ranges.VersionRanges:
    """Return the API versions whose schemas accept a value of a field.

    Enums gain and lose members, and ranges and types change.
    """
    # Most versions have the same schema: search the value once for each.
    results: list[tuple[Any, bool]] = []

    def accepts(version: str) -> bool:
        other = compiled.at(version)
        value_schema = other.properties.get(name)
        if value_schema is None:
            return False
        for known, is_valid in results:
            if known == value_schema:
                return is_valid
        is_valid = other.validator.is_valid(value, value_schema)
        results.append((value_schema, is_valid))
        return is_valid

    return version_ranges.ranges_having(compiled.cls, accepts)


class _Secret:
    """Replaces a value; messages show HIDDEN and may show its length."""

    def __init__(self, value: Any) -> None:
        self._length = len(value) if hasattr(value, '__len__') else 0

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return HIDDEN


def _without_value(
    fault: jsonschema.ValidationError,
) -> jsonschema.ValidationError:
    """Return the fault of a secret field, without values and keys in it."""
    name, *steps = fault.absolute_path
    indices = itertools.takewhile(lambda step: isinstance(step, int), steps)
    return jsonschema.ValidationError(
        'is invalid',
        validator=fault.validator,
        path=[name, *indices],
        validator_value=fault.validator_value,
        instance=_Secret(fault.instance),
    )


def _missing(
    compiled: schema.RequestSchema,
    microversion: Version,
    name: str,
    where: str,
) -> errors.ValidationError:
    """Return the error for a required field that is missing."""
    ranges = version_ranges.ranges_having(
        compiled.cls, lambda version: name not in compiled.at(version).required
    )
    problem = f'{name!r} is required'
    until = version_ranges.next_available(ranges, microversion)
    since = version_ranges.last_removal(ranges, microversion)
    if until:
        problem += f' before API version {until}'
    elif since:
        problem += f' from API version {since} on'
    if until or since:
        problem += f'; this request asked for {microversion}'
        return errors.ValidationError(where, problem)
    fault = errors.FieldFault('missing', (name,), compiled.fields[name])
    return errors.ValidationError(where, problem, fault)


def _unknown_field_error(
    compiled: schema.RequestSchema,
    microversion: Version,
    unknown: Sequence[str],
    where: str,
) -> errors.ValidationError:
    """Return the error for names that the version does not have.

    :param compiled: schema of the part at the request's version
    :param unknown: these names; the error is about the first one
    """
    cls = compiled.cls
    name = unknown[0]
    path = phrases.format_path(where, [name])
    if name in compiled.names:
        ranges = _ranges_of(cls, name)
        shown = exceptions.cut(name)
        problem = version_ranges.explain(shown, ranges, microversion)
        problem += _other_name(cls, microversion, name)
        return errors.ValidationError.about_versions(
            path, problem, ranges, microversion
        )
    known = compiled.properties
    near = suggestions.nearest(name, (*known, *compiled.names))
    problem = (
        phrases.unknown_name(name, known)
        if near is None or near in known
        else f'unknown; did you mean {near!r}? '
        + version_ranges.explain(
            repr(near), _ranges_of(cls, near), microversion
        )
    )
    return errors.ValidationError(
        path,
        problem,
        errors.FieldFault('unknown', tuple(unknown)),
    )


def _ranges_of(cls: ObjectType, name: str) -> version_ranges.VersionRanges:
    """Return the API versions that have a field."""
    return version_ranges.ranges_having(
        cls, lambda version: name in cls.fields_at(version)
    )


def _other_name(cls: ObjectType, microversion: Version, name: str) -> str:
    """Return a clause with the name that a renamed field has at a version."""
    for newest in cls.fields:
        all_names = cls.names_of(newest)
        if name in all_names:
            object_version = cls.version_at(microversion) or str(NULL)
            for current in all_names & cls.fields_at(object_version).keys():
                return f', where it is called {exceptions.cut(current)}'
    return ''


#: Field type -> what its pattern requires.
_PATTERNS: Mapping[type, str] = {
    fields.Capacity: 'must be an integer',
    fields.MACAddress: 'must be an address such as 00:11:22:aa:bb:cc',
    fields.PCIAddress: 'must be an address such as 0000:02:00.1',
    fields.UUID: 'must be a UUID',
}


def _pattern_problem(field_type: Any, value: Any) -> str:
    """Return the problem of a value that does not match a pattern."""
    if isinstance(field_type, fields.Sort):
        return field_type.fault(value)
    if isinstance(field_type, fields.Name):
        requirement = field_type.REQUIREMENT
    else:
        *_, innermost = map(type, field_values.types_in(field_type))
        requirement = _PATTERNS.get(
            innermost, f'must be a valid {innermost.__name__}'
        )
    return f'{requirement}, not {phrases.format_value(value)}'


def conversion_error(
    cls: ObjectType,
    microversion: Version,
    error: exceptions.LossyDowngrade,
    where: str,
) -> errors.ValidationError:
    """Return the error for a valid value that the newest type cannot hold.

    The declaration of the type rejects it: ``changed`` cannot convert it, or
    the type has dropped the field.

    :param cls: the type that has the field
    """
    name = error.field
    problem = (
        f'the value {error.value} is no longer supported; this request asked'
        f' for {microversion}'
    )
    ranges = _ranges_of(cls, name)
    removed = next((r.removed for r in ranges if r.removed), None)
    if removed is not None:
        problem += f', and {name!r} was removed in API version {removed}'
    result = errors.ValidationError(
        phrases.format_path(where, [name]), problem
    )
    if removed is not None:
        result.removed_in = removed
        result.extra['removed_in'] = str(removed)
    return result


def schema_error(
    fault: jsonschema.ValidationError,
    where: str,
    *,
    suggests: bool = True,
) -> errors.ValidationError:
    """Return a readable error for a fault that jsonschema reports.

    :param fault: the fault
    :param where: name of the part; a query and a path cannot contain null
    :param suggests: whether to suggest an accepted value that is similar
    """
    path = phrases.format_path(where, fault.absolute_path)
    describe = _EXPECTED.get(str(fault.validator))
    if describe is None:
        return errors.ValidationError(
            path, phrases.shorten(fault.message, fault.instance)
        )
    expected: Any = fault.validator_value
    if isinstance(expected, list) and where in ('query', 'path'):
        expected = [item for item in expected if item not in ('null', None)]
    value: Any = fault.instance
    found = (
        len(value)
        if fault.validator in _UPPER_BOUNDS
        else phrases.format_value(value)
    )
    problem = f'{describe(expected)}, not {found}'
    if suggests and fault.validator == 'enum':
        problem += phrases.did_you_mean(fault.instance, expected)
    return errors.ValidationError(path, problem)


_TYPE_NAMES: Mapping[str, str] = {
    'array': 'a list',
    'boolean': 'true or false',
    'integer': 'an integer',
    'null': 'null',
    'number': 'a number',
    'object': 'a JSON object',
    'string': 'a string',
}


def _describe_types(expected: str | list[str]) -> str:
    names = [expected] if isinstance(expected, str) else expected
    return 'must be ' + ' or '.join(_TYPE_NAMES[name] for name in names)


def _describe_options(options: list[Mapping[str, Any]]) -> str:
    formats = [option.get('format') for option in options]
    if None in formats:
        return f'must have one of {len(options)} accepted forms'
    return f'must have the format {" or ".join(map(str, formats))}'


#: Keywords whose fault is the length of the value.
_UPPER_BOUNDS = ('maxItems', 'maxLength', 'maxProperties')

# Schema keyword -> function that describes the expected value.
_EXPECTED: Mapping[str, Callable[[Any], str]] = {
    'type': _describe_types,
    'anyOf': _describe_options,
    'enum': lambda values: f'must be one of {phrases.format_values(values)}',
    'pattern': lambda text: 'must match ' + re.sub(r'\\Z\Z', '$', text),
    'format': lambda name: f'must have the format {name}',
    'minimum': lambda limit: f'must be at least {limit}',
    'maximum': lambda limit: f'must be at most {limit}',
    'minLength': lambda limit: f'must have at least {limit} character(s)',
    'maxLength': lambda limit: f'must have at most {limit} characters',
    'minItems': lambda limit: f'must have at least {limit} item(s)',
    'maxItems': lambda limit: f'must have at most {limit} items',
    'maxProperties': lambda limit: f'must have at most {limit} names',
    'uniqueItems': lambda _: 'must have each item once',
}
