# SPDX-License-Identifier: Apache-2.0
"""Convert objects to a peer's version.

An object is encoded at its own version, with the nested objects converted,
and the plan of :mod:`vobjects.objects.history` is applied to the result.
Objects that cannot be compiled (with a conversion written by hand, or of a
class without declared history) are passed to ``downgrade_uncompiled`` of
:mod:`vobjects.objects.nested_downgrade`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions, field_corrections
from vobjects.objects import nested_downgrade
from vobjects.objects.codec import lazy_list
from vobjects.objects.codec.class_codec import (
    ClassCodec,
    class_codec,
    write_each,
)
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    is_convertible,
    version_tuple,
)
from vobjects.objects.conversion_plan import ConversionPlan, RefuseLoss

#: Maximum number of conversions kept per class. Versions come from the
#: manifests of peers, so there must be a limit; a fleet has far fewer.
MAX_VERSIONS = 64

Manifest = Mapping[str, str]

#: Converts the objects in a value.
Converter = Callable[[Manifest, RefuseLoss, Any], Any]

#: Returns the primitive of an object: ``(obj, manifest, refuse_loss)``.
Downgrade = Callable[[Any, Manifest | None, RefuseLoss], dict[str, Any]]


def _downgrade(codec: ClassCodec, version: str) -> Downgrade:
    """Return how to convert objects of a class to a version.

    It raises ConversionError if an object cannot be represented.
    """
    cls: Any = codec.cls
    plan: ConversionPlan = cls._plan_to(version)
    encode = codec.encoder(
        f'{codec.title} at {version}',
        {
            name: _converter(field.field._type)
            for name, field in codec.fields.items()
            if field.holds_objects and name not in plan.converted
        },
    )
    new_names = plan.new_names
    new_objects = plan.new_objects

    def downgrade(
        obj: Any, manifest: Manifest | None, refuse_loss: RefuseLoss
    ) -> dict[str, Any]:
        if codec.must_be_complete:
            obj.check_complete()
        data = encode(obj, obj.__dict__, manifest, refuse_loss)
        plan.apply(data, refuse_loss=refuse_loss)
        if new_objects and manifest is not None:
            nested_downgrade.downgrade_written(
                obj, new_objects, data, manifest, refuse_loss
            )
        return codec.envelope(obj, version, data, new_names)

    return downgrade


def _downgrade_to(codec: ClassCodec, version: str) -> Downgrade:
    """Return how to convert objects of a class to a version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    downgrade: Downgrade | None = codec.downgrades.get(version)
    if downgrade is None:
        downgrade = _downgrade(codec, version)
        if len(codec.downgrades) < MAX_VERSIONS:
            codec.downgrades[version] = downgrade
    return downgrade


def _converter(field_type: Any) -> Converter:
    """Return a function that converts the objects in a field's value."""
    if isinstance(field_type, ovo.Object):
        return _downgrade_object
    element_type = field_type._element_type._type
    convert_item = _converter(element_type)

    def convert_items(
        manifest: Manifest, refuse_loss: RefuseLoss, values: Any
    ) -> Any:
        if isinstance(field_type, ovo.Dict):
            items = convert_items_of(manifest, refuse_loss, values.values())
            return dict(zip(values, items, strict=True))
        items = convert_items_of(manifest, refuse_loss, values)
        is_set = isinstance(field_type, ovo.Set)
        return field_corrections.in_order(items) if is_set else items

    def convert_each(
        manifest: Manifest, refuse_loss: RefuseLoss, values: Any
    ) -> list[Any]:
        return [
            None if v is None else convert_item(manifest, refuse_loss, v)
            for v in values
        ]

    convert_items_of = (
        _downgrade_objects
        if isinstance(element_type, ovo.Object)
        else convert_each
    )
    return convert_items


def _downgrade_for(
    cls: type[VersionedObject], manifest: Manifest
) -> Downgrade | None:
    """Return how to convert objects of a class; None: without compiling.

    :raises vobjects.exceptions.UnsupportedType: the manifest lacks the type
    """
    if not hasattr(cls, 'obj_to_primitive'):
        return None
    codec = class_codec(cls)
    if not codec.may_convert():
        return None
    version = manifest.get(codec.type_name)
    if version is None:
        raise exceptions.UnsupportedType(codec.type_name)
    return _downgrade_to(codec, version)


def _downgrade_object(
    manifest: Manifest, refuse_loss: RefuseLoss, child: Any
) -> Any:
    downgrade = _downgrade_for(child.__class__, manifest)
    if downgrade is not None and is_convertible(child):
        return downgrade(child, manifest, refuse_loss)
    return nested_downgrade.downgrade_uncompiled(child, manifest, refuse_loss)


def _downgrade_objects(
    manifest: Manifest, refuse_loss: RefuseLoss, objects: Any
) -> list[Any]:
    """Return the primitives of objects in a container."""
    if objects.__class__ is LazyObjectList:
        codec = lazy_list.codec_of(objects)
        if (
            codec is not None
            and manifest.get(codec.type_name) == codec.cls.VERSION
            and codec.may_convert()
        ):
            return lazy_list.primitives(
                objects,
                functools.partial(_downgrade_objects, manifest, refuse_loss),
            )
    return write_each(
        objects,
        functools.partial(_downgrade_for, manifest=manifest),
        nested_downgrade.downgrade_uncompiled,
        manifest,
        refuse_loss,
    )


def convert(
    obj: Any,
    version: str | None,
    manifest: Mapping[str, str] | None,
    refuse_loss: RefuseLoss,
) -> dict[str, Any] | None:
    """Return the primitive of an object at a version; None: not compiled.

    :raises oslo_versionedobjects.exception.InvalidTargetVersion: the version
        is newer than the object's
    :raises vobjects.exceptions.ConversionError: the object cannot be
        represented at that version
    """
    codec = class_codec(obj.__class__)
    if not (codec.may_convert() and is_convertible(obj)):
        return None
    newest = codec.cls.VERSION
    if version is None or version == newest:
        # oslo.versionedobjects ignores an empty manifest, unless the version
        # differs.
        if not manifest:
            return codec.primitive(obj)
        version = newest
    elif manifest is None and codec.nested:
        # Nested versions come from obj_relationships, if at all.
        return None
    elif version_tuple(version) > version_tuple(newest):
        raise ovo_exception.InvalidTargetVersion(version=version)
    return _downgrade_to(codec, version)(obj, manifest, refuse_loss)
