# SPDX-License-Identifier: Apache-2.0
"""The text of a stored object, which is read on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions, objects
from vobjects.objects.codec import json_text
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import serializer
from vobjects_sql.stored import text as texts

T = TypeVar('T', bound=objects.Object)


class StoredTooNew(exceptions.VobjectsError):
    """A stored object is newer than this process.

    :ivar versions: the versions in the row, such as ``Backup 1.2,Disk 1.0``
    """

    def __init__(
        self,
        versions: str,
        release: str,
        supported: Mapping[str, str] | None = None,
    ) -> None:
        self.versions = versions
        pairs = texts.parse_versions(versions)
        newer = [
            f'{name} {version} (this release: {newest or "none"})'
            for name, version, newest in texts.newer(
                pairs, local() if supported is None else supported
            )
        ]
        super().__init__(
            f'A row contains {", ".join(newer) or versions}, which a newer'
            f' release than {release} has stored. Start a release that has'
            ' this version; before you roll back an upgrade, run "vobjects'
            ' fleet can-roll-back".'
        )


class StoredText(Generic[T]):
    """A stored object, as its text.

    A process can hold, list and skip rows of any age, and learns in
    :meth:`read` that an object is too new.

    :param text: the stored text
    :param release: the release of this process, for error messages
    """

    __slots__ = ('_release', '_text')

    def __init__(self, text: str, release: str = 'this one') -> None:
        self._text = text
        self._release = release

    @classmethod
    def of(cls, value: T, versions: Mapping[str, str] | None) -> StoredText[T]:
        """Write an object.

        :param versions: the cap; None: the newest versions
        :raises vobjects.exceptions.ConversionError: the cap cannot hold a
            value of the object
        """
        primitive = serializer.to_wire(value, versions)
        found = texts.versions_of_primitive(primitive)
        text = json_text.dumps(primitive).decode()
        return cls(texts.with_versions(text, found))

    def __str__(self) -> str:
        """Return the text."""
        return self._text

    @property
    def versions(self) -> str:
        """The versions in the text, such as ``Backup 1.1,Disk 1.0``."""
        return texts.versions_in_text(self._text)

    def primitive(self) -> Any:
        """Return the primitive of whatever version, unconverted.

        :raises ValueError: the text is no JSON
        """
        return json_text.loads(self._text.encode())

    def read(self, supported: Manifest | None = None) -> T:
        """Return the object in the newest version.

        :param supported: read as a process with this manifest; default: all
            versions of this process
        :raises StoredTooNew: a newer release has stored the object
        :raises ValueError: the text is no JSON
        """
        try:
            return cast(
                T, serializer.from_bytes(self._text, supported=supported)
            )
        except (
            ovo_exception.IncompatibleObjectVersion,
            ovo_exception.UnsupportedObjectError,
        ):
            raise StoredTooNew(
                self.versions, self._release, supported
            ) from None
