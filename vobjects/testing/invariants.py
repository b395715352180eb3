# SPDX-License-Identifier: Apache-2.0
"""Laws: invariants of every type at every version in the lock.

A :class:`Case` is one type at one locked version. Its laws are checked with
filled instances and with instances drawn by hypothesis:

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
    an instance: a law that was never exercised proves nothing.
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
from vobjects.testing.emulated_peer import EmulatedPeer
from vobjects.versions import Version

Data = Mapping[str, Any]


class InvariantViolated(AssertionError):
    """A type violates a law; the message names both."""

    def __init__(self, law: str, schema: TypeSchema, problem: str) -> None:
        self.law, self.schema = law, schema
        super().__init__(f'{law}: {schema}: {problem}')


@dataclasses.dataclass
class Case:
    """One type at one locked version.

    :ivar lock: the complete lock
    :ivar schema: the locked version
    :ivar cls: the registered class that exchanges objects with peers of that
        version
    :ivar fired: the declared changes that were applied to an instance
    """

    lock: Lock
    schema: TypeSchema
    cls: Any
    fired: set[Conversion] = dataclasses.field(default_factory=set)

    def __str__(self) -> str:
        return f'{self.schema.name}-{self.schema.version}'

    # Facts about the version

    @functools.cached_property
    def peer(self) -> EmulatedPeer:
        """A peer of that version, from its release if it has one."""
        return EmulatedPeer(self._then())

    def _then(self) -> Lock:
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
    def spoken(self) -> dict[str, str]:
        """The versions that a peer of that version can read."""
        known = dict(manifest.local()) | {
            name: schemas[-1].version
            for name, schemas in self.lock.types.items()
        }
        return {**known, **self._then().manifest()}

    @functools.cached_property
    def changes(self) -> frozenset[Conversion]:
        """The changes declared after that version."""
        newer = [
            schema
            for schema in self.lock.types[self.schema.name]
            if version_key(schema.version) > version_key(self.schema.version)
            and version_key(schema.version) <= version_key(self.cls.VERSION)
        ]
        declared = {one for schema in newer for one in schema.conversions}
        if service_quirks.conversion_method(self.cls) not in vars(self.cls):
            # A conversion in a parent class need not concern this class.
            declared.discard(BY_HAND)
        return frozenset(declared)

    @property
    def declared(self) -> bool:
        """Whether the class declares its fields at each version."""
        return issubclass(self.cls, objects.Object)

    def fail(self, law: str, problem: str) -> InvariantViolated:
        """Return an error for a violated law."""
        return InvariantViolated(law, self.schema, problem)

    # Checks

    def check(self, examples: int = 5) -> None:
        """Check all laws.

        :param examples: number of instances that hypothesis draws
        :raises LawBroken: a law is violated; the message names law, type,
            version and field
        """
        for filling in ('full', 'least'):
            self.one(samples.fill(self.cls, filling, registries.newest))
            self.accepted(filling)
        if self.declared and examples:
            self._draw(examples)
        missing = self.changes - self.fired
        if missing:
            raise self.fail(
                'exercised',
                f'"{min(map(str, missing))}" never happened to an instance',
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
            self.one(data.draw(drawn))

        try_drawn()

    def one(self, obj: Any) -> None:
        """Check the laws for one instance."""
        primitive = self._wire(self._down(obj))
        self._valid(obj, primitive)
        self._returned(obj, primitive)
        if self.declared:
            self._jumped(obj)
            self._watch(obj, primitive)
        if BY_HAND in self.changes and self._content(
            primitive
        ) != self._content(obj.obj_to_primitive()):
            self.fired.add(BY_HAND)

    def _down(self, obj: Any) -> Any:
        """Return the primitive for a peer of the version.

        If a loss is refused as declared, unset the field and try the rest.
        """
        for _attempt in range(len(self.cls.fields) + 1):
            try:
                return service_quirks.to_primitive(
                    obj, self.schema.version, self.spoken
                )
            except exceptions.LossyDowngrade as error:
                self._refused(obj, error)
            except exceptions.VobjectsError as error:
                raise self.fail('downgraded', str(error)) from error
            except Exception as error:
                raise self.fail(
                    'downgraded',
                    f'{service_quirks.conversion_method(self.cls)} raised'
                    f' {type(error).__name__}: {error}',
                ) from error
        raise self.fail('downgraded', 'it is refused whatever it holds')

    def _refused(self, obj: Any, error: exceptions.LossyDowngrade) -> None:
        name = error.field
        if error.type_name != self.schema.name:
            # A nested object: unset the field that contains it.
            for holder, field in self.cls.fields.items():
                if obj.obj_attr_is_set(holder) and error.type_name in (
                    registries.object_types(field._type)
                ):
                    _unset(obj, holder)
                    return
        if not obj.obj_attr_is_set(name):
            raise self.fail('downgraded', str(error)) from error
        _unset(obj, name)
        for conversion in self.changes:
            if conversion.concerns(name):
                self.fired.add(conversion)

    def _wire(self, primitive: Any) -> Any:
        try:
            carried = json.loads(json.dumps(primitive))
        except (TypeError, ValueError) as error:
            raise self.fail('wire', str(error)) from error
        if samples.with_sorted_changes(carried) != samples.with_sorted_changes(
            primitive
        ):
            raise self.fail('wire', 'JSON gives something else back')
        return carried

    def _valid(self, obj: Any, primitive: Any) -> None:
        version = primitive[self._key('version')]
        if version != self.schema.version:
            raise self.fail('downgraded', f'it is labelled {version}')
        try:
            self.peer.read(primitive)
        except Exception as error:
            raise self.fail(
                'downgraded',
                f'a peer of {self.schema.version} refuses it:'
                f' {type(error).__name__}: {error}',
            ) from error
        if all(map(obj.obj_attr_is_set, self.cls.fields)):
            data = self._content(primitive)
            for field in self.schema.fields:
                if not field.optional and field.name not in data:
                    raise self.fail(
                        'downgraded', f'{field.name!r} is not in it'
                    )

    def _returned(self, obj: Any, primitive: Any) -> None:
        again = self._read(primitive, 'returned')
        data = self._content(primitive)
        repeated = self._content(self._wire(self._down(again)))
        lost = {name for name in data if data[name] != repeated.get(name)}
        if lost:
            raise self.fail('returned', f'{min(lost)!r} does not come back')
        if BY_HAND in self.changes:
            return
        for name, field in self.cls.fields.items():
            if self._kept(name) and obj.obj_attr_is_set(name):
                sent = field.to_primitive(obj, name, getattr(obj, name))
                back = field.to_primitive(again, name, getattr(again, name))
                if not registries.object_types(field._type) and sent != back:
                    raise self.fail(
                        'returned', f'{name!r} is {back!r} after {sent!r}'
                    )

    def _kept(self, name: str) -> bool:
        """Return whether a current field exists at the version."""
        if self.declared:
            version = Version.parse(self.schema.version)
            return any(
                life[-1].name == name
                and life[-1].end is None
                and any(span.covers(version) for span in life)
                for life in self.cls._history.field_spans
            )
        newest = self.lock.schema(self.schema.name, self.cls.VERSION)
        here = self.schema.field(name)
        return (
            newest is not None
            and here is not None
            and here == newest.field(name)
        )

    def _read(self, primitive: Any, law: str) -> Any:
        try:
            return self.cls.obj_from_primitive(copy.deepcopy(primitive))
        except Exception as error:
            raise self.fail(
                law, f'reading it raised {type(error).__name__}: {error}'
            ) from error

    def _jumped(self, obj: Any) -> None:
        data = self._content(obj.obj_to_primitive())
        timeline = self.cls._history
        target = Version.parse(self.schema.version)
        steps = [v for v in reversed(timeline.versions()) if v > target]
        pairs = itertools.pairwise([*steps, target])
        jumped = self._apply([timeline.plan(timeline.version, target)], data)
        chained = self._apply([timeline.plan(a, b) for a, b in pairs], data)
        if jumped != chained:
            raise self.fail('jumped', f'{jumped!r} is not {chained!r}')

    def _apply(self, plans: list[ConversionPlan], data: Data) -> Any:
        carried = copy.deepcopy(dict(data))
        try:
            for plan in plans:
                plan.apply(carried, refuse_loss=self.cls.REFUSE_LOSS)
        except exceptions.LossyDowngrade as error:
            return error.field
        return carried

    def _watch(self, obj: Any, primitive: Any) -> None:
        """Record the declared changes that were applied."""
        for conversion in self.changes:
            name = conversion.field
            if conversion.verb == 'added' and self._has(obj, name):
                self.fired.add(conversion)
            elif conversion.verb == 'removed':
                if conversion.field in self._content(primitive):
                    self.fired.add(conversion)
            elif conversion != BY_HAND and self._has(obj, name):
                self.fired.add(conversion)

    def _has(self, obj: Any, name: str) -> bool:
        now = self._now(name)
        return bool(now) and obj.obj_attr_is_set(now)

    def _now(self, name: str) -> str:
        """Return the current name of a field of an older version.

        :returns: empty if the field no longer exists
        """
        if not self.declared:
            return name if self._kept(name) else ''
        for life in self.cls._history.field_spans:
            if any(span.name == name for span in life):
                return life[-1].name if life[-1].end is None else ''
        return ''

    def accepted(self, filling: samples.Filling) -> None:
        """Check a primitive that a peer of the version writes.

        :param filling: how to fill the object
        :raises LawBroken: it is refused, or a field is lost
        """
        peer = self.peer
        made: Any = samples.fill(
            peer.class_of(self.schema.name), filling, peer.find
        )
        for _attempt in range(len(self.schema.fields) + 1):
            primitive = json.loads(json.dumps(made.obj_to_primitive()))
            try:
                read = self.cls.obj_from_primitive(primitive)
                break
            except exceptions.LossyDowngrade as error:
                for conversion in self.changes:
                    if conversion.concerns(error.field):
                        self.fired.add(conversion)
                _unset(made, error.field)
            except Exception as error:
                raise self.fail(
                    'accepted',
                    f'reading it raised {type(error).__name__}: {error}',
                ) from error
        else:
            raise self.fail('accepted', 'it is refused whatever it holds')
        for conversion in self.changes:
            if conversion.verb == 'removed' and made.obj_attr_is_set(
                conversion.field
            ):
                self.fired.add(conversion)
        for name in made.fields:
            now = self._now(name)
            sent = now and made.obj_attr_is_set(name)
            if sent and not read.obj_attr_is_set(now):
                raise self.fail('accepted', f'{name!r} is lost')

    def _key(self, word: str) -> str:
        return f'{self.schema.namespace[0]}.{word}'

    def _content(self, primitive: Any) -> dict[str, Any]:
        # Sorted: lists of changed fields have any order, also in nested
        # objects.
        found: dict[str, Any] = samples.with_sorted_changes(
            primitive[self._key('data')]
        )
        return found


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
    primitive: Mapping[str, Any], spoken: Mapping[str, str]
) -> None:
    """Check a primitive recorded from a release.

    :param primitive: the primitive of an object
    :param spoken: the manifest of that release
    :raises AssertionError: it cannot be read, or is written differently for a
        peer of that release
    """
    space = next(key[:-5] for key in primitive if key.endswith('.name'))
    name = primitive[f'{space}.name']
    known_as = registries.newest(name) or ovo_base.VersionedObject
    find: Callable[[str, str], Any] = known_as.obj_class_from_name
    cls = find(name, primitive[f'{space}.version'])
    read = cls.obj_from_primitive(copy.deepcopy(dict(primitive)))
    known = {**dict(manifest.local()), **spoken}
    again = read.obj_to_primitive(
        target_version=primitive[f'{space}.version'], version_manifest=known
    )
    again = samples.with_sorted_changes(json.loads(json.dumps(again)))
    before, after = primitive[f'{space}.data'], again[f'{space}.data']
    if before != after:
        changed = sorted(
            key
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        )
        raise AssertionError(
            f'golden: {name} {primitive[f"{space}.version"]}: {changed} came'
            ' back otherwise'
        )


def _unset(obj: Any, name: str) -> None:
    """Unset a field."""
    delattr(obj, name)
