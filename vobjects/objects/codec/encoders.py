# SPDX-License-Identifier: Apache-2.0
"""Convert values to primitives by field type."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import _utils as ovo_utils
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec.coercion import UTC, AnyField

Dump = Callable[[Any], Any]


def same(value: Any) -> Any:
    return value


#: Takes half the time of ``isoformat``, which calls the time zone.
_TWO_DIGITS = tuple(f'{number:02d}' for number in range(60))


def time_text(at: Any) -> str:
    """Return a time in the format ``2026-11-21T12:00:00Z``.

    oslo.versionedobjects writes the same text.
    """
    if (
        at.__class__ is datetime.datetime
        and (at.tzinfo is UTC or at.tzinfo is None)
        and at.year > 999  # the C library does not pad earlier years
    ):
        two = _TWO_DIGITS
        return (
            f'{at.year}-{two[at.month]}-{two[at.day]}T{two[at.hour]}'
            f':{two[at.minute]}:{two[at.second]}Z'
        )
    return ovo_utils.isotime(at)


def _dump_object(value: Any) -> Any:
    return value.obj_to_primitive()


def dumping(field: AnyField) -> Dump | None:
    if (
        type(field).to_primitive is not ovo.Field.to_primitive
        or 'to_primitive' in vars(field)
        or 'to_primitive' in vars(field._type)
    ):
        return None
    method = type(field._type).to_primitive
    if method in _DUMP:
        return _DUMP[method]
    wrap = _WRAP.get(method)
    if wrap is None:
        return None
    inner = dumping(field._type._element_type)  # type: ignore[attr-defined]
    return None if inner is None else wrap(inner)


def dump_list(inner: Dump) -> Dump:
    """Return a function that converts a list to its primitive."""
    if inner is same:
        return dump_scalar_list
    if inner is _dump_object:
        # Imported here: methods depends on this module.
        from vobjects.objects.codec import ovo_methods

        return ovo_methods.dump_objects
    return lambda values: [None if v is None else inner(v) for v in values]


def dump_scalar_list(values: Any) -> list[Any]:
    """Return a list whose values are their own primitives."""
    return [*values]


def dump_scalar_dict(values: Any) -> dict[str, Any]:
    """Return a dict whose values are their own primitives."""
    return dict(values.items())


def _dump_dict(inner: Dump) -> Dump:
    if inner is same:
        return dump_scalar_dict
    return lambda values: {
        key: None if v is None else inner(v) for key, v in values.items()
    }


def _dump_set(inner: Dump) -> Dump:
    if inner is same:
        return tuple
    return lambda values: tuple(
        [None if v is None else inner(v) for v in values]
    )


_DUMP: dict[Any, Dump] = {
    ovo.FieldType.to_primitive: same,
    ovo.DateTime.to_primitive: time_text,
    ovo.IPAddress.to_primitive: str,
    ovo.IPNetwork.to_primitive: str,
    ovo.Object.to_primitive: _dump_object,
}
_WRAP: dict[Any, Callable[[Dump], Dump]] = {
    ovo.List.to_primitive: dump_list,
    ovo.Dict.to_primitive: _dump_dict,
    ovo.Set.to_primitive: _dump_set,
}
