# SPDX-License-Identifier: Apache-2.0
"""Fill instances of any type, with the same values at each call.

Values are tried until the field type accepts one, so field types that only
a service knows get values, too.

This module imports nothing from this package, because
``vobjects_releases.transfer_script`` loads it where only a service and
oslo.versionedobjects are installed.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib
import json
import random
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

if 'vobjects' in sys.modules:
    importlib.import_module('vobjects._threading')  # before oslo.messaging

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

#: ``full``: every field has a value, if possible not its default.
#: ``required``: only fields without a default that are not nullable have one.
Filling = Literal['full', 'required']

#: Maximum nesting depth of objects; deeper ones are left out.
MAX_DEPTH = 3

_NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)

FindClass = Callable[[str], type[ovo_base.VersionedObject] | None]

#: The types that a peer knows: type -> field -> the values of its enum as
#: text; None: not an enum. Types that are missing have no limits.
KnownTypes = Mapping[str, Mapping[str, Iterable[str] | None]]

#: Marks that no value was found.
NO_VALUE = object()


@dataclasses.dataclass(slots=True)
class Peer:
    """The reader of an instance.

    :ivar types: the types that it knows
    :ivar known_only: whether to leave out fields and values of enums that it
        does not know, unless it knows no value of an enum; else, such values
        are preferred
    :ivar variant: number of the value to use for each enum that has other
        values at the peer; None: any value
    :ivar variants: the number of variants, after an instance was filled
    """

    types: KnownTypes
    known_only: bool = False
    variant: int | None = None
    variants: int = dataclasses.field(default=1, init=False)

    def omits(self, type_name: str, field: str) -> bool:
        """Return whether to leave out a field."""
        return self.known_only and field not in self.types.get(
            type_name, (field,)
        )

    def order(
        self, type_name: str, field: str, values: list[Any]
    ) -> list[Any]:
        """Return the values of an enum to try, in this order."""
        known = self.types.get(type_name, {}).get(field)
        if known is None:
            return values
        known = set(known)
        new = [value for value in values if str(value) not in known]
        old = [value for value in values if str(value) in known]
        ordered = [*new, *old]
        if self.variant is None or known == set(map(str, values)):
            return (old or new) if self.known_only else ordered
        self.variants = max(self.variants, len(ordered))
        value = ordered[self.variant % len(ordered)]
        return old[:1] if self.known_only and value in new and old else [value]


def variants(types: KnownTypes) -> Iterator[Peer]:
    """Yield a peer for each variant; fill an instance with each.

    The instances have each value of each enum that has other values at the
    peer.

    :param types: see :class:`Peer`
    """
    number, total = 0, 1
    while number < total:
        peer = Peer(types, variant=number)
        yield peer
        total = max(total, peer.variants)
        number += 1


def enum_values(field_type: Any) -> list[str] | None:
    """Return the values of an enum as text, also of one inside a container.

    :returns: None: the type is not an enum
    """
    while field_type is not None:
        if isinstance(field_type, ovo_fields.Enum):
            return sorted(map(str, field_type.valid_values))
        element = getattr(field_type, '_element_type', None)
        field_type = getattr(element, '_type', None)
    return None


def is_refusal(error: Exception) -> bool:
    """Return whether a service raised an error on purpose.

    Conversions raise errors of the service for values that an older version
    cannot have. Errors such as KeyError are mistakes.
    """
    return isinstance(error, ValueError) or (
        type(error).__module__ != 'builtins'
    )


def fill(
    cls: type[ovo_base.VersionedObject],
    filling: Filling,
    find_class: FindClass,
    depth: int = MAX_DEPTH,
    peer: Peer | None = None,
) -> ovo_base.VersionedObject:
    """Return a filled instance; fields that accept no value stay unset.

    ``required`` is treated as ``full`` for a class that cannot be converted to
    a primitive without its optional fields.

    :param find_class: returns the class of a nested type; None: omit it
    :param peer: the reader, which influences the values
    """
    rng = random.Random(f'{cls.obj_name()} {filling}')  # noqa: S311
    try:
        obj = cls()
    except Exception:  # noqa: BLE001 - it needs arguments, or a service
        obj = cls.__new__(cls)
        ovo_base.VersionedObject.__init__(obj)
    for name in sorted(cls.fields):
        field = cls.fields[name]
        if getattr(field, 'read_only', False) and obj.obj_attr_is_set(name):
            continue
        if filling == 'required' and is_optional(field):
            continue
        if peer is not None and peer.omits(cls.obj_name(), name):
            continue
        default = NO_VALUE
        if field.default is not ovo_fields.UnspecifiedDefault:
            default = field.default
        value = ValueFinder(rng, depth, find_class, cls.obj_name(), peer).find(
            field, name, default
        )
        if value is NO_VALUE:
            continue
        try:
            setattr(obj, name, value)
        except Exception:  # noqa: BLE001, S112 - a service's own setter
            continue
    if filling == 'required' and not is_writable(obj):
        return fill(cls, 'full', find_class, depth, peer)
    return obj


def is_writable(obj: ovo_base.VersionedObject) -> bool:
    """Return whether an object needs no database to become a primitive.

    Some classes load optional fields when they are converted.
    """
    try:
        obj.obj_to_primitive()
    except Exception:  # noqa: BLE001 - whatever a service raises
        return False
    return True


def primitives(
    cls: type[ovo_base.VersionedObject], find_class: FindClass
) -> Iterator[dict[str, Any]]:
    """Yield the primitives of filled instances of a class.

    :param find_class: see :func:`fill`
    """
    before = None
    for filling in ('full', 'required'):
        written = fill(cls, filling, find_class).obj_to_primitive()
        # Convert to JSON and back, and sort the changes.
        primitive = with_sorted_changes(
            json.loads(json.dumps(written, default=str))
        )
        if primitive != before:
            yield primitive
        before = primitive


def with_sorted_changes(value: Any) -> Any:
    """Return JSON data with lists of changed fields sorted."""
    if isinstance(value, dict):
        return {
            key: sorted(item)
            if str(key).endswith('.changes') and isinstance(item, list)
            else with_sorted_changes(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return list(map(with_sorted_changes, value))
    return value


def is_optional(field: ovo_fields.Field[Any]) -> bool:
    """Return whether a field is nullable or has a default."""
    return field.nullable or field.default is not ovo_fields.UnspecifiedDefault


@dataclasses.dataclass(frozen=True, slots=True)
class ValueFinder:
    """Finds values that fields accept."""

    rng: random.Random
    depth: int
    find_class: FindClass
    type_name: str
    peer: Peer | None

    def find(self, field: Any, name: str, avoid: Any) -> Any:
        """Return a value that a field accepts, if possible not ``avoid``."""
        accepted = NO_VALUE
        for value in self._candidates(field._type, name):
            try:
                coerced = field.coerce(None, name, value)
            except Exception:  # noqa: BLE001, S112 - whatever a type raises
                continue
            accepted = value
            # Compare only if necessary: classes of services may only
            # support comparison with instances of themselves.
            if avoid is NO_VALUE or coerced != avoid:
                break
        return accepted

    def _candidates(self, field_type: Any, name: str) -> Iterable[Any]:
        if isinstance(field_type, ovo_fields.Object):
            return self._objects(field_type._obj_name)
        if isinstance(field_type, ovo_fields.Enum):
            values = sorted(field_type.valid_values, key=str, reverse=True)
            if self.peer is None:
                return values
            return self.peer.order(self.type_name, name, values)
        if isinstance(field_type, ovo_fields.CompoundFieldType):
            return self._containers(field_type, name)
        if isinstance(field_type, ovo_fields.Boolean):
            return [True, False]  # it accepts any text as true
        if isinstance(field_type, ovo_fields.DateTime):
            return [_NOW]
        identifier = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        if isinstance(field_type, ovo_fields.UUID):
            return [identifier]
        return [
            *_from_parameters(field_type),
            *('text', identifier, self.rng.randrange(2, 100), 1, 1.5, True),
            *(_NOW, '10.0.0.1', 'fe80::1', '10.0.0.0/24', 'fe80::/64'),
            *('00:11:22:33:44:55', '0000:02:00.0', '>=1.0'),
            *({'key': 'text'}, {'key': 7}, ['one', 'two'], [1, 2], {1, 2}),
            *({'key': ['a']}, [{'a': 'b'}], [['a']], [], {}, set()),
        ]

    def _objects(self, name: str) -> Iterator[Any]:
        cls = self.find_class(name) if self.depth > 0 else None
        if cls is not None:
            yield fill(cls, 'full', self.find_class, self.depth - 1, self.peer)

    def _containers(self, field_type: Any, name: str) -> Iterator[Any]:
        element = getattr(field_type, '_element_type', None)
        if element is not None:
            item = self.find(element, name, NO_VALUE)
            if item is not NO_VALUE:
                if isinstance(field_type, ovo_fields.Dict):
                    yield {'key': item}
                elif isinstance(field_type, ovo_fields.Set):
                    yield {item}
                else:
                    yield [item]
        yield from ([], {}, set())


def _from_parameters(field_type: Any) -> Iterator[Any]:
    """Yield values that a type's parameters suggest."""
    keys = getattr(field_type, 'keys', None)
    if isinstance(keys, tuple) and keys:
        yield keys[0]
    minimum = getattr(field_type, 'minimum', None)
    if isinstance(minimum, int):
        yield minimum + 2
