# SPDX-License-Identifier: Apache-2.0
"""Random objects of any type, filled with values that its fields accept."""

from __future__ import annotations

import contextlib
import datetime
import random
import uuid
from collections.abc import Callable
from typing import Any

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.lock import registries

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)

#: Tried in order until the field accepts one.
CANDIDATES: tuple[Callable[[random.Random], Any], ...] = (
    lambda rng: str(uuid.UUID(int=rng.getrandbits(128))),
    lambda rng: rng.randrange(1, 1000),
    lambda rng: NOW,
    lambda rng: '10.0.0.1',
    lambda rng: 'fe80::1',
    lambda rng: '10.0.0.0/24',
    lambda rng: 'fe80::/64',
    lambda rng: '00:11:22:33:44:55',
    lambda rng: '0000:02:00.0',
    lambda rng: '>=1.0',
    lambda rng: {'key': str(rng.random())},
    lambda rng: {'key': rng.randrange(9)},
    lambda rng: ['one', 'two'],
    lambda rng: [1, 2],
    lambda rng: {1, 2},
    lambda rng: {'a', 'b'},
    lambda rng: {'key': ['a']},
    lambda rng: [{'a': 'b'}],
    lambda rng: [['a']],
    lambda rng: [{1}],
    lambda rng: {},
    lambda rng: [],
    lambda rng: set(),
)


def value_of(
    field: ovo.Field, name: str, rng: random.Random, depth: int
) -> Any:
    """Return a value that a field accepts; None: there is none."""
    field_type: Any = field._type
    if isinstance(field_type, ovo.Object):
        return instance(field_type._obj_name, rng, depth - 1)
    if isinstance(field_type, ovo.List) and isinstance(
        field_type._element_type._type, ovo.Object
    ):
        inner = field_type._element_type._type._obj_name
        items = [instance(inner, rng, depth - 1) for _ in range(2)]
        return None if None in items else items
    if isinstance(field_type, ovo.Enum):
        return rng.choice(sorted(field_type.valid_values, key=str))
    if isinstance(field_type, ovo.Boolean):
        return rng.random() < 0.5
    for make in CANDIDATES:
        value = make(rng)
        try:
            field.coerce(None, name, value)
        except Exception:  # noqa: BLE001 - whatever a service raises
            continue
        return value
    return None


def instance(name: str, rng: random.Random, depth: int) -> Any:
    """Return a filled object of a type; None: it is nested too deeply."""
    cls = registries.newest(name)
    if depth < 0 or cls is None:
        return None
    obj = _empty(cls)
    for key, field in obj.fields.items():
        if rng.random() < 0.15:
            continue
        value = value_of(field, key, rng, depth)
        if value is None and not field.nullable:
            continue
        try:
            setattr(obj, key, value)
        except Exception:  # noqa: BLE001 - the field stays unset
            continue
    if rng.random() < 0.3:
        with contextlib.suppress(Exception):  # it may load a field
            obj.obj_reset_changes()
    return obj


def _empty(cls: Any) -> Any:
    """Return an empty object, even if the constructor requires arguments."""
    try:
        return cls()
    except TypeError:
        obj = cls.__new__(cls)
        ovo_base.VersionedObject.__init__(obj)
        return obj
