# SPDX-License-Identifier: Apache-2.0
"""Convert values to primitives by field type."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import _utils as ovo_utils
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec.coercion import UTC, AnyField

Encoder = Callable[[Any], Any]


def identity(value: Any) -> Any:
    return value


#: Takes half the time of ``isoformat``, which calls the time zone.
_TWO_DIGITS = tuple(f'{number:02d}' for number in range(60))


def format_time(at: Any) -> str:
    """Return a time in the format ``2026-11-21T12:00:00Z``.

    oslo.versionedobjects writes the same text.
    """
    if (
        at.__class__ is datetime.datetime
        and (at.tzinfo is UTC or at.tzinfo is None)
        and at.year > 999  # the C library does not pad earlier years
    ):
        digits = _TWO_DIGITS
        return (
            f'{at.year}-{digits[at.month]}-{digits[at.day]}T{digits[at.hour]}'
            f':{digits[at.minute]}:{digits[at.second]}Z'
        )
    return ovo_utils.isotime(at)


def _encode_object(value: Any) -> Any:
    return value.obj_to_primitive()


def encoder_for(field: AnyField, encode_objects: Encoder) -> Encoder | None:
    """Return a function from value to primitive.

    :param encode_objects: converts a list of objects
    :returns: None if the field type is unknown
    """
    if (
        type(field).to_primitive is not ovo.Field.to_primitive
        or 'to_primitive' in vars(field)
        or 'to_primitive' in vars(field._type)
    ):
        return None
    method = type(field._type).to_primitive
    if method in _ENCODERS:
        return _ENCODERS[method]
    make_encoder = _CONTAINER_ENCODERS.get(method)
    if make_encoder is None:
        return None
    element: AnyField = field._type._element_type  # type: ignore[attr-defined]
    encode_item = encoder_for(element, encode_objects)
    if make_encoder is _list_encoder and encode_item is _encode_object:
        return encode_objects
    return None if encode_item is None else make_encoder(encode_item)


def _list_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is identity:
        return encode_scalar_list
    return lambda values: [
        None if v is None else encode_item(v) for v in values
    ]


def encode_scalar_list(values: Any) -> list[Any]:
    """Return a list whose values are their own primitives."""
    return [*values]


def encode_scalar_dict(values: Any) -> dict[str, Any]:
    """Return a dict whose values are their own primitives."""
    return dict(values.items())


def _dict_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is identity:
        return encode_scalar_dict
    return lambda values: {
        key: None if v is None else encode_item(v) for key, v in values.items()
    }


def _set_encoder(encode_item: Encoder) -> Encoder:
    if encode_item is identity:
        return tuple
    return lambda values: tuple(
        [None if v is None else encode_item(v) for v in values]
    )


_ENCODERS: dict[Any, Encoder] = {
    ovo.FieldType.to_primitive: identity,
    ovo.DateTime.to_primitive: format_time,
    ovo.IPAddress.to_primitive: str,
    ovo.IPNetwork.to_primitive: str,
    ovo.Object.to_primitive: _encode_object,
}
_CONTAINER_ENCODERS: dict[Any, Callable[[Encoder], Encoder]] = {
    ovo.List.to_primitive: _list_encoder,
    ovo.Dict.to_primitive: _dict_encoder,
    ovo.Set.to_primitive: _set_encoder,
}
