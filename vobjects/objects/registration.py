# SPDX-License-Identifier: Apache-2.0
"""Register types: check their declarations and derive their histories.

:func:`registered_type` and :func:`registered_types` look them up by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_args

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import exceptions, fields, phrases, unregistered
from vobjects.objects import declaration_checks, field_changes, history
from vobjects.objects.codec import field_properties
from vobjects.objects.codec.override_detection import (
    newest_class,
    newest_classes,
)
from vobjects.objects.kinds import Request, Resource
from vobjects.objects.object import Object, Route
from vobjects.objects.unknown_fields import UnknownFieldPolicy
from vobjects.versions import NULL, Version

AnyField = ovo_fields.Field[Any]
ObjectType = TypeVar('ObjectType', bound=Object)

#: The attributes of a type that are dictionaries.
_MAPPINGS = ('VERSION_MAP', 'EARLY_VERSION_MAP', 'NO_FIELD_CHANGES', 'BOUNDS')


def register(cls: type[ObjectType]) -> type[ObjectType]:
    """Check a type's declarations, derive its history and register it.

    :raises vobjects.exceptions.DeclarationError: a declaration is invalid;
        the message names the type, the field and the fix
    """
    if not isinstance(cls, type) or not issubclass(cls, Object):
        raise exceptions.DeclarationError(
            f'register(): derive {cls} from vobjects.Request or .Resource'
        )
    name = cls.obj_name()
    for attribute in _MAPPINGS:
        value = getattr(cls, attribute)
        if not isinstance(value, Mapping):
            raise exceptions.DeclarationError(
                f'{name}.{attribute} must be a dictionary, not'
                f' {exceptions.cut(value)}'
            )
    version = _parse(name, 'VERSION', cls.VERSION)
    oldest = _parse(name, 'OLDEST_VERSION', cls.OLDEST_VERSION)
    if version.major != history.FIRST.major:
        raise exceptions.DeclarationError(
            f"{name}.VERSION: '{version}' is another major version, which"
            f' peers of {history.FIRST.major}.x cannot convert; use the next'
            ' minor version, with changed(), or removed() and dropped=, or'
            ' register a type with another name, such as'
            f' {name}{version.major}'
        )
    if oldest > version:
        raise exceptions.DeclarationError(
            f"{name}.OLDEST_VERSION: '{oldest}' must not be newer than"
            f" VERSION = '{version}'"
        )
    declared = _declared(cls)
    declaration_checks.check_fields(cls, declared, in_api=_in_api(cls))
    timeline = history.History(
        name,
        version,
        declared,
        oldest=oldest,
        in_api=_in_api(cls),
        is_read_only=not cls.REFUSE_LOSS,
    )
    cls._history = timeline
    current = timeline.wire_fields_at(version)
    cls._removed = {k: f for k, f in declared.items() if k not in current}
    cls.fields = {k: f for k, f in declared.items() if k in current}
    cls._required = tuple(
        name for name, field in cls.fields.items() if fields.is_required(field)
    )
    cls._required_attributes = frozenset(f'_obj_{n}' for n in cls._required)
    _read_version_map(cls, version)
    _check_reasons(cls, version)
    ovo_base.VersionedObjectRegistry.register(cls)
    for key in cls._removed.keys() & cls.fields.keys():
        del cls.fields[key]  # of a base; the registry has added it
        delattr(cls, key)
    field_properties.install(cls, null_while_unset=True)
    return cls


def registered_type(name: str) -> type[Object]:
    """Return the newest registered class of a type name.

    :raises oslo_versionedobjects.exception.UnsupportedObjectError: there is
        no such type, or it is not an :class:`Object`
    """
    cls = newest_class(name)
    if cls is None:
        raise ovo_exception.UnsupportedObjectError(objtype=name)
    if not issubclass(cls, Object):
        raise ovo_exception.UnsupportedObjectError(
            unregistered.problem(name), objtype=name
        )
    registered: type[Object] = cls
    return registered


def registered_types() -> Iterator[type[Object]]:
    """Yield the newest class of every registered type, sorted by name."""
    return (cls for cls in newest_classes() if issubclass(cls, Object))


def unlisted_microversions(
    cls: type[Object], history: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield problem and fix for each mapped microversion not in a history.

    Without an entry in the history, no client can reach that microversion. The
    history need not have microversions that are older than its first one.

    :param history: the microversions of the service; empty: not known
    """
    listed = sorted(map(Version.parse, history))
    for attribute in ('VERSION_MAP', 'EARLY_VERSION_MAP'):
        for text, mapped in getattr(cls, attribute).items():
            microversion = Version.parse(text)
            if (
                listed
                and microversion > listed[0]
                and microversion not in listed
            ):
                yield (
                    f'{cls.obj_name()}.{attribute} maps {text!r} to'
                    f' {mapped!r}, but the history of the service has no entry'
                    f' for {text} (it ends at {listed[-1]})',
                    f"add '{text}': ['{cls.obj_name()} {mapped}.'] to the"
                    f' history, or correct the key in {attribute}',
                )


def _in_api(cls: type[Object]) -> bool:
    """Tell whether microversions show a type."""
    return bool(cls.VERSION_MAP) or issubclass(cls, (Request, Resource))


def _declared(cls: type[Object]) -> dict[str, AnyField]:
    """Collect own, inherited and removed fields with their histories.

    :raises vobjects.exceptions.DeclarationError: a value is not a field
    """
    declared = dict(cls.fields)
    for parent in cls.__mro__[1:]:
        for source in ('fields', '_removed'):
            for key, field in getattr(parent, source, {}).items():
                declared.setdefault(key, field)
    for key, field in declared.items():
        if not isinstance(field, ovo_fields.Field):
            raise exceptions.DeclarationError(
                f'{cls.obj_name()}.{key}: {exceptions.cut(field)} is not'
                ' a field; use a field type of vobjects.fields'
            )
    return {
        key: field_changes.with_adapted_types(field)
        for key, field in declared.items()
    }


def _read_version_map(cls: type[Object], version: Version) -> None:
    name = cls.obj_name()
    for attribute, words in (
        ('ROUTE', get_args(Route)),
        ('UNKNOWN_FIELDS', get_args(UnknownFieldPolicy)),
    ):
        value = getattr(cls, attribute)
        if value not in words:
            raise exceptions.DeclarationError(
                f'{name}.{attribute}: {phrases.not_one_of(value, words)}'
            )
    pairs = _pairs(name, 'VERSION_MAP', cls.VERSION_MAP)
    mapped_to = pairs[-1][1] if pairs else cls._history.oldest
    if _in_api(cls) and mapped_to != version:
        raise exceptions.DeclarationError(
            f"{name}.VERSION_MAP ends at '{mapped_to}' but VERSION is"
            f" '{version}'; add the microversion that shows '{version}'"
        )
    cls._microversions = tuple(pair[0] for pair in pairs)
    cls._mapped_versions = tuple(str(pair[1]) for pair in pairs)
    cls._early_versions = _merge_early(cls, pairs)
    _check_ignored(cls)


def _check_ignored(cls: type[Object]) -> None:
    """Check that EARLY_IGNORED has only fields that are accepted early."""
    early = {
        field
        for at, version in cls._early_versions
        for field in cls.fields_at(version).keys()
        - cls.fields_at(cls.version_at(at) or version).keys()
    }
    for field in cls.EARLY_IGNORED:
        if field not in early:
            raise exceptions.DeclarationError(
                f'{cls.obj_name()}.EARLY_IGNORED: {field!r} is not accepted'
                f' early; {phrases.not_one_of(field, sorted(early))}'
            )


def _check_reasons(cls: type[Object], version: Version) -> None:
    """Check that each version changes a field, or says why there is one.

    Exempt are 1.0, versions of a nested type, and classes that convert by
    hand, because they declare no changes.

    :raises vobjects.exceptions.DeclarationError: a version has no purpose
    """
    name = cls.obj_name()
    changed = cls._history.changed_versions()
    own = vars(cls).get('NO_FIELD_CHANGES', {})
    for text, reason in own.items():
        stated = _parse(name, 'NO_FIELD_CHANGES', text)
        entry = f'{name}.NO_FIELD_CHANGES: {text!r}'
        if not isinstance(reason, str) or not reason.strip():
            raise exceptions.DeclarationError(
                f'{entry} must have a sentence with the reason as its value'
            )
        if stated in changed or stated > version:
            problem = (
                'changes a field'
                if stated in changed
                else f"is newer than VERSION = '{version}'"
            )
            raise exceptions.DeclarationError(
                f'{entry} {problem}; delete the entry'
            )
    if cls.obj_make_compatible is not Object.obj_make_compatible:
        return
    explained = {
        cls.OLDEST_VERSION,
        *cls.NO_FIELD_CHANGES,
        *getattr(cls, 'child_versions', ()),
    }
    for pairs in cls.obj_relationships.values():
        explained |= {parent for parent, _child in pairs}
    mapped = {*cls._mapped_versions, *(v for _, v in cls._early_versions)}
    for used in sorted({version, *map(Version.parse, mapped)}):
        if used.minor and used not in changed and str(used) not in explained:
            raise exceptions.DeclarationError(
                f"{name}: no field changes at version '{used}'; declare the"
                f" change, as in added('{used}', ...), or state why the"
                f" version exists: NO_FIELD_CHANGES = {{'{used}': 'WHY'}}"
            )


def _merge_early(
    cls: type[Object], pairs: list[tuple[Version, Version]]
) -> tuple[tuple[Version, str], ...]:
    """Merge both version maps; return nothing if there is no early map."""
    name = cls.obj_name()
    early = _pairs(name, 'EARLY_VERSION_MAP', cls.EARLY_VERSION_MAP)
    if not early:
        return ()
    for since, mapped in early:
        entry = f'{name}.EARLY_VERSION_MAP: {str(since)!r}: {str(mapped)!r}'
        mapped_later = [at for at, version in pairs if version >= mapped]
        if not mapped_later or mapped_later[0] <= since:
            raise exceptions.DeclarationError(
                f'{entry} must be earlier than in VERSION_MAP'
            )
        older = [version for at, version in pairs if at <= since]
        previous = cls._history.fields_at(
            older[-1] if older else cls._history.oldest
        )
        after = cls._history.fields_at(mapped)
        for key, field in previous.items():
            if after.get(key) is not field:
                raise exceptions.DeclarationError(
                    f'{entry} would take {key!r} from earlier clients; only'
                    ' fields that are added can be accepted early'
                )
    all_pairs = (*pairs, *early)
    return tuple(
        (at, str(max(version for since, version in all_pairs if since <= at)))
        for at in sorted({at for at, _ in all_pairs})
    )


def _pairs(
    name: str, where: str, version_map: Mapping[str, str]
) -> list[tuple[Version, Version]]:
    """Parse a version map and check that both columns are ascending."""
    previous: tuple[Version, Version] = (NULL, NULL)
    pairs: list[tuple[Version, Version]] = []
    for microversion, mapped in version_map.items():
        pair = (
            _parse(name, where, microversion),
            _parse(name, where, mapped),
        )
        if not (previous[0] < pair[0] and previous[1] < pair[1]):
            raise exceptions.DeclarationError(
                f'{name}.{where}: {microversion!r}: {mapped!r} must be'
                ' higher than the previous entry in both columns, as numbers'
                " ('1.10' is after '1.9')"
            )
        pairs.append(pair)
        previous = pair
    return pairs


def _parse(type_name: str, where: str, text: str) -> Version:
    try:
        return Version.parse(text)
    except exceptions.InvalidVersion as error:
        raise exceptions.DeclarationError(
            f'{type_name}.{where}: {error}'
        ) from None
