# SPDX-License-Identifier: Apache-2.0
"""What a build speaks: ``{type name: newest version}``, and its digest.

A manifest is a mapping of strings to strings, as oslo.versionedobjects passes
it to ``obj_to_primitive(version_manifest=...)``. The *minimum* over the live
peers is the cap that a mixed fleet can speak.
"""

from __future__ import annotations

import functools
import hashlib
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vobjects import base, exceptions
from vobjects.versions import Version

#: Types a manifest may list: far above any service, and it bounds what a
#: peer can make us keep.
MAX_TYPES = 10_000


class Manifest(Mapping[str, str]):
    """An immutable manifest; equal content is equal and hashes equal.

    :param versions: type name -> version
    :raises vobjects.exceptions.InvalidVersion: for a version that is none
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
        """32 hexadecimal digits that name the content."""
        return self._digest

    def version(self, name: str) -> Version | None:
        """Return a type's version as numbers; None when it is not there."""
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
        """Write the manifest as a JSON file, one type a line."""
        path.write_text(json.dumps(self._versions, indent=1) + '\n')

    @classmethod
    def load(cls, path: pathlib.Path) -> Manifest:
        """Read what :meth:`dump` wrote.

        :raises OSError: the file cannot be read
        :raises vobjects.exceptions.VobjectsError: it holds no manifest
        """
        try:
            content = json.loads(path.read_text())
        except ValueError as error:
            raise exceptions.VobjectsError(
                f'{path} is not JSON: {error}'
            ) from None
        return cls.parse(content, str(path))

    @classmethod
    def parse(cls, content: Any, where: str) -> Manifest:
        """Check data that came from outside.

        :param where: for messages
        :raises vobjects.exceptions.VobjectsError: it is no manifest
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


#: What this process speaks instead of what it was built with.
_stood_in: Manifest | None = None


def stand_in(spoken: Manifest | None) -> Manifest | None:
    """Have this process speak as an older build would.

    :param spoken: see :func:`emulated`; None: as it was built
    :returns: what it was before
    """
    global _stood_in
    before, _stood_in = _stood_in, spoken
    return before


def stood_in() -> Manifest | None:
    """Return what :func:`stand_in` was given."""
    return _stood_in


def own() -> Manifest:
    """Return what this process speaks.

    That is every registered type at its newest, unless it stands in for an
    older build.
    """
    if _stood_in is not None:
        return _stood_in
    return Manifest({cls.obj_name(): cls.VERSION for cls in _types()})


def minimum(manifests: Iterable[Mapping[str, str]]) -> Manifest:
    """Return what all of them speak: common types, each at its lowest."""
    lowest: dict[str, Version] | None = None
    for manifest in manifests:
        versions = {n: Version.parse(v) for n, v in manifest.items()}
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
def at_microversion(microversion: Version) -> Manifest:
    """Return the object versions that a microversion shows.

    Types are expected to be registered before the first request.
    """
    return Manifest(
        {
            cls.obj_name(): version
            for cls in _types()
            if (version := cls.version_at(microversion)) is not None
        }
    )


def _types() -> list[type[base.Object]]:
    return list(base.registered_types())
