# SPDX-License-Identifier: Apache-2.0
"""Compare the first schema of a request with the code that had none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vobjects_releases.body_reads import BodyReads, body_reads
from vobjects_releases.findings import Finding, Rule
from vobjects_releases.schema_rules import (
    COMBINED,
    MAXIMUM,
    accepted_types,
    schemas_in,
    strings,
    subject,
)
from vobjects_releases.schemas import UNKNOWN, Handler, Schema, Schemas
from vobjects_releases.tree import Function, Tree

NULL_ACCEPTED = Rule(
    'SCHEMA_NULL_ACCEPTED',
    'The first schema of a request accepts null where the code of the older'
    ' release reads null as no value.',
)
FIRST_ACCEPTED = Rule(
    'SCHEMA_FIRST_ACCEPTED',
    'The first schema of a request accepts what the code of the older release'
    ' reads.',
)

RULES = (NULL_ACCEPTED, FIRST_ACCEPTED)


def compare(old: Schemas, new: Schemas) -> Iterator[Finding]:
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
            schema = new.requests[handler.schema]
            yield from _null(handler, function, schema)
            later = [
                new.requests[item.schema]
                for item in new.handlers
                if item.name == handler.name
            ]
            for name, text in _rejected(body_reads(function), schema, later):
                yield _finding(FIRST_ACCEPTED, handler, name, text)


def _is_checked(function: Function) -> bool:
    """Return whether a decorator validates the arguments of a function."""
    return any(
        word in ast.unparse(item)
        for item in function.decorator_list
        for word in ('schema', 'valid')
    )


def _null(
    handler: Handler, function: Function, schema: Schema
) -> Iterator[Finding]:
    optional = _optional(function)
    for name, item in _optional_properties(schema):
        if name in optional and not _accepts_null(item):
            yield _finding(
                NULL_ACCEPTED,
                handler,
                name,
                'must not be null in the first schema of the request, but the'
                ' code of the older release reads null as no value',
            )


def _finding(rule: Rule, handler: Handler, field: str, text: str) -> Finding:
    return Finding(rule, subject(handler.name), field, text, handler.location)


def _rejected(
    reads: BodyReads, schema: Schema, versions: list[Schema]
) -> Iterator[tuple[str, str]]:
    """Yield the keys that code reads in a form that the schema rejects.

    :param versions: this schema, and those of later versions of the request
    """
    objects = list(_objects(schema))
    known: dict[str, Schema] = {}
    for item in objects:
        known |= schemas_in(item.get('properties'))
    if all(map(_is_closed, objects)):
        later = {
            key
            for version in versions
            for item in _objects(version)
            for key in schemas_in(item['properties'])
        }
        for key in sorted(reads.keys - later):
            text = (
                'is not in the first schema of the request, but the code of'
                ' the older release reads it'
            )
            yield key, text
    for key in sorted(reads.stored & known.keys()):
        item = known[key]
        if (
            isinstance(item, dict)
            and 'properties' in item
            and item.get('additionalProperties') is False
        ):
            text = (
                'has no other properties in the first schema of the request,'
                ' but the code of the older release stores all'
            )
            yield key, text
    for item in objects:
        for key in sorted(strings(item.get('required')) & reads.defaults):
            text = (
                'is required in the first schema of the request, but has a'
                ' default in the code of the older release'
            )
            yield key, text
    for key in sorted(reads.texts & known.keys()):
        item = known[key]
        if (
            isinstance(item, dict)
            and _is_scalar(item)
            and 'string' not in accepted_types(item)
            and not any(word in item for word in COMBINED)
        ):
            text = (
                'must not be text in the first schema of the request, but the'
                ' code of the older release converts it'
            )
            yield key, text


def _objects(schema: Schema, depth: int = 0) -> Iterator[Schema]:
    """Yield the parts of a schema that have properties, at any depth."""
    if 'properties' in schema and depth < MAXIMUM:
        yield schema
        for item in schemas_in(schema['properties']).values():
            if isinstance(item, dict):
                yield from _objects(item, depth + 1)


def _is_closed(schema: Schema) -> bool:
    """Return whether an object has no other properties than the known."""
    return (
        schema.get('additionalProperties') is False
        and not any(key in schema for key in ('patternProperties', *COMBINED))
        and all(
            isinstance(item, dict)
            and ('properties' in item or _is_scalar(item))
            for item in schemas_in(schema['properties']).values()
        )
    )


def _is_scalar(schema: Schema) -> bool:
    types = accepted_types(schema)
    return bool(types) and types.isdisjoint(('array', 'object'))


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
    """Yield the optional properties, at any depth."""
    required = strings(schema.get('required'))
    for name, item in schemas_in(schema.get('properties')).items():
        if isinstance(item, dict) and depth < MAXIMUM:
            if name not in required:
                yield name, item
            yield from _optional_properties(item, depth + 1)


def _accepts_null(schema: Schema) -> bool:
    """Return whether a schema may accept null."""
    types = accepted_types(schema)
    values = schema.get('enum')
    if any(key in schema for key in COMBINED):
        return True
    if isinstance(values, list) and None not in values:
        return UNKNOWN in values
    return not types or 'null' in types
