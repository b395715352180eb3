# SPDX-License-Identifier: Apache-2.0
"""What must hold of every type at every version in the lock.

A :class:`Case` is one type at one locked version. Its laws are tried on
filled instances and on whatever hypothesis draws:

``downgraded``
    What is sent to a peer of that version is valid there, by the lock alone.
``returned``
    Down, up and down again is the same; what both versions have is kept.
``jumped``
    One jump equals the chain of steps.
``wire``
    A primitive survives JSON.
``accepted``
    What a peer of that version writes is read, and all of it.
``exercised``
    Each declared change between that version and the newest really happened
    to an instance: a law that tried nothing proves nothing.
``golden``
    What a release once wrote is read, and written the same for its peers.
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

from vobjects import base, exceptions, manifest  # isort: skip
from oslo_versionedobjects import base as ovo_base

from vobjects.history import Plan
from vobjects.lock import registries, samples, sending
from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    Lock,
    TypeShape,
    order,
)
from vobjects.testing import strategies
from vobjects.testing.peers import Peer
from vobjects.versions import Version

Data = Mapping[str, Any]


class LawBroken(AssertionError):
    """A type breaks a law; the message names both."""

    def __init__(self, law: str, shape: TypeShape, problem: str) -> None:
        self.law, self.shape = law, shape
        super().__init__(f'{law}: {shape}: {problem}')


@dataclasses.dataclass
class Case:
    """One type at one locked version.

    :ivar lock: all of it
    :ivar shape: what is locked
    :ivar cls: the registered class that speaks to peers of that version
    :ivar fired: the declared changes that happened to an instance
    """

    lock: Lock
    shape: TypeShape
    cls: Any
    fired: set[Conversion] = dataclasses.field(default_factory=set)

    def __str__(self) -> str:
        return f'{self.shape.name}-{self.shape.version}'

    # What is known

    @functools.cached_property
    def peer(self) -> Peer:
        """Return a peer of the version: of its release, if there is one."""
        return Peer(self._then())

    def _then(self) -> Lock:
        lock = (
            self.lock.at(self.shape.release)
            if self.shape.release
            else self.lock
        )
        # Without what came after: one release may freeze several versions.
        return dataclasses.replace(
            lock,
            shapes=tuple(
                shape
                for shape in lock.shapes
                if shape.name != self.shape.name or shape == self.shape
            ),
        )

    @functools.cached_property
    def spoken(self) -> dict[str, str]:
        """Return what may be said to a peer of the version."""
        known = dict(manifest.own()) | {
            name: shapes[-1].version
            for name, shapes in self.lock.types.items()
        }
        return {**known, **self._then().manifest()}

    @functools.cached_property
    def changes(self) -> frozenset[Conversion]:
        """Return what was declared since the version."""
        newer = [
            shape
            for shape in self.lock.types[self.shape.name]
            if order(shape.version) > order(self.shape.version)
            and order(shape.version) <= order(self.cls.VERSION)
        ]
        declared = {one for shape in newer for one in shape.conversions}
        if sending.method_of(self.cls) not in vars(self.cls):
            # What a parent converts need not concern this class.
            declared.discard(BY_HAND)
        return frozenset(declared)

    @property
    def declared(self) -> bool:
        """Whether the class says what it was at each version."""
        return issubclass(self.cls, base.Object)

    def fail(self, law: str, problem: str) -> LawBroken:
        """Return the error that says that a law is broken."""
        return LawBroken(law, self.shape, problem)

    # Trying it

    def check(self, examples: int = 5) -> None:
        """Try all laws.

        :param examples: how many instances hypothesis draws
        :raises LawBroken: naming law, type, version and field
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
            return  # a field type of somebody's own; samples were tried

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
        """Try the laws that are about one instance."""
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

        A refused loss is what was declared: the field is set back to what
        loses nothing, and the rest is tried.
        """
        for _attempt in range(len(self.cls.fields) + 1):
            try:
                return sending.primitive(obj, self.shape.version, self.spoken)
            except exceptions.LossyDowngrade as error:
                self._refused(obj, error)
            except exceptions.VobjectsError as error:
                raise self.fail('downgraded', str(error)) from error
            except Exception as error:
                raise self.fail(
                    'downgraded',
                    f'{sending.method_of(self.cls)} raised'
                    f' {type(error).__name__}: {error}',
                ) from error
        raise self.fail('downgraded', 'it is refused whatever it holds')

    def _refused(self, obj: Any, error: exceptions.LossyDowngrade) -> None:
        name = error.field
        if error.type_name != self.shape.name:
            # Inside: leave out what holds it.
            for holder, field in self.cls.fields.items():
                if obj.obj_attr_is_set(holder) and error.type_name in (
                    registries.types_of(field._type)
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
        if samples.ordered(carried) != samples.ordered(primitive):
            raise self.fail('wire', 'JSON gives something else back')
        return carried

    def _valid(self, obj: Any, primitive: Any) -> None:
        version = primitive[self._key('version')]
        if version != self.shape.version:
            raise self.fail('downgraded', f'it is labelled {version}')
        try:
            self.peer.read(primitive)
        except Exception as error:
            raise self.fail(
                'downgraded',
                f'a peer of {self.shape.version} refuses it:'
                f' {type(error).__name__}: {error}',
            ) from error
        if all(map(obj.obj_attr_is_set, self.cls.fields)):
            data = self._content(primitive)
            for field in self.shape.fields:
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
                if not registries.types_of(field._type) and sent != back:
                    raise self.fail(
                        'returned', f'{name!r} is {back!r} after {sent!r}'
                    )

    def _kept(self, name: str) -> bool:
        """Tell whether a field of today has a place at the version."""
        if self.declared:
            version = Version.parse(self.shape.version)
            return any(
                life[-1].name == name
                and life[-1].end is None
                and any(span.covers(version) for span in life)
                for life in self.cls._history.lives
            )
        newest = self.lock.shape(self.shape.name, self.cls.VERSION)
        here = self.shape.field(name)
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
        target = Version.parse(self.shape.version)
        steps = [v for v in reversed(timeline.versions()) if v > target]
        pairs = itertools.pairwise([*steps, target])
        jumped = self._apply([timeline.plan(timeline.version, target)], data)
        chained = self._apply([timeline.plan(a, b) for a, b in pairs], data)
        if jumped != chained:
            raise self.fail('jumped', f'{jumped!r} is not {chained!r}')

    def _apply(self, plans: list[Plan], data: Data) -> Any:
        carried = copy.deepcopy(dict(data))
        try:
            for plan in plans:
                plan.apply(carried, refuse_loss=self.cls.REFUSE_LOSS)
        except exceptions.LossyDowngrade as error:
            return error.field
        return carried

    def _watch(self, obj: Any, primitive: Any) -> None:
        """Note which declared changes happened."""
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
        """Return what a field of an older version is called now.

        :returns: empty when it is gone
        """
        if not self.declared:
            return name if self._kept(name) else ''
        for life in self.cls._history.lives:
            if any(span.name == name for span in life):
                return life[-1].name if life[-1].end is None else ''
        return ''

    def accepted(self, filling: samples.Filling) -> None:
        """Try what a peer of the version writes.

        :raises LawBroken: it is refused, or a field of it is lost
        """
        peer = self.peer
        made: Any = samples.fill(
            peer.class_of(self.shape.name), filling, peer.find
        )
        for _attempt in range(len(self.shape.fields) + 1):
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
        return f'{self.shape.namespace[0]}.{word}'

    def _content(self, primitive: Any) -> dict[str, Any]:
        # Sorted: which fields changed stands in any order, also inside.
        found: dict[str, Any] = samples.ordered(primitive[self._key('data')])
        return found


def cases(lock: Lock) -> Iterator[Case]:
    """Yield a case for each locked version that a registered class serves."""
    classes = registries.registered()
    for shape in lock.shapes:
        if shape.until:
            continue
        for cls in classes.get(shape.name, ()):
            newest, locked = order(cls.VERSION), order(shape.version)
            if newest[0] == locked[0] and newest >= locked:
                yield Case(lock, shape, cls)
                break


def golden(primitive: Mapping[str, Any], spoken: Mapping[str, str]) -> None:
    """Try what a release once wrote.

    :param spoken: the manifest of that release
    :raises AssertionError: it cannot be read, or comes out otherwise for a
        peer of that release
    """
    space = next(key[:-5] for key in primitive if key.endswith('.name'))
    name = primitive[f'{space}.name']
    known_as = registries.newest(name) or ovo_base.VersionedObject
    find: Callable[[str, str], Any] = known_as.obj_class_from_name
    cls = find(name, primitive[f'{space}.version'])
    read = cls.obj_from_primitive(copy.deepcopy(dict(primitive)))
    known = {**dict(manifest.own()), **spoken}
    again = read.obj_to_primitive(
        target_version=primitive[f'{space}.version'], version_manifest=known
    )
    again = samples.ordered(json.loads(json.dumps(again)))
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
    """Have a field say nothing."""
    delattr(obj, name)
