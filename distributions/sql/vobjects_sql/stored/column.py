# SPDX-License-Identifier: Apache-2.0
"""Column types whose values are versioned objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import exc, types
from sqlalchemy.dialects import mysql

from vobjects import exceptions, objects
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc.fleet import View
from vobjects_sql.stored.value import StoredText

T = TypeVar('T', bound=objects.Object)

#: Returns the versions in which to store; None: the newest versions.
Cap = Callable[[], Mapping[str, str] | None]


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
    :raises vobjects_sql.stored.value.StoredTooNew: when a row is read: a newer
        release has stored it
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
            return str(StoredText.of(value, self.cap()))
        except exceptions.VobjectsError as error:
            raise _not_wrapped(error) from None

    def process_result_value(
        self, value: str | None, dialect: Any
    ) -> T | None:
        """Read an object of any version up to this build's; None for NULL."""
        if value is None:
            return None
        stored: StoredText[T] = StoredText(value, self.release)
        return stored.read()


class LazyStoredObject(types.TypeDecorator[StoredText[T]]):
    """The column of a :class:`StoredObject`, read as :class:`StoredText`.

    A query of rows succeeds, whatever release has stored them. Assign the
    result of ``StoredText.of``. Both types store the same text, so a column
    may change from one to the other.

    :param release: the release of this process, for error messages
    """

    impl = StoredObject.impl
    cache_ok = True

    def __init__(self, release: str = 'this one') -> None:
        super().__init__()
        self.release = release

    def process_bind_param(
        self, value: StoredText[T] | None, dialect: Any
    ) -> str | None:
        """Return the text; None becomes NULL."""
        if value is None:
            return None
        if not isinstance(value, StoredText):
            raise TypeError(
                f'{exceptions.cut(value)} is no StoredText; use StoredText.of'
            )
        return str(value)

    def process_result_value(
        self, value: Any, dialect: Any
    ) -> StoredText[T] | None:
        """Return the text, unread; None for NULL."""
        # SQLite stores numbers and bytes in a column of text, too.
        return None if value is None else StoredText(str(value), self.release)


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
