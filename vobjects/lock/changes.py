# SPDX-License-Identifier: Apache-2.0
"""Find the differences between two locks, without judging them.

A change has a *scope*:

``edit``
    An existing version of a type has changed.
``step``
    A newer version of a type differs from the newest version in the old lock.
``type``
    The type as a whole has changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal

from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    FieldSchema,
    Lock,
    TypeSchema,
    version_key,
)

Scope = Literal['edit', 'step', 'type']


@dataclasses.dataclass(frozen=True, slots=True)
class SchemaChange:
    """A difference between two locks.

    :ivar what: ``added``, ``retyped``, ...; see the table of rules
    :ivar old: the type before
    :ivar new: the type after; equal to ``old`` if the type was removed
    :ivar field: the name of the changed field; may be empty
    :ivar detail: details for the description
    :ivar conversions: declared from ``old`` to ``new``
    """

    scope: Scope
    what: str
    old: TypeSchema
    new: TypeSchema
    field: str = ''
    detail: str = ''
    conversions: tuple[Conversion, ...] = ()

    @property
    def before(self) -> FieldSchema:
        """The field before the change; for a new field, the new one."""
        found = self.old.field(self.field) or self.new.field(self.field)
        assert found is not None
        return found

    @property
    def after(self) -> FieldSchema:
        """The field after the change; for a removed field, the old one."""
        found = self.new.field(self.field) or self.old.field(self.field)
        assert found is not None
        return found


def between(old: Lock, new: Lock) -> Iterator[SchemaChange]:
    """Yield the changes from ``old`` to ``new``.

    New types and new versions are not changes, because no peer relies on
    them yet.
    """
    for name, schemas in old.types.items():
        if name not in new.types:
            yield SchemaChange('type', 'gone', schemas[-1], schemas[-1])
            continue
        for schema in schemas:
            same = new.schema(name, schema.version)
            if same is not None:
                yield from _edits(schema, same)
        yield from _newest(schemas, new)


def _newest(
    schemas: tuple[TypeSchema, ...], new: Lock
) -> Iterator[SchemaChange]:
    """Compare the newest version of each major version."""
    majors = {version_key(schema.version)[0]: schema for schema in schemas}
    now = new.types[schemas[0].name]
    for major, schema in majors.items():
        same = [one for one in now if version_key(one.version)[0] == major]
        if not same:
            yield SchemaChange('type', 'major', schema, now[-1])
            continue
        newest = same[-1]
        if version_key(newest.version) < version_key(schema.version):
            yield SchemaChange('type', 'fell', schema, newest)
        elif version_key(newest.version) > version_key(schema.version):
            # A type with declared history knows its old version. Differences
            # between that and the lock are reported as edits, not again here.
            base = new.schema(schema.name, schema.version) or schema
            path = tuple(
                conversion
                for one in same
                if version_key(one.version) > version_key(schema.version)
                for conversion in one.conversions
            )
            yield from _fields('step', base, newest, path)


def _edits(old: TypeSchema, new: TypeSchema) -> Iterator[SchemaChange]:
    found = list(_fields('edit', old, new, ()))
    yield from found
    if old.kind != new.kind and old.kind != 'plain':
        yield SchemaChange(
            'edit', 'kind', old, new, detail=f'{old.kind} to {new.kind}'
        )
    if old.microversion != new.microversion:
        yield SchemaChange('edit', 'microversion', old, new)
    for conversion in old.conversions:
        if conversion not in new.conversions:
            yield SchemaChange(
                'edit',
                'conversion',
                old,
                new,
                field=_known(conversion, old, new),
                detail=str(conversion),
            )
    if old.namespace != new.namespace:
        yield SchemaChange('edit', 'namespace', old, new)
    elif not found and '' != old.fingerprint != new.fingerprint != '':
        yield SchemaChange('edit', 'methods', old, new)


def _known(conversion: Conversion, old: TypeSchema, new: TypeSchema) -> str:
    for name in (conversion.field, conversion.old):
        if old.field(name) or new.field(name):
            return name
    return ''


def _fields(
    scope: Scope,
    old: TypeSchema,
    new: TypeSchema,
    conversions: tuple[Conversion, ...],
) -> Iterator[SchemaChange]:
    names = {field.name for schema in (old, new) for field in schema.fields}
    for name in sorted(names):
        for what, detail in _of_field(old.field(name), new.field(name)):
            concerned = tuple(
                one
                for one in conversions
                if one.concerns(name) or one == BY_HAND
            )
            yield SchemaChange(scope, what, old, new, name, detail, concerned)


def _of_field(
    old: FieldSchema | None, new: FieldSchema | None
) -> Iterator[tuple[str, str]]:
    if old is None or new is None:
        yield ('removed' if new is None else 'added'), ''
        return
    if old.kind.without_limits() != new.kind.without_limits():
        yield 'retyped', ''
    elif old.kind != new.kind:
        gained = _words(new) - _words(old)
        lost = _words(old) - _words(new)
        if lost:
            yield 'narrowed', ', '.join(sorted(lost))
        if gained:
            yield 'widened', ', '.join(sorted(gained))
        if not lost and not gained:
            yield 'limits', ''
    if old.nullable != new.nullable:
        yield ('nullable' if new.nullable else 'not-nullable'), ''
    if old.default != new.default:
        yield 'default', ''


def _words(field: FieldSchema) -> set[str]:
    """Return the words of an enum, including one inside a list."""
    kind = field.kind
    found = set(kind.words)
    while kind.inner is not None:
        kind = kind.inner
        found |= set(kind.words)
    return found
