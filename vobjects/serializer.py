# SPDX-License-Identifier: Apache-2.0
"""Objects to primitives for a peer, and primitives to objects of ours.

:class:`Serializer` is an ``oslo_messaging.Serializer`` that downgrades what
it sends to a manifest. Our client and server know a peer for each message,
so they call :func:`to_wire` and :func:`from_wire` themselves, or
:func:`to_bytes` and :func:`from_bytes` where the transport takes bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception

from vobjects import base
from vobjects.codec import text, unread
from vobjects.codec.finite import are_finite
from vobjects.codec.lists import read_items, read_list
from vobjects.manifest import Manifest, stood_in
from vobjects.versions import Version


def to_wire(entity: Any, spoken: Mapping[str, str] | None) -> Any:
    """Replace every object in an entity by its primitive.

    :param entity: an object, or lists, tuples and dicts with objects inside
    :param spoken: what the receiver speaks; None: as new as we are
    :raises vobjects.exceptions.ConversionError: it cannot be said that way
    """
    if isinstance(entity, base.Object):
        if spoken is None:
            spoken = stood_in()
        return entity.obj_to_primitive(version_manifest=spoken)
    if isinstance(entity, Mapping):
        return {key: to_wire(item, spoken) for key, item in entity.items()}
    if isinstance(entity, (list, tuple, set)):
        return [to_wire(item, spoken) for item in entity]
    return entity


def from_wire(
    entity: Any, context: Any = None, speaks: Manifest | None = None
) -> Any:
    """Replace every primitive in an entity by an object of our newest form.

    :param speaks: refuse what is newer than this, as a build of that age
        would; None: what is registered decides
    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: newer
        than what we speak
    :raises oslo_versionedobjects.exception.UnsupportedObjectError: a type
        we do not know
    """
    if isinstance(entity, Mapping):
        name = base.Object.obj_name_of(entity)
        if name is None:
            return {
                key: from_wire(item, context, speaks)
                for key, item in entity.items()
            }
        if speaks is None:
            speaks = stood_in()
        if speaks is not None:
            check_spoken(entity, speaks)
        cls = base.registered(name)
        return cls.obj_from_primitive(dict(entity), context)
    if isinstance(entity, (list, tuple)):
        return [from_wire(item, context, speaks) for item in entity]
    return entity


def to_bytes(entity: Any, spoken: Mapping[str, str] | None) -> bytes:
    """Return the JSON text of what :func:`to_wire` gives.

    :param spoken: what the receiver speaks; None: as new as we are
    :raises vobjects.exceptions.ConversionError: it cannot be said that way
    :raises TypeError: it holds something that JSON has not
    """
    if entity.__class__ is unread.UnreadObjects:
        written = _unread_text(entity, spoken)
        if written is not None:
            return written
    return text.dumps(to_wire(entity, spoken), finite=are_finite(entity))


def _unread_text(
    objects: unread.UnreadObjects, spoken: Mapping[str, str] | None
) -> bytes | None:
    """Return the text of a list that nobody read; None: it takes objects."""
    form = unread.form_of_waiting(objects)
    if form is None or not form.may_convert():
        return None
    if spoken is None:
        spoken = stood_in()
    newest = form.cls.VERSION
    if spoken is not None and spoken.get(form.type_name) != newest:
        return None
    return unread.text_of(objects)


def from_bytes(
    data: bytes | str, context: Any = None, speaks: Manifest | None = None
) -> Any:
    """Read what :func:`to_bytes` wrote; see :func:`from_wire`.

    Of a list of objects, and of an object that is one, each item is made when
    it is first taken out. They are checked before: what would be refused is
    refused here and now.

    :raises ValueError: it is no JSON text
    """
    if isinstance(data, str):
        data = data.encode()
    if speaks is None:
        speaks = stood_in()
    if speaks is None:
        for read in (read_list, read_items):
            made = read(data, context)
            if made is not None:
                return made
    return from_wire(text.loads(data), context, speaks)


def from_message(
    entity: Any, context: Any = None, speaks: Manifest | None = None
) -> Any:
    """Read an argument or an answer of ours: JSON text, or primitives.

    :raises ValueError: text that is no JSON
    """
    read = from_bytes if isinstance(entity, str) else from_wire
    return read(entity, context, speaks)


def check_spoken(primitive: Mapping[str, Any], speaks: Manifest) -> None:
    """Refuse a primitive as a build with that manifest would.

    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: or
        UnsupportedObjectError, as oslo.versionedobjects does
    """
    for name, version in base.versions_in(primitive):
        known = speaks.version(name)
        if known is None:
            raise ovo_exception.UnsupportedObjectError(objtype=name)
        if Version.parse(version) > known:
            raise ovo_exception.IncompatibleObjectVersion(
                objname=name, objver=version, supported=str(known)
            )


class Serializer(ovo_base.VersionedObjectSerializer):
    """Sends every object at what the receiver speaks.

    :param spoken: returns the receiver's manifest at the time of a send;
        None: everything as new as we are
    """

    OBJ_BASE_CLASS = base.Object

    def __init__(
        self, spoken: Callable[[], Mapping[str, str] | None] = lambda: None
    ) -> None:
        super().__init__()
        self._spoken = spoken

    def serialize_entity(self, context: Any, entity: Any) -> Any:
        """Return the entity with primitives for objects."""
        return to_wire(entity, self._spoken())

    def deserialize_entity(self, context: Any, entity: Any) -> Any:
        """Return the entity with objects for primitives."""
        return from_wire(entity, context)
