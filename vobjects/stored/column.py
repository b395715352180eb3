# SPDX-License-Identifier: Apache-2.0
"""A column type whose values are versioned objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import sqlalchemy
from oslo_versionedobjects import exception as ovo_exception
from sqlalchemy import exc, types
from sqlalchemy.dialects import mysql

from vobjects import exceptions, objects
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import serializer
from vobjects.rpc.fleet import View
from vobjects.stored import text

T = TypeVar('T', bound=objects.Object)

#: Returns the versions in which to store; None: the newest versions.
Cap = Callable[[], Mapping[str, str] | None]


class StoredTooNew(exceptions.VobjectsError):
    """A stored object is newer than this process.

    :ivar versions: the versions in the row, such as ``Backup 1.2,Disk 1.0``
    """

    def __init__(self, versions: str, release: str) -> None:
        self.versions = versions
        pairs = text.parse_versions(versions)
        newer = [
            f'{name} {version} (this release: {newest or "none"})'
            for name, version, newest in text.newer(pairs, local())
        ]
        super().__init__(
            f'A row contains {", ".join(newer) or versions}, which a newer'
            f' release than {release} has stored. Start a release that has'
            ' this version; before you roll back an upgrade, run "vobjects'
            ' fleet can-roll-back".'
        )


class CurrentCap:
    """The versions that every live server of a topic can read.

    Pass :meth:`update` as ``on_view`` to the
    :class:`~vobjects.rpc.server_process.ServerProcess`, and the object to
    :class:`StoredObject`.

    :param topic: the topic of the processes that read the rows
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._view: View | None = None

    def update(self, view: View) -> None:
        """Take a new view of the fleet."""
        self._view = view

    def __call__(self) -> Manifest:
        """Return the cap; without a live server, the versions of this build.

        :raises vobjects.exceptions.FleetError: no view is known yet
        """
        if self._view is None:
            raise exceptions.FleetError(
                'no view of the fleet is known: an object can be stored only'
                f' after a ServerProcess of {self._topic} has started with'
                ' on_view=cap.update'
            )
        return self._view.cap(self._topic) or local()


class StoredObject(types.TypeDecorator[T]):
    """A versioned object, stored as JSON text.

    It is written in the version that ``cap`` returns, and read as an object of
    the newest version. The database does not see changes inside an object:
    assign a changed copy (``obj_clone()``).

    :param cls: type of the objects; subclasses are accepted
    :param cap: returns the versions to store, usually a :class:`CurrentCap`;
        if it returns None, the newest versions are stored
    :param release: the release of this process, for error messages
    :raises vobjects.exceptions.ConversionError: when a row is written: the cap
        cannot hold a value of the object
    :raises StoredTooNew: when a row is read: a newer release has stored it
    """

    impl = sqlalchemy.Text().with_variant(
        mysql.MEDIUMTEXT(), 'mysql', 'mariadb'
    )
    cache_ok = True

    def __init__(
        self, cls: type[T], cap: Cap, release: str = 'this one'
    ) -> None:
        super().__init__()
        self.cls = cls
        self.cap = cap
        self.release = release

    def process_bind_param(self, value: T | None, dialect: Any) -> str | None:
        """Write an object at the cap; None becomes NULL."""
        if value is None:
            return None
        if not isinstance(value, self.cls):
            raise TypeError(
                f'{exceptions.cut(value)} is no {self.cls.obj_name()}'
            )
        try:
            written = serializer.to_bytes(value, self.cap())
        except exceptions.VobjectsError as error:
            raise _not_wrapped(error) from None
        return text.with_versions(written.decode())

    def process_result_value(
        self, value: str | None, dialect: Any
    ) -> T | None:
        """Read an object of any version up to this build's; None for NULL."""
        if value is None:
            return None
        try:
            return cast(T, serializer.from_bytes(value))
        except (
            ovo_exception.IncompatibleObjectVersion,
            ovo_exception.UnsupportedObjectError,
        ):
            raise StoredTooNew(
                text.versions_in_text(value), self.release
            ) from None


def _not_wrapped(error: exceptions.VobjectsError) -> Exception:
    """Return the same error, which SQLAlchemy does not hide in its own.

    Its class has the same name, so that an RPC client receives the original.
    """
    cls = type(error)
    unwrapped = type(
        cls.__name__,
        (cls, exc.DontWrapMixin),
        {'__module__': cls.__module__, '__doc__': cls.__doc__},
    )
    raised: Exception = Exception.__new__(unwrapped)
    raised.args = error.args
    vars(raised).update(vars(error))
    return raised
