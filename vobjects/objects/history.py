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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions
from vobjects.field_values import equal_primitives, holds_objects
from vobjects.fields import is_required
from vobjects.objects.conversion_plan import (
    OMITTED,
    AnyField,
    Carry,
    ConversionPlan,
    Drop,
    Part,
    Step,
)
from vobjects.objects.conversions import SAME
from vobjects.objects.field_changes import FieldChange, OnDrop, order_problem
from vobjects.objects.field_changes import added as added
from vobjects.objects.field_changes import changed as changed
from vobjects.objects.field_changes import changes_of as changes_of
from vobjects.objects.field_changes import removed as removed
from vobjects.objects.field_changes import renamed as renamed
from vobjects.objects.field_spans import (
    FieldSpan,
    as_primitive,
    default_of,
    drop_of,
    same_kind,
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
    :param oldest: the oldest version that the type still has
    :param is_read_only: whether the type is for readers, as a Resource: an
        older reader gets some value for each field. In a request, null and
        unset differ
    :ivar field_spans: the spans of each field, oldest first
    :raises vobjects.exceptions.DeclarationError: the declarations contradict
        each other or the version
    """

    def __init__(
        self,
        type_name: str,
        version: Version,
        declared: Mapping[str, AnyField],
        *,
        oldest: Version = FIRST,
        in_api: bool = False,
        is_read_only: bool = True,
    ) -> None:
        self.type_name = type_name
        self.version = version
        self.oldest = oldest
        self._in_api = in_api
        self._is_read_only = is_read_only
        self.field_spans = [
            self._spans_of(name, field) for name, field in declared.items()
        ]
        self._plans: dict[tuple[Version, Version], ConversionPlan] = {}
        for step in self.versions():
            self.wire_fields_at(step)
        for spans in self.field_spans:
            if spans[0].split_from:
                self._check_part(spans, spans[0].split_from[0])

    def versions(self) -> list[Version]:
        """Return the oldest, the newest, and those that changed a field."""
        return sorted({self.oldest, self.version, *self.changed_versions()})

    def changed_versions(self) -> set[Version]:
        """Return the versions with a change of a field."""
        spans = [span for life in self.field_spans for span in life]
        versions = {span.start for span in spans} - {self.oldest}
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

    def name_at(
        self, name: str, version: Version, target: Version
    ) -> str | None:
        """Return the name that a field has at another version.

        :param name: its name in primitives of ``version``
        :returns: None if ``target`` or ``version`` lacks the field
        """
        for spans in self.field_spans:
            span = span_at(spans, version)
            if span is not None and span.name == name:
                other = span_at(spans, target)
                return None if other is None else other.name
        return None

    def _spans_at(self, version: Version) -> list[FieldSpan]:
        return [
            span
            for spans in self.field_spans
            if (span := span_at(spans, version)) is not None
        ]

    def since(self, name: str) -> Version:
        """Return the first version with the current name and type of a field.

        :raises KeyError: the newest version has no such field
        """
        for spans in self.field_spans:
            if spans[-1].end is None and spans[-1].name == name:
                return spans[-1].start
        raise KeyError(name)

    def plan(self, source: Version, target: Version) -> ConversionPlan:
        """Return the plan that converts data between two versions.

        :raises vobjects.exceptions.ConversionError: a version was dropped
        """
        key = (source, target)
        plan = self._plans.get(key)
        if plan is None:
            if min(key) < self.oldest:
                raise exceptions.ConversionError(
                    f'{self.type_name} {min(key)} is no longer supported; the'
                    f' oldest version is {self.oldest}'
                )
            # Two threads may both build the plan; the results are equal.
            plan = self._plans[key] = self._build(source, target)
        return plan

    def _build(self, source: Version, target: Version) -> ConversionPlan:
        drops: list[Drop] = []
        carries: list[Carry] = []
        fills: dict[str, Any] = {}
        for spans in self.field_spans:
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
                value = self._converted(OMITTED, steps)
            if value is not OMITTED:
                fills[target_span.name] = value
        parts = tuple(self._parts(source, target))
        joins, splits = (parts, ()) if target < source else ((), parts)
        converted = {drop.name for drop in drops if drop.steps}
        converted |= {carry.source for carry in carries if carry.steps}
        return ConversionPlan(
            self.type_name,
            source,
            target,
            tuple(drops),
            tuple(carries),
            fills,
            joins,
            splits,
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

    def _parts(self, source: Version, target: Version) -> Iterator[Part]:
        """Yield the fields that one version has inside another field."""
        older, newer = sorted((source, target))
        for spans in self.field_spans:
            if (pair := spans[0].split_from) and (
                older < spans[0].start <= newer
            ):
                name, whole = (
                    self.name_at(last, self.version, newer)
                    for last in (spans[-1].name, pair[0])
                )
                assert name is not None
                assert whole is not None
                yield Part(whole, name, pair[1])

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
        return self._converted(
            value, steps_between(spans, nearest, target_span)
        )

    def _converted(self, value: Any, steps: Iterable[Step]) -> Any:
        """Return the value of a field that is not set, after conversions."""
        for step in steps:
            try:
                value = step.apply(value)
            except ValueError:
                value = step.placeholder if self._is_read_only else OMITTED
        return value

    def _spans_of(self, name: str, field: AnyField) -> list[FieldSpan]:
        """Return a field's spans, derived from its newest form backwards."""
        changes = changes_of(field)
        if problem := order_problem(changes, self.oldest, self.version):
            raise self._error(name, problem)
        end: Version | None = None
        hidden: Version | None = None
        spans: list[FieldSpan] = []
        is_added = False
        on_drop: OnDrop = 'refuse'
        on_removal: OnDrop = 'refuse'
        instead: Any = OMITTED
        split_from: tuple[str, str] | None = None
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
                        name,
                        'added() must be the innermost declaration, and no'
                        ' removed field can return; use another name',
                    )
                on_drop, split_from = change.on_drop, change.split_from
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
            spans.append(FieldSpan(name, field, self.oldest, end))
        spans = [
            dataclasses.replace(
                span, hidden=hidden, on_drop=on_drop, on_removal=on_removal
            )
            for span in reversed(spans)
        ]
        spans[-1] = dataclasses.replace(spans[-1], instead=instead)
        spans[0] = dataclasses.replace(spans[0], split_from=split_from)
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
        if first.start > self.oldest and is_required(first.field):
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
            if change.by is SAME and not same_kind(
                before.field._type, span.field._type
            ):
                raise self._error(
                    span.name,
                    f'{where} has another type of values; write by=, or up='
                    ' and down=',
                )
            if change.missing is not OMITTED:
                self._check_value(span, 'missing', change.missing, where)
            elif is_required(span.field) and not is_required(before.field):
                raise self._error(
                    span.name,
                    f'{where} makes the field required, but older clients may'
                    ' omit it; give the new field a default or nullable=True,'
                    ' or name the value of their requests: missing=...',
                )
            if change.instead is not OMITTED:
                self._check_value(before, 'instead', change.instead, where)
            elif change.on_drop == 'ignore' and is_required(before.field):
                raise self._error(
                    span.name,
                    f"{where} with on_drop='ignore' needs instead=, because"
                    ' the old field is required',
                )
        for number in range(len(spans)):
            self._check_default(spans[number:])

    def _check_part(self, spans: list[FieldSpan], whole: str) -> None:
        """Check that a field can be a part of another one."""
        others = (s for s in self.field_spans if s is not spans)
        lives = [spans, *(s for s in others if s[-1].name == whole)]
        if len(lives) != 2 or any(
            span.change
            or span.hidden
            or not isinstance(span.field._type, ovo_fields.String)
            for life in lives
            for span in life
        ):
            raise self._error(
                spans[0].name,
                f'split_from needs another field {whole!r}; both must be texts'
                ' that no version changes or removes',
            )

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
        self._check_value(last, 'instead', last.instead, where)

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

    def _check_value(
        self, span: FieldSpan, keyword: str, value: Any, where: str
    ) -> None:
        try:
            as_primitive(span.field, value)
        except ValueError as error:
            raise self._error(
                span.name,
                f'{where}: the field rejects'
                f' {keyword}={exceptions.cut(value)}: {error}',
            ) from None

    def _error(self, field: str, problem: str) -> exceptions.DeclarationError:
        return exceptions.DeclarationError(
            f'{self.type_name}.{field}: {problem}'
        )
