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
    FieldType,
    Lock,
    TypeSchema,
    version_key,
)

Scope = Literal['edit', 'step', 'type']


@dataclasses.dataclass(frozen=True, slots=True)
class SchemaChange:
    """A difference between two locks.

    :ivar kind: ``added``, ``retyped``, ...; see the table of rules
    :ivar old: the type before
    :ivar new: the type after; equal to ``old`` if the type was removed
    :ivar field: the name of the changed field; may be empty
    :ivar detail: details for the description
    :ivar conversions: declared from ``old`` to ``new``
    :ivar released: all versions of the type in the old lock, oldest first
    :ivar current: all versions of the type in the new lock, oldest first
    """

    scope: Scope
    kind: str
    old: TypeSchema
    new: TypeSchema
    field: str = ''
    detail: str = ''
    conversions: tuple[Conversion, ...] = ()
    released: tuple[TypeSchema, ...] = ()
    current: tuple[TypeSchema, ...] = ()

    @property
    def before(self) -> FieldSchema:
        """The field before the change; for a new field, the new one."""
        field = self.old.field(self.field) or self.new.field(self.field)
        assert field is not None
        return field

    @property
    def after(self) -> FieldSchema:
        """The field after the change; for a removed field, the old one."""
        field = self.new.field(self.field) or self.old.field(self.field)
        assert field is not None
        return field


def between(old: Lock, new: Lock) -> Iterator[SchemaChange]:
    """Yield the changes from ``old`` to ``new``.

    New types and new versions are not changes, because no peer relies on
    them yet.
    """
    for name, schemas in old.types.items():
        for change in _of_type(schemas, new):
            yield dataclasses.replace(
                change, released=schemas, current=new.types.get(name, ())
            )


def _of_type(
    schemas: tuple[TypeSchema, ...], new: Lock
) -> Iterator[SchemaChange]:
    name = schemas[0].name
    if name not in new.types:
        yield SchemaChange('type', 'removed', schemas[-1], schemas[-1])
        return
    for schema in schemas:
        current = new.schema(name, schema.version)
        if current is not None:
            yield from _edits(schema, current)
    yield from _steps(schemas, new)


def _steps(
    schemas: tuple[TypeSchema, ...], new: Lock
) -> Iterator[SchemaChange]:
    """Compare the newest version of each major version."""
    current = new.types[schemas[0].name]
    newest_of = {version_key(schema.version)[0]: schema for schema in current}
    majors = {version_key(schema.version)[0]: schema for schema in schemas}
    for major, schema in majors.items():
        newest = newest_of.get(major)
        if newest is None:
            yield SchemaChange('type', 'major-removed', schema, current[-1])
        elif version_key(newest.version) < version_key(schema.version):
            yield SchemaChange('type', 'version-lowered', schema, newest)
        elif version_key(newest.version) > version_key(schema.version):
            # A type with declared history knows its old version. Differences
            # between that and the lock are reported as edits, not again here.
            base = new.schema(schema.name, schema.version) or schema
            path = tuple(
                conversion
                for later in current
                if schema.key < later.key <= newest.key
                for conversion in later.conversions
            )
            yield from between_fields('step', base, newest, path)


def _edits(old: TypeSchema, new: TypeSchema) -> Iterator[SchemaChange]:
    field_changes = list(between_fields('edit', old, new))
    yield from field_changes
    if old.kind != new.kind and old.kind != 'plain':
        yield SchemaChange(
            'edit', 'kind', old, new, detail=f'{old.kind} to {new.kind}'
        )
    if old.microversion != new.microversion:
        yield SchemaChange('edit', 'microversion', old, new)
    for conversion in old.conversions:
        if conversion not in new.conversions:
            names = (conversion.field, conversion.old_name)
            known = [n for n in names if old.field(n) or new.field(n)]
            field, detail = [*known, ''][0], str(conversion)
            yield SchemaChange(
                'edit', 'conversion', old, new, field=field, detail=detail
            )
    if old.namespace != new.namespace:
        yield SchemaChange('edit', 'namespace', old, new)
    elif not field_changes and '' != old.fingerprint != new.fingerprint != '':
        yield SchemaChange('edit', 'methods', old, new)


def between_fields(
    scope: Scope,
    old: TypeSchema,
    new: TypeSchema,
    conversions: tuple[Conversion, ...] = (),
) -> Iterator[SchemaChange]:
    """Yield the changes of fields from one version of a type to another."""
    names = {field.name for schema in (old, new) for field in schema.fields}
    for name in sorted(names):
        for kind, detail in _field_changes(old.field(name), new.field(name)):
            involved = tuple(
                conversion
                for conversion in conversions
                if conversion.involves(name) or conversion == BY_HAND
            )
            yield SchemaChange(scope, kind, old, new, name, detail, involved)


def _field_changes(
    old: FieldSchema | None, new: FieldSchema | None
) -> Iterator[tuple[str, str]]:
    if old is None or new is None:
        yield ('removed' if new is None else 'added'), ''
        return
    if old.type.without_limits() != new.type.without_limits():
        yield 'retyped', ''
    elif old.type != new.type:
        gained = enum_values(new) - enum_values(old)
        lost = enum_values(old) - enum_values(new)
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


def enum_values(field: FieldSchema) -> set[str]:
    """Return the values of an enum, including one inside a list."""
    field_type: FieldType | None = field.type
    values: set[str] = set()
    while field_type is not None:
        values |= set(field_type.enum_values)
        field_type = field_type.inner_type
    return values
