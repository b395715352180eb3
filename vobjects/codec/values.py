# SPDX-License-Identifier: Apache-2.0
"""What compiled code knows of one field: how each step is done for it."""

from __future__ import annotations

import dataclasses
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.codec import coercion, copying, dumping, loading
from vobjects.codec.hooks import Guard


@dataclasses.dataclass(frozen=True, slots=True)
class Handling:
    """How compiled code handles one field.

    Signatures are those of the fields, ``(obj, name, value)``.

    :ivar stored: values of exactly these classes are kept as they are
    :ivar coerce: like ``field.coerce``
    :ivar load: from a primitive, coerced; None: ask the field
    :ivar same: the primitive is the value itself
    :ivar dump: value (not None) to primitive; None: ask the field
    :ivar copy: a deep copy, coerced; None: ask the field
    :ivar tracked: whether the value may be an object with changes of its own
    """

    field: coercion.AnyField
    stored: frozenset[type]
    coerce: coercion.Coerce
    load: coercion.Coerce | None
    same: bool
    dump: dumping.Dump | None
    copy: copying.Copy | None
    tracked: bool
    coerce_guards: tuple[Guard, ...]
    load_guards: tuple[Guard, ...]
    dump_guards: tuple[Guard, ...]

    def holds_objects(self) -> bool:
        """Tell whether objects may stand in the value, by its type."""
        kind: Any = self.field._type
        while isinstance(kind, (ovo.List, ovo.Dict, ovo.Set)):
            kind = kind._element_type._type
        return isinstance(kind, ovo.Object)


def handling(field: coercion.AnyField) -> Handling:
    """Return how to handle a field."""
    kind = type(field._type)
    stored, coerce = coercion.coercion(field)
    own = type(field).coerce is not ovo.Field.coerce
    dump = dumping.dumping(field)
    return Handling(
        field=field,
        stored=stored,
        coerce=coerce,
        load=loading.loading(field, coerce),
        same=dump is dumping.same,
        dump=dump,
        copy=None if own else copying.copying(field, coerce),
        tracked=own or kind.coerce not in coercion.NEVER_OBJECTS,
        coerce_guards=guards_of(field, 'coerce'),
        load_guards=guards_of(field, 'from_primitive'),
        dump_guards=guards_of(field, 'to_primitive'),
    )


def guards_of(field: coercion.AnyField, name: str) -> tuple[Guard, ...]:
    """Return guards for a method of a field, its type and those inside."""
    kinds: list[Any] = [type(field), type(field._type)]
    inner: Any = field._type
    while isinstance(inner, ovo.CompoundFieldType):
        inner = inner._element_type._type
        kinds.append(type(inner))
    return tuple(Guard(kind, name, getattr(kind, name)) for kind in kinds)
