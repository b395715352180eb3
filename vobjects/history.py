# SPDX-License-Identifier: Apache-2.0
"""What a type was at each of its versions.

A field's declaration says what happened to it, newest name and type first::

    'force': added('1.1', fields.BooleanField(default=False)),
    'colour': renamed('1.3', 'color', added('1.1', fields.StringField())),
    'count': changed('1.2', fields.StringField(), fields.IntegerField(),
                     up=int, down=str),
    'legacy': removed('1.4', fields.StringField(nullable=True)),

These functions attach data to the field and return it; they change neither
its ``repr`` nor, therefore, the fingerprint of the type.

From the declarations a :class:`History` derives, once per pair of versions
and then from a cache, the :class:`Plan` that carries a primitive down or up.
A plan composes all steps of a field into one, so its cost does not depend on
how many versions lie between. *Up* is old to new, *down* is new to old.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions
from vobjects.sensitive import HIDDEN, is_sensitive
from vobjects.versions import Version

FIRST = Version(1, 0)

OnDrop = Literal['refuse', 'ignore']
Convert = Callable[[Any], Any]
AnyField = ovo_fields.Field[Any]

_ATTRIBUTE = '_vobjects_changes'


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened to a field, at one object version."""

    kind: Literal['added', 'removed', 'renamed', 'changed']
    version: str
    on_drop: OnDrop = 'refuse'
    old_name: str = ''
    old_field: AnyField | None = None
    up: Convert | None = None
    down: Convert | None = None


def changes_of(field: AnyField) -> tuple[Change, ...]:
    """Return what was declared of a field, oldest change first."""
    attached: tuple[Change, ...] = getattr(field, _ATTRIBUTE, ())
    return attached


def _attach(field: AnyField, change: Change) -> AnyField:
    # A field object may be shared by two types (a constant in a module);
    # the copy keeps one type's history out of the other's.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, (*changes_of(field), change))
    return copied


def added(
    version: str, field: AnyField, *, on_drop: OnDrop = 'refuse'
) -> AnyField:
    """Declare that the field is there since ``version``.

    :param on_drop: ``'ignore'`` says that losing a value on the way to an
        older peer is harmless; ``'refuse'`` raises LossyDowngrade instead
    """
    return _attach(field, Change('added', version, on_drop=on_drop))


def removed(
    version: str, field: AnyField, *, on_drop: OnDrop = 'refuse'
) -> AnyField:
    """Declare that the field existed until ``version``, which lacks it.

    :param field: as it last was; an older reader gets its default, or null
    :param on_drop: ``'ignore'`` says that a value from an older sender may
        be thrown away; ``'refuse'`` raises LossyDowngrade instead
    """
    return _attach(field, Change('removed', version, on_drop=on_drop))


def renamed(version: str, old: str, field: AnyField) -> AnyField:
    """Declare that the field was called ``old`` before ``version``."""
    return _attach(field, Change('renamed', version, old_name=old))


def changed(
    version: str,
    old_field: AnyField,
    new_field: AnyField,
    *,
    up: Convert,
    down: Convert,
) -> AnyField:
    """Declare that the field had another type before ``version``.

    ``old_field`` may itself carry a history; ``new_field`` must not.

    :param up: old primitive value (JSON, never None) to new
    :param down: new primitive value (JSON, never None) to old; a value that
        the old type cannot hold is refused by raising ValueError
    """
    if not callable(up) or not callable(down):
        raise exceptions.DeclarationError(
            f'changed({version!r}) needs both up= and down='
        )
    copied = copy.copy(new_field)
    change = Change('changed', version, old_field=old_field, up=up, down=down)
    setattr(copied, _ATTRIBUTE, (*changes_of(old_field), change))
    return copied


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A field as it was, unchanged, from one version until another."""

    name: str
    field: AnyField
    start: Version
    end: Version | None = None  # first version that lacks it; None: still so
    on_drop: OnDrop = 'refuse'
    up: Convert | None = None  # from the span before
    down: Convert | None = None  # to the span before

    def covers(self, version: Version) -> bool:
        """Tell whether the field is this at ``version``."""
        return self.start <= version and (
            self.end is None or version < self.end
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """The other side has no place for the field."""

    name: str
    harmless: tuple[Any, ...]  # primitives that may be dropped in silence
    needs: Version  # the version that has the field
    ignore: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Carry:
    """The other side has the field under another name or type."""

    source: str
    target: str
    converts: tuple[Convert, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Fill:
    """The other side expects a field that this side does not have."""

    name: str
    primitive: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """How to carry the data of one type between two of its versions."""

    type_name: str
    source: Version
    target: Version
    drops: tuple[Drop, ...]
    carries: tuple[Carry, ...]
    fills: tuple[Fill, ...]
    secrets: frozenset[str] = frozenset()  # source names; not in errors

    def apply(self, data: dict[str, Any], *, refuse_loss: bool) -> None:
        """Convert ``data`` in place.

        :param data: the ``data`` part of a primitive; unset fields missing
        :param refuse_loss: whether a value with no place raises, or is left
            out for a reader who could not show it anyway
        :raises vobjects.exceptions.LossyDowngrade: see ``refuse_loss``
        """
        for drop in self.drops:
            if drop.name not in data:
                continue
            value = data[drop.name]
            if (
                refuse_loss
                and not drop.ignore
                and not any(same(value, known) for known in drop.harmless)
            ):
                raise self._loss(drop.name, value, drop.needs)
            del data[drop.name]
        # All sources leave before any target arrives: names may be swapped.
        carried = [
            (carry, data.pop(carry.source))
            for carry in self.carries
            if carry.source in data
        ]
        for carry, value in carried:
            data[carry.target] = self._converted(carry, value)
        for fill in self.fills:
            if fill.name not in data:
                data[fill.name] = copy.deepcopy(fill.primitive)

    def _converted(self, carry: Carry, value: Any) -> Any:
        if value is None:
            return None
        result = value
        for convert in carry.converts:
            try:
                result = convert(result)
            except (TypeError, ValueError, ArithmeticError) as error:
                raise self._loss(carry.source, value, self.source) from error
        return result

    def _loss(
        self, name: str, value: Any, needs: Version
    ) -> exceptions.LossyDowngrade:
        return exceptions.LossyDowngrade(
            self.type_name,
            name,
            HIDDEN if name in self.secrets else exceptions.cut(value),
            str(needs),
            str(self.target),
        )


def same(value: Any, other: Any) -> bool:
    """Compare primitives; ``True`` is not ``1``, as in JSON."""
    return type(value) is type(other) and bool(value == other)


class History:
    """The life of every field of one type.

    :param type_name: for messages
    :param version: the newest version of the type
    :param declared: fields by newest (or last) name, with their changes
    :raises vobjects.exceptions.DeclarationError: when the declarations
        contradict each other or the version
    """

    def __init__(
        self,
        type_name: str,
        version: Version,
        declared: Mapping[str, AnyField],
    ) -> None:
        self.type_name = type_name
        self.version = version
        self._lives = [
            self._life(name, field) for name, field in declared.items()
        ]
        self._plans: dict[tuple[Version, Version], Plan] = {}
        for step in self.versions():
            self.fields_at(step)

    @property
    def lives(self) -> tuple[tuple[Span, ...], ...]:
        """What each field was, oldest first."""
        return tuple(map(tuple, self._lives))

    def versions(self) -> list[Version]:
        """Return the versions at which something changed, with 1.0."""
        starts = {span.start for life in self._lives for span in life}
        ends = {s.end for life in self._lives for s in life if s.end}
        return sorted({FIRST, self.version} | starts | ends)

    def fields_at(self, version: Version) -> dict[str, AnyField]:
        """Return name to field as the type was at ``version``.

        :raises vobjects.exceptions.DeclarationError: two fields share a name
        """
        found: dict[str, AnyField] = {}
        for life in self._lives:
            span = _span_at(life, version)
            if span is None:
                continue
            if span.name in found:
                raise self._error(
                    span.name, f'two fields have this name at {version}'
                )
            found[span.name] = span.field
        return found

    def current(self) -> dict[str, AnyField]:
        """Return the fields of the newest version."""
        return self.fields_at(self.version)

    def since(self, name: str) -> Version:
        """Return the object version that first had what ``name`` is now.

        :raises KeyError: when the newest version has no such field
        """
        for life in self._lives:
            if life[-1].end is None and life[-1].name == name:
                return life[-1].start
        raise KeyError(name)

    def plan(self, source: Version, target: Version) -> Plan:
        """Return how to carry data from one version to another."""
        key = (source, target)
        plan = self._plans.get(key)
        if plan is None:
            # Two threads may both build it; the results are equal.
            plan = self._plans[key] = self._build(source, target)
        return plan

    def _build(self, source: Version, target: Version) -> Plan:
        drops, carries, fills = [], [], []
        for life in self._lives:
            here, there = _span_at(life, source), _span_at(life, target)
            if here is there:
                continue
            if there is None:
                assert here is not None
                drops.append(_drop(here, life[0].start))
            elif here is None:
                fill = _fill(there, up=target > source)
                if fill is not None:
                    fills.append(fill)
            else:
                carries.append(_carry(life, here, there))
        return Plan(
            self.type_name,
            source,
            target,
            tuple(drops),
            tuple(carries),
            tuple(fills),
            frozenset(
                span.name
                for life in self._lives
                if (span := _span_at(life, source)) is not None
                and is_sensitive(span.field)
            ),
        )

    def _life(self, name: str, field: AnyField) -> list[Span]:
        """Walk a field's changes back from its newest form."""
        changes = changes_of(field)
        self._check_order(name, changes)
        end: Version | None = None
        spans: list[Span] = []
        started = False
        dropping: OnDrop = 'refuse'
        for position, change in reversed(list(enumerate(changes))):
            at = Version.parse(change.version)
            if change.kind == 'removed':
                if position != len(changes) - 1 or spans:
                    raise self._error(name, 'removed() comes last')
                end, dropping = at, change.on_drop
            elif change.kind == 'added':
                if position != 0:
                    raise self._error(name, 'added() comes first')
                dropping = 'ignore' if change.on_drop == 'ignore' else dropping
                spans.append(Span(name, field, at, end))
                started = True
            elif change.kind == 'renamed':
                spans.append(Span(name, field, at, end))
                name, end = change.old_name, at
            else:
                assert change.old_field is not None
                spans.append(
                    Span(name, field, at, end, up=change.up, down=change.down)
                )
                field, end = change.old_field, at
        if not started:
            spans.append(Span(name, field, FIRST, end))
        return [
            dataclasses.replace(span, on_drop=dropping)
            for span in reversed(spans)
        ]

    def _check_order(self, name: str, changes: tuple[Change, ...]) -> None:
        before = FIRST
        for change in changes:
            try:
                at = Version.parse(change.version)
            except exceptions.InvalidVersion as error:
                raise self._error(name, str(error)) from None
            if not before < at:
                raise self._error(
                    name,
                    f'{change.kind}({change.version!r}) must come after'
                    f' {before}; write the oldest change innermost',
                )
            if at > self.version:
                raise self._error(
                    name,
                    f'{change.kind}({change.version!r}) is newer than'
                    f" VERSION = '{self.version}'; raise VERSION",
                )
            before = at

    def _error(self, field: str, problem: str) -> exceptions.DeclarationError:
        return exceptions.DeclarationError(
            f'{self.type_name}.{field}: {problem}'
        )


def _span_at(life: list[Span], version: Version) -> Span | None:
    for span in life:
        if span.covers(version):
            return span
    return None


def _drop(span: Span, needs: Version) -> Drop:
    harmless: list[Any] = [None]
    default = default_primitive(span.name, span.field)
    if default is not ovo_fields.UnspecifiedDefault:
        harmless.append(default)
    return Drop(span.name, tuple(harmless), needs, span.on_drop == 'ignore')


def _fill(span: Span, *, up: bool) -> Fill | None:
    """Return what to put where nothing was said.

    Going up, a nullable field without default stays unset: "not said" and
    "null" differ in an update. Going down, an older reader expects to find a
    field that has since been removed.
    """
    default = default_primitive(span.name, span.field)
    if default is not ovo_fields.UnspecifiedDefault:
        return Fill(span.name, default)
    return None if up else Fill(span.name, None)


def _carry(life: list[Span], here: Span, there: Span) -> Carry:
    first, last = life.index(here), life.index(there)
    if first < last:
        steps = [span.up for span in life[first + 1 : last + 1]]
    else:
        steps = [span.down for span in reversed(life[last + 1 : first + 1])]
    converts = tuple(step for step in steps if step is not None)
    return Carry(here.name, there.name, converts)


def default_primitive(name: str, field: AnyField) -> Any:
    """Return a field's default as it stands in a primitive.

    :returns: ``UnspecifiedDefault`` (o.vo's marker) when there is none
    """
    if field.default is ovo_fields.UnspecifiedDefault:
        return ovo_fields.UnspecifiedDefault
    if field.default is None:
        return None
    # Neither call looks at the object for the field types that can carry a
    # default; o.vo's own mypy signature says it may be None for coerce only.
    owner: Any = None
    value = field.coerce(owner, name, copy.deepcopy(field.default))
    return field.to_primitive(owner, name, value)
