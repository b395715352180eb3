# SPDX-License-Identifier: Apache-2.0
"""An old peer, built from the lock alone.

The classes of an :class:`EmulatedPeer` come from the lock, not from the
current code. They contain no conversions, because an old peer knows no later
versions. They are not registered; the peer finds them by name. Types of other
packages, for example of os-vif, are not in the lock of a service: the peer
uses the installed ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, objects
from vobjects.lock import registries
from vobjects.lock.model import (
    FieldSchema,
    FieldType,
    Lock,
    TypeSchema,
    version_key,
)
from vobjects.objects.upgrade import renew_objects
from vobjects.versions import Version


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
        self._field_types = _field_types()

    def class_of(self, name: str) -> type[ovo_base.VersionedObject]:
        """Return the peer's class for a type.

        :raises oslo_versionedobjects.exception.UnsupportedObjectError: the
            peer has no such type
        """
        foreign = self._foreign_class(name)
        if foreign is not None:
            return foreign
        if name not in self._classes:
            schema = self.lock.newest(name)
            if schema is None:
                raise ovo_exception.UnsupportedObjectError(objtype=name)
            self._classes[name] = self._build(schema)
        return self._classes[name]

    def find(self, name: str) -> type[ovo_base.VersionedObject] | None:
        """Return the peer's class for a type; None if it has no such type."""
        if name in self.manifest:
            return self.class_of(name)
        return self._foreign_class(name)

    def _foreign_class(
        self, name: str
    ) -> type[ovo_base.VersionedObject] | None:
        """Return the class of a type that the lock does not cover, if any."""
        cls = None if name in self.manifest else registries.newest(name)
        if cls is None or not self.lock.imports:
            return None
        packages = {*map(registries.top_level_package, self.lock.imports)}
        package = registries.top_level_package(cls.__module__)
        return None if package in {*packages, '__main__'} else cls

    def read(self, primitive: Mapping[str, Any]) -> ovo_base.VersionedObject:
        """Read a primitive as the peer would, including nested objects.

        :raises oslo_versionedobjects.exception.UnsupportedObjectError: the
            peer has no such type
        :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: the
            primitive is newer than the peer's type, or of another major
            version
        :raises vobjects.exceptions.UnknownField: the peer's type lacks a field
        :raises vobjects.exceptions.LossyDowngrade: the peer's type rejects a
            value of an older version, by its declaration
        :raises ValueError: the peer's type does not allow a value
        """
        namespace = namespace_of(primitive)
        cls = self.class_of(primitive[f'{namespace}.name'])
        version = primitive[f'{namespace}.version']
        if self._foreign_class(cls.obj_name()) is not None:
            return cls.obj_from_primitive(dict(primitive))
        newest, sent = version_key(cls.VERSION), version_key(version)
        if sent[0] != newest[0] or sent[:2] > newest[:2]:
            raise ovo_exception.IncompatibleObjectVersion(
                objname=cls.__name__, objver=version, supported=cls.VERSION
            )
        schema = self.lock.schema(cls.__name__, version)
        if sent < newest and schema is not None and schema.kind != 'plain':
            return self._read_older(schema, cls, primitive)
        return self._load(cls, version, primitive[f'{namespace}.data'])

    def _read_older(
        self,
        schema: TypeSchema,
        cls: type[ovo_base.VersionedObject],
        primitive: Mapping[str, Any],
    ) -> ovo_base.VersionedObject:
        """Read an older version of a type with declared history.

        :returns: an object at the peer's version; if this process lacks the
            type and therefore its history, at the version of the primitive
        """
        data = primitive[f'{namespace_of(primitive)}.data']
        older = self._load(self._build(schema), schema.version, data)
        current = registries.newest(schema.name)
        if current is None or not issubclass(current, objects.Object):
            return older
        upgraded = dict(data)
        source, target = Version.parse(schema.version), cls.VERSION
        plan = current._history.plan(source, Version.parse(target))
        renew_objects(current, plan, upgraded)
        plan.apply(upgraded, refuse_loss=current.REFUSE_LOSS)
        return self._load(cls, target, upgraded)

    def _load(
        self,
        cls: type[ovo_base.VersionedObject],
        version: str,
        data: Mapping[str, Any],
    ) -> ovo_base.VersionedObject:
        obj: Any = cls()
        for name, value in data.items():
            if name not in cls.fields:
                raise exceptions.UnknownField(cls.__name__, name, version)
            field = cls.fields[name]
            loaded = field.from_primitive(obj, name, value)
            # from_primitive() checks little, so set the attribute, which
            # validates.
            setattr(obj, name, loaded)
        result: ovo_base.VersionedObject = obj
        return result

    def _build(self, schema: TypeSchema) -> type[ovo_base.VersionedObject]:
        body: dict[str, Any] = {
            'VERSION': schema.version,
            'OBJ_SERIAL_NAMESPACE': schema.namespace[0],
            'OBJ_PROJECT_NAMESPACE': schema.namespace[1],
            'fields': {
                field.name: self._field(field) for field in schema.fields
            },
            '__module__': __name__,
        }
        cls = type(schema.name, (ovo_base.VersionedObject,), body)
        ovo_base._make_class_properties(cls)
        return cls

    def _field(self, schema: FieldSchema) -> ovo_fields.Field[Any]:
        options: dict[str, Any] = {'nullable': schema.nullable}
        if schema.default:
            options['default'] = json.loads(schema.default)
        return ovo_fields.Field(self._type(schema.type), **options)

    def _type(self, field_type: FieldType) -> Any:
        name, inner = field_type.name, field_type.inner_type
        ovo_type = self._field_types.get(name)
        if (
            inner is not None
            and ovo_type is not None
            and issubclass(ovo_type, ovo_fields.Object)
        ):
            # A service's own subclass may accept any type.
            subclasses = (
                ovo_type is not ovo_fields.Object
                or ('subclasses', 'true') in field_type.options
            )
            return _Nested(self, inner.name, subclasses)
        if ovo_type is None:
            return AnyValue()
        if inner is not None and issubclass(
            ovo_type, ovo_fields.CompoundFieldType
        ):
            options = dict(inner.options)
            nullable = options.pop('nullable', '') == 'true'
            element = FieldType(inner.name, inner.args, tuple(options.items()))
            return _compound(ovo_type)(
                ovo_fields.Field(self._type(element), nullable=nullable)
            )
        return _simple(ovo_type, field_type)


class _Nested(ovo_fields.Object):
    """A nested object, read by the same peer."""

    def __init__(
        self, peer: EmulatedPeer, name: str, subclasses: bool
    ) -> None:
        super().__init__(name, subclasses=subclasses)
        self._peer, self._name, self._subclasses = peer, name, subclasses

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        if not isinstance(value, ovo_base.VersionedObject) or (
            not self._subclasses and type(value).__name__ != self._name
        ):
            raise ValueError(f'{attr} must be a {self._name}')
        return value

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return value.obj_to_primitive()

    def from_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return self._peer.read(value)


def _simple(ovo_type: type, field_type: FieldType) -> Any:
    """Return a field type with the parameters of the lock."""
    values = [json.loads(value) for value in field_type.enum_values]
    options = {name: json.loads(value) for name, value in field_type.options}
    for arguments in (
        {'valid_values': values} if values else options,
        options,
        {},
    ):
        try:
            return ovo_type(**arguments)
        except TypeError:
            continue
    return AnyValue()


def _compound(ovo_type: type) -> type:
    """Return o.vo's base class for a service's list, dict or set type."""
    for base in (ovo_fields.List, ovo_fields.Dict, ovo_fields.Set):
        if issubclass(ovo_type, base):
            return base
    return ovo_type


def _field_types() -> Mapping[str, type]:
    """Return field types by name: of o.vo, this package and the services."""
    registered = (
        type(field._type)
        for versions in registries.registered().values()
        for cls in versions
        for field in cls.fields.values()
    )
    types: dict[str, type] = {}
    # The first type of a name counts. A service's own type restricts values
    # more than this package's type of the same name.
    for field_type in (
        *vars(ovo_fields).values(),
        *registered,
        *vars(fields).values(),
    ):
        if isinstance(field_type, type) and issubclass(
            field_type, ovo_fields.FieldType
        ):
            types.setdefault(field_type.__name__, field_type)
    return types


def namespace_of(primitive: Mapping[str, Any]) -> str:
    """Return the serial namespace of a primitive: the prefix of its keys.

    :raises vobjects.exceptions.ConversionError: the data is not a primitive
    """
    for key in primitive:
        if key.endswith('.name'):
            return key.removesuffix('.name')
    raise exceptions.ConversionError(
        f'{exceptions.cut(primitive)} is not the primitive of an object'
    )
