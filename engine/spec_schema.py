# SPDX-License-Identifier: Apache-2.0
"""Schemas for the properties of specs.

A schema maps names to :class:`Property` objects. :func:`render` returns the
API's representation, which is that of Senlin's profile types. :func:`resolve`
converts values to the types of their properties, or rejects them with their
path.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
import math
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import yaml
from oslo_utils import strutils

from vobjects import exceptions, phrases, sensitive
from vobjects.clustering import errors
from vobjects.field_values import equal_primitives

Schema = Mapping[str, 'Property']

#: The safe loader of libyaml takes a tenth of the time of Python's.
_Loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)

#: Maximum length of the names of cloud resources.
MAX_NAME_LENGTH = 255

#: Maximum of times during which a worker waits: one hour, in seconds.
MAX_OPERATION_TIME = 60 * 60


#: Path to the properties of a spec, for messages.
PROPERTIES = 'spec.properties'

#: Path to the parameters of an operation, for messages.
PARAMETERS = 'params'

#: Integers that JSON bodies and the databases can store.
_INTEGERS = range(-(2**63), 2**63)


def _to_string(value: Any) -> str:
    if not isinstance(value, str | bool | float | int):
        raise TypeError
    return str(value)


def _to_integer(value: Any) -> int:
    number = int(value)
    if number not in _INTEGERS:
        raise ValueError
    return number


def _to_number(value: Any) -> float | int:
    try:
        number = value if isinstance(value, float) else int(value)
    except ValueError:
        number = float(value)
    if isinstance(number, int):
        return _to_integer(number)
    if not math.isfinite(number):
        raise ValueError
    return number


def _to_boolean(value: Any) -> bool:
    return bool(strutils.bool_from_string(str(value), strict=True))


def _to_list(value: Any) -> list[Any] | tuple[Any, ...]:
    # To Senlin, a text is a list of its characters, so clients such as
    # gophercloud send an empty one for no items.
    if value == '':
        return []
    if not isinstance(value, list | tuple):
        raise TypeError
    return value


def _instance(cls: type | types.UnionType) -> Callable[[Any], Any]:
    """Return a converter that accepts instances of a class unchanged."""

    def convert(value: Any) -> Any:
        if not isinstance(value, cls):
            raise TypeError
        return value

    return convert


@dataclasses.dataclass(frozen=True, slots=True)
class Type:
    """A type of values.

    :ivar convert: converts a value to this type; raises TypeError, ValueError
        or ArithmeticError
    :ivar accepts: the accepted values, for messages
    :ivar refusal: Senlin's message about an invalid value
    """

    convert: Callable[[Any], Any]
    accepts: str
    refusal: str


#: Property types by name; they convert the same scalars as
#: ``senlin.common.schema``.
TYPES: Mapping[str, Type] = {
    'Boolean': Type(
        _to_boolean,
        'true or false, or a word such as yes or no',
        "The value '{}' is not a valid Boolean",
    ),
    'Integer': Type(
        _to_integer,
        'an integer, as a number or in digits',
        "The value '{}' is not a valid Integer",
    ),
    'List': Type(_to_list, 'a list', "'{}' is not a List"),
    'Map': Type(_instance(Mapping), 'a map', "'{}' is not a Map"),
    'Number': Type(
        _to_number,
        'a number, also in digits',
        "The value '{}' is not a valid number.",
    ),
    'String': Type(
        _to_string,
        'a string or a number',
        "The value '{}' is not a valid string.",
    ),
}

#: Types of an operation's parameters, which does not convert strings.
PARAMETER_TYPES: Mapping[str, Type] = {
    **TYPES,
    'String': Type(_instance(str), 'a string', 'value is not a string'),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Property:
    """One property of a spec.

    :ivar type: a key of :data:`TYPES`
    :ivar updatable: whether the value can change in an existing node
    :ivar default: the default value; None: there is none
    :ivar items: the schema of the items of a list
    :ivar keys: the schema of the keys of a map; None: any keys
    :ivar allowed: the allowed values; None: any
    :ivar max_length: the maximum length of a string; None: any
    :ivar minimum: the minimum of a number; None: any
    :ivar maximum: the maximum of a number; None: any
    :ivar secret: whether messages hide the value
    """

    type: str
    description: str
    required: bool = False
    updatable: bool = False
    default: Any = None
    items: Property | None = None
    keys: Schema | None = None
    allowed: Sequence[Any] | None = None
    max_length: int | None = None
    minimum: float | None = None
    maximum: int | None = None
    secret: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """An operation that users can run on a node.

    :ivar parameters: the schema of its parameters
    """

    description: str
    parameters: Schema = dataclasses.field(default_factory=dict)


class Document(NamedTuple):
    """The support status and the schemas of a type.

    :ivar support_status: version -> [{'status': ..., 'since': ...}]
    :ivar properties: the schema of the properties of its specs
    :ivar operations: the operations of its nodes
    """

    support_status: Mapping[str, list[dict[str, str]]]
    properties: Schema
    operations: Mapping[str, Operation]


def load(package: str, name: str) -> Document:
    """Read the schemas of a type from a YAML file of a package.

    A property has the attributes of :class:`Property`.

    :param name: the name of the file, without ``.yaml``
    """
    file = importlib.resources.files(package) / f'{name}.yaml'
    content = yaml.load(file.read_bytes(), _Loader)  # noqa: S506 - a safe one
    return Document(
        content['support_status'],
        _schema(content['properties']),
        {
            operation: Operation(
                values['description'], _schema(values.get('parameters', {}))
            )
            for operation, values in content.get('operations', {}).items()
        },
    )


def _schema(properties: Mapping[str, Any]) -> Schema:
    return {name: _property(values) for name, values in properties.items()}


def _property(values: Mapping[str, Any]) -> Property:
    nested: dict[str, Any] = {}
    if 'items' in values:
        nested['items'] = _property(values['items'])
    if 'keys' in values:
        nested['keys'] = _schema(values['keys'])
    return Property(**{**values, **nested})


def part(schema: Schema, *path: str) -> Schema:
    """Return the schema of a nested map.

    :param path: the names of the properties that lead to it; the items of a
        list have no name
    """
    for name in path:
        prop = schema[name]
        prop = prop.items or prop
        schema = prop.keys or {}
    return schema


def render_operations(
    operations: Mapping[str, Operation],
) -> dict[str, Any]:
    """Return the API's representation of operations."""
    return {
        name: {
            'description': operation.description,
            'parameters': {
                parameter: _without_updatable(shown)
                for parameter, shown in render(operation.parameters).items()
            },
        }
        for name, operation in operations.items()
    }


def _without_updatable(shown: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in shown.items() if key != 'updatable'}


def render(schema: Schema) -> dict[str, Any]:
    """Return the API's representation of a schema."""
    return {name: _render(prop) for name, prop in schema.items()}


def _render(prop: Property) -> dict[str, Any]:
    shown: dict[str, Any] = {
        'type': prop.type,
        'required': prop.required,
        'updatable': prop.updatable,
        'description': prop.description,
    }
    if prop.default is not None:
        shown['default'] = prop.default
    if prop.allowed is not None:
        shown['constraints'] = [
            {'type': 'AllowedValues', 'constraint': list(prop.allowed)}
        ]
    if prop.items is not None:
        # Senlin's notation for the schema of every item.
        shown['schema'] = {'*': _render(prop.items)}
    if prop.keys is not None:
        shown['schema'] = render(prop.keys)
    return shown


def resolve(
    schema: Schema,
    values: Any,
    path: str = PROPERTIES,
    kinds: Mapping[str, Type] | None = None,
) -> dict[str, Any]:
    """Validate values against a schema, and convert them to its types.

    :param path: the path to the values, for messages
    :param kinds: types by name; default: :data:`TYPES`
    :returns: the given values, without defaults; null counts as not given
    :raises vobjects.clustering.errors.InvalidSpec: the message has the path of
        the invalid value
    """
    if not isinstance(values, Mapping):
        raise errors.InvalidSpec(
            f'{path}: must be a map, not {exceptions.cut(values)}'
        )
    for name in values:
        if name not in schema:
            raise unknown(name, schema, path)
    resolved: dict[str, Any] = {}
    for name, prop in schema.items():
        value = values.get(name)
        if value is not None:
            resolved[name] = _resolve(
                prop, value, f'{path}.{name}', kinds or TYPES
            )
        elif prop.required:
            raise errors.InvalidSpec(
                f'{path}.{name} is required', _missing(name, path)
            )
    return resolved


# These are Senlin's messages, which do not include the path.


def unknown(
    name: str, names: Collection[str], path: str = PROPERTIES
) -> errors.InvalidSpec:
    """Return the error for an unknown name in a spec.

    :param names: the valid names
    """
    return errors.InvalidSpec(
        f'{phrases.format_path(path, [name])}:'
        f' {phrases.unknown_name(name, names)}',
        f'Unrecognizable {_noun(path)} {exceptions.cut(name)}',
    )


def _missing(name: str, path: str) -> str:
    return f'Required {_noun(path)} {exceptions.cut(name)} not provided'


def _noun(path: str) -> str:
    return 'parameter' if path == PARAMETERS else 'spec item'


def _not_of_type(kind: Type, value: Any, path: str) -> errors.InvalidSpec:
    return errors.InvalidSpec(
        f'{path}: must be {kind.accepts}, not {exceptions.cut(value)}',
        kind.refusal.format(exceptions.cut_text(str(value))),
    )


def _resolve(
    prop: Property,
    value: Any,
    path: str,
    kinds: Mapping[str, Type],
) -> Any:
    kind = kinds[prop.type]
    try:
        resolved = kind.convert(value)
    except (ArithmeticError, TypeError, ValueError):
        shown = sensitive.HIDDEN if prop.secret else value
        raise _not_of_type(kind, shown, path) from None
    if prop.allowed is not None and resolved not in prop.allowed:
        raise errors.InvalidSpec(
            f'{path}: {phrases.not_one_of(resolved, prop.allowed)}',
            f"'{exceptions.cut_text(str(value))}' must be one of the allowed"
            f' values: {", ".join(map(str, prop.allowed))}',
        )
    if prop.max_length is not None and len(resolved) > prop.max_length:
        raise errors.InvalidSpec(
            f'{path}: must have at most {prop.max_length} characters, not'
            f' {len(resolved)}'
        )
    if prop.type in ('Integer', 'Number'):
        return _bounded(prop, resolved, path)
    if prop.keys is not None:
        return resolve(prop.keys, resolved, path, kinds)
    if prop.items is not None:
        return [
            _resolve(prop.items, item, f'{path}[{position}]', kinds)
            for position, item in enumerate(resolved)
        ]
    return resolved


def _bounded(prop: Property, number: float, path: str) -> float:
    """Return a number within the limits of its property."""
    if prop.minimum is not None and number < prop.minimum:
        phrase, bound = 'at least', prop.minimum
    elif prop.maximum is not None and number > prop.maximum:
        phrase, bound = 'at most', prop.maximum
    else:
        return number
    raise errors.InvalidSpec(f'{path}: must be {phrase} {bound}, not {number}')


def with_defaults(schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return resolved values, with the defaults of missing ones."""
    complete: dict[str, Any] = {}
    for name, prop in schema.items():
        value = values.get(name)
        if value is None:
            value = prop.default
        if prop.keys is not None and (value is not None or prop.required):
            value = with_defaults(prop.keys, value or {})
        elif prop.items is not None and prop.items.keys is not None:
            keys = prop.items.keys
            value = [with_defaults(keys, item) for item in value or ()]
        complete[name] = value
    return complete


def select_properties(
    schema: Schema, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of a description that are properties of a schema."""
    return {
        name: values[name] for name in schema if values.get(name) is not None
    }


def not_updatable(
    schema: Schema, old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[str]:
    """Return the names of changed properties that cannot be updated."""
    return [
        name
        for name, prop in schema.items()
        if not prop.updatable
        and not equal_primitives(old.get(name), new.get(name))
    ]
