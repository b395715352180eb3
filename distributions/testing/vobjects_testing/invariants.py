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
    A primitive survives JSON. Tuples and lists are equal: the primitive of a
    set is a tuple.
``accepted``
    A primitive written by a peer of that version is read completely.
``exercised``
    Each declared change between that version and the newest was applied to
    an instance: without one, the checks prove nothing.

A class that oslo.versionedobjects cannot instantiate, because it needs
arguments or a running service, is only converted, not read.

A project can exempt a field from an invariant, with a reason: see
``Case.exempt``.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import hypothesis
from hypothesis import strategies as st

from vobjects import exceptions  # isort: skip
from oslo_versionedobjects import base as ovo_base

from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    Lock,
    TypeSchema,
    version_key,
)
from vobjects.objects.conversion_plan import ConversionPlan
from vobjects.versions import Version
from vobjects_testing import golden_checks, strategies
from vobjects_testing.locked_version import LockedVersion
from vobjects_testing.primitive_differences import (
    UNSET,
    first_difference,
    shortened,
)

Data = Mapping[str, Any]


class InvariantViolated(AssertionError):
    """A type violates an invariant; the message names both.

    :ivar field: the field that violates it; empty: unknown
    """

    def __init__(
        self,
        invariant: str,
        schema: TypeSchema,
        problem: str,
        field: str = '',
    ) -> None:
        self.invariant, self.schema, self.field = invariant, schema, field
        super().__init__(f'{invariant}: {schema}: {problem}')

    @property
    def subject(self) -> str:
        """The key of the exemption that allows the violation."""
        suffix = f'.{self.field}' if self.field else ''
        return f'{self.invariant} {self.schema.name}{suffix}'


@dataclasses.dataclass
class Case(LockedVersion):
    """The invariants of one type at one locked version.

    :ivar exempt: ``INVARIANT Type.field`` -> why the field may violate it;
        such a field is left unset, so that the others are still checked
    :ivar exercised: the declared changes that were applied to an instance
    """

    exempt: Mapping[str, str] = dataclasses.field(default_factory=dict)
    exercised: set[Conversion] = dataclasses.field(default_factory=set)

    def violation(
        self, invariant: str, problem: str, field: str = ''
    ) -> InvariantViolated:
        """Return an error for a violated invariant."""
        return InvariantViolated(invariant, self.schema, problem, field)

    def _difference(
        self, invariant: str, before: Any, after: Any
    ) -> InvariantViolated | None:
        """Return an error for the first difference between two contents."""
        difference = first_difference(
            samples.with_sorted_changes(before),
            samples.with_sorted_changes(after),
        )
        if difference is None:
            return None
        path, old, new = difference
        field = re.split(r'[.[]', path)[0]
        return self.violation(
            invariant,
            f'{path!r} was {shortened(old)} and became {shortened(new)}',
            field,
        )

    def check(self, examples: int = 5) -> None:
        """Check all invariants.

        :param examples: number of instances that hypothesis draws
        :raises InvariantViolated: the message names invariant, type, version
            and field
        """
        for filling in ('full', 'required'):
            self._check_except_exempt(
                self.check_instance, self._instance(filling)
            )
            if self.is_readable:
                self._check_except_exempt(
                    self.check_accepted,
                    samples.fill(
                        self.peer.class_of(self.schema.name),
                        filling,
                        self.peer.find,
                    ),
                )
        if self.has_history and examples:
            self._draw(examples)
        elif not self.has_history:
            self._check_null()
        missing = self.changes - self.exercised
        if missing:
            raise self.violation(
                'exercised',
                f'no instance exercised "{min(map(str, missing))}"',
            )

    def _check_null(self) -> None:
        """Check null in fields that reject it at the version."""
        obj = self._instance('full')
        for name in self.rejecting_null:
            setattr(obj, name, None)
        if self.rejecting_null:
            self._check_except_exempt(self.check_instance, obj)

    def _instance(self, filling: samples.Filling) -> Any:
        """Return a filled instance.

        If the service refuses to convert one with fields and values of enums
        that the version does not have, leave them out.
        """
        obj = samples.fill(self.cls, filling, registries.newest)
        if self.has_history:
            return obj
        try:
            service_quirks.to_primitive(
                obj, self.schema.version, self.peer_manifest
            )
        except Exception as error:  # noqa: BLE001 - whatever a service raises
            if not samples.is_refusal(error):
                return obj
        else:
            return obj
        known = samples.fill(
            self.cls,
            filling,
            registries.newest,
            peer=samples.Peer(self.known_types(), known_only=True),
        )
        self.exercised.add(BY_HAND)
        return known

    def _draw(self, examples: int) -> None:
        drawn = strategies.instances(self.cls)

        @hypothesis.settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(st.data())
        def try_drawn(data: st.DataObject) -> None:
            self._check_except_exempt(self.check_instance, data.draw(drawn))

        try_drawn()

    def _check_except_exempt(
        self, check: Callable[[Any], None], obj: Any
    ) -> None:
        """Check an instance, without the fields that may violate."""
        for _attempt in range(len(obj.fields) + 1):
            try:
                return check(obj)
            except InvariantViolated as error:
                if error.subject not in self.exempt:
                    raise
                if not error.field or not obj.obj_attr_is_set(error.field):
                    return None
                delattr(obj, error.field)
                if not samples.is_writable(obj):
                    return None  # the class requires the field
        return None

    def check_instance(self, obj: Any) -> None:
        """Check the invariants for one instance."""
        primitive = self._to_json(self._downgrade(obj))
        self._check_downgraded(obj, primitive)
        if self.is_readable:
            self._check_returned(obj, primitive)
        if self.has_history:
            self._check_jumped(obj)
            self._record_exercised(obj, primitive)
        if BY_HAND in self.changes and self.content_of(
            primitive
        ) != self.content_of(obj.obj_to_primitive()):
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
            if _unset_nested(obj, error.type_name, name):
                return
            for holder, field in self.cls.fields.items():
                if obj.obj_attr_is_set(holder) and error.type_name in (
                    registries.object_types(field._type)
                ):
                    delattr(obj, holder)
                    return
        if not obj.obj_attr_is_set(name):
            raise self.violation('downgraded', str(error)) from error
        delattr(obj, name)
        self._record_loss(name)

    def _to_json(self, primitive: Any) -> Any:
        try:
            decoded = json.loads(json.dumps(primitive))
        except (TypeError, ValueError) as error:
            raise self._unencodable(primitive, error) from error
        difference = self._difference('wire', primitive, decoded)
        if difference is not None:
            raise difference
        return decoded

    def _unencodable(
        self, primitive: Any, error: Exception
    ) -> InvariantViolated:
        """Return an error that names the field which JSON cannot encode."""
        for name, value in primitive[self.key('data')].items():
            try:
                json.dumps(value)
            except (TypeError, ValueError):
                return self.violation(
                    'wire', f'{name!r} is {shortened(value)}: {error}', name
                )
        return self.violation('wire', str(error))

    def _check_downgraded(self, obj: Any, primitive: Any) -> None:
        version = primitive[self.key('version')]
        if version != self.schema.version:
            raise self.violation(
                'downgraded', f'the primitive has version {version}'
            )
        try:
            self.peer.read(primitive)
        except Exception as error:
            name, shown = self._rejected(self.peer.read, primitive)
            raise self.violation(
                'downgraded',
                f'a peer of {self.schema.version} rejects {shown}:'
                f' {type(error).__name__}: {error}',
                name,
            ) from error
        if all(map(obj.obj_attr_is_set, self.cls.fields)):
            data = self.content_of(primitive)
            known = {*data, *self.replaced_fields(obj).values()}
            for field in self.schema.fields:
                if not field.optional and field.name not in known:
                    raise self.violation(
                        'downgraded',
                        f'the primitive has no field {field.name!r}, which'
                        f' was {shortened(self.value_of(obj, field.name))}',
                        field.name,
                    )

    def _rejected(
        self, read: Callable[[Any], Any], primitive: Any
    ) -> tuple[str, str]:
        """Return the field that a reader rejects by itself, and its value.

        :returns: an empty name, and a description, if it is no single field
        """
        key = self.key('data')
        for name, value in primitive[key].items():
            try:
                read(copy.deepcopy({**primitive, key: {name: value}}))
            except Exception:  # noqa: BLE001 - whatever a service raises
                return name, f'{name!r} = {shortened(value)}'
        return '', 'the primitive'

    def _check_returned(self, obj: Any, primitive: Any) -> None:
        restored = self._read(primitive, 'returned')
        data = self.content_of(primitive)
        repeated = self.content_of(self._to_json(self._downgrade(restored)))
        replaced = self.replaced_fields(obj)
        sent = {n: data[n] for n in data.keys() - set(replaced.values())}
        unchanged = {name: repeated[name] for name in sent if name in repeated}
        golden_checks.unset_filled(sent, unchanged)  # in nested objects
        difference = self._difference('returned', sent, unchanged)
        if difference is not None:
            raise difference
        if BY_HAND in self.changes:
            return
        for name, field in self.cls.fields.items():
            if (
                name not in replaced
                and self.has_field(name)
                and obj.obj_attr_is_set(name)
            ):
                sent = field.to_primitive(obj, name, getattr(obj, name))
                received = UNSET
                if restored.obj_attr_is_set(name) or (
                    self.has_history and field.nullable
                ):
                    received = field.to_primitive(
                        restored, name, getattr(restored, name)
                    )
                if (
                    not registries.object_types(field._type)
                    and sent != received
                ):
                    raise self.violation(
                        'returned',
                        f'{name!r} was {shortened(sent)} and became'
                        f' {shortened(received)}',
                        name,
                    )

    def _read(self, primitive: Any, invariant: str) -> Any:
        try:
            return self.cls.obj_from_primitive(copy.deepcopy(primitive), None)
        except Exception as error:
            name, shown = self._rejected(
                self.cls.obj_from_primitive, primitive
            )
            raise self.violation(
                invariant,
                f'reading {shown} raised {type(error).__name__}: {error}',
                name,
            ) from error

    def _check_jumped(self, obj: Any) -> None:
        data = self.content_of(obj.obj_to_primitive())
        history = self.cls._history
        target = Version.parse(self.schema.version)
        steps = [v for v in reversed(history.versions()) if v > target]
        pairs = itertools.pairwise([*steps, target])
        jumped = self._apply([history.plan(history.version, target)], data)
        chained = self._apply([history.plan(a, b) for a, b in pairs], data)
        if jumped != chained:
            raise self._difference(
                'jumped', jumped, chained
            ) or self.violation(
                'jumped',
                f'one conversion gives {shortened(jumped)}, single steps'
                f' {shortened(chained)}',
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
            if conversion.operation == 'added' and self.has_value(obj, name):
                self.exercised.add(conversion)
            elif conversion.operation == 'removed':
                if self.former_name(name) in self.content_of(primitive):
                    self.exercised.add(conversion)
            elif conversion != BY_HAND and self.has_value(obj, name):
                self.exercised.add(conversion)

    def _record_loss(self, name: str) -> None:
        """Record the declared changes of a field that refused a value.

        :param name: its name at any version
        """
        for conversion in self.changes:
            if conversion.involves(name) or any(
                name_at(name) and name_at(name) == name_at(conversion.field)
                for name_at in (self.current_name, self.former_name)
            ):
                self.exercised.add(conversion)

    def check_accepted(self, obj: Any) -> None:
        """Check a primitive that a peer of the version writes.

        :param obj: an instance of the peer's class
        :raises InvariantViolated: it is rejected, or a field is lost
        """
        for _attempt in range(len(self.schema.fields) + 1):
            primitive = json.loads(json.dumps(obj.obj_to_primitive()))
            try:
                received = self.cls.obj_from_primitive(primitive, None)
                break
            except exceptions.LossyDowngrade as error:
                self._record_loss(error.field)
                delattr(obj, error.field)
            except Exception as error:
                name, shown = self._rejected(
                    self.cls.obj_from_primitive, primitive
                )
                if self.has_own_field_class(name):
                    delattr(obj, name)
                    continue
                raise self.violation(
                    'accepted',
                    f'reading {shown} raised {type(error).__name__}: {error}',
                    name,
                ) from error
        else:
            raise self.violation('accepted', 'every content is rejected')
        for conversion in self.changes:
            name = self.former_name(conversion.field)
            if conversion.operation == 'removed' and (
                name and obj.obj_attr_is_set(name)
            ):
                self.exercised.add(conversion)
        for name in obj.fields:
            current = self.current_name(name)
            sent = current and obj.obj_attr_is_set(name)
            if sent and not received.obj_attr_is_set(current):
                sent_value = primitive[self.key('data')][name]
                raise self.violation(
                    'accepted',
                    f'{name!r} was {shortened(sent_value)} and is lost',
                    name,
                )


def _unset_nested(value: Any, type_name: str, field: str) -> bool:
    """Unset a field of all objects of a type in a value.

    :returns: whether an object had the field
    """
    is_unset = False
    if isinstance(value, ovo_base.VersionedObject):
        if (
            value.obj_name() == type_name
            and field in value.fields
            and value.obj_attr_is_set(field)
        ):
            delattr(value, field)
            is_unset = True
        value = [
            getattr(value, name)
            for name in value.fields
            if value.obj_attr_is_set(name)
        ]
    elif isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, set)):
        return False
    for part in value:
        is_unset |= _unset_nested(part, type_name, field)
    return is_unset


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
                case = Case(lock, schema, cls)
                if case.is_readable or case.is_convertible:
                    yield case
                break
