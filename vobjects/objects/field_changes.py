# SPDX-License-Identifier: Apache-2.0
"""Declare how the fields of a type have changed.

A field's declaration lists its changes, with the newest name and type first::

    'force': added('1.1', fields.BooleanField(default=False)),
    'colour': renamed('1.3', 'color', fields.StringField()),
    'count': changed('1.2', fields.StringField(), fields.IntegerField(),
                     up=int, down=str),
    'legacy': removed('1.4', fields.StringField(nullable=True)),

These functions attach data to a copy of the field and return the copy. They
change neither its ``repr`` nor, therefore, the fingerprint of the type. As the
value of an annotation, they need no field::

    force: bool = added('1.1', default=False)
    colour: str = renamed('1.3', 'color')
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args, overload

from vobjects import exceptions, field_corrections, fields, phrases
from vobjects.fields import UNSET
from vobjects.objects.conversion_plan import OMITTED, AnyField
from vobjects.objects.conversions import SAME, Conversion, Converter
from vobjects.versions import Version

OnDrop = Literal['refuse', 'ignore']
Value = TypeVar('Value')

_ATTRIBUTE = '_vobjects_changes'


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of a field at one object version."""

    kind: Literal['added', 'removed', 'renamed', 'changed']
    version: str
    on_drop: OnDrop = 'refuse'
    old_name: str = ''
    old_field: AnyField | None = None
    by: Conversion = SAME
    instead: Any = OMITTED
    missing: Any = OMITTED
    dropped: str | None = None
    split_from: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.on_drop not in get_args(OnDrop):
            raise exceptions.DeclarationError(
                f'{self.kind}({self.version!r}): on_drop'
                f' {phrases.not_one_of(self.on_drop, get_args(OnDrop))}'
            )


def changes_of(field: AnyField) -> tuple[FieldChange, ...]:
    """Return the declared changes of a field, oldest first."""
    attached: tuple[FieldChange, ...] = getattr(field, _ATTRIBUTE, ())
    return attached


def order_problem(
    changes: Iterable[FieldChange], oldest: Version, newest: Version
) -> str:
    """Return what is wrong with the versions of changes; empty: nothing.

    :param changes: in the order of the declaration, innermost first
    """
    previous = oldest
    for change in changes:
        try:
            version = Version.parse(change.version)
        except exceptions.InvalidVersion as error:
            return str(error)
        where = f'{change.kind}({change.version!r})'
        if not previous < version:
            return (
                f'{where} must come after {previous}; write the oldest change'
                ' innermost, and each change of a field in its own version'
            )
        if version > newest:
            return f"{where} is newer than VERSION = '{newest}'; raise VERSION"
        previous = version
    return ''


def with_adapted_types(field: AnyField) -> AnyField:
    """Return a copy of a field, and of older forms, with types of vobjects."""
    changes = [
        change
        if change.old_field is None
        else dataclasses.replace(
            change, old_field=field_corrections.adapted(change.old_field)
        )
        for change in changes_of(field)
    ]
    return with_changes(field_corrections.adapted(field), changes)


@dataclasses.dataclass(frozen=True, slots=True)
class PendingField:
    """The changes and the default of a field that an annotation declares.

    :ivar changes: oldest first; an old field may be an annotation
    """

    changes: tuple[FieldChange, ...]
    default: Any


def with_changes(field: AnyField, changes: Iterable[FieldChange]) -> AnyField:
    """Return a copy of a field with changes, oldest first."""
    # Two types may share a field object (a constant in a module); the copy
    # keeps their histories separate.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, tuple(changes))
    return copied


def _attach(field: Any, change: FieldChange, default: Any = UNSET) -> Any:
    """Return a field with one more change.

    :param field: None: an annotation declares it
    """
    if field is None:
        return PendingField((change,), default)
    if default is not UNSET and field.default is not UNSET:
        raise exceptions.DeclarationError(
            f'{change.kind}({change.version!r}): a field has one default;'
            ' write it once'
        )
    if isinstance(field, PendingField):
        if default is UNSET:
            default = field.default
        return PendingField((*field.changes, change), default)
    if default is not UNSET:
        raise exceptions.DeclarationError(
            f'{change.kind}({change.version!r}): write default= in the field'
        )
    return with_changes(field, (*changes_of(field), change))


@overload
def added(
    version: str, *, default: Value, on_drop: OnDrop = 'refuse'
) -> Value: ...
@overload
def added(
    version: str,
    field: AnyField | None = None,
    *,
    on_drop: OnDrop = 'refuse',
    split_from: tuple[str, str] | None = None,
) -> Any: ...
def added(
    version: str,
    field: Any = None,
    *,
    default: Any = UNSET,
    on_drop: OnDrop = 'refuse',
    split_from: tuple[str, str] | None = None,
) -> Any:
    """Declare that the field exists since ``version``.

    :param field: the field; None: an annotation declares it
    :param default: the default of a field that an annotation declares
    :param on_drop: ``'ignore'``: losing a value in a downgrade is harmless;
        ``'refuse'``: raise LossyDowngrade instead
    :param split_from: the field and the separator after which older versions
        have the value, as ``senlin.policy.batch-1.0`` has a version; both
        fields are texts
    """
    change = FieldChange(
        'added', version, on_drop=on_drop, split_from=split_from
    )
    return _attach(field, change, default)


@overload
def removed(
    version: str,
    field: Any = None,
    *,
    default: Value,
    dropped: str | None = None,
    on_drop: OnDrop = 'refuse',
) -> Value: ...
@overload
def removed(
    version: str,
    field: Any = None,
    *,
    dropped: str | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
) -> Any: ...
def removed(
    version: str,
    field: Any = None,
    *,
    default: Any = UNSET,
    dropped: str | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
) -> Any:
    """Declare that ``version`` removed the field from the API.

    Clients of older microversions can still use the field, so the type keeps
    it until the version ``dropped``: it remains an attribute, and primitives
    contain it. A type that no microversion shows drops it at ``version``.

    :param field: the field before its removal; an older reader gets its
        default, or null, from a build that has dropped the field. None: an
        annotation declares it
    :param default: see :func:`added`
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
    return _attach(field, change, default)


@overload
def renamed(
    version: str, old: str, field: Any = None, *, default: Value
) -> Value: ...
@overload
def renamed(version: str, old: str, field: Any = None) -> Any: ...
def renamed(
    version: str, old: str, field: Any = None, *, default: Any = UNSET
) -> Any:
    """Declare that the field had the name ``old`` before ``version``.

    A change of name cannot lose a value, so there is no ``on_drop``.

    :param field: None: an annotation declares the field
    :param default: see :func:`added`
    """
    change = FieldChange('renamed', version, old_name=old)
    return _attach(field, change, default)


@overload
def changed(
    version: str,
    old_field: Any,
    *,
    default: Value,
    by: Conversion | None = None,
    up: Converter | None = None,
    down: Converter | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
    missing: Any = OMITTED,
) -> Value: ...
@overload
def changed(
    version: str,
    old_field: Any,
    new_field: AnyField | None = None,
    *,
    by: Conversion | None = None,
    up: Converter | None = None,
    down: Converter | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
    missing: Any = OMITTED,
) -> Any: ...
def changed(
    version: str,
    old_field: Any,
    new_field: Any = None,
    *,
    default: Any = UNSET,
    by: Conversion | None = None,
    up: Converter | None = None,
    down: Converter | None = None,
    on_drop: OnDrop = 'refuse',
    instead: Any = OMITTED,
    missing: Any = OMITTED,
) -> Any:
    """Declare that the field had another type before ``version``.

    ``old_field`` may itself carry a history; ``new_field`` must not. Without
    ``by``, ``up`` and ``down``, values stay the same: only limits, words of an
    enum, null or the default have changed.

    A value cannot be converted if ``up`` or ``down`` raises ValueError, or
    returns a value that the other type rejects. Any other error is a defect:
    the process logs it, and the client receives a 500.

    For an object, a primitive value is its envelope: a dict whose
    ``versioned_object.data`` has the fields, in the newest version of the
    object's type.

    :param old_field: the old field; beside an annotation, also an annotation
    :param new_field: the new field; None: an annotation declares it
    :param default: see :func:`added`
    :param by: the conversion, see :mod:`vobjects.objects.conversions`
    :param up: instead of ``by``: converts an old primitive value (JSON, never
        None) to a new one
    :param down: converts a new primitive value (JSON, never None) to an old
        one; raises ValueError if the old type cannot hold the value
    :param on_drop: the handling of a value that cannot be converted.
        ``'refuse'``: raise LossyDowngrade; ``'ignore'``: use ``instead``, or
        leave the field unset; if the new field is required, a request is
        refused. A Resource always ignores: without ``instead``,
        its reader gets null, or the default, or no such field
    :param instead: the old primitive value that an older reader gets in place
        of a value that cannot be converted, or of an unset field that the old
        type requires
    :param missing: the new primitive value in place of an unset field, or of
        null, if the new type requires a value and the old one does not
    :raises vobjects.exceptions.DeclarationError: ``by``, ``up`` and ``down``
        contradict each other
    """
    if up is not None or down is not None:
        if by is not None or not callable(up) or not callable(down):
            raise exceptions.DeclarationError(
                f'changed({version!r}) needs by=, or both up= and down=, or'
                ' none of them'
            )
        by = Conversion(up, down)
    change = FieldChange(
        'changed',
        version,
        on_drop=on_drop,
        old_field=old_field,
        by=by or SAME,
        instead=instead,
        missing=missing,
    )
    if new_field is None:
        return PendingField((change,), default)
    return with_changes(new_field, (*changes_of(old_field), change))


def words(
    values: Mapping[str, str | None],
    *,
    default: Any = UNSET,
    nullable: bool = False,
    instead: Any = OMITTED,
    on_drop: OnDrop = 'refuse',
) -> Any:
    """Declare an enum whose words exist since different versions.

    ::

        kind: str = words({'key': None, 'certificate': '1.1'}, instead='key')

    It is a :func:`changed` field for each version that adds words. If all
    words have a version, the first one adds the field.

    :param values: word -> the version that added it; None: 1.0
    :param default: the default; older versions that lack the word have
        ``instead``
    :param instead: the word that an older reader gets in place of a newer one,
        see :func:`changed`, also for ``on_drop``
    :raises vobjects.exceptions.DeclarationError: ``values`` is no dictionary,
        or is empty
    """
    if not isinstance(values, Mapping) or not values:
        raise exceptions.DeclarationError(
            f'words({values!r}): write a dictionary with at least one word, as'
            " in words({'key': None, 'certificate': '1.1'})"
        )
    since = {
        word: Version.parse(version or '1.0')
        for word, version in values.items()
    }
    versions = sorted({*since.values()})
    fields_at = []
    for version in versions:
        known = [word for word in values if since[word] <= version]
        value = default
        if default is not UNSET and default not in known:
            value = UNSET if instead is OMITTED else instead
        fields_at.append(
            fields.EnumField(known, nullable=nullable, default=value)
        )
    changes = [
        FieldChange(
            'changed',
            str(version),
            on_drop=on_drop,
            old_field=old,
            instead=instead,
        )
        for version, old in zip(versions[1:], fields_at, strict=False)
    ]
    if versions[0] > Version(1, 0):
        first = FieldChange('added', str(versions[0]), on_drop=on_drop)
        changes.insert(0, first)
    return with_changes(fields_at[-1], changes)
