# SPDX-License-Identifier: Apache-2.0
"""Describe a declared change of a field: its conversion and its loss.

The words of an enum are all tried. Of other values, a conversion of
:mod:`vobjects.objects.conversions` states those that it refuses; the loss of
a service's own functions is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects.lock.field_schemas import field_schema
from vobjects.lock.model import FieldType, Lock
from vobjects.objects.conversion_plan import OMITTED, checked
from vobjects.objects.field_spans import FieldSpan

AnyField = ovo_fields.Field[Any]

#: End of the description of a conversion whose loss is unknown.
UNKNOWN = 'loss unknown'


def describe(before: FieldSpan, span: FieldSpan) -> str:
    """Return how a span of a field was converted from the one before it.

    :returns: the conversion, and the values that each direction refuses, such
        as ``same values; down refuses "certificate"``
    """
    assert span.change is not None
    by, old, new = span.change.by, before.field, span.field
    parts = [by.name or 'functions']
    for direction, convert, source, target, refused in (
        ('up', by.up, old, new, by.refused_up),
        ('down', by.down, new, old, by.refused_down),
    ):
        words = _words(source)
        if words is None and not by.name:
            return f'{parts[0]}; {UNKNOWN}'
        values = [*_outside(refused, source, target)] if words is None else []
        for word in words or ():
            try:
                checked(target, convert(word))
            except Exception:  # noqa: BLE001 - a function of a service
                values.append(json.dumps(word))
        may_replace = direction == 'up' and span.change.missing is not OMITTED
        if source.nullable and not target.nullable and not may_replace:
            values.append('null')
        if values:
            parts.append(f'{direction} refuses {", ".join(values)}')
    return '; '.join(parts)


def opaque(lock: Lock) -> Iterator[str]:
    """Yield the changes whose loss is unknown, as ``Type.field VERSION``.

    :param lock: a snapshot of the code
    """
    for schema in lock.schemas:
        for conversion in schema.conversions:
            if conversion.by.endswith(UNKNOWN):
                yield f'{schema.name}.{conversion.field} {schema.version}'


def opaque_text(names: Sequence[str]) -> str:
    """Return the result of :func:`opaque` as a line; empty: none."""
    if not names:
        return ''
    return f'opaque conversions, whose loss is unknown: {", ".join(names)}'


def _words(field: AnyField) -> list[Any] | None:
    """Return all values of an enum, or lists of one; None: not an enum."""
    kind: Any = field._type
    if isinstance(kind, ovo_fields.Enum):
        return list(kind.valid_values)
    if isinstance(kind, ovo_fields.List) and isinstance(
        inner := kind._element_type._type, ovo_fields.Enum
    ):
        return [[word] for word in inner.valid_values]
    return None


def _outside(
    refused: str, source: AnyField, target: AnyField
) -> Iterator[str]:
    if refused:
        yield refused
    inner, outer = (field_schema('', field).type for field in (source, target))
    if inner.without_limits() == outer.without_limits():
        if not _holds(outer, inner):
            yield 'values outside the limits'
    elif outer.options:
        yield 'results outside the limits'


def _holds(outer: FieldType, inner: FieldType) -> bool:
    """Return whether a type surely accepts all values of another one."""
    if outer == inner:
        return True
    limits = dict(inner.options)
    for name, text in outer.options:
        bound, limit = json.loads(text), json.loads(limits.get(name, 'null'))
        if bound == limit or bound is None:
            continue
        if limit is None or not name.startswith(('max', 'min')):
            return False
        if bound < limit if name.startswith('max') else bound > limit:
            return False
    parts = outer.inner_type, inner.inner_type
    return None in parts or _holds(*parts)  # type: ignore[arg-type]
