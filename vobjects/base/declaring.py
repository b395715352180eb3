# SPDX-License-Identifier: Apache-2.0
"""Registration: a type's declarations checked, its history derived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, history
from vobjects.base.kinds import Request, Resource
from vobjects.base.objects import Object
from vobjects.codec import properties
from vobjects.versions import NULL, Version

AnyField = ovo_fields.Field[Any]
ObjectType = TypeVar('ObjectType', bound=Object)


def register(cls: type[ObjectType]) -> type[ObjectType]:
    """Check a type's declarations, derive its history, make it known.

    :raises vobjects.exceptions.DeclarationError: naming type, field and fix
    """
    name = cls.obj_name()
    version = _parse(name, 'VERSION', cls.VERSION)
    declared = _declared(cls)
    timeline = history.History(name, version, declared)
    cls._history = timeline
    cls._removed = {
        key: field
        for key, field in declared.items()
        if (changes := history.changes_of(field))
        and changes[-1].kind == 'removed'
    }
    cls.fields = {
        key: field
        for key, field in declared.items()
        if key not in cls._removed
    }
    _check_optional(cls, declared)
    _read_version_map(cls, version)
    ovo_base.VersionedObjectRegistry.register(cls)
    properties.install(cls)
    return cls


def _declared(cls: type[Object]) -> dict[str, AnyField]:
    """Collect own, inherited and removed fields with their histories."""
    declared = dict(cls.fields)
    for parent in cls.__mro__[1:]:
        for source in ('fields', '_removed'):
            for key, field in getattr(parent, source, {}).items():
                declared.setdefault(key, field)
    for key, field in declared.items():
        if not isinstance(field, ovo_fields.Field):
            raise exceptions.DeclarationError(
                f'{cls.obj_name()}.{key}: {exceptions.cut(field)} is no field'
            )
    return declared


def _check_optional(
    cls: type[Object], declared: Mapping[str, AnyField]
) -> None:
    """A field that one side lacks must have something to be there."""
    for key, field in declared.items():
        for change in history.changes_of(field):
            if change.kind not in ('added', 'removed'):
                continue
            has_default = field.default is not ovo_fields.UnspecifiedDefault
            if not (field.nullable or has_default):
                raise exceptions.DeclarationError(
                    f'{cls.obj_name()}.{key}: a field'
                    f' {change.kind} at {change.version} needs nullable=True'
                    ' or a default, for peers that never heard of it'
                )


def _read_version_map(cls: type[Object], version: Version) -> None:
    name = cls.obj_name()
    before: tuple[Version, Version] = (NULL, NULL)
    pairs: list[tuple[Version, Version]] = []
    for microversion, mapped in cls.VERSION_MAP.items():
        pair = (
            _parse(name, 'VERSION_MAP', microversion),
            _parse(name, 'VERSION_MAP', mapped),
        )
        if not (before[0] < pair[0] and before[1] < pair[1]):
            raise exceptions.DeclarationError(
                f'{name}.VERSION_MAP: {microversion!r}: {mapped!r} must be'
                ' after the entry before it in both columns, as numbers'
                " ('1.10' is after '1.9')"
            )
        pairs.append(pair)
        before = pair
    mapped_to = pairs[-1][1] if pairs else history.FIRST
    shown = bool(pairs) or issubclass(cls, (Request, Resource))
    if shown and mapped_to != version:
        raise exceptions.DeclarationError(
            f"{name}.VERSION_MAP ends at '{mapped_to}' but VERSION is"
            f" '{version}'; add the microversion that shows '{version}'"
        )
    cls._microversions = tuple(pair[0] for pair in pairs)
    cls._mapped = tuple(str(pair[1]) for pair in pairs)


def _parse(type_name: str, where: str, text: str) -> Version:
    try:
        return Version.parse(text)
    except exceptions.InvalidVersion as error:
        raise exceptions.DeclarationError(
            f'{type_name}.{where}: {error}'
        ) from None
