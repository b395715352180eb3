# SPDX-License-Identifier: Apache-2.0
"""Serialize objects for a peer, and deserialize its primitives.

The RPC client and server of this package know the peer of each message. They
call :func:`to_bytes` and :func:`from_bytes`; :func:`to_wire` and
:func:`from_wire` are for transports that take primitives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception

from vobjects import objects
from vobjects.objects import nested_downgrade
from vobjects.objects.codec import json_text, lazy_list
from vobjects.objects.codec.list_decoding import read_items, read_list
from vobjects.objects.manifest import Manifest, emulated
from vobjects.versions import Version


def to_wire(entity: Any, versions: Mapping[str, str] | None) -> Any:
    """Replace every object in an entity by its primitive.

    :param entity: an object, or lists, tuples, sets and dicts of objects
    :param versions: manifest of the receiver; None: the newest versions
    :raises vobjects.exceptions.ConversionError: the receiver's versions
        cannot represent an object
    :raises vobjects.exceptions.FieldsMissing: a request lacks required fields
    """
    if isinstance(entity, objects.Object):
        if isinstance(entity, objects.Request):
            entity.check_complete()
        if versions is None:
            versions = emulated()
        return entity.obj_to_primitive(version_manifest=versions)
    if isinstance(entity, ovo_base.VersionedObject) and versions is not None:
        # An adopted object that came in an older version keeps that version.
        version = min(
            nested_downgrade.version_in(versions, entity.obj_name()),
            entity.VERSION,
            key=Version.parse,
        )
        return entity.obj_to_primitive(version, versions)  # type: ignore[arg-type]
    if isinstance(entity, Mapping):
        return {key: to_wire(item, versions) for key, item in entity.items()}
    if isinstance(entity, (list, tuple, set)):
        return [to_wire(item, versions) for item in entity]
    return entity


def from_wire(
    entity: Any, context: Any = None, supported: Manifest | None = None
) -> Any:
    """Replace every primitive in an entity by an object of the newest version.

    :param supported: reject versions newer than in this manifest, as a build
        with that manifest would; None: accept all registered versions
    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: a
        version is newer than this process supports
    :raises oslo_versionedobjects.exception.UnsupportedObjectError: a type is
        unknown
    """
    if isinstance(entity, Mapping):
        name = objects.Object.obj_name_of(entity)
        if name is None:
            return {
                key: from_wire(item, context, supported)
                for key, item in entity.items()
            }
        if supported is None:
            supported = emulated()
        if supported is not None:
            check_supported(entity, supported)
        cls = objects.registered_type(name)
        return cls.obj_from_primitive(dict(entity), context)
    if isinstance(entity, (list, tuple)):
        return [from_wire(item, context, supported) for item in entity]
    return entity


def to_bytes(entity: Any, versions: Mapping[str, str] | None) -> bytes:
    """Return the result of :func:`to_wire` as JSON text.

    :param versions: manifest of the receiver; None: the newest versions
    :raises vobjects.exceptions.ConversionError: the receiver's versions
        cannot represent an object
    :raises vobjects.exceptions.FieldsMissing: a request lacks required fields
    :raises TypeError: the entity has a value that JSON cannot represent
    """
    if entity.__class__ is lazy_list.LazyObjectList:
        text = _lazy_list_text(entity, versions)
        if text is not None:
            return text
    return json_text.dumps(to_wire(entity, versions))


def _lazy_list_text(
    items: lazy_list.LazyObjectList, versions: Mapping[str, str] | None
) -> bytes | None:
    """Return the text of a pending list; None: it has to be converted."""
    codec = lazy_list.codec_of(items)
    if codec is None or not codec.may_convert():
        return None
    if versions is None:
        versions = emulated()
    newest = codec.cls.VERSION
    if versions is not None and versions.get(codec.type_name) != newest:
        return None
    return lazy_list.text_of(items)


def from_bytes(
    data: bytes | str, context: Any = None, supported: Manifest | None = None
) -> Any:
    """Read the output of :func:`to_bytes`; see :func:`from_wire`.

    In a list of objects, and in an object that is a list, each item becomes
    an object when it is first accessed. All items are validated now, so that
    errors are raised here and not on access.

    :raises ValueError: the data is not JSON text, or has too many values
    """
    if isinstance(data, str):
        data = data.encode()
    json_text.check_size(data)
    if supported is None:
        supported = emulated()
    if supported is None:
        for read in (read_list, read_items):
            entity = read(data, context)
            if entity is not None:
                return entity
    return from_wire(json_text.loads(data), context, supported)


def check_supported(primitive: Mapping[str, Any], supported: Manifest) -> None:
    """Reject a primitive as a build with that manifest would.

    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: a
        version is newer than in the manifest
    :raises oslo_versionedobjects.exception.UnsupportedObjectError: a type is
        not in the manifest
    """
    for name, version in objects.versions_in(primitive):
        newest = supported.version(name)
        if newest is None:
            raise ovo_exception.UnsupportedObjectError(objtype=name)
        if Version.parse(version) > newest:
            raise ovo_exception.IncompatibleObjectVersion(
                objname=name, objver=version, supported=str(newest)
            )
