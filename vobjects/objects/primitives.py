# SPDX-License-Identifier: Apache-2.0
"""Convert objects to JSON data, and inspect primitives by type."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, unregistered
from vobjects.field_values import map_objects, objects_in
from vobjects.objects import nested_downgrade
from vobjects.objects.codec import json_text, lazy_list
from vobjects.objects.conversion_plan import ConversionPlan
from vobjects.objects.history import History
from vobjects.objects.nested_downgrade import Manifest
from vobjects.objects.object import Object
from vobjects.objects.registration import registered_type
from vobjects.versions import Version


def to_json(obj: Object, manifest: Manifest) -> dict[str, Any]:
    """Return an object as JSON data for a reader with the given manifest.

    :param manifest: type name -> version, for every type inside ``obj``
    :returns: field name -> JSON value, without envelopes at any depth
    :raises vobjects.exceptions.UnsupportedType: the manifest lacks a type
    """
    cls: Any = type(obj)
    if not issubclass(cls, Object):
        unregistered.check_class(cls)
    return _strip(obj.obj_to_primitive(version_manifest=manifest))


def to_json_list(
    objects: Iterable[Object], manifest: Manifest
) -> list[dict[str, Any]]:
    """Return :func:`to_json` of each object, without creating pending objects.

    :raises vobjects.exceptions.UnsupportedType: see :func:`to_json`
    """
    pending = _pending_data(objects, manifest)
    if pending is None:
        return [to_json(obj, manifest) for obj in objects]
    structs, plan, hidden = pending
    data: list[dict[str, Any]] = lazy_list.to_primitives(structs)
    if plan is not None:
        for obj in data:
            plan.apply(obj, refuse_loss=False)
            for name in hidden:
                obj.pop(name, None)
    return data


def to_json_text(objects: Iterable[Object], manifest: Manifest) -> Any:
    """Return JSON data of objects, as fast as possible.

    It is for ``vobjects.objects.codec.json_text.dumps``. The value is the
    result of :func:`to_json_list`, or its JSON text if no object needs to be
    created and no value converted.

    :raises vobjects.exceptions.UnsupportedType: see :func:`to_json`
    """
    pending = _pending_data(objects, manifest)
    text = None
    if pending is not None and pending[1] is None:
        text = lazy_list.encode(pending[0])
    if text is None:
        return to_json_list(objects, manifest)
    return json_text.RawJson(text)


def _pending_data(
    objects: Iterable[Object], manifest: Manifest
) -> tuple[list[Any], ConversionPlan | None, frozenset[str]] | None:
    """Return the data of pending objects, without creating them.

    :returns: structs; the plan for their primitives, or None if they need no
        conversion; and the fields that the API no longer has, to be removed
        after it. None instead of all: objects have to be created
    """
    if not isinstance(objects, lazy_list.LazyObjectList):
        return None
    codec = lazy_list.codec_of(objects)
    if codec is None or not codec.may_convert() or codec.cls.REFUSE_LOSS:
        return None
    version = nested_downgrade.version_in(manifest, codec.type_name)
    timeline = codec.cls._history
    if any(
        _enveloped_fields(timeline, each)
        for each in (codec.cls.VERSION, version)
    ):
        return None
    plan: ConversionPlan | None = codec.cls._plan_to(version)
    hidden = _hidden_fields(timeline, version)
    omitted: frozenset[str] = frozenset()
    if plan is not None and plan.only_drops:
        omitted = hidden | {drop.name for drop in plan.drops}
        plan = None
    structs = lazy_list.data_of(objects, omitted)
    return None if structs is None else (structs, plan, hidden)


def versions_in(primitive: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (type name, version) of a primitive and of all nested ones.

    The traversal follows the field types, so that user data that resembles a
    primitive is not mistaken for one.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: a type is
        not registered
    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: a
        version is newer than the registered one
    """
    name, version, data = _envelope(primitive)
    yield name, version
    cls = registered_type(name)
    if Version.parse(version) > cls._history.version:
        raise ovo_exception.IncompatibleObjectVersion(
            objname=name, objver=version, supported=cls.VERSION
        )
    for key, field_type in _enveloped_fields(cls._history, version):
        for child in objects_in(field_type, data.get(key)):
            with unregistered.named(f'{name}.{key}'):
                yield from versions_in(child)


def _envelope(primitive: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    space = Object.OBJ_SERIAL_NAMESPACE
    try:
        return (
            primitive[f'{space}.name'],
            primitive[f'{space}.version'],
            primitive[f'{space}.data'],
        )
    except (KeyError, TypeError) as error:
        raise exceptions.ConversionError(
            f'{exceptions.cut(primitive)} is not the primitive of an object'
        ) from error


def _strip(primitive: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a primitive, modified in place, without envelopes.

    Only fields that may hold an envelope are visited. Fields that the API no
    longer has are removed.
    """
    name, version, data = _envelope(primitive)
    timeline = registered_type(name)._history
    for key in _hidden_fields(timeline, version):
        data.pop(key, None)
    for key, field_type in _enveloped_fields(timeline, version):
        if key in data:
            data[key] = map_objects(
                field_type, data[key], lambda _, inner, __: _strip(inner)
            )
    return data


@functools.lru_cache(maxsize=1024)
def _hidden_fields(timeline: History, version: str) -> frozenset[str]:
    """Return the fields of primitives that the API no longer has."""
    at = Version.parse(version)
    return frozenset(
        timeline.wire_fields_at(at).keys() - timeline.fields_at(at)
    )


@functools.lru_cache(maxsize=1024)
def _enveloped_fields(
    timeline: History, version: str
) -> tuple[tuple[str, Any], ...]:
    """Return (name, field type) of the fields that are not yet JSON data."""
    return tuple(
        (key, field._type)
        for key, field in timeline.wire_fields_at(
            Version.parse(version)
        ).items()
        if _holds_envelope(field._type)
    )


def _holds_envelope(field_type: Any) -> bool:
    """Tell whether a primitive may hold envelopes, or a tuple for a set."""
    if isinstance(field_type, (ovo_fields.List, ovo_fields.Dict)):
        return _holds_envelope(field_type._element_type._type)
    return isinstance(field_type, (ovo_fields.Object, ovo_fields.Set))
