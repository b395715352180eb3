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
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from vobjects import exceptions, objects
from vobjects.field_values import object_type
from vobjects.objects import adoption, history
from vobjects.versions import Version

#: Maximum number of types in a manifest: more than any service has, and a
#: bound on the memory that a peer can make this process use.
MAX_TYPES = 10_000


def _refuse(self: Manifest, *_args: Any, **_kwargs: Any) -> Any:
    raise TypeError('a manifest cannot be changed')


class Manifest(dict[str, str]):
    """An immutable manifest. Manifests with equal content are one object.

    It is a dict, and its hash is its identity, because each call looks up
    several versions and conversions by manifest.

    :param versions: type name -> version
    :ivar digest: 32 hexadecimal digits that identify the content
    :raises vobjects.exceptions.InvalidVersion: a version is malformed
    """

    __slots__ = ('__weakref__', 'digest')

    digest: str

    def __new__(cls, versions: Mapping[str, str]) -> Self:
        for version in set(versions.values()):
            Version.parse(version)
        content = dict(sorted(versions.items()))
        text = json.dumps(content, separators=(',', ':'))
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        manifest = super().__new__(cls)
        dict.update(manifest, content)
        manifest.digest = digest
        known: Self = _manifests.setdefault(digest, manifest)
        return known

    def __init__(self, versions: Mapping[str, str]) -> None:
        """See ``__new__``: the content is there already."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)

    def version(self, name: str) -> Version | None:
        """Return the version of a type; None if the type is not listed."""
        text = self.get(name)
        return None if text is None else Version.parse(text)

    def __repr__(self) -> str:
        return f'<Manifest {self.digest[:8]} of {len(self)} types>'

    def dump(self, path: pathlib.Path) -> None:
        """Write the manifest as a JSON file, one type per line."""
        path.write_text(json.dumps(self, indent=1) + '\n')

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


#: Digest -> manifest, of those that are in use.
_manifests: weakref.WeakValueDictionary[str, Any] = (
    weakref.WeakValueDictionary()
)

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

    It lists the newest version of every registered or adopted type, unless the
    process emulates an older build.
    """
    if _emulated is not None:
        return _emulated
    return Manifest({cls.obj_name(): cls.VERSION for cls in local_types()})


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


@functools.lru_cache(maxsize=256)
def common(own: Manifest, peer: Manifest) -> Manifest:
    """Return the minimum of two manifests."""
    return minimum([own, peer])


@functools.lru_cache(maxsize=1024)
def at_microversion(microversion: Version, *, early: bool = False) -> Manifest:
    """Return the object versions that a microversion shows.

    The result is cached, so register all types before the first request.

    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    """
    return Manifest(
        {
            cls.obj_name(): version
            for cls in objects.registered_types()
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


def local_types() -> Iterator[Any]:
    """Yield the newest class of every registered or adopted type."""
    yield from adoption.adopted_types()
    yield from objects.registered_types()
