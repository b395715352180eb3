# SPDX-License-Identifier: Apache-2.0
"""Compare the JSON schemas of requests of two releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vobjects_releases.findings import Finding, Rule
from vobjects_releases.schemas import UNKNOWN, Schema, Schemas

REQUEST_ACCEPTED = Rule(
    'SCHEMA_REQUEST_ACCEPTED',
    'The schema of a request accepts what clients of the older release may'
    ' send.',
)
RULES = (REQUEST_ACCEPTED,)

#: Schemas nested more deeply are not compared.
MAXIMUM = 20

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
COMBINED = ('anyOf', 'oneOf', 'allOf', '$ref', '')


def compare(old: Schemas, new: Schemas) -> Iterator[Finding]:
    """Yield what the newer schemas reject and the older release accepts."""
    for before, name in _pairs(old.requests, new.requests):
        for part, field, text in _narrowed(
            '', old.requests[before], new.requests[name]
        ):
            owner = new.names.get(id(part), name)
            yield Finding(
                REQUEST_ACCEPTED,
                subject(owner),
                field,
                f'{text}, unlike in the older release',
                new.location(owner),
            )


def _pairs(
    old: Mapping[str, Schema], new: Mapping[str, Schema]
) -> Iterator[tuple[str, str]]:
    """Yield the names of the same schemas in both releases.

    If a package moves, the last two parts of the names of its schemas stay.
    """
    ends = {name: tuple(name.split('.')[-2:]) for name in (*old, *new)}
    gone = [name for name in sorted(old) if name not in new]
    for name in sorted(new):
        same = [other for other in gone if ends[other] == ends[name]]
        if name in old:
            yield name, name
        elif len(same) == 1 == list(ends.values()).count(ends[name]) - 1:
            yield same[0], name


def _narrowed(
    field: str, old: Schema, new: Schema, depth: int = 0
) -> Iterator[tuple[Schema, str, str]]:
    """Yield what accepts less: the part of the schema, a property, and why."""
    if old == new or depth == MAXIMUM:
        return
    if not any(key in part for part in (old, new) for key in COMBINED):
        for text in _narrowed_value(old, new):
            yield new, field, text
    before = schemas_in(old.get('properties'))
    after = schemas_in(new.get('properties'))
    required = strings(new.get('required')) - strings(old.get('required'))
    for name in sorted(required):
        if UNKNOWN not in _list(old.get('required')):
            yield new, name, 'is required'
    closed = new.get('additionalProperties') is False
    if closed and '' not in after and 'patternProperties' not in new:
        for name in sorted(before.keys() - after.keys() - {''}):
            yield new, name, 'is rejected'
        if old.get('additionalProperties', True) is True and before:
            yield new, field, 'rejects additional properties'
    pairs = [(name, before[name], after.get(name)) for name in before]
    pairs += [
        (field, old.get(key), new.get(key))
        for key in ('items', 'additionalProperties')
    ]
    for name, first, second in pairs:
        if isinstance(first, dict) and isinstance(second, dict):
            for part, inner, text in _narrowed(name, first, second, depth + 1):
                yield part if 'properties' in part else new, inner, text


def _narrowed_value(old: Schema, new: Schema) -> Iterator[str]:
    before, after = accepted_types(old), accepted_types(new)
    if before and after:
        if 'number' in after:
            before -= {'integer'}
        missing = sorted(before - after)
        if missing:
            yield f'must not be of type {" or ".join(missing)}'
    if isinstance(new.get('enum'), list):
        values, known = old.get('enum'), new['enum']
        if values is None and before != {'boolean'}:
            yield 'accepts only some values'
        elif isinstance(values, list) and UNKNOWN not in [*values, *known]:
            gone = [value for value in values if value not in known]
            if gone:
                yield f'does not accept {", ".join(map(repr, gone))}'
    if isinstance(new.get('pattern'), str) and not (
        old.keys() & {'pattern', 'format', 'enum'}
    ):
        yield 'must match a pattern'
    for key, is_narrower in _LIMITS.items():
        first, second = old.get(key), new.get(key)
        if (
            isinstance(first, int | float)
            and isinstance(second, int | float)
            and is_narrower(first, second)
        ):
            yield f'has {key} {second} instead of {first}'


def accepted_types(schema: Schema) -> set[str]:
    """Return the names of the types that a schema accepts; empty: any."""
    kind = schema.get('type')
    if isinstance(kind, str):
        return {kind}
    items = _list(kind)
    return set() if UNKNOWN in items else strings(kind)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def strings(value: object) -> set[str]:
    return {item for item in _list(value) if isinstance(item, str)}


def schemas_in(value: object) -> dict[str, Any]:
    """Return the values that are, or may be, schemas."""
    return {
        name: item
        for name, item in (value if isinstance(value, dict) else {}).items()
        if isinstance(item, dict) or item is UNKNOWN
    }


def subject(name: str) -> str:
    """Return the last name with that of its module."""
    parts = name.split('.')
    return '.'.join(
        (parts[-3] if parts[-2][:1].isupper() else parts[-2], parts[-1])
    )
