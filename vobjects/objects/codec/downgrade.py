# SPDX-License-Identifier: Apache-2.0
"""Convert objects to a peer's version.

An object is encoded at its own version, with the nested objects converted,
and the plan of :mod:`vobjects.objects.history` is applied to the result.
Objects that cannot be compiled (with a conversion written by hand, or of a
class without declared history) are passed to ``obj._downgrade_uncompiled`` of
:class:`vobjects.objects.Object`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions
from vobjects.objects.codec import generate, lazy_list
from vobjects.objects.codec.class_codec import ClassCodec, class_codec
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.codec.override_detection import (
    VersionedObject,
    is_unpatched,
    version_tuple,
)
from vobjects.objects.conversion_plan import ConversionPlan

#: Maximum number of conversions kept per class. Versions come from the
#: manifests of peers, so there must be a limit; a fleet has far fewer.
MAX_VERSIONS = 64

Manifest = Mapping[str, str]

#: Converts a value; the first argument is the object that contains it.
Converter = Callable[[Any, Manifest, bool, Any], Any]


class Downgrade:
    """How to convert objects of a class to a version."""

    __slots__ = ('_codec', '_data', '_drops', '_names', '_plan', '_version')

    def __init__(self, codec: ClassCodec, version: str) -> None:
        cls: Any = codec.cls
        plan: ConversionPlan = cls._plan_to(version)
        self._codec = codec
        self._version = version
        self._plan = plan
        self._names = {carry.source: carry.target for carry in plan.carries}
        dropped = {drop.name for drop in plan.drops}
        fields = codec.fields
        self._drops: list[tuple[str, str, Any, Any]] | None = None
        # A plan that only drops fields is usually applied here, because this
        # is faster.
        if not (
            plan.carries
            or plan.fills
            or any(drop.steps for drop in plan.drops)
            or any(not fields[name].encodes for name in dropped)
        ):
            fields = {k: fields[k] for k in fields if k not in dropped}
            self._drops = [
                (
                    drop.name,
                    generate.attribute_of(drop.name),
                    codec.fields[drop.name].encode,
                    drop.harmless[-1],
                )
                for drop in plan.drops
            ]
        self._data = generate.data_function(
            f'{cls.__module__}.{cls.__qualname__} at {version}',
            fields,
            {
                name: _converter(field.field._type)
                for name, field in fields.items()
                # The peer may not know the types in a dropped field.
                if field.holds_objects and name not in dropped
            },
        )

    def primitive(
        self, obj: Any, manifest: Manifest | None, refuse_loss: bool
    ) -> dict[str, Any]:
        """Return the primitive of an object.

        :raises vobjects.exceptions.ConversionError: the object cannot be
            represented at that version
        """
        codec = self._codec
        d = obj.__dict__
        data = self._data(obj, d, manifest, refuse_loss)
        if self._drops is None or self._add_dropped(data, d):
            self._plan.apply(data, refuse_loss=refuse_loss)
        changes: Any = codec.changes(obj)
        if changes and self._names:
            changes = [self._names.get(name, name) for name in changes]
        return codec.envelope(self._version, data, changes)

    def _add_dropped(self, data: dict[str, Any], d: dict[str, Any]) -> bool:
        """Add the dropped fields that are neither null nor their default.

        :returns: whether there are any
        """
        is_added = False
        for name, attribute, encode, default in self._drops or ():
            value = d.get(attribute)
            if value is not None:
                if encode is not None:
                    value = encode(value)
                if value.__class__ is not default.__class__ or (
                    value != default
                ):
                    data[name] = value
                    is_added = True
        return is_added


def _downgrade_to(codec: ClassCodec, version: str) -> Downgrade:
    """Return how to convert objects of a class to a version.

    :raises vobjects.exceptions.InvalidVersion: the version is malformed
    """
    downgrade: Downgrade | None = codec.downgrades.get(version)
    if downgrade is None:
        downgrade = Downgrade(codec, version)
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
        obj: Any, manifest: Manifest, refuse_loss: bool, values: Any
    ) -> Any:
        if isinstance(field_type, ovo.Dict):
            items = convert_items_of(
                obj, manifest, refuse_loss, values.values()
            )
            return dict(zip(values, items, strict=True))
        items = convert_items_of(obj, manifest, refuse_loss, values)
        return tuple(items) if isinstance(field_type, ovo.Set) else items

    def convert_each(
        obj: Any, manifest: Manifest, refuse_loss: bool, values: Any
    ) -> list[Any]:
        return [
            None if v is None else convert_item(obj, manifest, refuse_loss, v)
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
    parent: Any, manifest: Manifest, refuse_loss: bool, child: Any
) -> Any:
    downgrade = _downgrade_for(child.__class__, manifest)
    if downgrade is not None and is_convertible(child):
        return downgrade.primitive(child, manifest, refuse_loss)
    return parent._downgrade_uncompiled(child, manifest, refuse_loss)


def _downgrade_objects(
    parent: Any, manifest: Manifest, refuse_loss: bool, objects: Any
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
                functools.partial(
                    _downgrade_objects, parent, manifest, refuse_loss
                ),
            )
    primitives: list[Any] = []
    last_cls: Any = None
    downgrade: Downgrade | None = None
    for child in objects:
        if child is None:
            primitives.append(None)
            continue
        cls = child.__class__
        if cls is not last_cls:
            last_cls, downgrade = cls, _downgrade_for(cls, manifest)
        if downgrade is not None and is_convertible(child):
            primitives.append(
                downgrade.primitive(child, manifest, refuse_loss)
            )
        else:
            primitives.append(
                parent._downgrade_uncompiled(child, manifest, refuse_loss)
            )
    return primitives


def is_convertible(obj: Any) -> bool:
    """Tell whether an object has the methods and version of its class."""
    d = obj.__dict__
    return is_unpatched(d) and (
        'VERSION' not in d or d['VERSION'] == obj.__class__.VERSION
    )


def convert(
    obj: Any,
    version: str | None,
    manifest: Mapping[str, str] | None,
    refuse_loss: bool,
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
            return codec.primitive(obj, obj.__dict__)
        version = newest
    elif manifest is None and codec.holds_objects:
        # Nested versions come from obj_relationships, if at all.
        return None
    elif version_tuple(version) > version_tuple(newest):
        raise ovo_exception.InvalidTargetVersion(version=version)
    return _downgrade_to(codec, version).primitive(obj, manifest, refuse_loss)
