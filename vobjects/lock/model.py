# SPDX-License-Identifier: Apache-2.0
"""The values in a lock.

Field types, defaults and enum values are kept as in the text, so that two
locks can be compared without the classes that they describe.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
from collections.abc import Iterable, Mapping

from vobjects import exceptions

#: (serial namespace, project namespace) of oslo.versionedobjects.
NAMESPACE = ('versioned_object', 'versionedobjects')


class LockError(exceptions.VobjectsError):
    """A lock cannot be read, or cannot be changed as requested."""


def version_key(version: str) -> tuple[int, ...]:
    """Return the sort key of a version.

    Unlike :class:`vobjects.versions.Version` it accepts a third number,
    because oslo.versionedobjects has X.Y.Z for stable backports.

    :raises LockError: the version is malformed
    """
    parts = version.split('.')
    if not 2 <= len(parts) <= 3 or not all(
        part.isascii() and part.isdigit() and len(part) < 10 for part in parts
    ):
        raise LockError(
            f'{exceptions.cut(version)} is not a version; write MAJOR.MINOR'
        )
    return tuple(map(int, parts))


@dataclasses.dataclass(frozen=True, slots=True)
class FieldType:
    """The type of a field: ``List(String)``, ``Name(maximum=255)``.

    :ivar args: nested types, or values as JSON text
    :ivar options: parameters by name, with values as JSON text
    """

    name: str
    args: tuple[FieldType | str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def enum_values(self) -> tuple[str, ...]:
        """The values of an enum, as JSON text; empty for other types."""
        return tuple(arg for arg in self.args if isinstance(arg, str))

    @property
    def inner_type(self) -> FieldType | None:
        """The type of the items of a container, or of an Object's type."""
        for arg in self.args:
            if isinstance(arg, FieldType):
                return arg
        return None

    def without_limits(self) -> FieldType:
        """Return the type without enum values and options, at every depth."""
        return FieldType(
            self.name,
            tuple(
                arg.without_limits()
                for arg in self.args
                if isinstance(arg, FieldType)
            ),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class FieldSchema:
    """A field at one version.

    :ivar default: as JSON text; empty: no default
    """

    name: str
    type: FieldType
    nullable: bool = False
    default: str = ''

    @property
    def optional(self) -> bool:
        """Whether a peer that does not know the field can leave it out."""
        return self.nullable or bool(self.default)


@dataclasses.dataclass(frozen=True, slots=True)
class Conversion:
    """A declared change of one field at one version.

    :ivar operation: ``added``, ``removed``, ``renamed``, ``changed``, or
        ``by-hand`` for a manual ``obj_make_compatible``
    :ivar field: its name since this version; empty for ``by-hand``
    :ivar old_name: its previous name, if different
    :ivar ignore: losing the field is declared harmless
    :ivar by: the conversion of values, and its loss, see
        :mod:`vobjects.lock.losses`; empty: none, or unknown
    """

    operation: str
    field: str = ''
    old_name: str = ''
    ignore: bool = False
    by: str = dataclasses.field(default='', compare=False)

    def __str__(self) -> str:
        words = [self.operation]
        if self.old_name:
            words += [self.old_name, 'to']
        if self.field:
            words.append(self.field)
        if self.ignore:
            words.append('ignoring loss')
        if self.by:
            words += ['by', self.by]
        return ' '.join(words)

    def involves(self, name: str) -> bool:
        """Tell whether the conversion involves the field of that name."""
        return name in (self.field, self.old_name)


BY_HAND = Conversion('by-hand')


@dataclasses.dataclass(frozen=True, slots=True)
class TypeSchema:
    """One version of one type: a block of the text.

    :ivar kind: ``request``, ``resource`` or ``object``: a type with declared
        history; ``plain``: a class of oslo.versionedobjects, which does not
        describe its older versions
    :ivar fields: sorted by name
    :ivar conversions: the changes from the previous version
    :ivar microversion: the API microversion that first shows this version;
        empty: none
    :ivar fingerprint: as in oslo.versionedobjects; empty: unknown
    :ivar release: the release that froze it; empty: none yet
    :ivar until: the first release without the type
    """

    name: str
    version: str
    kind: str = 'plain'
    fields: tuple[FieldSchema, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    microversion: str = ''
    fingerprint: str = ''
    namespace: tuple[str, str] = NAMESPACE
    release: str = ''
    until: str = ''

    @property
    def key(self) -> tuple[str, tuple[int, ...]]:
        """The sort key of blocks."""
        return self.name, version_key(self.version)

    def field(self, name: str) -> FieldSchema | None:
        """Return a field by name, if it exists."""
        for field in self.fields:
            if field.name == name:
                return field
        return None

    def without_releases(self) -> TypeSchema:
        """Return the block without the attributes of releases."""
        return dataclasses.replace(self, release='', until='')

    def __str__(self) -> str:
        return f'{self.name} {self.version}'


@dataclasses.dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that is accepted for a limited time.

    :ivar rule: the ID of a rule
    :ivar subject: ``Type`` or ``Type.field``
    :ivar until: the last day of the acceptance
    """

    rule: str
    subject: str
    until: datetime.date
    reason: str

    def __str__(self) -> str:
        return f'{self.rule} {self.subject} until {self.until}: {self.reason}'


@dataclasses.dataclass(frozen=True)
class Lock:
    """The content of a lock file.

    :ivar imports: ``module``, ``module:callable`` or ``package.*``: the code
        that registers the types
    :ivar releases: names, oldest first
    :ivar schemas: sorted by :attr:`TypeSchema.key`
    """

    imports: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    schemas: tuple[TypeSchema, ...] = ()
    accepted: tuple[Acceptance, ...] = ()

    @functools.cached_property
    def types(self) -> Mapping[str, tuple[TypeSchema, ...]]:
        """The versions of each type, oldest first."""
        types: dict[str, list[TypeSchema]] = {}
        for schema in self.schemas:
            types.setdefault(schema.name, []).append(schema)
        return {name: tuple(schemas) for name, schemas in types.items()}

    def schema(self, name: str, version: str) -> TypeSchema | None:
        """Return one version of a type, if it exists."""
        for schema in self.types.get(name, ()):
            if schema.version == version:
                return schema
        return None

    def newest(self, name: str) -> TypeSchema | None:
        """Return the newest version of a type, if it exists."""
        schemas = self.types.get(name, ())
        return schemas[-1] if schemas else None

    def at(self, release: str) -> Lock:
        """Return the lock as of a release.

        :raises LockError: there is no such release
        """
        if release not in self.releases:
            known = ', '.join(self.releases) or 'none'
            raise LockError(
                f'no release {exceptions.cut(release)} is in the lock;'
                f' releases: {known}'
            )
        releases = self.releases[: self.releases.index(release) + 1]
        return Lock(
            self.imports,
            releases,
            tuple(
                schema
                for schema in self.schemas
                if schema.release in releases and schema.until not in releases
            ),
        )

    def released(self) -> Lock:
        """Return the released versions of types that still exist."""
        return dataclasses.replace(
            self,
            schemas=tuple(
                schema
                for schema in self.schemas
                if schema.release and not schema.until
            ),
        )

    def manifest(self) -> dict[str, str]:
        """Return type name -> newest version.

        The newest major version counts, as in the manifest of a build.
        """
        return {
            name: schemas[-1].version for name, schemas in self.types.items()
        }


def sorted_schemas(schemas: Iterable[TypeSchema]) -> tuple[TypeSchema, ...]:
    """Return blocks in the order of the text."""
    return tuple(sorted(schemas, key=lambda schema: schema.key))


def json_text(value: object) -> str:
    """Return a value as canonical JSON text.

    :raises TypeError: JSON cannot represent the value
    :raises ValueError: the value holds NaN or infinity
    """
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, allow_nan=False
    )
