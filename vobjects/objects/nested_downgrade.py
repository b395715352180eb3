# SPDX-License-Identifier: Apache-2.0
"""Downgrade nested objects for an older peer.

The manifest of a conversion is kept in a context variable, not on the object:
several threads may convert one object for several peers at once.
"""

from __future__ import annotations

import contextvars
import dataclasses
from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions
from vobjects.field_values import (
    holds_objects,
    map_objects,
    objects_in,
)
from vobjects.objects.conversion_plan import ConversionPlan, RefuseLoss

Manifest = Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class DowngradeSettings:
    """Settings of one conversion, for all objects below its root."""

    manifest: Manifest | None
    refuse_loss: RefuseLoss


#: Settings of the conversion in progress, if any.
current_downgrade: contextvars.ContextVar[DowngradeSettings | None] = (
    contextvars.ContextVar('vobjects_conversion', default=None)
)


def downgrade_written(
    parent: Any,
    types: Mapping[str, Any],
    data: dict[str, Any],
    manifest: Manifest,
    refuse_loss: RefuseLoss,
) -> None:
    """Downgrade the objects that a converter has written into data.

    A converter writes the newest version of their types.

    :param types: field name -> type of the fields that a converter has written
    """

    def convert(_type: Any, primitive: dict[str, Any], _path: Any) -> Any:
        child = parent.obj_from_primitive(primitive, parent.obj_context)
        return write_uncompiled(child, manifest, refuse_loss)

    for name, field_type in types.items():
        if name in data:
            data[name] = map_objects(field_type, data[name], convert)


def write_uncompiled(
    obj: ovo_base.VersionedObject | None,
    manifest: Manifest | None,
    refuse_loss: RefuseLoss,
) -> dict[str, Any] | None:
    """Return the primitive of a nested object, without compiled code.

    :raises vobjects.exceptions.UnsupportedType: the manifest lacks a type
    """
    if obj is None:
        return None
    primitive = obj.obj_to_primitive()
    if manifest is not None:
        # Use the object's own name: a subclass of the declared type has its
        # own versions, which are unrelated to those of the declared type.
        version = version_in(manifest, obj.obj_name())
        downgrade(obj, primitive, version, manifest, refuse_loss)
    return primitive


def downgrade(
    obj: ovo_base.VersionedObject,
    primitive: dict[str, Any],
    version: str,
    manifest: Manifest | None,
    refuse_loss: RefuseLoss,
) -> None:
    """Convert the primitive of an object, in place, by the object's method."""
    key = obj._obj_primitive_key
    token = current_downgrade.set(DowngradeSettings(manifest, refuse_loss))
    try:
        obj.obj_make_compatible_from_manifest(
            primitive[key('data')],
            version,
            manifest,  # type: ignore[arg-type]
        )
    finally:
        current_downgrade.reset(token)
    primitive[key('version')] = version
    rename_changes(obj, primitive)


def rename_changes(
    obj: ovo_base.VersionedObject, primitive: dict[str, Any]
) -> None:
    """Name the changed fields as in the version of a primitive."""
    key = obj._obj_primitive_key
    data, version = primitive[key('data')], primitive[key('version')]
    changes = primitive.get(key('changes'), ())
    plan_to = getattr(obj, '_plan_to', None)  # of vobjects.objects.Object
    if plan_to is not None:
        if version == obj.VERSION:
            return
        names = plan_to(version).new_names
        changes = [names.get(name, name) for name in obj.obj_what_changed()]
    changes = [name for name in changes if name in data]
    if changes:
        primitive[key('changes')] = changes
    else:
        primitive.pop(key('changes'), None)


def rename_nested_changes(
    obj: Any, plan: ConversionPlan, data: dict[str, Any]
) -> None:
    """Rename the changes of nested objects, however they were converted.

    oslo.versionedobjects and conversions by hand keep the newest names.

    :param plan: how ``data`` of the object was converted
    """
    names, converted = plan.new_names, plan.converted
    for name, field in obj.fields.items():
        if (
            name in converted
            or not holds_objects(field._type)
            or not obj.obj_attr_is_set(name)
        ):
            continue
        children = [*objects_in(field._type, getattr(obj, name))]
        inner = data.get(names.get(name, name))
        primitives = [*objects_in(field._type, inner)]
        # A conversion by hand may have removed some of them.
        if len(children) == len(primitives):
            for child, primitive in zip(children, primitives, strict=True):
                rename_changes(child, primitive)


def version_in(manifest: Manifest, name: str) -> str:
    """Return the version of a type in a manifest.

    :raises vobjects.exceptions.UnsupportedType: the manifest lacks the type
    """
    try:
        return manifest[name]
    except KeyError:
        raise exceptions.UnsupportedType(name) from None
    except TypeError:
        raise TypeError(
            f'{exceptions.cut(manifest)} is no manifest, which maps types to'
            ' versions; for those of a microversion, see at_microversion() in'
            ' vobjects.objects.manifest'
        ) from None
