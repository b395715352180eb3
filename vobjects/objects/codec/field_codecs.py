# SPDX-License-Identifier: Apache-2.0
"""The functions and guards that compiled code uses for one field."""

from __future__ import annotations

import dataclasses
from typing import Any

from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import coercion, copying, decoders, encoders
from vobjects.objects.codec.override_detection import Guard


@dataclasses.dataclass(frozen=True, slots=True)
class Handling:
    """How compiled code handles one field.

    Functions have the signature of the field's methods, ``(obj, name,
    value)``, except for ``dump`` and ``copy``.

    :ivar stored: classes whose instances are stored unchanged
    :ivar coerce: like ``field.coerce``
    :ivar load: converts a primitive to a coerced value; None: use the field
    :ivar same: whether the primitive is the value itself
    :ivar dump: ``(value)``: converts a value (not None) to its primitive;
        None: use the field
    :ivar copy: ``(obj, name, value, memo)``: returns a deep copy, coerced;
        None: use the property
    :ivar tracked: whether the value may be an object with its own changes
    """

    field: coercion.AnyField
    stored: frozenset[type]
    coerce: coercion.Coerce
    load: coercion.Coerce | None
    same: bool
    dump: encoders.Dump | None
    copy: copying.Copy | None
    tracked: bool
    coerce_guards: tuple[Guard, ...]
    load_guards: tuple[Guard, ...]
    dump_guards: tuple[Guard, ...]

    def holds_objects(self) -> bool:
        """Tell whether the field type can contain objects."""
        kind: Any = self.field._type
        while isinstance(kind, (ovo.List, ovo.Dict, ovo.Set)):
            kind = kind._element_type._type
        return isinstance(kind, ovo.Object)


def handling(field: coercion.AnyField) -> Handling:
    """Return how to handle a field."""
    kind = type(field._type)
    stored, coerce = coercion.coercion(field)
    own = type(field).coerce is not ovo.Field.coerce
    dump = encoders.dumping(field)
    return Handling(
        field=field,
        stored=stored,
        coerce=coerce,
        load=decoders.loading(field, coerce),
        same=dump is encoders.same,
        dump=dump,
        copy=None if own else copying.copying(field, coerce),
        tracked=own or kind.coerce not in coercion.NEVER_OBJECTS,
        coerce_guards=guards_of(field, 'coerce'),
        load_guards=guards_of(field, 'from_primitive'),
        dump_guards=guards_of(field, 'to_primitive'),
    )


def guards_of(field: coercion.AnyField, name: str) -> tuple[Guard, ...]:
    """Return guards for a method of a field, its type and nested types."""
    kinds: list[Any] = [type(field), type(field._type)]
    inner: Any = field._type
    while isinstance(inner, ovo.CompoundFieldType):
        inner = inner._element_type._type
        kinds.append(type(inner))
    return tuple(Guard(kind, name, getattr(kind, name)) for kind in kinds)
