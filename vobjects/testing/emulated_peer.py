# SPDX-License-Identifier: Apache-2.0
"""An old peer, built from the lock alone.

The classes of an :class:`EmulatedPeer` come from the lock, not from the
current code. They contain no conversions, because an old peer knows no later
versions. They are not registered; the peer finds them by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields
from vobjects.lock import registries
from vobjects.lock.model import (
    FieldSchema,
    FieldType,
    Lock,
    TypeSchema,
    version_key,
)


class AnyValue(ovo_fields.FieldType[Any]):
    """A field type that is no longer registered."""


class EmulatedPeer:
    """A process of an older release, which reads and writes by the lock.

    :param lock: the lock of that release: see
        :meth:`vobjects.lock.model.Lock.at`
    """

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.manifest: Mapping[str, str] = lock.manifest()
        self._classes: dict[str, type[ovo_base.VersionedObject]] = {}
        self._kinds = _kinds()

    def class_of(self, name: str) -> type[ovo_base.VersionedObject]:
        """Return the peer's class for a type.

        :raises oslo_versionedobjects.exception.UnsupportedObjectError: the
            peer has no such type
        """
        if name not in self._classes:
            schema = self.lock.newest(name)
            if schema is None:
                raise ovo_exception.UnsupportedObjectError(objtype=name)
            self._classes[name] = self._make(schema)
        return self._classes[name]

    def find(self, name: str) -> type[ovo_base.VersionedObject] | None:
        """Return the peer's class for a type; None if it has no such type."""
        return self.class_of(name) if name in self.manifest else None

    def read(self, primitive: Mapping[str, Any]) -> ovo_base.VersionedObject:
        """Read a primitive as the peer would, including nested objects.

        :raises oslo_versionedobjects.exception.UnsupportedObjectError: the
            peer has no such type
        :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: the
            primitive is newer than the peer's type, or of another major
            version
        :raises vobjects.exceptions.UnknownField: the peer's type lacks a field
        :raises ValueError: the peer's type does not allow a value
        """
        space = _space(primitive)
        cls = self.class_of(primitive[f'{space}.name'])
        version = primitive[f'{space}.version']
        newest, asked = version_key(cls.VERSION), version_key(version)
        if asked[0] != newest[0] or asked[:2] > newest[:2]:
            raise ovo_exception.IncompatibleObjectVersion(
                objname=cls.__name__, objver=version, supported=cls.VERSION
            )
        data = primitive[f'{space}.data']
        made: Any = cls()
        for name, value in data.items():
            if name not in cls.fields:
                raise exceptions.UnknownField(cls.__name__, name, version)
            field = cls.fields[name]
            loaded = field.from_primitive(made, name, value)
            # from_primitive() checks little, so set the attribute, which
            # validates.
            setattr(made, name, loaded)
        read: ovo_base.VersionedObject = made
        return read

    def _make(self, schema: TypeSchema) -> type[ovo_base.VersionedObject]:
        made: dict[str, Any] = {
            field.name: self._field(field) for field in schema.fields
        }
        body: dict[str, Any] = {
            'VERSION': schema.version,
            'OBJ_SERIAL_NAMESPACE': schema.namespace[0],
            'OBJ_PROJECT_NAMESPACE': schema.namespace[1],
            'fields': made,
            '__module__': __name__,
        }
        cls = type(schema.name, (ovo_base.VersionedObject,), body)
        ovo_base._make_class_properties(cls)
        return cls

    def _field(self, schema: FieldSchema) -> ovo_fields.Field[Any]:
        options: dict[str, Any] = {'nullable': schema.nullable}
        if schema.default:
            options['default'] = json.loads(schema.default)
        return ovo_fields.Field(self._type(schema.kind), **options)

    def _type(self, kind: FieldType) -> Any:
        inner = kind.inner
        if kind.name == 'Object' and inner is not None:
            return _Nested(
                self, inner.name, ('subclasses', 'true') in (kind.options)
            )
        known = self._kinds.get(kind.name)
        if known is None:
            return AnyValue()
        if inner is not None and issubclass(
            known, ovo_fields.CompoundFieldType
        ):
            options = dict(inner.options)
            nullable = options.pop('nullable', '') == 'true'
            element = FieldType(inner.name, inner.args, tuple(options.items()))
            return _compound(known)(
                ovo_fields.Field(self._type(element), nullable=nullable)
            )
        return _simple(known, kind)


class _Nested(ovo_fields.Object):
    """A nested object, read by the same peer."""

    def __init__(
        self, peer: EmulatedPeer, name: str, subclasses: bool
    ) -> None:
        super().__init__(name, subclasses=subclasses)
        self._peer, self._name, self._any = peer, name, subclasses

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        if not isinstance(value, ovo_base.VersionedObject) or (
            not self._any and type(value).__name__ != self._name
        ):
            raise ValueError(f'{attr} must be a {self._name}')
        return value

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return value.obj_to_primitive()

    def from_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return self._peer.read(value)


def _simple(known: type, kind: FieldType) -> Any:
    """Return a field type with the parameters of the lock."""
    words = [json.loads(word) for word in kind.words]
    options = {name: json.loads(value) for name, value in kind.options}
    for arguments in (
        {'valid_values': words} if words else options,
        options,
        {},
    ):
        try:
            return known(**arguments)
        except TypeError:
            continue
    return AnyValue()


def _compound(known: type) -> type:
    """Return o.vo's base class for a service's list, dict or set type."""
    for plain in (ovo_fields.List, ovo_fields.Dict, ovo_fields.Set):
        if issubclass(known, plain):
            return plain
    return known


def _kinds() -> Mapping[str, type]:
    """Return field types by name: of o.vo, this package and the services."""
    found: dict[str, type] = {}
    for versions in registries.registered().values():
        for cls in versions:
            for field in cls.fields.values():
                kind = type(field._type)
                found.setdefault(kind.__name__, kind)
    for module in (ovo_fields, fields):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(
                value, ovo_fields.FieldType
            ):
                found[name] = value
    return found


def _space(primitive: Mapping[str, Any]) -> str:
    for key in primitive:
        if key.endswith('.name'):
            return key.removesuffix('.name')
    raise exceptions.ConversionError(
        f'{exceptions.cut(primitive)} is not the primitive of an object'
    )
