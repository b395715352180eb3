# SPDX-License-Identifier: Apache-2.0
"""Compare the JSON schemas of requests of two releases."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.schemas import UNKNOWN, Handler, Schema, Schemas
from vobjects_releases.tree import Function, Tree

REQUEST_ACCEPTED = Rule(
    'SCHEMA_REQUEST_ACCEPTED',
    'The schema of a request accepts what clients of the older release may'
    ' send.',
)
NULL_ACCEPTED = Rule(
    'SCHEMA_NULL_ACCEPTED',
    'The first schema of a request accepts null where the code of the older'
    ' release reads null as no value.',
)
RULES = (REQUEST_ACCEPTED, NULL_ACCEPTED)

#: Schemas nested more deeply are not compared.
_MAXIMUM = 20

#: What a limit must not be, compared with that of the older release.
_LIMITS: Mapping[str, Callable[[float, float], bool]] = {
    **dict.fromkeys(
        ('maximum', 'maxLength', 'maxItems', 'maxProperties'),
        lambda old, new: new < old,
    ),
    **dict.fromkeys(
        ('minimum', 'minLength', 'minItems', 'minProperties'),
        lambda old, new: new > old,
    ),
}

#: Keywords that combine schemas; the type next to them says too little.
_COMBINED = ('anyOf', 'oneOf', 'allOf', '$ref', '')


def compare(old: Schemas, new: Schemas) -> Iterator[Finding]:
    """Yield what the newer schemas reject and the older release accepts."""
    for name in sorted(old.requests.keys() & new.requests.keys()):
        for field, text in _narrowed(
            '', old.requests[name], new.requests[name]
        ):
            yield Finding(
                REQUEST_ACCEPTED,
                _subject(name),
                field,
                f'{text}, unlike in the older release',
                new.location(name),
            )
    yield from _first(old, new)


def _narrowed(
    field: str, old: Schema, new: Schema, depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Yield the properties that accept less, and why."""
    if old == new or depth == _MAXIMUM:
        return
    if not any(key in part for part in (old, new) for key in _COMBINED):
        yield from _narrowed_value(field, old, new)
    before = _schemas(old.get('properties'))
    after = _schemas(new.get('properties'))
    required = _strings(new.get('required')) - _strings(old.get('required'))
    for name in sorted(required):
        if UNKNOWN not in _list(old.get('required')):
            yield name, 'is required'
    closed = new.get('additionalProperties') is False
    if closed and '' not in after and 'patternProperties' not in new:
        for name in sorted(before.keys() - after.keys() - {''}):
            yield name, 'is rejected'
        if old.get('additionalProperties', True) is True and before:
            yield field, 'rejects additional properties'
    pairs = [(name, before[name], after.get(name)) for name in before]
    pairs += [
        (field, old.get(key), new.get(key))
        for key in ('items', 'additionalProperties')
    ]
    for name, first, second in pairs:
        if isinstance(first, dict) and isinstance(second, dict):
            yield from _narrowed(name, first, second, depth + 1)


def _narrowed_value(
    field: str, old: Schema, new: Schema
) -> Iterator[tuple[str, str]]:
    before, after = _types(old), _types(new)
    if before and after:
        if 'number' in after:
            before -= {'integer'}
        missing = sorted(before - after)
        if missing:
            yield field, f'must not be of type {" or ".join(missing)}'
    if isinstance(new.get('enum'), list):
        values, known = old.get('enum'), new['enum']
        if values is None and before != {'boolean'}:
            yield field, 'accepts only some values'
        elif isinstance(values, list) and UNKNOWN not in [*values, *known]:
            gone = [value for value in values if value not in known]
            if gone:
                yield field, f'does not accept {", ".join(map(repr, gone))}'
    if isinstance(new.get('pattern'), str) and not (
        old.keys() & {'pattern', 'format', 'enum'}
    ):
        yield field, 'must match a pattern'
    for key, is_narrower in _LIMITS.items():
        first, second = old.get(key), new.get(key)
        if (
            isinstance(first, int | float)
            and isinstance(second, int | float)
            and is_narrower(first, second)
        ):
            yield field, f'has {key} {second} instead of {first}'


def _first(old: Schemas, new: Schemas) -> Iterator[Finding]:
    """Check the first schemas of methods that exist in the older release."""
    checked = {handler.name for handler in old.handlers}
    versions = [handler.version for handler in new.handlers if handler.version]
    for handler in new.handlers:
        if handler.name in checked:
            continue
        checked.add(handler.name)
        if handler.version and handler.version > min(versions):
            continue  # clients of the older release do not use this version
        function = _function(old.tree, handler.name)
        if function is not None and not _is_checked(function):
            yield from _first_schema(
                handler, function, new.requests[handler.schema]
            )


def _is_checked(function: Function) -> bool:
    """Return whether a decorator validates the arguments of a function."""
    return any(
        word in ast.unparse(item)
        for item in function.decorator_list
        for word in ('schema', 'valid')
    )


def _first_schema(
    handler: Handler, function: Function, schema: Schema
) -> Iterator[Finding]:
    optional = _optional(function)
    for name, item in _optional_properties(schema):
        if name in optional and not _accepts_null(item):
            yield Finding(
                NULL_ACCEPTED,
                _subject(handler.name),
                name,
                'must not be null in the first schema of the request, but the'
                ' code of the older release reads null as no value',
                handler.location,
            )


def _function(tree: Tree, name: str) -> Function | None:
    """Return a method by its qualified name."""
    owner, _, method = name.rpartition('.')
    cls = tree.classes.get(owner)
    if cls is not None:
        for function in cls.functions():
            if function.name == method:
                return function
    return None


def _optional(function: Function) -> set[str]:
    """Return the keys that a function reads with a default of null."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Call(
                func=ast.Attribute(attr='get'),
                args=[ast.Constant(value=str(key))]
                | [ast.Constant(value=str(key)), ast.Constant(value=None)],
            ):
                found.add(key)
    return found


def _optional_properties(
    schema: Schema, depth: int = 0
) -> Iterator[tuple[str, Schema]]:
    """Yield the properties that need not be there, at any depth."""
    required = _strings(schema.get('required'))
    for name, item in _schemas(schema.get('properties')).items():
        if isinstance(item, dict) and depth < _MAXIMUM:
            if name not in required:
                yield name, item
            yield from _optional_properties(item, depth + 1)


def _accepts_null(schema: Schema) -> bool:
    """Return whether a schema may accept null."""
    types = _types(schema)
    values = schema.get('enum')
    if any(key in schema for key in _COMBINED):
        return True
    if isinstance(values, list) and None not in values:
        return UNKNOWN in values
    return not types or 'null' in types


def _types(schema: Schema) -> set[str]:
    """Return the names of the types that a schema accepts; empty: any."""
    kind = schema.get('type')
    if isinstance(kind, str):
        return {kind}
    items = _list(kind)
    return set() if UNKNOWN in items else _strings(kind)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: object) -> set[str]:
    return {item for item in _list(value) if isinstance(item, str)}


def _schemas(value: object) -> dict[str, Any]:
    """Return the values that are, or may be, schemas."""
    return {
        name: item
        for name, item in (value if isinstance(value, dict) else {}).items()
        if isinstance(item, dict) or item is UNKNOWN
    }


def _subject(name: str) -> str:
    """Return the last name with that of its module."""
    parts = name.split('.')
    return '.'.join(
        (parts[-3] if parts[-2][:1].isupper() else parts[-2], parts[-1])
    )
