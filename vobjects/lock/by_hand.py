# SPDX-License-Identifier: Apache-2.0
"""Check conversions that classes of oslo.versionedobjects write by hand.

The lock only records that a class converts by hand.
:func:`sends_new_field` runs the conversion; :func:`unmapped_children` compares
``obj_relationships`` and ``child_versions`` with the types that they name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.changes import SchemaChange
from vobjects.lock.model import Lock, TypeSchema, version_key


def sends_new_field(change: SchemaChange) -> bool:
    """Return whether a conversion sends a new field to an older peer.

    :param change: an added field
    :returns: False if it does not, or cannot run: the class of that version is
        not registered, or needs more than sample values
    """
    cls: Any = registries.newest(change.new.name)
    if cls is None or change.new.version != cls.VERSION:
        return False
    obj: Any = samples.fill(cls, 'full', registries.newest)
    versions = {
        name: classes[0].VERSION
        for name, classes in registries.registered().items()
        if classes
    }
    old = change.old
    try:
        primitive = service_quirks.to_primitive(
            obj, old.version, {**versions, old.name: old.version}
        )
        return change.field in primitive[f'{cls.OBJ_SERIAL_NAMESPACE}.data']
    except Exception:  # noqa: BLE001 - whatever a service raises
        return False


def unmapped_children(released: Lock, code: Lock) -> Iterator[SchemaChange]:
    """Yield a change for each child that is newer than its parent knows.

    Only classes with ``obj_relationships`` or ``child_versions`` are compared:
    without them, a service sends the versions of a manifest.

    :param released: the released versions
    :param code: a snapshot of the code
    """
    for name, schemas in code.types.items():
        schema = schemas[-1]
        cls: Any = registries.newest(name)
        if schema.kind != 'plain' or schema.version != cls.VERSION:
            continue
        for field, attribute, known in _known_children(cls):
            for child in registries.object_types(cls.fields[field]._type):
                newest = code.newest(child)
                if (
                    newest is None
                    or not released.newest(child)
                    or released.schema(child, newest.version)
                    or version_key(newest.version) <= version_key(known)
                ):
                    continue
                yield SchemaChange(
                    'type',
                    'child',
                    released.schema(name, schema.version) or schema,
                    _bumped(schema, released),
                    field,
                    f'{newest} is new, but {attribute} ends with {child}'
                    f' {known}',
                )


def _known_children(cls: Any) -> Iterator[tuple[str, str, str]]:
    """Yield fields, the attribute about them and the newest known version."""
    child_versions = getattr(cls, 'child_versions', None)
    if child_versions:
        newest = max(child_versions, key=version_key)
        yield 'objects', 'child_versions', child_versions[newest]
        return
    for field, pairs in cls.obj_relationships.items():
        if pairs and field in cls.fields:
            _own, known = max(pairs, key=lambda pair: version_key(pair[0]))
            yield field, 'obj_relationships', known


def _bumped(schema: TypeSchema, released: Lock) -> TypeSchema:
    """Return a parent at the version that can have a newer child."""
    if not released.schema(schema.name, schema.version):
        return schema
    major, minor, *_patch = version_key(schema.version)
    return dataclasses.replace(schema, version=f'{major}.{minor + 1}')
