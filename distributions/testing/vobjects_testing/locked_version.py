# SPDX-License-Identifier: Apache-2.0
"""One type at one version in the lock, as a peer of that version has it."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

from vobjects import objects  # isort: skip
from vobjects.objects import manifest  # isort: skip
from oslo_versionedobjects import fields as ovo_fields

from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.changes import enum_values
from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    Lock,
    TypeSchema,
    version_key,
)
from vobjects.versions import Version
from vobjects_testing.emulated_peer import AnyValue, EmulatedPeer


@dataclasses.dataclass
class LockedVersion:
    """One type at one locked version.

    :ivar lock: the complete lock
    :ivar schema: the locked version
    :ivar cls: the registered class that exchanges objects with peers of that
        version
    """

    lock: Lock
    schema: TypeSchema
    cls: Any

    def __str__(self) -> str:
        return f'{self.schema.name}-{self.schema.version}'

    @functools.cached_property
    def peer(self) -> EmulatedPeer:
        """A peer of that version, from its release if it has one."""
        return EmulatedPeer(self.peer_lock)

    @functools.cached_property
    def peer_lock(self) -> Lock:
        """The lock that a peer of that version has."""
        lock = (
            self.lock.at(self.schema.release)
            if self.schema.release
            else self.lock
        )
        # Drop other versions of the type: one release may freeze several.
        return dataclasses.replace(
            lock,
            schemas=tuple(
                schema
                for schema in lock.schemas
                if schema.name != self.schema.name or schema == self.schema
            ),
        )

    @functools.cached_property
    def peer_manifest(self) -> dict[str, str]:
        """The versions that a peer of that version can read."""
        newest = dict(manifest.local()) | {
            name: schemas[-1].version
            for name, schemas in self.lock.types.items()
        }
        return {**newest, **self.peer_lock.manifest()}

    @functools.cached_property
    def changes(self) -> frozenset[Conversion]:
        """The changes after that version of fields that it or the class has.

        A peer of the version does not notice the others.
        """
        newer = [
            schema
            for schema in self.lock.types[self.schema.name]
            if version_key(schema.version) > version_key(self.schema.version)
            and version_key(schema.version) <= version_key(self.cls.VERSION)
        ]
        declared = {
            conversion for schema in newer for conversion in schema.conversions
        }
        if service_quirks.conversion_method(self.cls) not in vars(self.cls):
            # A conversion in a parent class need not concern this class.
            declared.discard(BY_HAND)
        elif newer and self._converts_older_versions(newer[-1]):
            declared.discard(BY_HAND)
        return frozenset(
            conversion
            for conversion in declared
            if conversion == BY_HAND
            or (
                self.former_name(conversion.field)
                if conversion.operation == 'removed'
                else self.current_name(conversion.field)
            )
        )

    def _converts_older_versions(self, newest: TypeSchema) -> bool:
        """Return whether the conversion by hand concerns older versions only.

        It existed at the version, and no field has changed since: a version
        also changes with a method, or with the type of a nested object.
        """
        return (
            BY_HAND in self.schema.conversions
            and newest.fields == self.schema.fields
        )

    @functools.cached_property
    def is_readable(self) -> bool:
        """Whether the class can be instantiated without a running service."""
        return registries.is_readable(self.cls, registries.newest)

    @property
    def is_convertible(self) -> bool:
        """Whether the service can convert an instance that it cannot read.

        Ironic's conversions need a copy, so it never converts payloads.
        """
        method = service_quirks.conversion_method(self.cls)
        return method == service_quirks.OVO_METHOD

    @property
    def has_history(self) -> bool:
        """Whether the class declares its fields at each version."""
        return issubclass(self.cls, objects.Object)

    def known_types(self) -> samples.KnownTypes:
        """Return the types that a peer of that version knows."""
        return {
            name: {
                field.name: [str(json.loads(v)) for v in enum_values(field)]
                or None
                for field in schemas[-1].fields
            }
            for name, schemas in self.peer_lock.types.items()
        }

    def replaced_fields(self, obj: Any) -> dict[str, str]:
        """Return the fields whose values the version cannot hold.

        The declaration defines what a peer of the version gets instead.

        :returns: current name -> name at the version
        """
        if not self.has_history:
            return {}
        history = self.cls._history
        plan = history.plan(
            history.version, Version.parse(self.schema.version)
        )
        data = self.content_of(obj.obj_to_primitive())
        return {
            carry.source: carry.target
            for carry in plan.carries
            if carry.source in data and not carry.holds(data[carry.source])
        }

    def has_field(self, name: str) -> bool:
        """Return whether a current field exists at the version."""
        if self.has_history:
            version = Version.parse(self.schema.version)
            return any(
                life[-1].name == name
                and life[-1].end is None
                and any(span.covers(version) for span in life)
                for life in self.cls._history.field_spans
            )
        newest = self.lock.schema(self.schema.name, self.cls.VERSION)
        field = self.schema.field(name)
        return (
            newest is not None
            and field is not None
            and field == newest.field(name)
        )

    def current_name(self, name: str) -> str:
        """Return the current name of a field of an older version.

        :returns: empty if the field no longer exists
        """
        if not self.has_history:
            return name if self.has_field(name) else ''
        for life in self.cls._history.field_spans:
            if any(span.name == name for span in life):
                return life[-1].name if life[-1].end is None else ''
        return ''

    def former_name(self, name: str) -> str:
        """Return the name of a field at the version.

        :param name: its name at any version
        :returns: empty if the version does not have the field
        """
        if not self.has_history:
            return name if self.schema.field(name) else ''
        version = Version.parse(self.schema.version)
        for life in self.cls._history.field_spans:
            if any(span.name == name for span in life):
                return next((s.name for s in life if s.covers(version)), '')
        return ''

    def has_own_field_class(self, name: str) -> bool:
        """Return whether a service's own class of fields validates a field.

        The lock has the type of the field, but not its class, so the value
        that the emulated peer writes need not be one that the real peer
        accepts; nor can the peer create a type with required parameters. The
        same applies to the fields of a nested object, whose type has its own
        case.
        """
        if self.has_history or not self.has_field(name):
            return False
        peer_field = self.peer.class_of(self.schema.name).fields[name]
        return isinstance(peer_field._type, AnyValue) or _validates(
            self.cls.fields[name], set()
        )

    def value_of(self, obj: Any, name: str) -> Any:
        """Return the value of a field of the version; None if it is gone."""
        current = self.current_name(name)
        return getattr(obj, current) if current else None

    def has_value(self, obj: Any, name: str) -> bool:
        """Return whether a field of the version is set."""
        current = self.current_name(name)
        return bool(current) and obj.obj_attr_is_set(current)

    @property
    def rejecting_null(self) -> list[str]:
        """The fields that accept null, but not at the version."""
        return [
            name
            for name, field in self.cls.fields.items()
            if field.nullable
            and (known := self.schema.field(name))
            and not known.nullable
        ]

    def key(self, name: str) -> str:
        """Return a key of the envelope of a primitive."""
        return f'{self.schema.namespace[0]}.{name}'

    def content_of(self, primitive: Any) -> dict[str, Any]:
        """Return the fields in a primitive, without its envelope.

        Lists of changed fields have any order, so they are sorted, also in
        nested objects.
        """
        content: dict[str, Any] = samples.with_sorted_changes(
            primitive[self.key('data')]
        )
        return content


def _validates(field: ovo_fields.Field[Any], seen: set[str]) -> bool:
    """Return whether a service's own class of fields validates values.

    :param seen: names of nested types that were searched; extended
    """
    if type(field).coerce.__module__ != ovo_fields.__name__:
        return True
    names = registries.object_types(field._type) - seen
    seen |= names
    return any(
        _validates(inner, seen)
        for cls in filter(None, map(registries.newest, names))
        for inner in cls.fields.values()
    )
