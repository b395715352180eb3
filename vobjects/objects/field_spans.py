# SPDX-License-Identifier: Apache-2.0
"""Spans of versions in which a field did not change, and steps between them.

A :class:`FieldSpan` is one form of a field. A step converts its values from
one span to the next one, or back.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects.field_values import default_primitive, equal_primitives, types_in
from vobjects.fields import is_required
from vobjects.objects.conversion_plan import (
    OMITTED,
    AnyField,
    Drop,
    Step,
    checked,
)
from vobjects.objects.field_changes import FieldChange, OnDrop
from vobjects.versions import Version


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSpan:
    """A range of versions in which a field did not change.

    :ivar end: first version without it; None: no end
    :ivar hidden: first version whose API lacks the field; None: none
    :ivar on_drop: of ``added``
    :ivar on_removal: ``on_drop`` of ``removed``, if the type drops the field
    :ivar change: the change of type that started the span
    :ivar instead: of ``removed``, if the type drops the field
    :ivar split_from: of ``added``
    """

    name: str
    field: AnyField
    start: Version
    end: Version | None = None
    hidden: Version | None = None
    on_drop: OnDrop = 'refuse'
    on_removal: OnDrop = 'refuse'
    change: FieldChange | None = None
    instead: Any = OMITTED
    split_from: tuple[str, str] | None = None

    def covers(self, version: Version) -> bool:
        """Tell whether this span includes ``version``."""
        return self.start <= version and (
            self.end is None or version < self.end
        )


def span_at(spans: list[FieldSpan], version: Version) -> FieldSpan | None:
    """Return the span of a version; None if there is none."""
    for span in spans:
        if span.covers(version):
            return span
    return None


def drop_of(
    spans: list[FieldSpan],
    source_span: FieldSpan,
    source: Version,
    target: Version,
) -> Drop:
    """Return the drop of a field, which has the same effect in single steps.

    Going down, the field's first type decides which values are harmless; going
    up, its last type. The defaults of all types are harmless: the sender may
    have set them for a client that omitted the field.
    """
    is_down = target < source
    last = spans[0] if is_down else spans[-1]
    harmless = [] if is_down else [None]
    for span in spans:
        value = substitute_of(span)
        if value is OMITTED and is_down:
            continue
        with contextlib.suppress(ValueError):
            for step in steps_between(spans, span, last):
                value = step.apply(value)
            if value is not OMITTED:
                harmless.append(value)
    on_drop = source_span.on_drop if is_down else source_span.on_removal
    return Drop(
        source_span.name,
        tuple(harmless),
        needs=spans[0].start if is_down else source,
        ignore=on_drop == 'ignore',
        steps=steps_between(spans, source_span, last),
    )


def steps_between(
    spans: list[FieldSpan], source_span: FieldSpan, target_span: FieldSpan
) -> tuple[Step, ...]:
    """Return the conversions of values from one span to another."""
    first, last = spans.index(source_span), spans.index(target_span)
    if first < last:
        pairs = list(itertools.pairwise(spans[first : last + 1]))
        return tuple(
            step_up(before, span) for before, span in pairs if span.change
        )
    pairs = list(itertools.pairwise(spans[last : first + 1]))
    return tuple(
        _step_down(before, span)
        for before, span in reversed(pairs)
        if span.change
    )


def step_up(before: FieldSpan, span: FieldSpan) -> Step:
    """Return the conversion to a span from the one before it."""
    change, default = span.change, default_of(span)
    assert change is not None
    if change.missing is not OMITTED:
        default = as_primitive(span.field, change.missing)
    step = Step(
        change.by.up,
        span.field,
        f'up= of {span.name}, changed in {change.version}',
        unset=default,
        null=default,
        unset_value=OMITTED,
        # A field that is required cannot be left unset.
        ignore='ignore' in (change.on_drop, span.on_removal)
        and not is_required(span.field),
        instead=default,
        placeholder=None if span.field.nullable else default,
    )
    if (old_default := default_of(before)) is OMITTED:
        return step
    # To older peers, a field that is not set means the old default.
    converted = step.apply(old_default)
    same = equal_primitives(converted, default)
    return dataclasses.replace(step, unset=OMITTED if same else converted)


def _step_down(before: FieldSpan, span: FieldSpan) -> Step:
    change, default = span.change, default_of(before)
    assert change is not None
    instead = as_primitive(before.field, change.instead)
    placeholder = instead
    if placeholder is OMITTED:
        placeholder = None if before.field.nullable else default
    return Step(
        change.by.down,
        before.field,
        f'down= of {span.name}, changed in {change.version}',
        unset=instead if is_required(before.field) else OMITTED,
        null=OMITTED,
        unset_value=OMITTED if is_required(before.field) else default_of(span),
        ignore='ignore' in (change.on_drop, before.on_drop),
        instead=instead,
        placeholder=placeholder,
    )


def substitute_of(span: FieldSpan) -> Any:
    """Return the value of a span that newer versions dropped."""
    if span.instead is OMITTED:
        return default_of(span)
    return as_primitive(span.field, span.instead)


def as_primitive(field: AnyField, value: Any) -> Any:
    """Return a value of a declaration as its field writes it.

    :param value: a primitive, or what the field reads as one, such as a member
        of an enum; null; or OMITTED, which is returned
    :raises ValueError: the field rejects the value, or JSON cannot represent
        it
    """
    if value is OMITTED or (value is None and field.nullable):
        return value
    primitive = checked(field, value)
    try:
        json.dumps(primitive, allow_nan=False)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return primitive


def default_of(span: FieldSpan) -> Any:
    """Return the default of a span as a primitive; without one, OMITTED."""
    value = default_primitive(span.name, span.field)
    return OMITTED if value is ovo_fields.UnspecifiedDefault else value


def same_kind(before: Any, after: Any) -> bool:
    """Return whether field types differ at most in their limits."""
    return _without_limits(before) == _without_limits(after)


def _without_limits(field_type: Any) -> list[str]:
    """Return the names of a type, of its items, and of their objects."""
    return [
        name
        for kind in types_in(field_type)
        for name in (type(kind).__name__, getattr(kind, '_obj_name', ''))
    ]
