# SPDX-License-Identifier: Apache-2.0
"""Declare the history of a type's fields, and convert between versions.

A field's declaration lists its changes, with the newest name and type first::

    'force': added('1.1', fields.BooleanField(default=False)),
    'colour': renamed('1.3', 'color', fields.StringField()),
    'count': changed('1.2', fields.StringField(), fields.IntegerField(),
                     up=int, down=str),
    'legacy': removed('1.4', fields.StringField(nullable=True)),

These functions attach data to a copy of the field and return the copy. They
change neither its ``repr`` nor, therefore, the fingerprint of the type.

From the declarations, :class:`History` derives a :class:`ConversionPlan` for
each pair of versions, and caches it. The plan converts the data of a primitive
up (old to new) or down (new to old). It composes all steps of a field into
one, so its cost does not depend on the number of versions in between.
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
Converter = Callable[[Any], Any]
AnyField = ovo_fields.Field[Any]

_ATTRIBUTE = '_vobjects_changes'


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of a field at one object version."""

    kind: Literal['added', 'removed', 'renamed', 'changed']
    version: str
    on_drop: OnDrop = 'refuse'
    old_name: str = ''
    old_field: AnyField | None = None
    up: Converter | None = None
    down: Converter | None = None


def changes_of(field: AnyField) -> tuple[FieldChange, ...]:
    """Return the declared changes of a field, oldest first."""
    attached: tuple[FieldChange, ...] = getattr(field, _ATTRIBUTE, ())
    return attached


def _attach(field: AnyField, change: FieldChange) -> AnyField:
    # Two types may share a field object (a constant in a module); the copy
    # keeps their histories separate.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, (*changes_of(field), change))
    return copied


def added(
    version: str, field: AnyField, *, on_drop: OnDrop = 'refuse'
) -> AnyField:
    """Declare that the field exists since ``version``.

    :param on_drop: ``'ignore'``: losing a value in a downgrade is harmless;
        ``'refuse'``: raise LossyDowngrade instead
    """
    return _attach(field, FieldChange('added', version, on_drop=on_drop))


def removed(
    version: str, field: AnyField, *, on_drop: OnDrop = 'refuse'
) -> AnyField:
    """Declare that the field was removed in ``version``.

    :param field: the field before its removal; an older reader gets its
        default, or null
    :param on_drop: ``'ignore'``: a value from an older sender may be
        discarded; ``'refuse'``: raise LossyDowngrade instead
    """
    return _attach(field, FieldChange('removed', version, on_drop=on_drop))


def renamed(version: str, old: str, field: AnyField) -> AnyField:
    """Declare that the field had the name ``old`` before ``version``."""
    return _attach(field, FieldChange('renamed', version, old_name=old))


def changed(
    version: str,
    old_field: AnyField,
    new_field: AnyField,
    *,
    up: Converter,
    down: Converter,
) -> AnyField:
    """Declare that the field had another type before ``version``.

    ``old_field`` may itself carry a history; ``new_field`` must not.

    :param up: converts an old primitive value (JSON, never None) to a new one
    :param down: converts a new primitive value (JSON, never None) to an old
        one; raises ValueError if the old type cannot hold the value
    :raises vobjects.exceptions.DeclarationError: ``up`` or ``down`` is missing
    """
    if not callable(up) or not callable(down):
        raise exceptions.DeclarationError(
            f'changed({version!r}) needs both up= and down='
        )
    copied = copy.copy(new_field)
    change = FieldChange(
        'changed', version, old_field=old_field, up=up, down=down
    )
    setattr(copied, _ATTRIBUTE, (*changes_of(old_field), change))
    return copied


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSpan:
    """A range of versions in which a field did not change."""

    name: str
    field: AnyField
    start: Version
    end: Version | None = None  # first version without it; None: no end
    on_drop: OnDrop = 'refuse'
    up: Converter | None = None  # from the span before
    down: Converter | None = None  # to the span before

    def covers(self, version: Version) -> bool:
        """Tell whether this span includes ``version``."""
        return self.start <= version and (
            self.end is None or version < self.end
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """The target version does not have the field."""

    name: str
    harmless: tuple[Any, ...]  # primitives that may be dropped silently
    needs: Version  # the first version that has the field
    ignore: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Carry:
    """The target version has the field under another name or type."""

    source: str
    target: str
    converts: tuple[Converter, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Fill:
    """The target version expects a field that the source does not have."""

    name: str
    primitive: Any


@dataclasses.dataclass(frozen=True, slots=True)
class ConversionPlan:
    """How to convert the data of one type between two of its versions."""

    type_name: str
    source: Version
    target: Version
    drops: tuple[Drop, ...]
    carries: tuple[Carry, ...]
    fills: tuple[Fill, ...]
    secrets: frozenset[str] = frozenset()  # source names; not in errors

    def apply(self, data: dict[str, Any], *, refuse_loss: bool) -> None:
        """Convert ``data`` in place.

        :param data: the ``data`` part of a primitive, without unset fields
        :param refuse_loss: whether to raise an error for a value that the
            target cannot hold; otherwise the value is dropped
        :raises vobjects.exceptions.LossyDowngrade: see ``refuse_loss``; also
            if a conversion function rejects a value
        """
        for drop in self.drops:
            if drop.name not in data:
                continue
            value = data[drop.name]
            if (
                refuse_loss
                and not drop.ignore
                and not any(
                    equal_primitives(value, accepted)
                    for accepted in drop.harmless
                )
            ):
                raise self._loss(drop.name, value, drop.needs)
            del data[drop.name]
        # Remove all sources before adding targets: names may be swapped.
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


def equal_primitives(value: Any, other: Any) -> bool:
    """Compare primitives; unlike in Python, ``True`` is not equal to ``1``."""
    return type(value) is type(other) and bool(value == other)


class History:
    """The spans of every field of one type.

    :param type_name: for error messages
    :param version: the newest version of the type
    :param declared: newest (or last) name -> field, with its changes
    :raises vobjects.exceptions.DeclarationError: the declarations contradict
        each other or the version
    """

    def __init__(
        self,
        type_name: str,
        version: Version,
        declared: Mapping[str, AnyField],
    ) -> None:
        self.type_name = type_name
        self.version = version
        self._field_spans = [
            self._spans_of(name, field) for name, field in declared.items()
        ]
        self._plans: dict[tuple[Version, Version], ConversionPlan] = {}
        for step in self.versions():
            self.fields_at(step)

    @property
    def field_spans(self) -> tuple[tuple[FieldSpan, ...], ...]:
        """The spans of each field, oldest first."""
        return tuple(map(tuple, self._field_spans))

    def versions(self) -> list[Version]:
        """Return 1.0, the newest version and those that changed a field."""
        starts = {span.start for spans in self._field_spans for span in spans}
        ends = {s.end for spans in self._field_spans for s in spans if s.end}
        return sorted({FIRST, self.version} | starts | ends)

    def fields_at(self, version: Version) -> dict[str, AnyField]:
        """Return the fields of the type at ``version``, by name.

        :raises vobjects.exceptions.DeclarationError: two fields share a name
        """
        fields: dict[str, AnyField] = {}
        for spans in self._field_spans:
            span = _span_at(spans, version)
            if span is None:
                continue
            if span.name in fields:
                raise self._error(
                    span.name, f'two fields have this name at {version}'
                )
            fields[span.name] = span.field
        return fields

    def current(self) -> dict[str, AnyField]:
        """Return the fields of the newest version, by name."""
        return self.fields_at(self.version)

    def since(self, name: str) -> Version:
        """Return the first version with the current name and type of a field.

        :raises KeyError: the newest version has no such field
        """
        for spans in self._field_spans:
            if spans[-1].end is None and spans[-1].name == name:
                return spans[-1].start
        raise KeyError(name)

    def plan(self, source: Version, target: Version) -> ConversionPlan:
        """Return the plan that converts data between two versions."""
        key = (source, target)
        plan = self._plans.get(key)
        if plan is None:
            # Two threads may both build the plan; the results are equal.
            plan = self._plans[key] = self._build(source, target)
        return plan

    def _build(self, source: Version, target: Version) -> ConversionPlan:
        drops, carries, fills = [], [], []
        for spans in self._field_spans:
            source_span, target_span = (
                _span_at(spans, source),
                _span_at(spans, target),
            )
            if source_span is target_span:
                continue
            if target_span is None:
                assert source_span is not None
                drops.append(_drop(source_span, spans[0].start))
            elif source_span is None:
                fill = _fill(target_span, up=target > source)
                if fill is not None:
                    fills.append(fill)
            else:
                carries.append(_carry(spans, source_span, target_span))
        return ConversionPlan(
            self.type_name,
            source,
            target,
            tuple(drops),
            tuple(carries),
            tuple(fills),
            frozenset(
                span.name
                for spans in self._field_spans
                if (span := _span_at(spans, source)) is not None
                and is_sensitive(span.field)
            ),
        )

    def _spans_of(self, name: str, field: AnyField) -> list[FieldSpan]:
        """Return a field's spans, derived from its newest form backwards."""
        changes = changes_of(field)
        self._check_order(name, changes)
        end: Version | None = None
        spans: list[FieldSpan] = []
        started = False
        dropping: OnDrop = 'refuse'
        for position, change in reversed(list(enumerate(changes))):
            version = Version.parse(change.version)
            if change.kind == 'removed':
                if position != len(changes) - 1 or spans:
                    raise self._error(
                        name, 'removed() must be the outermost declaration'
                    )
                end, dropping = version, change.on_drop
            elif change.kind == 'added':
                if position != 0:
                    raise self._error(
                        name, 'added() must be the innermost declaration'
                    )
                dropping = 'ignore' if change.on_drop == 'ignore' else dropping
                spans.append(FieldSpan(name, field, version, end))
                started = True
            elif change.kind == 'renamed':
                spans.append(FieldSpan(name, field, version, end))
                name, end = change.old_name, version
            else:
                assert change.old_field is not None
                spans.append(
                    FieldSpan(
                        name,
                        field,
                        version,
                        end,
                        up=change.up,
                        down=change.down,
                    )
                )
                field, end = change.old_field, version
        if not started:
            spans.append(FieldSpan(name, field, FIRST, end))
        return [
            dataclasses.replace(span, on_drop=dropping)
            for span in reversed(spans)
        ]

    def _check_order(
        self, name: str, changes: tuple[FieldChange, ...]
    ) -> None:
        previous = FIRST
        for change in changes:
            try:
                version = Version.parse(change.version)
            except exceptions.InvalidVersion as error:
                raise self._error(name, str(error)) from None
            if not previous < version:
                raise self._error(
                    name,
                    f'{change.kind}({change.version!r}) must come after'
                    f' {previous}; write the oldest change innermost',
                )
            if version > self.version:
                raise self._error(
                    name,
                    f'{change.kind}({change.version!r}) is newer than'
                    f" VERSION = '{self.version}'; raise VERSION",
                )
            previous = version

    def _error(self, field: str, problem: str) -> exceptions.DeclarationError:
        return exceptions.DeclarationError(
            f'{self.type_name}.{field}: {problem}'
        )


def _span_at(spans: list[FieldSpan], version: Version) -> FieldSpan | None:
    for span in spans:
        if span.covers(version):
            return span
    return None


def _drop(span: FieldSpan, needs: Version) -> Drop:
    harmless: list[Any] = [None]
    default = default_primitive(span.name, span.field)
    if default is not ovo_fields.UnspecifiedDefault:
        harmless.append(default)
    return Drop(span.name, tuple(harmless), needs, span.on_drop == 'ignore')


def _fill(span: FieldSpan, *, up: bool) -> Fill | None:
    """Return the value for a field that the source version does not have.

    Going up, a nullable field without a default stays unset, because "unset"
    and "null" differ in an update. Going down, an older reader expects a
    field that has since been removed.
    """
    default = default_primitive(span.name, span.field)
    if default is not ovo_fields.UnspecifiedDefault:
        return Fill(span.name, default)
    return None if up else Fill(span.name, None)


def _carry(
    spans: list[FieldSpan], source_span: FieldSpan, target_span: FieldSpan
) -> Carry:
    first, last = spans.index(source_span), spans.index(target_span)
    if first < last:
        steps = [span.up for span in spans[first + 1 : last + 1]]
    else:
        steps = [span.down for span in reversed(spans[last + 1 : first + 1])]
    converts = tuple(step for step in steps if step is not None)
    return Carry(source_span.name, target_span.name, converts)


def default_primitive(name: str, field: AnyField) -> Any:
    """Return a field's default as a primitive.

    :returns: ``UnspecifiedDefault`` of oslo.versionedobjects if there is none
    """
    if field.default is ovo_fields.UnspecifiedDefault:
        return ovo_fields.UnspecifiedDefault
    if field.default is None:
        return None
    # Neither call uses the object for the field types that can have a
    # default, but only coerce() is annotated to accept None.
    owner: Any = None
    value = field.coerce(owner, name, copy.deepcopy(field.default))
    return field.to_primitive(owner, name, value)
