# SPDX-License-Identifier: Apache-2.0
"""The schema of a spec's properties: data, shown to users and checked.

A schema is a mapping of names to :class:`Property`. :func:`render` gives the
form that clients know from Senlin's profile types; :func:`validate` refuses
what does not fit, naming the path to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vobjects import exceptions
from vobjects.clustering import errors

Schema = Mapping[str, 'Property']

#: Most characters of what a cloud calls its things.
LONGEST_NAME = 255


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


#: Where the parameters of an operation stand, for messages.
PARAMETERS = 'params'

#: What users call a type -> what its values are.
TYPES: dict[str, Callable[[Any], bool]] = {
    'String': lambda value: isinstance(value, str),
    'Integer': _is_integer,
    'Number': _is_number,
    'Boolean': lambda value: isinstance(value, bool),
    'Map': lambda value: isinstance(value, Mapping),
    'List': lambda value: isinstance(value, (list, tuple)),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Property:
    """One property of a spec.

    :ivar type: a key of :data:`TYPES`
    :ivar updatable: whether a node can go from one value to another
    :ivar default: None: there is none
    :ivar items: of a list: what each item is
    :ivar keys: of a map: its keys; None: any
    :ivar allowed: the values there are; None: any
    :ivar longest: of a string: most characters; None: any number
    """

    type: str
    description: str
    required: bool = False
    updatable: bool = False
    default: Any = None
    items: Property | None = None
    keys: Schema | None = None
    allowed: Sequence[Any] | None = None
    longest: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be done to a node.

    :ivar parameters: what it may be told
    """

    description: str
    parameters: Schema = dataclasses.field(default_factory=dict)


def render_operations(
    operations: Mapping[str, Operation],
) -> dict[str, Any]:
    """Return operations as users are shown them."""
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
    """Return a schema as users are shown it."""
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
        # Senlin's name for "each item, whatever its position".
        shown['schema'] = {'*': _render(prop.items)}
    if prop.keys is not None:
        shown['schema'] = render(prop.keys)
    return shown


def validate(schema: Schema, values: Any, path: str = 'properties') -> None:
    """Refuse values that do not fit a schema.

    :param path: where the values stand, for messages
    :raises vobjects.clustering.errors.InvalidSpec: naming the place
    """
    if not isinstance(values, Mapping):
        raise errors.InvalidSpec(
            f'{path}: {exceptions.cut(values)} is not a map'
        )
    for name in values:
        if name not in schema:
            raise errors.InvalidSpec(
                f'{path}: there is no {exceptions.cut(name)}; there are'
                f' {", ".join(schema)}',
                unknown(name, path),
            )
    for name, prop in schema.items():
        value = values.get(name)
        if value is not None:
            _validate(prop, value, f'{path}.{name}')
        elif prop.required:
            raise errors.InvalidSpec(
                f'{path}.{name} is required', _missing(name, path)
            )


# As in Senlin's messages, which do not say where.


def unknown(name: str, path: str = 'properties') -> str:
    """Return what Senlin says of a name that a spec may not have."""
    return f'Unrecognizable {_thing(path)} {exceptions.cut(name)}'


def _missing(name: str, path: str) -> str:
    return f'Required {_thing(path)} {exceptions.cut(name)} not provided'


def _thing(path: str) -> str:
    return 'parameter' if path == PARAMETERS else 'spec item'


_OF_ANOTHER_TYPE: Mapping[str, str] = {
    'Boolean': 'The value {} is not a valid Boolean',
    'Integer': 'The value {} is not a valid Integer',
    'List': '{} is not a List',
    'Map': '{} is not a Map',
    'Number': 'The value {} is not a valid number.',
    'String': 'The value {} is not a valid string.',
}


def _validate(prop: Property, value: Any, path: str) -> None:
    if not TYPES[prop.type](value):
        article = 'an' if prop.type == 'Integer' else 'a'
        raise errors.InvalidSpec(
            f'{path}: {exceptions.cut(value)} is not {article} {prop.type}',
            _OF_ANOTHER_TYPE[prop.type].format(exceptions.cut(str(value))),
        )
    if prop.allowed is not None and value not in prop.allowed:
        raise errors.InvalidSpec(
            f'{path}: {exceptions.cut(value)} is not one of'
            f' {", ".join(map(str, prop.allowed))}',
            f'{exceptions.cut(str(value))} must be one of the allowed values:'
            f' {", ".join(map(str, prop.allowed))}',
        )
    if prop.longest is not None and len(value) > prop.longest:
        raise errors.InvalidSpec(
            f'{path}: must have at most {prop.longest} characters, not'
            f' {len(value)}'
        )
    if prop.keys is not None:
        validate(prop.keys, value, path)
    if prop.items is not None:
        for position, item in enumerate(value):
            _validate(prop.items, item, f'{path}[{position}]')


def filled(schema: Schema, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values that fit a schema, with its defaults where none is."""
    found: dict[str, Any] = {}
    for name, prop in schema.items():
        value = values.get(name)
        if value is None:
            value = prop.default
        if prop.keys is not None and (value is not None or prop.required):
            value = filled(prop.keys, value or {})
        elif prop.items is not None and prop.items.keys is not None:
            keys = prop.items.keys
            value = [filled(keys, item) for item in value or ()]
        found[name] = value
    return found


def given(schema: Schema, described: Mapping[str, Any]) -> dict[str, Any]:
    """Return those properties that a description has values for."""
    return {
        name: described[name]
        for name in schema
        if described.get(name) is not None
    }


def not_updatable(
    schema: Schema, old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[str]:
    """Return the properties that differ although they must not."""
    return [
        name
        for name, prop in schema.items()
        if not prop.updatable and old.get(name) != new.get(name)
    ]
