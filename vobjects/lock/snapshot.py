# SPDX-License-Identifier: Apache-2.0
"""Take a snapshot of registered classes, as a lock.

Types with declared history know all their versions, so the snapshot has all
of them. Plain classes of oslo.versionedobjects know only their newest
version; earlier locks have recorded the older ones.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vobjects import objects  # isort: skip - chooses threads before oslo loads
from oslo_versionedobjects import base as ovo_base

from vobjects import exceptions, unregistered
from vobjects.lock import field_schemas, losses, registries, service_quirks
from vobjects.lock.fingerprint import fingerprint
from vobjects.lock.model import (
    BY_HAND,
    Conversion,
    Lock,
    LockError,
    TypeSchema,
    sorted_schemas,
    version_key,
)
from vobjects.objects import field_spans, history
from vobjects.versions import Version

AnyClass = type[ovo_base.VersionedObject]


def load(imports: Sequence[str]) -> None:
    """Import the code that registers types.

    :param imports: names of modules to import before
    :raises LockError: an import fails; the message names it and the reason
    """
    for name in imports:
        try:
            registries.load(name)
        except exceptions.DeclarationError as error:
            raise LockError(f'cannot import {name}: {error}') from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            place = _place(error, registries.top_level_package(name))
            problem = exceptions.text_of(error)
            if isinstance(error, SyntaxError):
                problem = error.msg
            if not isinstance(error, ImportError):
                problem = f'{type(error).__name__}: {problem}'
            if not place:
                problem += (
                    '; name the code that registers the types: MODULE,'
                    ' MODULE:CALLABLE or PACKAGE.*'
                )
            raise LockError(
                f'cannot import {name}: {place}{problem}'
            ) from error


def _place(error: BaseException, package: str) -> str:
    """Return 'FILE:LINE: ' of an error, in the code of a package.

    :returns: empty if none of the package's code was running
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f'{error.filename}:{error.lineno}: '
    places = [
        f'{frame.f_code.co_filename}:{line}: '
        for frame, line in traceback.walk_tb(error.__traceback__)
        if registries.top_level_package(str(frame.f_globals.get('__name__')))
        == package
    ]
    return places[-1] if places else ''


def classes_of(imports: Sequence[str]) -> Iterator[AnyClass]:
    """Yield the registered classes of the imported packages.

    Only the newest class of each type and major version is included.
    """
    packages = {*map(registries.top_level_package, imports), '__main__'}
    classes = registries.registered()
    for name in sorted(classes):
        majors = set()
        for cls in classes[name]:
            major = version_key(cls.VERSION)[0]
            if registries.top_level_package(cls.__module__) in packages:
                if major not in majors:
                    yield cls
                majors.add(major)


def snapshot(imports: Sequence[str], known: Lock | None = None) -> Lock:
    """Return the current code as a lock; call :func:`load` first.

    :param known: include the versions in this lock, too, for types with
        declared history
    :raises LockError: a field of a type with declared history holds objects
        of a type that is not registered
    """
    classes = list(classes_of(imports))
    for cls in classes:
        if not issubclass(cls, objects.Object):
            continue
        for name, field in cls.fields.items():
            for inner in sorted(registries.object_types(field._type)):
                if not unregistered.is_registered(inner):
                    where = f'{cls.obj_name()}.{name}'
                    raise LockError(str(unregistered.error(where, inner)))
    return of_classes(classes, imports, known)


def of_classes(
    classes: Iterable[AnyClass],
    imports: Sequence[str] = (),
    known: Lock | None = None,
) -> Lock:
    """Return classes as a lock; see :func:`snapshot`."""
    return Lock(
        tuple(imports),
        (),
        sorted_schemas(
            schema for cls in classes for schema in _schemas(cls, known)
        ),
    )


def _schemas(cls: AnyClass, known: Lock | None) -> Iterator[TypeSchema]:
    if not issubclass(cls, objects.Object):
        yield _type_schema(
            cls, cls.VERSION, cls.fields, conversions=_conversion_by_hand(cls)
        )
        return
    newest = Version.parse(cls.VERSION)
    versions = {
        *cls._history.versions(),
        *map(Version.parse, cls.VERSION_MAP.values()),
    }
    for schema in known.types.get(cls.obj_name(), ()) if known else ():
        with contextlib.suppress(exceptions.InvalidVersion):
            versions.add(Version.parse(schema.version))
    for version in sorted(versions):
        if version <= newest and version.major == newest.major:
            yield _declared_schema(cls, version)


def _declared_schema(
    cls: type[objects.Object], version: Version
) -> TypeSchema:
    """Return one version of a type with declared history."""
    conversions: tuple[Conversion, ...] = tuple(
        sorted(_conversions(cls._history, version), key=str)
    )
    if version > cls._history.oldest:
        conversions += _conversion_by_hand(cls)
    mapped = {v: microversion for microversion, v in cls.VERSION_MAP.items()}
    return _type_schema(
        cls,
        str(version),
        cls._history.wire_fields_at(version),
        conversions=conversions,
        microversion=mapped.get(str(version), ''),
    )


def _type_schema(
    cls: AnyClass,
    version: str,
    fields: Mapping[str, Any],
    *,
    conversions: tuple[Conversion, ...],
    microversion: str = '',
) -> TypeSchema:
    return TypeSchema(
        cls.obj_name(),
        version,
        kind=_kind(cls),
        fields=tuple(
            field_schemas.field_schema(name, fields[name])
            for name in sorted(fields)
        ),
        conversions=conversions,
        microversion=microversion,
        fingerprint=fingerprint(cls, fields),
        namespace=(cls.OBJ_SERIAL_NAMESPACE, cls.OBJ_PROJECT_NAMESPACE),
    )


def _kind(cls: AnyClass) -> str:
    if not issubclass(cls, objects.Object):
        return 'plain'
    if issubclass(cls, objects.Request):
        return 'request'
    # An object that no microversion shows may lose values like a resource.
    return 'object' if cls.REFUSE_LOSS else 'resource'


#: Conversion methods that are not written by hand.
_INHERITED = (
    ovo_base.VersionedObject.obj_make_compatible,
    ovo_base.ObjectListBase.obj_make_compatible,
    objects.Object.obj_make_compatible,
)


def _conversion_by_hand(cls: AnyClass) -> tuple[Conversion, ...]:
    """Return ``BY_HAND`` if the class or a parent converts by hand."""
    method = service_quirks.conversion_method(cls)
    if method == service_quirks.OVO_METHOD:
        inherited: tuple[Any, ...] = _INHERITED
    else:
        # The base class that defines the method converts nothing.
        parents = [parent for parent in cls.__mro__ if method in vars(parent)]
        inherited = (vars(parents[-1])[method],)
    return () if getattr(cls, method) in inherited else (BY_HAND,)


def _conversions(
    timeline: history.History, version: Version
) -> Iterator[Conversion]:
    for life in timeline.field_spans:
        for before, span in zip((None, *life), life, strict=False):
            if span.start == version and version > timeline.oldest:
                yield _conversion(before, span)
        last = life[-1]
        # The API lacks the field first, and the type then or later.
        if version in (last.hidden, last.end):
            ignore = last.on_removal == 'ignore'
            yield Conversion('removed', last.name, ignore=ignore)


def _conversion(
    before: field_spans.FieldSpan | None, span: field_spans.FieldSpan
) -> Conversion:
    ignore = span.on_drop == 'ignore'
    if before is None:
        by = span.split_from and 'splitting {!r} at {!r}'.format(
            *span.split_from
        )
        return Conversion('added', span.name, ignore=ignore, by=by or '')
    if before.name != span.name:
        return Conversion('renamed', span.name, before.name)
    change = span.change
    ignore = change is not None and change.on_drop == 'ignore'
    by = losses.describe(before, span)
    return Conversion('changed', span.name, ignore=ignore, by=by)
