# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of request types by version, and validation messages.

The schema of a type follows from its fields at an object version. It is
compiled once for each (type, object version, names). Valid input takes a fast
path (``fast_validation``). For invalid input, the
error gives the location and the expected value. If a field belongs to another
API version, the error names that version: this is the mistake that users ask
about most.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, phrases, suggestions
from vobjects.microversions import (
    errors,
    fast_validation,
    nested_objects,
    version_ranges,
)
from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects

DIALECT = 'http://json-schema.org/draft-04/schema#'

#: Maximum length of a message taken from another library.
_MAX_MESSAGE_LENGTH = 200

RequestType: TypeAlias = 'type[objects.Object]'


def body_schema(
    cls: RequestType,
    microversion: Version,
    names: Iterable[str],
    *,
    early: bool = False,
    outer: tuple[RequestType, ...] = (),
) -> dict[str, Any] | None:
    """Return the schema (draft 4) of a part of a request.

    :param cls: the request type
    :param microversion: version of the request
    :param names: fields of the part; fields that the version lacks are omitted
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :param outer: the types around ``cls``; the schema does not contain theirs
        again, because it cannot be infinite
    :returns: None if the microversion lacks the type
    """
    object_version = cls.version_at(microversion, early=early)
    if object_version is None:
        return None
    if cls in outer:
        return {'type': 'object'}
    return _body_schema(
        cls,
        object_version,
        names,
        lambda inner: body_schema(
            inner,
            microversion,
            all_field_names(inner),
            early=early,
            outer=(*outer, cls),
        ),
    )


def _body_schema(
    cls: RequestType,
    object_version: str,
    names: Iterable[str],
    object_schema: Callable[[RequestType], dict[str, Any] | None],
) -> dict[str, Any]:
    """Return the schema (draft 4) of a part of a request.

    :param object_schema: returns the schema of the objects of a type inside
        the part; None: the part lacks their fields
    """
    known = cls.fields_at(object_version)
    properties = {
        name: field
        for name in names
        if name in known
        and (field := _part_field(known[name], object_schema)) is not None
    }
    schema: dict[str, Any] = {
        '$schema': DIALECT,
        'type': 'object',
        'properties': properties,
        'additionalProperties': False,
    }
    required = [name for name in properties if fields.is_required(known[name])]
    if required:  # draft 4 does not allow an empty list
        schema['required'] = required
    return schema


def _part_field(
    field: ovo_fields.Field[Any],
    object_schema: Callable[[RequestType], dict[str, Any] | None],
) -> dict[str, Any] | None:
    if fields.holds_objects(field._type):
        return nested_objects.map_schema(field, object_schema)
    return field_schema(field)


def all_field_names(cls: RequestType) -> tuple[str, ...]:
    """Return the fields that a type has at any of its microversions."""
    versions = ['1.0', *cls.VERSION_MAP.values()]
    return tuple(
        dict.fromkeys(
            name for version in versions for name in cls.fields_at(version)
        )
    )


_cached_field_names = functools.lru_cache(maxsize=1024)(all_field_names)


def validate(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Any,
    where: str = 'body',
    *,
    nulls: bool = True,
    early: bool = False,
) -> None:
    """Validate a part of a request at an API version.

    :param cls: the request type
    :param microversion: version of the request
    :param names: every field that the part had at any version
    :param values: the part, as JSON values
    :param where: name of the part, for error messages
    :param nulls: whether the part can contain null; a query cannot
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :raises vobjects.microversions.errors.ValidationError: the first fault
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    compiled = request_schema_at(cls, microversion, names, early=early)
    if not compiled.accepts(values):
        _check(compiled, cls, microversion, names, values, where, nulls)
    checked = compiled.checked_by_field
    for name, value in values.items():
        if isinstance(value, checked[name]) and value is not None:
            compiled.check_value(name, value, where)
    if compiled.object_fields:
        _validate_objects(compiled, microversion, values, where, early)


def _validate_objects(
    compiled: RequestSchema,
    microversion: Version,
    values: Mapping[str, Any],
    where: str,
    early: bool,
) -> None:
    """Validate the objects inside a part, whose own values are valid."""

    def check(inner: Any, value: Any, path: fields.Path) -> None:
        cls = nested_objects.class_of(inner)
        place = phrases.format_path(where, path)
        _validate_object(cls, microversion, value, place, early)

    for name, field_type in compiled.object_fields.items():
        if name in values:
            fields.map_objects(field_type, values[name], check, (name,))


def _validate_object(
    cls: RequestType,
    microversion: Version,
    values: Any,
    where: str,
    early: bool,
) -> None:
    if cls.version_at(microversion, early=early) is None:
        ranges = version_ranges.ranges_having(cls, lambda _: True)
        problem = version_ranges.explain(cls.obj_name(), ranges, microversion)
        error = errors.ValidationError(where, problem)
        error.set_availability(ranges, microversion)
        raise error
    hashable: Any = cls
    names = _cached_field_names(hashable)
    validate(cls, microversion, names, values, where, early=early)


def _check(
    compiled: RequestSchema,
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Any,
    where: str,
    nulls: bool,
) -> None:
    """Raise the first fault; do nothing if the fast path was too strict."""
    if not isinstance(values, dict):
        raise errors.ValidationError(
            where, f'must be a JSON object, not {phrases.format_value(values)}'
        )
    unknown = [name for name in values if name not in compiled.properties]
    if unknown:
        raise unknown_field_error(
            cls, microversion, names, unknown, where, compiled
        )
    for name in compiled.required:
        if name not in values:
            raise _missing(compiled, cls, microversion, names, name, where)
    fault = next(compiled.validator.iter_errors(values), None)
    if fault is not None:
        error = schema_error(fault, where, nulls)
        if fault.absolute_path:
            field_fault = _field_fault(compiled, fault, values)
            if fault.validator == 'pattern':
                problem = _pattern_problem(
                    field_fault.field._type, fault.instance
                )
                error = errors.ValidationError(error.path, problem)
            error.fault = field_fault
        plain = schema_error(fault, where, nulls, suggests=False)
        raise (
            _other_versions_error(
                plain, fault, cls, microversion, names, values
            )
            or error
        )


#: Field type -> what its pattern requires.
_PATTERNS: Mapping[type, str] = {
    fields.Capacity: 'must be an integer',
    fields.UUID: 'must be a UUID',
}


def _pattern_problem(field_type: Any, value: Any) -> str:
    """Return the problem of a value that does not match a pattern."""
    if isinstance(field_type, fields.Sort):
        return field_type.fault(value)
    if isinstance(field_type, fields.Name):
        requirement = field_type.REQUIREMENT
    else:
        requirement = _PATTERNS.get(
            type(field_type), f'must be a valid {type(field_type).__name__}'
        )
    return f'{requirement}, not {phrases.format_value(value)}'


def _field_fault(
    compiled: RequestSchema,
    fault: jsonschema.ValidationError,
    values: Mapping[str, Any],
) -> errors.FieldFault:
    """Return the fault of a value that the schema rejects, as data."""
    name = str(fault.absolute_path[0])
    is_of_type = fault.validator == 'type'
    return errors.FieldFault(
        'value',
        (name,),
        compiled.fields[name],
        values[name],
        fault.instance,
        str(fault.message)[:_MAX_MESSAGE_LENGTH] if is_of_type else '',
    )


def _other_versions_error(
    error: errors.ValidationError,
    fault: jsonschema.ValidationError,
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Mapping[str, Any],
) -> errors.ValidationError | None:
    """Return the error with the versions that accept the value, if any.

    A value may be accepted only by the schemas of other versions: enums gain
    and lose members, and ranges and types change.
    """
    if not fault.absolute_path:
        return None
    name = str(fault.absolute_path[0])
    hashable: Any = cls

    def accepts(version: str) -> bool:
        compiled = _compiled(hashable, version, tuple(names))
        schema = compiled.properties.get(name)
        if schema is None:
            return False
        validator = compiled.validator.evolve(schema=schema)
        return bool(validator.is_valid(values[name]))

    ranges = version_ranges.ranges_having(cls, accepts)
    if not ranges:
        return None
    shown = phrases.format_value(fault.instance)
    hint = version_ranges.explain(shown, ranges, microversion)
    better_error = errors.ValidationError(
        error.path, f'{error.problem}; {hint}'
    )
    better_error.set_availability(ranges, microversion)
    return better_error


def _missing(
    compiled: RequestSchema,
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    name: str,
    where: str,
) -> errors.ValidationError:
    """Return the error for a required field that is missing."""
    hashable: Any = cls
    ranges = version_ranges.ranges_having(
        cls,
        lambda version: (
            name not in _compiled(hashable, version, tuple(names)).required
        ),
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


@dataclasses.dataclass(frozen=True, slots=True)
class RequestSchema:
    """A compiled schema.

    :ivar properties: field name -> schema
    :ivar required: names of the required fields
    :ivar validator: validator of jsonschema
    :ivar accepts: fast validator: True if a value is valid, False if the other
        validator must decide
    :ivar checked_by_field: field name -> classes of values that pass the
        schema and that the field may still reject
    :ivar object_fields: name -> type of the fields that hold objects
    :ivar fields: field name -> field
    :ivar owner: object passed to the fields when they check a value
    """

    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    validator: jsonschema.Draft4Validator
    accepts: fast_validation.Accepts
    checked_by_field: Mapping[str, tuple[type, ...]]
    object_fields: Mapping[str, Any]
    fields: Mapping[str, ovo_fields.Field[Any]]
    owner: objects.Object

    def check_value(self, name: str, value: Any, where: str) -> None:
        """Reject values that only the field can check, such as dates.

        :raises vobjects.microversions.errors.ValidationError: the field
            rejects the value
        """
        try:
            self.fields[name].coerce(self.owner, name, value)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise errors.ValidationError(
                phrases.format_path(where, [name]),
                str(error)[:_MAX_MESSAGE_LENGTH].rstrip('.'),
                errors.FieldFault(
                    'value', (name,), self.fields[name], value, value
                ),
            ) from None


def request_schema_at(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    *,
    early: bool = False,
) -> RequestSchema:
    """Return the compiled schema of a part at an API version.

    :param cls: the request type
    :param microversion: version of the request
    :param names: every field that the part had at any version
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    hashable: Any = cls  # mypy checks the instances' __hash__
    return _compiled_at(hashable, microversion, tuple(names), early)


@functools.lru_cache(maxsize=4096)
def _compiled_at(
    cls: RequestType,
    microversion: Version,
    names: tuple[str, ...],
    early: bool,
) -> RequestSchema:
    object_version = cls.version_at(microversion, early=early)
    if object_version is None:
        introduced = cls.introduced() or NULL
        raise errors.MethodNotAtVersion(
            cls.obj_name(), microversion, ((introduced, None),)
        )
    hashable: Any = cls
    return _compiled(hashable, object_version, names)


@functools.lru_cache(maxsize=4096)
def _compiled(
    cls: RequestType, object_version: str, names: tuple[str, ...]
) -> RequestSchema:
    # Objects inside are checked by the schemas of their own types.
    schema = with_python_patterns(
        _body_schema(cls, object_version, names, lambda _: {'type': 'object'})
    )
    jsonschema.Draft4Validator.check_schema(schema)
    properties = schema['properties']
    known = cls.fields_at(object_version)
    return RequestSchema(
        properties,
        tuple(schema.get('required', ())),
        jsonschema.Draft4Validator(
            schema, format_checker=fast_validation.FORMATS
        ),
        fast_validation.compile_schema(schema),
        {name: _checked_classes(known[name]) for name in properties},
        {
            name: field_type
            for name, field_type in nested_objects.object_fields(
                cls, object_version
            ).items()
            if name in properties
        },
        known,
        cls(),
    )


#: Field type -> classes of values that may pass its schema but be rejected by
#: the field. For any other type, the field checks all values.
_CHECKED_BY_FIELD: Mapping[type, tuple[type, ...]] = {
    fields.Boolean: (),
    fields.Capacity: (str,),  # digits: it checks their range
    fields.Enum: (),
    fields.Float: (int,),  # may exceed the range of a float
    fields.IdentityList: (),
    fields.Integer: (),
    fields.Json: (),
    fields.JsonValue: (),
    fields.Name: (),
    fields.NonNegativeInteger: (),
    fields.Sort: (),
    fields.StrictBoolean: (),
    fields.String: (),
    fields.UUID: (),
}


def _checked_classes(field: ovo_fields.Field[Any]) -> tuple[type, ...]:
    """Return the classes of values that a field must check itself."""
    if fields.holds_objects(field._type):
        return ()
    for name in ('coerce', 'get_schema'):
        if getattr(type(field), name) is not getattr(ovo_fields.Field, name):
            return (object,)
    return _checked_by_type(type(field._type))


def _checked_by_type(field_type: type) -> tuple[type, ...]:
    """Return the classes of values that a field type must check itself.

    A subclass that changes only parameters of its parent, such as the pattern
    of a name, checks the same as its parent.
    """
    for parent in field_type.__mro__:
        if parent in _CHECKED_BY_FIELD:
            return _CHECKED_BY_FIELD[parent]
        if {'coerce', 'get_schema'} & vars(parent).keys():
            break
    return (object,)


def unknown_field_error(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    unknown: Sequence[str],
    where: str,
    compiled: RequestSchema,
) -> errors.ValidationError:
    """Return the error for names that the version does not have.

    :param unknown: these names; the error is about the first one
    :param compiled: schema of the part at the request's version
    """
    name = unknown[0]
    path = phrases.format_path(where, [name])
    if name in names:
        ranges = _ranges_of(cls, name)
        shown = exceptions.cut(name)
        problem = version_ranges.explain(shown, ranges, microversion)
        problem += _other_name(cls, microversion, name)
        error = errors.ValidationError(path, problem)
        error.set_availability(ranges, microversion)
        return error
    known = compiled.properties
    near = suggestions.nearest(name, (*known, *names))
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


def _ranges_of(cls: RequestType, name: str) -> version_ranges.VersionRanges:
    """Return the API versions that have a field."""
    return version_ranges.ranges_having(
        cls, lambda version: name in cls.fields_at(version)
    )


def _other_name(cls: RequestType, microversion: Version, name: str) -> str:
    """Return a clause with the name that a renamed field has at a version."""
    for newest in cls.fields:
        all_names = cls.names_of(newest)
        if name in all_names:
            object_version = cls.version_at(microversion) or str(NULL)
            for current in all_names & cls.fields_at(object_version).keys():
                return f', where it is called {exceptions.cut(current)}'
    return ''


def conversion_error(
    cls: RequestType,
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


def field_schema(field: ovo_fields.Field[Any]) -> dict[str, Any]:
    """Return the schema (draft 4) of a field's values, including null.

    :param field: a field that does not hold objects
    """
    schema: dict[str, Any] = _with_lists(field.get_schema())
    if field.nullable and None not in schema.get('enum', [None]):
        schema['enum'].append(None)
    return schema


def _with_lists(value: Any) -> Any:
    """Return a copy of a schema with a list for each collection.

    Field types repeat what they were declared with: the values of an enum
    may be a tuple or a set, but a schema must have a list.
    """
    if isinstance(value, Mapping):
        return {key: _with_lists(inner) for key, inner in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, Collection) and not isinstance(value, (str, bytes)):
        return list(map(_with_lists, value))
    return value


def with_python_patterns(schema: Any) -> Any:
    r"""Return a schema whose patterns have the same meaning in Python.

    In JSON Schema, ``$`` matches only at the end of the text. In Python it
    also matches before a final line feed, which ``\Z`` does not.
    """
    if isinstance(schema, list):
        return [with_python_patterns(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: with_python_patterns(item) for key, item in schema.items()}
    pattern = result.get('pattern')
    if isinstance(pattern, str) and pattern.endswith('$'):
        result['pattern'] = pattern[:-1] + r'\Z'
    return result


def schema_error(
    fault: jsonschema.ValidationError,
    where: str,
    nulls: bool,
    *,
    suggests: bool = True,
) -> errors.ValidationError:
    """Return a readable error for a fault that jsonschema reports.

    :param fault: the fault
    :param where: name of the part
    :param nulls: whether the part can contain null
    :param suggests: whether to suggest an accepted value that is similar
    """
    path = phrases.format_path(where, fault.absolute_path)
    describe = _EXPECTED.get(str(fault.validator))
    if describe is None:
        return errors.ValidationError(
            path, fault.message[:_MAX_MESSAGE_LENGTH]
        )
    expected: Any = fault.validator_value
    if isinstance(expected, list) and not nulls:
        expected = [item for item in expected if item not in ('null', None)]
    problem = (
        f'{describe(expected)}, not {phrases.format_value(fault.instance)}'
    )
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


def _without_z(pattern: str) -> str:
    return re.sub(r'\\Z\Z', '$', pattern)


# Schema keyword -> function that describes the expected value.
_EXPECTED: Mapping[str, Callable[[Any], str]] = {
    'type': _describe_types,
    'enum': lambda values: f'must be one of {phrases.format_values(values)}',
    'pattern': lambda text: f'must match {_without_z(text)}',
    'format': lambda name: f'must have the format {name}',
    'minimum': lambda limit: f'must be at least {limit}',
    'maximum': lambda limit: f'must be at most {limit}',
    'minLength': lambda limit: f'must have at least {limit} character(s)',
    'maxLength': lambda limit: f'must have at most {limit} characters',
    'minItems': lambda limit: f'must have at least {limit} item(s)',
    'maxItems': lambda limit: f'must have at most {limit} items',
    'uniqueItems': lambda _: 'must have each item once',
}
