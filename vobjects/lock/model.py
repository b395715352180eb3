# SPDX-License-Identifier: Apache-2.0
"""A lock as values.

Field types, defaults and enum words are kept as they stand in the text, so
that two locks are compared without the classes they came from.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import json
from collections.abc import Iterable, Iterator, Mapping

from vobjects import exceptions

#: (serial namespace, project namespace) of oslo.versionedobjects itself.
NAMESPACE = ('versioned_object', 'versionedobjects')


class LockError(exceptions.VobjectsError):
    """A lock that cannot be read, or not be changed as asked."""


Key = tuple[int, ...]


def order(version: str) -> Key:
    """Return what versions are ordered by.

    Other than :class:`vobjects.versions.Version` it takes a third number:
    oslo.versionedobjects has X.Y.Z for stable backports.

    :raises LockError: it is no version
    """
    parts = version.split('.')
    if not 2 <= len(parts) <= 3 or not all(
        part.isascii() and part.isdigit() and len(part) < 10 for part in parts
    ):
        raise LockError(
            f'{exceptions.cut(version)} is not a version: write MAJOR.MINOR'
        )
    return tuple(map(int, parts))


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """The type of a field: ``List(String)``, ``Name(maximum=255)``.

    :ivar args: what stands in it: other kinds, or values as JSON text
    :ivar options: its parameters by name, the values as JSON text
    """

    name: str
    args: tuple[Kind | str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The values of an enum, as JSON text; empty for other kinds."""
        return tuple(arg for arg in self.args if isinstance(arg, str))

    @property
    def inner(self) -> Kind | None:
        """What is in a list, dict or set; which type an object has."""
        for arg in self.args:
            if isinstance(arg, Kind):
                return arg
        return None

    def without_limits(self) -> Kind:
        """Return the kind without words and options, at every depth."""
        return Kind(
            self.name,
            tuple(
                arg.without_limits()
                for arg in self.args
                if isinstance(arg, Kind)
            ),
        )

    def nested(self) -> Iterator[str]:
        """Yield the names of the types of objects inside."""
        if self.name == 'Object' and self.inner is not None:
            yield self.inner.name
        elif self.inner is not None:
            yield from self.inner.nested()


@dataclasses.dataclass(frozen=True, slots=True)
class FieldShape:
    """A field at one version.

    :ivar default: as JSON text; empty: there is none
    """

    name: str
    kind: Kind
    nullable: bool = False
    default: str = ''

    @property
    def optional(self) -> bool:
        """Whether a peer that never heard of the field can leave it out."""
        return self.nullable or bool(self.default)


#: What a conversion does; the last is ``obj_make_compatible`` by hand.
VERBS = ('added', 'removed', 'renamed', 'changed', 'by-hand')


@dataclasses.dataclass(frozen=True, slots=True)
class Conversion:
    """What was declared of one field at one version.

    :ivar field: its name from this version on; empty for ``by-hand``
    :ivar old: its name before, if that differs
    :ivar ignore: losing the field is declared harmless
    """

    verb: str
    field: str = ''
    old: str = ''
    ignore: bool = False

    def __str__(self) -> str:
        words = [self.verb]
        if self.old:
            words += [self.old, 'to']
        if self.field:
            words.append(self.field)
        if self.ignore:
            words.append('ignoring loss')
        return ' '.join(words)

    def concerns(self, name: str) -> bool:
        """Tell whether it is about the field of that name."""
        return name in (self.field, self.old)


BY_HAND = Conversion('by-hand')


@dataclasses.dataclass(frozen=True, slots=True)
class TypeShape:
    """One version of one type: a block of the text.

    :ivar kind: ``request``, ``resource`` or ``object`` of ours; ``plain``: of
        oslo.versionedobjects, which says nothing of its older versions
    :ivar fields: by name
    :ivar conversions: how it came from the version before
    :ivar microversion: the API microversion that first shows this version;
        empty: none says
    :ivar fingerprint: of oslo.versionedobjects; empty: not known
    :ivar release: the release that froze it; empty: none yet
    :ivar until: the first release that did not have the type any more
    """

    name: str
    version: str
    kind: str = 'plain'
    fields: tuple[FieldShape, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    microversion: str = ''
    fingerprint: str = ''
    namespace: tuple[str, str] = NAMESPACE
    release: str = ''
    until: str = ''

    @property
    def key(self) -> tuple[str, Key]:
        """What blocks are sorted by."""
        return self.name, order(self.version)

    def field(self, name: str) -> FieldShape | None:
        """Return a field by name."""
        for field in self.fields:
            if field.name == name:
                return field
        return None

    def said(self) -> TypeShape:
        """Return it without what the lock itself adds."""
        return dataclasses.replace(self, release='', until='')

    def __str__(self) -> str:
        return f'{self.name} {self.version}'


@dataclasses.dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that somebody has decided to live with, for a while.

    :ivar rule: a rule's id
    :ivar subject: ``Type`` or ``Type.field``
    :ivar until: the last day on which it counts
    """

    rule: str
    subject: str
    until: datetime.date
    reason: str
    line: int = dataclasses.field(default=0, compare=False)


@dataclasses.dataclass(frozen=True)
class Lock:
    """Everything a lock file says.

    :ivar imports: ``module`` or ``module:callable``, what registers the types
    :ivar releases: names, oldest first
    :ivar shapes: sorted by :attr:`TypeShape.key`
    """

    imports: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    shapes: tuple[TypeShape, ...] = ()
    accepted: tuple[Acceptance, ...] = ()

    @functools.cached_property
    def types(self) -> Mapping[str, tuple[TypeShape, ...]]:
        """The versions of each type, oldest first."""
        found: dict[str, list[TypeShape]] = {}
        for shape in self.shapes:
            found.setdefault(shape.name, []).append(shape)
        return {name: tuple(shapes) for name, shapes in found.items()}

    @functools.cached_property
    def _by_key(self) -> Mapping[tuple[str, str], TypeShape]:
        return {(shape.name, shape.version): shape for shape in self.shapes}

    def shape(self, name: str, version: str) -> TypeShape | None:
        """Return one version of a type."""
        return self._by_key.get((name, version))

    def newest(self, name: str) -> TypeShape | None:
        """Return the newest version of a type."""
        shapes = self.types.get(name, ())
        return shapes[-1] if shapes else None

    def at(self, release: str) -> Lock:
        """Return the lock as it was when a release was frozen.

        :raises LockError: there is no such release
        """
        if release not in self.releases:
            known = ', '.join(self.releases) or 'none'
            raise LockError(
                f'no release {exceptions.cut(release)} is in the lock;'
                f' there is {known}'
            )
        count = self.releases.index(release) + 1
        then = set(self.releases[:count])
        return Lock(
            self.imports,
            self.releases[:count],
            tuple(
                shape
                for shape in self.shapes
                if shape.release in then and shape.until not in then
            ),
        )

    def released(self) -> Lock:
        """Return what some release has frozen and still holds."""
        return dataclasses.replace(
            self,
            shapes=tuple(
                shape
                for shape in self.shapes
                if shape.release and not shape.until
            ),
        )

    def manifest(self) -> dict[str, str]:
        """Return type name to newest version.

        Of several majors the newest counts, as in what a build reports.
        """
        return {
            name: shapes[-1].version for name, shapes in self.types.items()
        }


def sorted_shapes(shapes: Iterable[TypeShape]) -> tuple[TypeShape, ...]:
    """Return blocks in the order of the text."""
    return tuple(sorted(shapes, key=lambda shape: shape.key))


def json_text(value: object) -> str:
    """Return a value as it stands in the text.

    :raises TypeError: JSON has no such value
    :raises ValueError: likewise, for numbers like infinity
    """
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, allow_nan=False
    )
