# SPDX-License-Identifier: Apache-2.0
"""Filled instances of any type, the same at each call.

Values are tried until the field's own type takes one, so that types of
services we know nothing of are filled, too.

Nothing of this package is imported: :mod:`vobjects.testing.exchange` loads
this file where only a service and oslo.versionedobjects are installed.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import random
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

#: ``full``: every field has a value, no default among them. ``least``: only
#: what has neither a default nor may be null.
Filling = Literal['full', 'least']

#: Objects inside of objects: deeper ones are left out.
DEPTH = 3

_NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)

Draw = Callable[[random.Random], Any]
Find = Callable[[str], type[ovo_base.VersionedObject] | None]

#: Tried in turn for a field type that is not one of :data:`_KNOWN`.
_TRIED: tuple[Draw, ...] = (
    lambda rng: 'text',
    lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    lambda rng: rng.randrange(2, 100),
    lambda rng: 1,
    lambda rng: 1.5,
    lambda rng: True,
    lambda rng: _NOW,
    lambda rng: '10.0.0.1',
    lambda rng: 'fe80::1',
    lambda rng: '10.0.0.0/24',
    lambda rng: 'fe80::/64',
    lambda rng: '00:11:22:33:44:55',
    lambda rng: '0000:02:00.0',
    lambda rng: '>=1.0',
    lambda rng: {'key': 'text'},
    lambda rng: {'key': 7},
    lambda rng: ['one', 'two'],
    lambda rng: [1, 2],
    lambda rng: {1, 2},
    lambda rng: {'key': ['a']},
    lambda rng: [{'a': 'b'}],
    lambda rng: [['a']],
    lambda rng: [],
    lambda rng: {},
    lambda rng: set(),
)

#: Field types whose first accepted value would say too little: a Boolean
#: takes any text for true.
_KNOWN: tuple[tuple[type, tuple[Draw, ...]], ...] = (
    (ovo_fields.Boolean, (lambda rng: True, lambda rng: False)),
    (ovo_fields.DateTime, (lambda rng: _NOW,)),
    (
        ovo_fields.UUID,
        (lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),),
    ),
)

#: That no value was found.
NOTHING = object()


def fill(
    cls: type[ovo_base.VersionedObject],
    filling: Filling,
    find: Find,
    depth: int = DEPTH,
) -> ovo_base.VersionedObject:
    """Return a filled instance; fields that take no value stay unset.

    :param find: returns the class of a type inside; None: leave it out
    """
    rng = random.Random(f'{cls.obj_name()} {filling}')  # noqa: S311
    made = _empty(cls)
    for name in sorted(cls.fields):
        field = cls.fields[name]
        if getattr(field, 'read_only', False) and made.obj_attr_is_set(name):
            continue
        if filling == 'least' and _optional(field):
            continue
        value = _Values(rng, depth, find).of(field, name, _default(field))
        if value is NOTHING:
            continue
        try:
            setattr(made, name, value)
        except Exception:  # noqa: BLE001, S112 - a service's own setter
            continue
    return made


def _empty(
    cls: type[ovo_base.VersionedObject],
) -> ovo_base.VersionedObject:
    """Return an instance without values, also where cls() wants some."""
    try:
        return cls()
    except TypeError:
        made = cls.__new__(cls)
        ovo_base.VersionedObject.__init__(made)
        return made


def primitives(
    cls: type[ovo_base.VersionedObject], find: Find
) -> Iterator[dict[str, Any]]:
    """Yield what filled instances of a class are on the wire.

    :param find: see :func:`fill`
    """
    before = None
    for filling in ('full', 'least'):
        made = fill(cls, filling, find).obj_to_primitive()
        # As JSON gives it back, changes in an order.
        primitive = ordered(json.loads(json.dumps(made, default=str)))
        if primitive != before:
            yield primitive
        before = primitive


def ordered(value: Any) -> Any:
    """Return JSON data with lists of changed fields sorted."""
    if isinstance(value, dict):
        return {
            key: sorted(item)
            if key.endswith('.changes') and isinstance(item, list)
            else ordered(item)
            for key, item in value.items()
        }
    return (
        [ordered(item) for item in value]
        if isinstance(value, list)
        else (value)
    )


def _default(field: ovo_fields.Field[Any]) -> Any:
    if field.default is ovo_fields.UnspecifiedDefault:
        return NOTHING
    return field.default


def _optional(field: ovo_fields.Field[Any]) -> bool:
    return field.nullable or field.default is not ovo_fields.UnspecifiedDefault


@dataclasses.dataclass(frozen=True, slots=True)
class _Values:
    """Finds values that fields take."""

    rng: random.Random
    depth: int
    find: Find

    def of(self, field: Any, name: str, other: Any) -> Any:
        """Return a value that a field takes, if possible not ``other``."""
        found = NOTHING
        for value in self._candidates(field._type, name):
            try:
                taken = field.coerce(None, name, value)
            except Exception:  # noqa: BLE001, S112 - whatever a type raises
                continue
            found = value
            # Not compared where nothing is to be avoided: classes of
            # services compare with objects of their own only.
            if other is NOTHING or taken != other:
                break
        return found

    def _candidates(self, kind: Any, name: str) -> Iterable[Any]:
        if isinstance(kind, ovo_fields.Object):
            return self._objects(kind._obj_name)
        if isinstance(kind, ovo_fields.Enum):
            return sorted(kind.valid_values, key=str, reverse=True)
        if isinstance(kind, ovo_fields.CompoundFieldType):
            return self._compound(kind, name)
        for known, drawn in _KNOWN:
            if isinstance(kind, known):
                return [draw(self.rng) for draw in drawn]
        return [*_written(kind), *(draw(self.rng) for draw in _TRIED)]

    def _objects(self, name: str) -> Iterator[Any]:
        cls = self.find(name) if self.depth > 0 else None
        if cls is not None:
            yield fill(cls, 'full', self.find, self.depth - 1)

    def _compound(self, kind: Any, name: str) -> Iterator[Any]:
        element = getattr(kind, '_element_type', None)
        if element is not None:
            item = self.of(element, name, NOTHING)
            if item is not NOTHING:
                if isinstance(kind, ovo_fields.Dict):
                    yield {'key': item}
                elif isinstance(kind, ovo_fields.Set):
                    yield {item}
                else:
                    yield [item]
        yield from ([], {}, set())


def _written(kind: Any) -> Iterator[Any]:
    """Yield what a type's own parameters suggest."""
    keys = getattr(kind, 'keys', None)
    if isinstance(keys, tuple) and keys:
        yield keys[0]
    minimum = getattr(kind, 'minimum', None)
    if isinstance(minimum, int):
        yield minimum + 2
