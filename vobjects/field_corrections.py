# SPDX-License-Identifier: Apache-2.0
"""Field types of oslo.versionedobjects, without faults that lose values.

``vobjects.fields`` exports these classes under the names of their parents,
and :func:`adapted` puts them in place of their parents in a field. They have
the same names, so fingerprints do not change. Primitives differ only where
oslo.versionedobjects reads another value, or none, from its own text:

==============================  =============================================
:class:`DateTime`               The same instant for every time zone and year
:class:`Set`                    Sorted items; True and 1 are not the same
:class:`Dict`, :class:`Set`     All methods that change a value coerce it
:class:`Enum`                   The value of a member of an enum class
:class:`StateMachine`           Null stays null
:class:`IPAddress` and others   A JSON schema
:class:`MACAddress` and others  A JSON schema of each text they normalize
==============================  =============================================
"""

from __future__ import annotations

import copy
import datetime
import json
import math
from collections.abc import Collection, Iterable
from typing import Any, Self, TypeVar

from oslo_utils import timeutils
from oslo_versionedobjects import fields as _ovo

Item = TypeVar('Item')

try:
    import orjson
except ImportError:  # it only formats times faster
    orjson = None  # type: ignore[assignment]
else:
    _TIME_OPTIONS = (
        orjson.OPT_NAIVE_UTC | orjson.OPT_OMIT_MICROSECONDS | orjson.OPT_UTC_Z
    )


def format_time(at: datetime.datetime) -> str:
    """Return a time in UTC, such as ``2026-11-21T12:00:00Z``.

    A time without an offset is in UTC. Fractions of a second are dropped.
    """
    if (
        orjson is not None
        and at.__class__ is datetime.datetime
        and (at.tzinfo is datetime.UTC or at.tzinfo is None)
    ):
        # Takes a third of the time of isoformat, which calls the time zone.
        return orjson.dumps(at, None, _TIME_OPTIONS)[1:-1].decode()
    if at.utcoffset() is not None:
        at = at.astimezone(datetime.UTC)
    return at.replace(tzinfo=None).isoformat(timespec='seconds') + 'Z'


def in_order(primitives: Iterable[Any]) -> tuple[Any, ...]:
    """Return the primitives of a set's items in a stable order.

    Texts and numbers are in their own order, other values in that of their
    JSON text.
    """
    items = tuple(primitives)
    kinds = {*map(type, items)}
    if kinds <= {str} or (
        kinds <= {int, float} and not any(map(math.isnan, items))
    ):
        return tuple(sorted(items))
    return tuple(sorted(items, key=order_key))


def order_key(value: Any) -> str:
    """Return the JSON text by which a set sorts the primitives of objects."""
    return json.dumps(value, sort_keys=True, default=str)


class DateTime(_ovo.DateTime):
    """A point in time, with a resolution of one second in primitives."""

    def coerce(self, obj: Any, attr: str, value: Any) -> datetime.datetime:
        if isinstance(value, str):
            value = timeutils.parse_isotime(value)
        if isinstance(value, datetime.datetime) and value.utcoffset():
            try:
                in_utc = value.astimezone(datetime.UTC)
            except OverflowError:
                raise ValueError(
                    f'{attr} must be a time from year 1 to 9999 in UTC, not'
                    f' {value.isoformat()}'
                ) from None
            if not self.tzinfo_aware:
                value = in_utc
        return super().coerce(obj, attr, value)

    def to_primitive(self, obj: Any, attr: str, value: Any) -> str:
        return format_time(value)

    def stringify(self, value: datetime.datetime) -> str:
        return format_time(value)


class CoercedDict(_ovo.CoercedDict[Item]):
    """A dict that coerces all values that it is given."""

    def update(self, other: Any = (), /, **kwargs: Any) -> None:
        super().update({**dict(other or ()), **kwargs})

    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]
        self.update(other)
        return self


class CoercedSet(_ovo.CoercedSet[Item]):
    """A set that coerces all items that it is given."""

    def update(self, *others: Iterable[Any]) -> None:
        for other in others:
            super().update(other)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        # The method of set may keep the equal items of the others, such as
        # True in place of 1.
        common = set(self).intersection(*others)
        self.difference_update([item for item in self if item not in common])

    def __iand__(self, other: Any) -> Self:  # type: ignore[misc]
        if not isinstance(other, (set, frozenset)):
            return NotImplemented
        self.intersection_update(other)
        return self


class Dict(_ovo.Dict[Item]):
    """A dict with texts as keys."""

    def coerce(self, obj: Any, attr: str, value: Any) -> dict[str, Item]:
        if not isinstance(value, dict):
            return super().coerce(obj, attr, value)  # raises the error
        coerced: CoercedDict[Item] = CoercedDict()
        coerced.enable_coercing(self._element_type, obj, attr)
        coerced.update(value)
        return coerced


class Set(_ovo.Set[Item]):
    """A set; its primitive is sorted."""

    def coerce(self, obj: Any, attr: str, value: Any) -> set[Item]:
        if not isinstance(value, (set, frozenset)):
            return super().coerce(obj, attr, value)  # raises the error
        coerced: CoercedSet[Item] = CoercedSet()
        coerced.enable_coercing(self._element_type, obj, attr)
        coerced.update(value)
        return coerced

    def from_primitive(self, obj: Any, attr: str, value: Any) -> set[Item]:
        read = self._element_type.from_primitive
        items = [read(obj, attr, item) for item in value]
        distinct = set(items)
        if len({(type(item), item) for item in items}) > len(distinct):
            raise ValueError(
                f'{attr} has several values that are equal in a set, such as'
                ' true and 1'
            )
        return distinct

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return in_order(super().to_primitive(obj, attr, value))

    def stringify(self, value: set[Item]) -> str:
        return f'set([{",".join(sorted(map(self._text_of, value)))}])'

    def _text_of(self, item: Item) -> str:
        return self._element_type.stringify(item)


class Enum(_ovo.Enum):
    """A text from a closed set."""

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        if isinstance(value, str):
            # The text of a member of an enum class can be its name.
            value = str.__str__(value)
        return super().coerce(obj, attr, value)


class StateMachine(_ovo.StateMachine):
    """An enum whose values change only as ALLOWED_TRANSITIONS permits.

    A value that this table lacks is final. A field without a value, or with
    null, may get any value.
    """

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        new = _ovo.Field.coerce(self, obj, attr, value)
        old = getattr(obj, attr) if obj and attr in obj else None
        allowed = self.ALLOWED_TRANSITIONS.get(old or '', ())
        if old is None or new in allowed:
            return new
        raise ValueError(
            f'{obj.obj_name()}.{attr} is not allowed to transition out of'
            f' {old!r} state to {new!r} state, choose from {[*allowed]!r}'
        )


class _Address(_ovo.FieldType[Any]):
    def get_schema(self) -> dict[str, Any]:
        return {
            'type': ['string'],
            'maxLength': 45,
            'anyOf': [{'format': 'ipv4'}, {'format': 'ipv6'}],
        }


class IPAddress(_Address, _ovo.IPAddress):
    """An IPv4 or IPv6 address."""


class IPV4AndV6Address(_Address, _ovo.IPV4AndV6Address):
    """An IPv4 or IPv6 address."""


class _Network(_ovo.FieldType[Any]):
    def get_schema(self) -> dict[str, Any]:
        pattern = r'^[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?$'
        return {'type': ['string'], 'pattern': pattern}


class IPNetwork(_Network, _ovo.IPNetwork):
    """An IPv4 or IPv6 network, as ``address/prefix``."""


class IPV6Network(_Network, _ovo.IPV6Network):
    """An IPv6 network, as ``address/prefix``."""


class MACAddress(_ovo.MACAddress):
    """A MAC address, which is stored in lower case and with colons."""

    def get_schema(self) -> dict[str, Any]:
        pattern = '^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$'
        return {'type': ['string'], 'pattern': pattern}


class PCIAddress(_ovo.PCIAddress):
    """A PCI address, which is stored in lower case."""

    def get_schema(self) -> dict[str, Any]:
        pattern = '^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[01][0-9a-fA-F].[0-7]$'
        return {'type': ['string'], 'pattern': pattern}


_ADAPTED_TYPES: dict[type, type] = {
    cls.__bases__[-1]: cls
    for cls in (
        DateTime,
        Dict,
        Enum,
        IPAddress,
        IPNetwork,
        IPV4AndV6Address,
        IPV6Network,
        MACAddress,
        PCIAddress,
        Set,
    )
}


def adapted(field: _ovo.Field[Any]) -> _ovo.Field[Any]:
    """Return a copy of a field with the types of this module, at any depth.

    Subclasses of the types of oslo.versionedobjects are not replaced. The
    ``repr`` of the copy depends neither on the hash seed nor on the order of
    keys.
    """
    copied = copy.copy(field)
    copied._type = _adapted_type(field._type)
    copied._default = _stable(field.default, field._type)
    if hasattr(field, '_valid_values'):  # ListOfEnumField repeats them
        vars(copied)['_valid_values'] = _stable_values(field._valid_values)
    return copied


def _adapted_type(field_type: Any) -> Any:
    result = copy.copy(field_type)
    own: Any = _ADAPTED_TYPES.get(type(field_type))
    if own is not None:
        result = object.__new__(own)
        vars(result).update(vars(field_type))
    if hasattr(field_type, '_element_type'):
        result._element_type = adapted(field_type._element_type)
    elif isinstance(field_type, _ovo.Enum):
        result._valid_values = _stable_values(field_type._valid_values)
    return result


def _stable_values(values: Any) -> Any:
    if isinstance(values, (set, frozenset)):
        return sorted(values, key=str)
    if isinstance(values, (list, tuple)) or not isinstance(values, Collection):
        return values
    return [*values]  # such as an enum class


class _SortedSet(set[Any]):
    """A set with a sorted ``repr``."""

    def __repr__(self) -> str:
        items = ', '.join(sorted(map(repr, self)))
        return f'{{{items}}}' if items else 'set()'


def _stable(value: Any, field_type: Any) -> Any:
    """Return a default whose ``repr`` does not depend on the hash seed.

    :param field_type: the type of the field; a set for a list becomes a list
    """
    element = getattr(
        getattr(field_type, '_element_type', None), '_type', None
    )
    if value.__class__ is dict:
        keys = sorted(value, key=str)
        return {key: _stable(value[key], element) for key in keys}
    if value.__class__ in (list, tuple):
        return value.__class__(_stable(item, element) for item in value)
    if value.__class__ in (set, frozenset):
        is_list = isinstance(field_type, _ovo.List)
        return [*in_order(value)] if is_list else _SortedSet(value)
    return value
