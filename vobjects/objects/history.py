# SPDX-License-Identifier: Apache-2.0
"""The history of a type's fields, derived from their declarations.

:mod:`vobjects.objects.field_changes` has the functions that declare changes.
From the declarations, :class:`History` derives the fields of each version and
a :class:`~vobjects.objects.conversion_plan.ConversionPlan` for each pair of
versions, which it caches. The plan converts the data of a primitive up (old to
new) or down (new to old). It composes all steps of a field into one, so its
cost does not depend on the number of versions in between.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions
from vobjects.field_values import holds_objects
from vobjects.fields import is_required
from vobjects.objects.conversion_plan import (
    OMITTED,
    AnyField,
    Carry,
    ConversionPlan,
    Drop,
    Fill,
    checked,
    equal_primitives,
)
from vobjects.objects.field_changes import FieldChange, OnDrop
from vobjects.objects.field_changes import added as added
from vobjects.objects.field_changes import changed as changed
from vobjects.objects.field_changes import changes_of as changes_of
from vobjects.objects.field_changes import removed as removed
from vobjects.objects.field_changes import renamed as renamed
from vobjects.objects.field_spans import (
    FieldSpan,
    default_of,
    drop_of,
    span_at,
    step_up,
    steps_between,
    substitute_of,
)
from vobjects.sensitive import is_sensitive
from vobjects.versions import Version

FIRST = Version(1, 0)


class History:
    """The spans of every field of one type.

    :param type_name: for error messages
    :param version: the newest version of the type
    :param declared: newest (or last) name -> field, with its changes
    :param in_api: whether microversions show the type: if so, it keeps the
        fields that it removes from the API
    :param is_read_only: whether the type is for readers, as a Resource: an
        older reader gets some value for each field. In a request, null and
        unset differ
    :raises vobjects.exceptions.DeclarationError: the declarations contradict
        each other or the version
    """

    def __init__(
        self,
        type_name: str,
        version: Version,
        declared: Mapping[str, AnyField],
        *,
        in_api: bool = False,
        is_read_only: bool = True,
    ) -> None:
        self.type_name = type_name
        self.version = version
        self._in_api = in_api
        self._is_read_only = is_read_only
        self._field_spans = [
            self._spans_of(name, field) for name, field in declared.items()
        ]
        self._plans: dict[tuple[Version, Version], ConversionPlan] = {}
        for step in self.versions():
            self.wire_fields_at(step)

    @property
    def field_spans(self) -> tuple[tuple[FieldSpan, ...], ...]:
        """The spans of each field, oldest first."""
        return tuple(map(tuple, self._field_spans))

    def versions(self) -> list[Version]:
        """Return 1.0, the newest version and those that changed a field."""
        return sorted({FIRST, self.version, *self.changed_versions()})

    def changed_versions(self) -> set[Version]:
        """Return the versions with a change of a field."""
        spans = [span for life in self._field_spans for span in life]
        versions = {span.start for span in spans} - {FIRST}
        versions |= {span.end for span in spans if span.end}
        return versions | {span.hidden for span in spans if span.hidden}

    def fields_at(self, version: Version) -> dict[str, AnyField]:
        """Return the fields that the API has at ``version``, by name."""
        return {
            span.name: span.field
            for span in self._spans_at(version)
            if span.hidden is None or version < span.hidden
        }

    def wire_fields_at(self, version: Version) -> dict[str, AnyField]:
        """Return the fields of primitives of ``version``, by name.

        They include fields that the API no longer has.

        :raises vobjects.exceptions.DeclarationError: two fields share a name
        """
        fields: dict[str, AnyField] = {}
        for span in self._spans_at(version):
            if span.name in fields:
                raise self._error(
                    span.name, f'two fields have this name at {version}'
                )
            fields[span.name] = span.field
        return fields

    def hidden_at(self, version: Version) -> frozenset[str]:
        """Return the fields of primitives that the API no longer has."""
        return frozenset(
            self.wire_fields_at(version).keys()
            - self.fields_at(version).keys()
        )

    def name_at(
        self, name: str, version: Version, target: Version
    ) -> str | None:
        """Return the name that a field has at another version.

        :param name: its name in primitives of ``version``
        :returns: None if ``target`` or ``version`` lacks the field
        """
        for spans in self._field_spans:
            span = span_at(spans, version)
            if span is not None and span.name == name:
                other = span_at(spans, target)
                return None if other is None else other.name
        return None

    def _spans_at(self, version: Version) -> list[FieldSpan]:
        return [
            span
            for spans in self._field_spans
            if (span := span_at(spans, version)) is not None
        ]

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
        drops: list[Drop] = []
        carries: list[Carry] = []
        fills = []
        for spans in self._field_spans:
            source_span, target_span = (
                span_at(spans, source),
                span_at(spans, target),
            )
            if source_span is target_span:
                continue
            if target_span is None:
                assert source_span is not None
                drops.append(drop_of(spans, source_span, source, target))
                continue
            if source_span is None:
                value = self._fill(spans, target_span, up=target > source)
            else:
                steps = steps_between(spans, source_span, target_span)
                carries.append(
                    Carry(source_span.name, target_span.name, steps)
                )
                value = OMITTED
                for step in steps:
                    value = step.apply(value) if target > source else value
            if value is not OMITTED:
                fills.append(Fill(target_span.name, value))
        converted = {drop.name for drop in drops if drop.steps}
        converted |= {carry.source for carry in carries if carry.steps}
        return ConversionPlan(
            self.type_name,
            source,
            target,
            tuple(drops),
            tuple(carries),
            tuple(fills),
            frozenset(
                span.name
                for span in self._spans_at(source)
                if is_sensitive(span.field)
            ),
            {
                span.name: span.field._type
                for span in self._spans_at(source)
                if span.name in converted and holds_objects(span.field._type)
            },
        )

    def _fill(
        self, spans: list[FieldSpan], target_span: FieldSpan, *, up: bool
    ) -> Any:
        """Return the value of a field that the source version does not have.

        Going up, a nullable field without a default stays unset, because
        "unset" and "null" differ in an update. Going down, an older reader
        expects a field that has since been dropped.
        """
        nearest = spans[0] if up else spans[-1]
        value = default_of(nearest) if up else substitute_of(nearest)
        if value is OMITTED and not up and self._is_read_only:
            value = None if nearest.field.nullable else OMITTED
        for step in steps_between(spans, nearest, target_span):
            try:
                value = step.apply(value)
            except ValueError:
                value = step.placeholder if self._is_read_only else OMITTED
        return value

    def _spans_of(self, name: str, field: AnyField) -> list[FieldSpan]:
        """Return a field's spans, derived from its newest form backwards."""
        changes = changes_of(field)
        self._check_order(name, changes)
        end: Version | None = None
        hidden: Version | None = None
        spans: list[FieldSpan] = []
        is_added = False
        on_drop: OnDrop = 'refuse'
        on_removal: OnDrop = 'refuse'
        instead: Any = OMITTED
        for position, change in reversed(list(enumerate(changes))):
            version = Version.parse(change.version)
            if change.kind == 'removed':
                if position != len(changes) - 1 or spans:
                    raise self._error(
                        name, 'removed() must be the outermost declaration'
                    )
                hidden, end = version, self._dropped_at(name, change)
                on_removal = change.on_drop if end else 'refuse'
                instead = change.instead
            elif change.kind == 'added':
                if position != 0:
                    raise self._error(
                        name, 'added() must be the innermost declaration'
                    )
                on_drop = change.on_drop
                spans.append(FieldSpan(name, field, version, end))
                is_added = True
            elif change.kind == 'renamed':
                spans.append(FieldSpan(name, field, version, end))
                name, end = change.old_name, version
            else:
                assert change.old_field is not None
                spans.append(
                    FieldSpan(name, field, version, end, change=change)
                )
                field, end = change.old_field, version
        if not is_added:
            spans.append(FieldSpan(name, field, FIRST, end))
        spans = [
            dataclasses.replace(
                span, hidden=hidden, on_drop=on_drop, on_removal=on_removal
            )
            for span in reversed(spans)
        ]
        spans[-1] = dataclasses.replace(spans[-1], instead=instead)
        self._check_types(spans)
        return spans

    def _dropped_at(self, name: str, change: FieldChange) -> Version | None:
        """Return the version in which the type drops a removed field."""
        if change.dropped is None:
            return None if self._in_api else Version.parse(change.version)
        try:
            dropped = Version.parse(change.dropped)
        except exceptions.InvalidVersion as error:
            raise self._error(name, str(error)) from None
        if not Version.parse(change.version) <= dropped <= self.version:
            raise self._error(
                name,
                f'dropped={change.dropped!r} must be between the removal in'
                f" {change.version} and VERSION = '{self.version}'",
            )
        return dropped

    def _check_types(self, spans: list[FieldSpan]) -> None:
        """Check that every version can do without what older ones lack."""
        first = spans[0]
        if first.start > FIRST and is_required(first.field):
            raise self._error(
                first.name,
                f'a field added at {first.start} needs nullable=True or a'
                ' default, because peers of other versions do not have it',
            )
        last = spans[-1]
        # Each version of a response that keeps the field contains it.
        is_kept = self._is_read_only and self._in_api and last.end is None
        if last.instead is not OMITTED:
            self._check_removal(last)
        elif (
            last.hidden is not None and is_required(last.field) and not is_kept
        ):
            raise self._error(
                last.name,
                f'a field removed at {last.hidden} needs nullable=True or a'
                ' default, because peers of other versions do not have it; if'
                ' a release requires the field, let the type drop it, and name'
                f' the value for older readers: removed({str(last.hidden)!r},'
                f' field, dropped={str(last.end or last.hidden)!r},'
                ' instead=...)',
            )
        for before, span in itertools.pairwise(spans):
            change = span.change
            if change is None:
                continue
            where = f'changed({change.version!r})'
            if is_required(span.field) and not is_required(before.field):
                raise self._error(
                    span.name,
                    f'{where} makes the field required, but older clients may'
                    ' omit it; give the new field a default or nullable=True',
                )
            if change.instead is not OMITTED:
                self._check_instead(before, change.instead, where)
            elif change.on_drop == 'ignore' and is_required(before.field):
                raise self._error(
                    span.name,
                    f"{where} with on_drop='ignore' needs instead=, because"
                    ' the old field is required',
                )
        for number in range(len(spans)):
            self._check_default(spans[number:])

    def _check_removal(self, last: FieldSpan) -> None:
        """Check that ``instead`` of ``removed`` replaces a required field."""
        where = f'removed({str(last.hidden)!r})'
        if last.end is None or not is_required(last.field):
            raise self._error(
                last.name,
                f'{where} with instead= needs dropped= and a field that is'
                ' neither nullable nor has a default',
            )
        if not self._is_read_only and last.end != last.hidden:
            raise self._error(
                last.name,
                f'{where}: newer clients do not send the field, but each'
                f' version before dropped={str(last.end)!r} requires it; write'
                f' dropped={str(last.hidden)!r}',
            )
        self._check_instead(last, last.instead, where)

    def _check_default(self, spans: list[FieldSpan]) -> None:
        """Check that all later types can hold the default of the first one."""
        default = value = default_of(spans[0])
        if default is OMITTED:
            return
        for before, span in itertools.pairwise(spans):
            if span.change is None:
                continue
            restored: Any
            try:
                restored = value = step_up(before, span).apply(value)
                for step in steps_between(spans, span, spans[0]):
                    restored = step.apply(restored)
            except Exception as error:  # noqa: BLE001 - a converter's
                restored = error
            if not equal_primitives(restored, default):
                raise self._error(
                    span.name,
                    f'changed({span.change.version!r}) must convert the old'
                    f' default {exceptions.cut(default)} up, and down to'
                    f' itself, not to {exceptions.cut(restored)}: older'
                    ' clients that omit the field mean this value',
                )

    def _check_instead(
        self, before: FieldSpan, instead: Any, where: str
    ) -> None:
        try:
            if instead is None and before.field.nullable:
                return
            checked(before.field, instead)
        except ValueError as error:
            raise self._error(
                before.name,
                f'{where}: the old field rejects'
                f' instead={exceptions.cut(instead)}: {error}',
            ) from None

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
