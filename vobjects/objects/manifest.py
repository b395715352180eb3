# SPDX-License-Identifier: Apache-2.0
"""Manifests: the newest version of each type that a build supports.

A manifest maps type names to versions (both strings), as oslo.versionedobjects
passes it to ``obj_to_primitive(version_manifest=...)``. The *minimum* over the
live peers has the versions that all peers of a mixed fleet understand.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vobjects import exceptions, objects
from vobjects.fields import object_type
from vobjects.objects import history
from vobjects.versions import Version

#: Maximum number of types in a manifest: more than any service has, and a
#: bound on the memory that a peer can make this process use.
MAX_TYPES = 10_000


class Manifest(Mapping[str, str]):
    """An immutable manifest; manifests with equal content compare equal.

    :param versions: type name -> version
    :raises vobjects.exceptions.InvalidVersion: a version is malformed
    """

    __slots__ = ('_digest', '_versions')

    def __init__(self, versions: Mapping[str, str]) -> None:
        for version in set(versions.values()):
            Version.parse(version)
        self._versions = dict(sorted(versions.items()))
        text = json.dumps(self._versions, separators=(',', ':'))
        self._digest = hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that identify the content."""
        return self._digest

    def version(self, name: str) -> Version | None:
        """Return the version of a type; None if the type is not listed."""
        text = self._versions.get(name)
        return None if text is None else Version.parse(text)

    def __getitem__(self, name: str) -> str:
        return self._versions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._versions)

    def __len__(self) -> int:
        return len(self._versions)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Manifest):
            return self._digest == other._digest
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f'<Manifest {self._digest[:8]} of {len(self)} types>'

    def dump(self, path: pathlib.Path) -> None:
        """Write the manifest as a JSON file, one type per line."""
        path.write_text(json.dumps(self._versions, indent=1) + '\n')

    @classmethod
    def load(cls, path: pathlib.Path) -> Manifest:
        """Read a file written by :meth:`dump`.

        :raises OSError: the file cannot be read
        :raises vobjects.exceptions.VobjectsError: it is not a manifest, or has
            a type at another major version
        """
        try:
            content = json.loads(path.read_text())
        except ValueError as error:
            raise exceptions.VobjectsError(
                f'{path} is not JSON: {error}'
            ) from None
        manifest = cls.parse(content, str(path))
        for name in manifest:
            version = manifest.version(name)
            if version and version.major != history.FIRST.major:
                raise exceptions.VobjectsError(
                    f'{path}: {name!r}: {str(version)!r} is another major'
                    f' version, but types have only versions'
                    f' {history.FIRST.major}.x; correct the version, or delete'
                    ' the entry'
                )
        return manifest

    @classmethod
    def parse(cls, content: Any, where: str) -> Manifest:
        """Validate external data and return it as a manifest.

        :param where: the source of the data, for error messages
        :raises vobjects.exceptions.VobjectsError: it is not a manifest
        """
        good = (
            isinstance(content, Mapping)
            and len(content) <= MAX_TYPES
            and all(
                isinstance(name, str) and isinstance(version, str)
                for name, version in content.items()
            )
        )
        if not good:
            raise exceptions.VobjectsError(
                f'{where} is not a manifest: expected {{"TypeName": "1.0",'
                ' ...}'
            )
        try:
            return cls(content)
        except exceptions.InvalidVersion as error:
            raise exceptions.VobjectsError(f'{where}: {error}') from None


#: Manifest that this process emulates; None: its own.
_emulated: Manifest | None = None


def emulate(manifest: Manifest | None) -> Manifest | None:
    """Emulate an older build in this process.

    :param manifest: manifest of that build, see
        ``vobjects.rpc.server.emulated_manifest``; None: stop emulating
    :returns: the manifest that was emulated before
    """
    global _emulated
    previous, _emulated = _emulated, manifest
    return previous


def emulated() -> Manifest | None:
    """Return the manifest that this process emulates, if any."""
    return _emulated


def local() -> Manifest:
    """Return the manifest of this process.

    It lists the newest version of every registered type, unless the process
    emulates an older build.
    """
    if _emulated is not None:
        return _emulated
    return Manifest({cls.obj_name(): cls.VERSION for cls in _types()})


def minimum(manifests: Iterable[Mapping[str, str]]) -> Manifest:
    """Return the common types of all manifests, each at its lowest version.

    It lacks the types of which a peer has another major version than 1,
    because they cannot be converted.
    """
    lowest: dict[str, Version] | None = None
    for manifest in manifests:
        versions = {
            name: version
            for name, text in manifest.items()
            if (version := Version.parse(text)).major == history.FIRST.major
        }
        if lowest is None:
            lowest = versions
        else:
            lowest = {
                name: min(version, versions[name])
                for name, version in lowest.items()
                if name in versions
            }
    return Manifest({n: str(v) for n, v in (lowest or {}).items()})


@functools.lru_cache(maxsize=1024)
def at_microversion(microversion: Version, *, early: bool = False) -> Manifest:
    """Return the object versions that a microversion shows.

    The result is cached, so register all types before the first request.

    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    """
    return Manifest(
        {
            cls.obj_name(): version
            for cls in _types()
            if (version := cls.version_at(microversion, early=early))
            is not None
        }
    )


def within(cls: type[objects.Object], versions: Manifest) -> Manifest:
    """Return the part of a manifest with a type and the types inside it.

    It is the whole manifest if a field also accepts subclasses of its type.

    :param cls: a registered type
    """
    names = {cls.obj_name()}
    pending: list[Any] = [cls]
    while pending:
        for field in pending.pop().fields.values():
            kind = object_type(field._type)
            if kind is None or kind._obj_name in names:
                continue
            if kind._subclasses:
                return versions
            names.add(kind._obj_name)
            pending.append(objects.registered_type(kind._obj_name))
    return Manifest({name: versions[name] for name in names & versions.keys()})


def _types() -> list[type[objects.Object]]:
    return list(objects.registered_types())
