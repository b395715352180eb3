# SPDX-License-Identifier: Apache-2.0
"""Declare how the fields of a type have changed.

A field's declaration lists its changes, with the newest name and type first::

    'force': added('1.1', fields.BooleanField(default=False)),
    'colour': renamed('1.3', 'color', fields.StringField()),
    'count': changed('1.2', fields.StringField(), fields.IntegerField(),
                     up=int, down=str),
    'legacy': removed('1.4', fields.StringField(nullable=True)),

These functions attach data to a copy of the field and return the copy. They
change neither its ``repr`` nor, therefore, the fingerprint of the type.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Literal

from vobjects import exceptions, field_types
from vobjects.objects.conversion_plan import OMITTED, AnyField, Converter

OnDrop = Literal['refuse', 'ignore']

_ATTRIBUTE = '_vobjects_changes'


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of a field at one object version."""

    kind: Literal['added', 'removed', 'renamed', 'changed']
    version: str
    on_drop: OnDrop = 'refuse'
    old_name: str = ''
    old_field: AnyField | None = None
    up: Converter | None = None
    down: Converter | None = None
    instead: Any = OMITTED
    dropped: str | None = None


def changes_of(field: AnyField) -> tuple[FieldChange, ...]:
    """Return the declared changes of a field, oldest first."""
    attached: tuple[FieldChange, ...] = getattr(field, _ATTRIBUTE, ())
    return attached


def with_adapted_types(field: AnyField) -> AnyField:
    """Return a field, and its older forms, with the types of vobjects.

    :returns: the field itself if nothing changes
    """
    adapted = field_types.adapted(field)
    changes = changes_of(field)
    adapted_changes = tuple(
        change
        if change.old_field is None
        else dataclasses.replace(
            change, old_field=field_types.adapted(change.old_field)
        )
        for change in changes
    )
    if adapted_changes != changes:
        adapted = copy.copy(adapted)
        setattr(adapted, _ATTRIBUTE, adapted_changes)
    return adapted


def _attach(field: AnyField, change: FieldChange) -> AnyField:
    # Two types may share a field object (a constant in a module); the copy
    # keeps their histories separate.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, (*changes_of(field), change))
    return copied


def added(
    version: str, field: AnyField, *, on_drop: OnDrop = 'refuse'
) -> AnyField:
    """Declare that the field exists since ``version``.

    :param on_drop: ``'ignore'``: losing a value in a downgrade is harmless;
        ``'refuse'``: raise LossyDowngrade instead
    """
    return _attach(field, FieldChange('added', version, on_drop=on_drop))


def removed(
    version: str,
    field: AnyField,
    *,
    dropped: str | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
) -> AnyField:
    """Declare that ``version`` removed the field from the API.

    Clients of older microversions can still use the field, so the type keeps
    it until the version ``dropped``: it remains an attribute, and primitives
    contain it. A type that no microversion shows drops it at ``version``.

    :param field: the field before its removal; an older reader gets its
        default, or null, from a build that has dropped the field
    :param dropped: the version in which the type itself drops the field; None:
        it keeps the field
    :param on_drop: the handling of a value of an older sender when the type
        has dropped the field. ``'ignore'``: discard it; ``'refuse'``: raise
        LossyDowngrade, which clients receive as a 400
    :param instead: the primitive value that an older reader gets from a build
        that has dropped the field, if the field is required
    """
    change = FieldChange(
        'removed', version, on_drop=on_drop, dropped=dropped, instead=instead
    )
    return _attach(field, change)


def renamed(version: str, old: str, field: AnyField) -> AnyField:
    """Declare that the field had the name ``old`` before ``version``.

    A change of name cannot lose a value, so there is no ``on_drop``.
    """
    return _attach(field, FieldChange('renamed', version, old_name=old))


def changed(
    version: str,
    old_field: AnyField,
    new_field: AnyField,
    *,
    up: Converter,
    down: Converter,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
) -> AnyField:
    """Declare that the field had another type before ``version``.

    ``old_field`` may itself carry a history; ``new_field`` must not. A value
    cannot be converted if ``up`` or ``down`` raises ValueError, or returns a
    value that the other type rejects. Any other error is a defect: the
    process logs it, and the client receives a 500.

    For an object, a primitive value is its envelope: a dict whose
    ``versioned_object.data`` has the fields, in the newest version of the
    object's type.

    :param up: converts an old primitive value (JSON, never None) to a new one
    :param down: converts a new primitive value (JSON, never None) to an old
        one; raises ValueError if the old type cannot hold the value
    :param on_drop: the handling of a value that cannot be converted.
        ``'refuse'``: raise LossyDowngrade; ``'ignore'``: use ``instead``, or
        leave the field unset; if the new field is required, a request is
        refused. A Resource always ignores: without ``instead``,
        its reader gets null, or the default, or no such field
    :param instead: the old primitive value that an older reader gets in place
        of a value that ``down`` cannot convert
    :raises vobjects.exceptions.DeclarationError: ``up`` or ``down`` is missing
    """
    if not callable(up) or not callable(down):
        raise exceptions.DeclarationError(
            f'changed({version!r}) needs both up= and down='
        )
    copied = copy.copy(new_field)
    change = FieldChange(
        'changed',
        version,
        on_drop=on_drop,
        old_field=old_field,
        up=up,
        down=down,
        instead=instead,
    )
    setattr(copied, _ATTRIBUTE, (*changes_of(old_field), change))
    return copied
