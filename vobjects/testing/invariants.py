# SPDX-License-Identifier: Apache-2.0
"""Invariants of every type at every version in the lock.

A :class:`Case` is one type at one locked version. Its invariants are checked
with filled instances and with instances drawn by hypothesis:

``downgraded``
    A primitive for a peer of that version is valid there, according to the
    lock alone.
``returned``
    Converting down, up and down again gives the same result; data that both
    versions have is kept.
``jumped``
    One conversion equals the chain of single steps.
``wire``
    A primitive survives JSON.
``accepted``
    A primitive written by a peer of that version is read completely.
``exercised``
    Each declared change between that version and the newest was applied to
    an instance: without one, the checks prove nothing.
``golden``
    A primitive recorded from a release is read, and written in the same form
    for peers of that release.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import hypothesis
from hypothesis import strategies as st

from vobjects import exceptions  # isort: skip
from vobjects import objects  # isort: skip
from vobjects.objects import manifest  # isort: skip
from oslo_versionedobjects import base as ovo_base

from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    Lock,
    TypeSchema,
    version_key,
)
from vobjects.objects.history import ConversionPlan
from vobjects.testing import strategies
from vobjects.testing.emulated_peer import EmulatedPeer, namespace_of
from vobjects.versions import Version

Data = Mapping[str, Any]


class InvariantViolated(AssertionError):
    """A type violates an invariant; the message names both."""

    def __init__(
        self, invariant: str, schema: TypeSchema, problem: str
    ) -> None:
        self.invariant, self.schema = invariant, schema
        super().__init__(f'{invariant}: {schema}: {problem}')


@dataclasses.dataclass
class Case:
    """One type at one locked version.

    :ivar lock: the complete lock
    :ivar schema: the locked version
    :ivar cls: the registered class that exchanges objects with peers of that
        version
    :ivar exercised: the declared changes that were applied to an instance
    """

    lock: Lock
    schema: TypeSchema
    cls: Any
    exercised: set[Conversion] = dataclasses.field(default_factory=set)

    def __str__(self) -> str:
        return f'{self.schema.name}-{self.schema.version}'

    # Facts about the version

    @functools.cached_property
    def peer(self) -> EmulatedPeer:
        """A peer of that version, from its release if it has one."""
        return EmulatedPeer(self._peer_lock())

    def _peer_lock(self) -> Lock:
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
        return {**newest, **self._peer_lock().manifest()}

    @functools.cached_property
    def changes(self) -> frozenset[Conversion]:
        """The changes declared after that version."""
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
        return frozenset(declared)

    @property
    def has_history(self) -> bool:
        """Whether the class declares its fields at each version."""
        return issubclass(self.cls, objects.Object)

    def violation(self, invariant: str, problem: str) -> InvariantViolated:
        """Return an error for a violated invariant."""
        return InvariantViolated(invariant, self.schema, problem)

    # Checks

    def check(self, examples: int = 5) -> None:
        """Check all invariants.

        :param examples: number of instances that hypothesis draws
        :raises InvariantViolated: the message names invariant, type, version
            and field
        """
        for filling in ('full', 'required'):
            self.check_instance(
                samples.fill(self.cls, filling, registries.newest)
            )
            self.check_accepted(filling)
        if self.has_history and examples:
            self._draw(examples)
        missing = self.changes - self.exercised
        if missing:
            raise self.violation(
                'exercised',
                f'no instance exercised "{min(map(str, missing))}"',
            )

    def _draw(self, examples: int) -> None:
        try:
            drawn = strategies.instances(self.cls)
        except LookupError:
            return  # a field type of the service; samples were checked

        @hypothesis.settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(st.data())
        def try_drawn(data: st.DataObject) -> None:
            self.check_instance(data.draw(drawn))

        try_drawn()

    def check_instance(self, obj: Any) -> None:
        """Check the invariants for one instance."""
        primitive = self._to_json(self._downgrade(obj))
        self._check_downgraded(obj, primitive)
        self._check_returned(obj, primitive)
        if self.has_history:
            self._check_jumped(obj)
            self._record_exercised(obj, primitive)
        if BY_HAND in self.changes and self._content(
            primitive
        ) != self._content(obj.obj_to_primitive()):
            self.exercised.add(BY_HAND)

    def _downgrade(self, obj: Any) -> Any:
        """Return the primitive for a peer of the version.

        If the type rejects a loss, as declared, unset the field and retry.
        """
        for _attempt in range(len(self.cls.fields) + 1):
            try:
                return service_quirks.to_primitive(
                    obj, self.schema.version, self.peer_manifest
                )
            except exceptions.LossyDowngrade as error:
                self._unset_lossy_field(obj, error)
            except exceptions.VobjectsError as error:
                raise self.violation('downgraded', str(error)) from error
            except Exception as error:
                raise self.violation(
                    'downgraded',
                    f'{service_quirks.conversion_method(self.cls)} raised'
                    f' {type(error).__name__}: {error}',
                ) from error
        raise self.violation('downgraded', 'every content is rejected')

    def _unset_lossy_field(
        self, obj: Any, error: exceptions.LossyDowngrade
    ) -> None:
        name = error.field
        if error.type_name != self.schema.name:
            # A nested object: unset the field that contains it.
            for holder, field in self.cls.fields.items():
                if obj.obj_attr_is_set(holder) and error.type_name in (
                    registries.object_types(field._type)
                ):
                    delattr(obj, holder)
                    return
        if not obj.obj_attr_is_set(name):
            raise self.violation('downgraded', str(error)) from error
        delattr(obj, name)
        for conversion in self.changes:
            if conversion.involves(name):
                self.exercised.add(conversion)

    def _to_json(self, primitive: Any) -> Any:
        try:
            decoded = json.loads(json.dumps(primitive))
        except (TypeError, ValueError) as error:
            raise self.violation('wire', str(error)) from error
        if samples.with_sorted_changes(decoded) != samples.with_sorted_changes(
            primitive
        ):
            raise self.violation(
                'wire', 'the primitive changes when encoded as JSON'
            )
        return decoded

    def _check_downgraded(self, obj: Any, primitive: Any) -> None:
        version = primitive[self._key('version')]
        if version != self.schema.version:
            raise self.violation(
                'downgraded', f'the primitive has version {version}'
            )
        try:
            self.peer.read(primitive)
        except Exception as error:
            raise self.violation(
                'downgraded',
                f'a peer of {self.schema.version} rejects the primitive:'
                f' {type(error).__name__}: {error}',
            ) from error
        if all(map(obj.obj_attr_is_set, self.cls.fields)):
            data = self._content(primitive)
            for field in self.schema.fields:
                if not field.optional and field.name not in data:
                    raise self.violation(
                        'downgraded',
                        f'the primitive has no field {field.name!r}',
                    )

    def _check_returned(self, obj: Any, primitive: Any) -> None:
        restored = self._read(primitive, 'returned')
        data = self._content(primitive)
        repeated = self._content(self._to_json(self._downgrade(restored)))
        lost = {name for name in data if data[name] != repeated.get(name)}
        if lost:
            raise self.violation(
                'returned', f'{min(lost)!r} is lost after the round trip'
            )
        if BY_HAND in self.changes:
            return
        for name, field in self.cls.fields.items():
            if self._exists_at_version(name) and obj.obj_attr_is_set(name):
                sent = field.to_primitive(obj, name, getattr(obj, name))
                received = field.to_primitive(
                    restored, name, getattr(restored, name)
                )
                if (
                    not registries.object_types(field._type)
                    and sent != received
                ):
                    raise self.violation(
                        'returned',
                        f'{name!r} was {sent!r} and became {received!r}',
                    )

    def _exists_at_version(self, name: str) -> bool:
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

    def _read(self, primitive: Any, invariant: str) -> Any:
        try:
            return self.cls.obj_from_primitive(copy.deepcopy(primitive))
        except Exception as error:
            raise self.violation(
                invariant, f'reading it raised {type(error).__name__}: {error}'
            ) from error

    def _check_jumped(self, obj: Any) -> None:
        data = self._content(obj.obj_to_primitive())
        history = self.cls._history
        target = Version.parse(self.schema.version)
        steps = [v for v in reversed(history.versions()) if v > target]
        pairs = itertools.pairwise([*steps, target])
        jumped = self._apply([history.plan(history.version, target)], data)
        chained = self._apply([history.plan(a, b) for a, b in pairs], data)
        if jumped != chained:
            raise self.violation(
                'jumped',
                f'one conversion gives {jumped!r}, single steps {chained!r}',
            )

    def _apply(self, plans: list[ConversionPlan], data: Data) -> Any:
        converted = copy.deepcopy(dict(data))
        try:
            for plan in plans:
                plan.apply(converted, refuse_loss=self.cls.REFUSE_LOSS)
        except exceptions.LossyDowngrade as error:
            return error.field
        return converted

    def _record_exercised(self, obj: Any, primitive: Any) -> None:
        """Record the declared changes that were applied."""
        for conversion in self.changes:
            name = conversion.field
            if conversion.operation == 'added' and self._has(obj, name):
                self.exercised.add(conversion)
            elif conversion.operation == 'removed':
                if conversion.field in self._content(primitive):
                    self.exercised.add(conversion)
            elif conversion != BY_HAND and self._has(obj, name):
                self.exercised.add(conversion)

    def _has(self, obj: Any, name: str) -> bool:
        current = self._current_name(name)
        return bool(current) and obj.obj_attr_is_set(current)

    def _current_name(self, name: str) -> str:
        """Return the current name of a field of an older version.

        :returns: empty if the field no longer exists
        """
        if not self.has_history:
            return name if self._exists_at_version(name) else ''
        for life in self.cls._history.field_spans:
            if any(span.name == name for span in life):
                return life[-1].name if life[-1].end is None else ''
        return ''

    def check_accepted(self, filling: samples.Filling) -> None:
        """Check a primitive that a peer of the version writes.

        :param filling: how to fill the object
        :raises InvariantViolated: it is rejected, or a field is lost
        """
        peer = self.peer
        obj: Any = samples.fill(
            peer.class_of(self.schema.name), filling, peer.find
        )
        for _attempt in range(len(self.schema.fields) + 1):
            primitive = json.loads(json.dumps(obj.obj_to_primitive()))
            try:
                received = self.cls.obj_from_primitive(primitive)
                break
            except exceptions.LossyDowngrade as error:
                for conversion in self.changes:
                    if conversion.involves(error.field):
                        self.exercised.add(conversion)
                delattr(obj, error.field)
            except Exception as error:
                raise self.violation(
                    'accepted',
                    f'reading it raised {type(error).__name__}: {error}',
                ) from error
        else:
            raise self.violation('accepted', 'every content is rejected')
        for conversion in self.changes:
            if conversion.operation == 'removed' and obj.obj_attr_is_set(
                conversion.field
            ):
                self.exercised.add(conversion)
        for name in obj.fields:
            current = self._current_name(name)
            sent = current and obj.obj_attr_is_set(name)
            if sent and not received.obj_attr_is_set(current):
                raise self.violation('accepted', f'{name!r} is lost')

    def _key(self, name: str) -> str:
        return f'{self.schema.namespace[0]}.{name}'

    def _content(self, primitive: Any) -> dict[str, Any]:
        # Sorted: lists of changed fields have any order, also in nested
        # objects.
        content: dict[str, Any] = samples.with_sorted_changes(
            primitive[self._key('data')]
        )
        return content


def cases(lock: Lock) -> Iterator[Case]:
    """Yield a case for each locked version that a class supports."""
    classes = registries.registered()
    for schema in lock.schemas:
        if schema.until:
            continue
        for cls in classes.get(schema.name, ()):
            newest, locked = (
                version_key(cls.VERSION),
                version_key(schema.version),
            )
            if newest[0] == locked[0] and newest >= locked:
                yield Case(lock, schema, cls)
                break


def check_golden(
    primitive: Mapping[str, Any], release_manifest: Mapping[str, str]
) -> None:
    """Check a primitive recorded from a release.

    :param primitive: the primitive of an object
    :param release_manifest: the manifest of that release
    :raises AssertionError: it cannot be read, or is written differently for a
        peer of that release
    """
    namespace = namespace_of(primitive)
    name = primitive[f'{namespace}.name']
    version = primitive[f'{namespace}.version']
    newest = registries.newest(name) or ovo_base.VersionedObject
    find: Callable[[str, str], Any] = newest.obj_class_from_name
    obj = find(name, version).obj_from_primitive(
        copy.deepcopy(dict(primitive))
    )
    written = obj.obj_to_primitive(
        target_version=version,
        version_manifest={**manifest.local(), **release_manifest},
    )
    written = samples.with_sorted_changes(json.loads(json.dumps(written)))
    before = primitive[f'{namespace}.data']
    after = written[f'{namespace}.data']
    changed = sorted(
        key
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    )
    if changed:
        raise AssertionError(
            f'golden: {name} {version}: reading and writing changed {changed}'
        )
