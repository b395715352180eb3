# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a request type at a version, and what breaks it.

A schema follows from the fields the type had at an object version; nobody
writes one. It is compiled once for each (type, object version, names). What
is right is accepted fast (:mod:`vobjects.microversions.acceptance`). A
refused request is told where, what was expected, and, when a field belongs to
another API version, which one: the mistake that users ask about most.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import jsonschema
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, history
from vobjects.microversions import acceptance, availability, errors
from vobjects.versions import NULL, Version

if TYPE_CHECKING:
    # Whoever has a type has imported it; this module need not.
    from vobjects import base

DIALECT = 'http://json-schema.org/draft-04/schema#'

#: Names listed, at most, when an unknown one is refused.
_LISTED = 20

#: Characters of somebody else's message that are repeated.
_LONGEST = 200

RequestType: TypeAlias = 'type[base.Object]'


def body_schema(
    cls: RequestType, object_version: str, names: Iterable[str]
) -> dict[str, Any]:
    """Return the schema (draft 4) of a part of a request.

    :param object_version: of ``cls``
    :param names: the fields in this part; those that the version lacks are
        left out
    """
    known = cls.fields_at(object_version)
    part = {name: known[name] for name in names if name in known}
    schema: dict[str, Any] = {
        '$schema': DIALECT,
        'type': 'object',
        'properties': {
            name: field_schema(field) for name, field in part.items()
        },
        'additionalProperties': False,
    }
    required = [name for name, field in part.items() if is_required(field)]
    if required:  # draft 4 has no empty list here
        schema['required'] = required
    return schema


def validate(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Any,
    where: str = 'body',
    *,
    nulls: bool = True,
) -> None:
    """Check a part of a request at an API version.

    :param names: every field the part had at any version
    :param values: the part, as JSON values
    :param where: the part, in error messages
    :param nulls: whether the part can say null; a query cannot
    :raises vobjects.microversions.errors.ValidationError: the first fault
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    compiled = compiled_at(cls, microversion, names)
    if not compiled.accepts(values):
        _check(compiled, cls, microversion, names, values, where, nulls)
    asked = compiled.asked
    for name, value in values.items():
        if isinstance(value, asked[name]) and value is not None:
            compiled.check_value(name, value, where)


def _check(
    compiled: Compiled,
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Any,
    where: str,
    nulls: bool,
) -> None:
    """Say what is wrong; nothing is, if the fast way was too strict."""
    if not isinstance(values, dict):
        raise errors.ValidationError(
            where, f'must be a JSON object, not {_shown(values)}'
        )
    extra = [name for name in values if name not in compiled.properties]
    if extra:
        raise unknown(cls, microversion, names, extra, where)
    for name in compiled.required:
        if name not in values:
            raise _missing(cls, microversion, names, name, where)
    fault = next(compiled.validator.iter_errors(values), None)
    if fault is not None:
        refused = refusal(fault, where, nulls)
        if fault.absolute_path:
            refused.fault = _fault_of(compiled, fault, values)
        raise _elsewhere(refused, fault, cls, microversion, names, values)


def _fault_of(
    compiled: Compiled,
    fault: jsonschema.ValidationError,
    values: Mapping[str, Any],
) -> errors.FieldFault:
    """Return what is wrong with the value that the schema refuses."""
    name = str(fault.absolute_path[0])
    is_of_type = fault.validator == 'type'
    return errors.FieldFault(
        'value',
        (name,),
        compiled.fields[name],
        values[name],
        fault.instance,
        str(fault.message)[:_LONGEST] if is_of_type else '',
    )


def _elsewhere(
    refusal: errors.ValidationError,
    fault: jsonschema.ValidationError,
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    values: Mapping[str, Any],
) -> errors.ValidationError:
    """Return the refusal, and which version takes the value if one does.

    A new member of an enum, a wider range, another type: each came, or went,
    with a version, and only the type's older and newer schemas tell.
    """
    if not fault.absolute_path:
        return refusal
    name = str(fault.absolute_path[0])
    hashable: Any = cls

    def accepts(version: str) -> bool:
        compiled = _compiled(hashable, version, tuple(names))
        shape = compiled.properties.get(name)
        if shape is None:
            return False
        validator = compiled.validator.evolve(schema=shape)
        return bool(validator.is_valid(values[name]))

    spans = availability.along(cls, accepts)
    if not spans:
        return refusal
    shown = _shown(fault.instance)
    also = availability.sentence(shown, spans, microversion)
    better = errors.ValidationError(refusal.path, f'{refusal.problem}; {also}')
    better.is_of(spans, microversion)
    return better


def _missing(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    name: str,
    where: str,
) -> errors.ValidationError:
    """Return the error for a name that was not given, and had to be."""
    hashable: Any = cls
    spans = availability.along(
        cls,
        lambda version: (
            name not in _compiled(hashable, version, tuple(names)).required
        ),
    )
    problem = f'{name!r} is required'
    until = availability.needed(spans, microversion)
    since = availability.removed(spans, microversion)
    if until:
        problem += f' before API version {until}'
    elif since:
        problem += f' from API version {since} on'
    if until or since:
        problem += f'; this request asked for {microversion}'
        return errors.ValidationError(where, problem)
    known = compiled_at(cls, microversion, names).fields
    fault = errors.FieldFault('missing', (name,), known[name])
    return errors.ValidationError(where, problem, fault)


@dataclasses.dataclass(frozen=True, slots=True)
class Compiled:
    """A schema made ready.

    :ivar properties: field name to schema
    :ivar required: names that must be given
    :ivar accepts: True: valid; False: the validator has to judge
    :ivar asked: field name to the classes of valid values that the field
        itself may still refuse
    :ivar fields: the fields themselves, and an object they can talk of
    """

    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    validator: jsonschema.Draft4Validator
    accepts: acceptance.Accepts
    asked: Mapping[str, tuple[type, ...]]
    fields: Mapping[str, ovo_fields.Field[Any]]
    owner: base.Object

    def check_value(self, name: str, value: Any, where: str) -> None:
        """Refuse what only the field itself can tell, such as a date.

        :raises vobjects.microversions.errors.ValidationError: it is refused
        """
        try:
            self.fields[name].coerce(self.owner, name, value)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise errors.ValidationError(
                path_to(where, [name]),
                str(error)[:_LONGEST].rstrip('.'),
                errors.FieldFault(
                    'value', (name,), self.fields[name], value, value
                ),
            ) from None


def compiled_at(
    cls: RequestType, microversion: Version, names: Sequence[str]
) -> Compiled:
    """Return the compiled schema of a part at an API version.

    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    hashable: Any = cls  # as every class; mypy looks at the instances'
    return _compiled_at(hashable, microversion, tuple(names))


@functools.lru_cache(maxsize=4096)
def _compiled_at(
    cls: RequestType, microversion: Version, names: tuple[str, ...]
) -> Compiled:
    object_version = cls.version_at(microversion)
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
) -> Compiled:
    schema = with_python_patterns(body_schema(cls, object_version, names))
    jsonschema.Draft4Validator.check_schema(schema)
    properties = schema['properties']
    known = cls.fields_at(object_version)
    return Compiled(
        properties,
        tuple(schema.get('required', ())),
        jsonschema.Draft4Validator(schema, format_checker=acceptance.FORMATS),
        acceptance.of(schema),
        {name: _left_to(known[name]) for name in properties},
        known,
        cls(),
    )


#: Field type -> the classes of values that its schema lets pass and it may
#: refuse; of a type that is not here, all.
_LEFT_TO: Mapping[type, tuple[type, ...]] = {
    fields.Boolean: (),
    fields.Capacity: (str,),  # digits, of which it knows the range
    fields.Enum: (),
    fields.Float: (int,),  # beyond the range of a float
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


def _left_to(field: ovo_fields.Field[Any]) -> tuple[type, ...]:
    """Return which of the values that its schema accepts a field judges."""
    for name in ('coerce', 'get_schema'):
        if getattr(type(field), name) is not getattr(ovo_fields.Field, name):
            return (object,)
    return _LEFT_TO.get(type(field._type), (object,))


def unknown(
    cls: RequestType,
    microversion: Version,
    names: Sequence[str],
    extra: Sequence[str],
    where: str,
) -> errors.ValidationError:
    """Return the error for names that the version does not have.

    :param extra: these names; the error is about the first
    """
    name = extra[0]
    path = path_to(where, [name])
    if name in names:
        spans = availability.along(
            cls, lambda version: name in cls.fields_at(version)
        )
        shown = exceptions.cut(name)
        problem = availability.sentence(shown, spans, microversion)
        problem += _other_name(cls, microversion, name)
        error = errors.ValidationError(path, problem)
        error.is_of(spans, microversion)
        return error
    known = sorted(compiled_at(cls, microversion, names).properties)
    return errors.ValidationError(
        path,
        f'unknown; {_advice(name, known)}',
        errors.FieldFault('unknown', tuple(extra)),
    )


def _advice(name: str, known: list[str]) -> str:
    if not known:
        return 'nothing is expected here'
    close = difflib.get_close_matches(name[:64], known, n=1)
    if close:
        return f'did you mean {close[0]!r}?'
    listed = ', '.join(map(repr, known[:_LISTED]))
    more = ', …' if len(known) > _LISTED else ''
    return f'known here: {listed}{more}'


def _other_name(cls: RequestType, microversion: Version, name: str) -> str:
    """Return what a renamed field is called at a version, as a clause."""
    for newest, field in cls.fields.items():
        called = {newest}
        called |= {change.old_name for change in history.changes_of(field)}
        if name in called:
            object_version = cls.version_at(microversion) or str(NULL)
            for other in called & cls.fields_at(object_version).keys():
                return f', where it is called {exceptions.cut(other)}'
    return ''


def is_required(field: ovo_fields.Field[Any]) -> bool:
    """Tell whether a field has to be given: it is not null by default."""
    return not field.nullable and (
        field.default is ovo_fields.UnspecifiedDefault
    )


def field_schema(field: ovo_fields.Field[Any]) -> dict[str, Any]:
    """Return the schema (draft 4) of a field's values, null included."""
    # A copy: some types hand out the list they keep.
    schema: dict[str, Any] = copy.deepcopy(field.get_schema())
    if field.nullable and None not in schema.get('enum', [None]):
        schema['enum'] = [*schema['enum'], None]  # it may be a tuple
    return schema


def with_python_patterns(schema: Any) -> Any:
    r"""Return a schema whose patterns mean in Python what they say.

    In a JSON schema ``$`` is the end; in Python it also matches before a
    line feed that ends the text, which ``\Z`` does not.
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


def refusal(
    fault: jsonschema.ValidationError, where: str, nulls: bool
) -> errors.ValidationError:
    """Return the error for a fault, in words for people."""
    path = path_to(where, fault.absolute_path)
    say = _EXPECTED.get(str(fault.validator))
    if say is None:
        return errors.ValidationError(path, fault.message[:_LONGEST])
    expected = fault.validator_value
    if isinstance(expected, list) and not nulls:
        expected = [item for item in expected if item not in ('null', None)]
    return errors.ValidationError(
        path, f'{say(expected)}, not {_shown(fault.instance)}'
    )


def path_to(where: str, steps: Iterable[str | int]) -> str:
    """Return where a value is, as error messages say it.

    :param where: the part of the request, as ``body``
    :param steps: names and indexes, from there on
    :returns: as in ``body.nodes[0]['a name']``
    """
    path = where
    for step in steps:
        if isinstance(step, int):
            path += f'[{step}]'
        elif step.isidentifier() and len(step) <= exceptions.SHOWN:
            path += f'.{step}'
        else:
            path += f'[{exceptions.cut(step)}]'
    return path


_WORDS: Mapping[str, str] = {
    'array': 'a list',
    'boolean': 'true or false',
    'integer': 'an integer',
    'null': 'null',
    'number': 'a number',
    'object': 'a JSON object',
    'string': 'a string',
}


def _types(expected: str | list[str]) -> str:
    names = [expected] if isinstance(expected, str) else expected
    return 'must be ' + ' or '.join(_WORDS[name] for name in names)


def _without_z(pattern: str) -> str:
    return re.sub(r'\\Z\Z', '$', pattern)


# Schema keyword -> what it expected, in words.
_EXPECTED: Mapping[str, Callable[[Any], str]] = {
    'type': _types,
    'enum': lambda values: 'must be one of ' + ', '.join(map(_shown, values)),
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

_LITERALS = {None: 'null', True: 'true', False: 'false'}


def _shown(value: Any) -> str:
    """Return a JSON value for people, cut."""
    if value is None or isinstance(value, bool):
        return _LITERALS[value]
    return exceptions.cut(value)
