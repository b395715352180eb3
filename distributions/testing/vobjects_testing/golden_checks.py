# SPDX-License-Identifier: Apache-2.0
"""Check primitives recorded from releases: golden primitives."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vobjects import exceptions  # isort: skip
from vobjects.objects import manifest  # isort: skip
from oslo_versionedobjects import base as ovo_base

from vobjects.lock import registries, service_quirks
from vobjects.objects import Object
from vobjects.versions import Version
from vobjects_testing.emulated_peer import namespace_of
from vobjects_testing.primitive_differences import first_difference, shortened


def _remove_field(primitive: Any, type_name: str, field: str) -> bool:
    """Remove a field from all objects of a type in a primitive.

    :returns: whether an object had the field
    """
    if isinstance(primitive, list):
        primitive = dict(enumerate(primitive))
    if not isinstance(primitive, dict):
        return False
    is_removed = False
    for key, value in primitive.items():
        is_removed |= _remove_field(value, type_name, field)
        namespace = str(key).removesuffix('.name')
        data = primitive.get(f'{namespace}.data')
        if value == type_name and isinstance(data, dict) and field in data:
            del data[field]
            changes = primitive.get(f'{namespace}.changes', [])
            changes[:] = [change for change in changes if change != field]
            is_removed = True
    return is_removed


def unset_filled(before: Any, after: Any) -> None:
    """Remove fields that an upgrade or a downgrade filled.

    A type with declared history means its default by a field that is unset, or
    gives it the value that its declaration names. Fields that the newest
    version dropped are removed, too, and so are the names of changed fields.

    :param before: a primitive, or a part of it; changed
    :param after: the same part of what the newest version writes; changed
    """
    if isinstance(before, list) and isinstance(after, list):
        before, after = dict(enumerate(before)), dict(enumerate(after))
    if not isinstance(before, dict) or not isinstance(after, dict):
        return
    for key in before.keys() & after.keys():
        unset_filled(before[key], after[key])
    namespace = next((k[:-5] for k in before if str(k).endswith('.data')), '')
    for part in before, after:
        part.pop(f'{namespace}.changes', None)
    cls = registries.newest(before.get(f'{namespace}.name', ''))
    if cls is None or not issubclass(cls, Object):
        return
    history = cls._history
    version = Version.parse(before[f'{namespace}.version'])
    data, written = before[f'{namespace}.data'], after[f'{namespace}.data']
    filled: dict[str, Any] = {}
    for plan in (
        history.plan(version, history.version),
        history.plan(history.version, version),
    ):
        plan.apply(filled, refuse_loss=False)
    filled = json.loads(json.dumps(filled))
    for name in history.wire_fields_at(version):
        if history.name_at(name, version, history.version) is None:
            # The type dropped it; a lost value is reported as LossyDowngrade.
            data.pop(name, None)
            written.pop(name, None)
        elif (
            name in written
            and name not in data
            and name in filled
            and written[name] == filled[name]
        ):
            del written[name]


def check(
    primitive: Mapping[str, Any],
    release_manifest: Mapping[str, str],
    exempt: Iterable[tuple[str, str]] = (),
) -> None:
    """Check a primitive recorded from a release.

    :param primitive: the primitive of an object
    :param release_manifest: the manifest of that release
    :param exempt: types and fields that are not checked
    :raises AssertionError: it cannot be read, or is written differently for a
        peer of that release
    """
    namespace = namespace_of(primitive)
    name = primitive[f'{namespace}.name']
    version = primitive[f'{namespace}.version']
    newest = registries.newest(name) or ovo_base.VersionedObject
    if not registries.is_readable(newest, registries.newest):
        return
    find: Callable[[str, str], Any] = newest.obj_class_from_name
    cls = find(name, version)
    primitive = copy.deepcopy(dict(primitive))
    given_up = [*exempt]
    for type_and_field in given_up:
        _remove_field(primitive, *type_and_field)
    while True:
        try:
            obj = cls.obj_from_primitive(copy.deepcopy(primitive), None)
            break
        except exceptions.LossyDowngrade as error:
            # A declared loss: the type no longer supports the value.
            given_up.append((error.type_name, error.field))
            if not _remove_field(primitive, *given_up[-1]):
                raise
    written = service_quirks.to_primitive(
        obj, version, {**manifest.local(), **release_manifest}
    )
    written = json.loads(json.dumps(written))
    for type_and_field in given_up:
        _remove_field(written, *type_and_field)  # filled with a default
    unset_filled(primitive, written)
    before = primitive[f'{namespace}.data']
    after = written[f'{namespace}.data']
    difference = first_difference(before, after)
    if difference is not None:
        path, old, new = difference
        raise AssertionError(
            f'golden: {name} {version}: {path!r} was {shortened(old)} and'
            f' became {shortened(new)}'
        )
