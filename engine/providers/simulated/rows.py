# SPDX-License-Identifier: Apache-2.0
"""Shared code for the simulated stacks and containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, models
from engine.providers import base
from engine.providers.simulated import state

T = TypeVar('T')

#: Operation -> the required status (None: any), and the new status.
Transitions = Mapping[str, tuple[str | None, str]]


class ResourceTable:
    """The rows of one table.

    :param noun: the users' word for a row, such as ``stack``
    :param not_found: the exception for a missing row
    """

    def __init__(
        self,
        cloud: state.Simulation,
        model: type[models.SimulatedObject],
        noun: str,
        not_found: type[base.NotFound],
    ) -> None:
        self._cloud = cloud
        self._database = cloud.database
        self._model: type[Any] = model
        self._noun = noun
        self._not_found = not_found

    def create(
        self,
        key: str,
        name: str,
        status: str,
        properties: Mapping[str, Any],
        convert: Callable[[Any], T],
    ) -> T:
        """Add a row, or return the existing row of ``key``.

        :param convert: converts the row while its session is open
        """
        self._work(key, 'create')

        def insert(session: orm.Session) -> T:
            row = self._model(
                node_id=key,
                name=name,
                status=status,
                properties=dict(properties),
            )
            session.add(row)
            session.flush()
            return convert(row)

        try:
            return self.find(key, convert) or self._database.write(insert)
        except oslo_db_exception.DBDuplicateEntry:
            # Another engine, which took over the node, was faster.
            existing = self.find(key, convert)
            if existing is None:
                raise base.ProviderError(
                    f'the {self._noun} of {key} vanished while it was created'
                ) from None
            return existing

    def find(self, key: str, convert: Callable[[Any], T]) -> T | None:
        """Return the row that was created for ``key``, if any."""
        with self._database.reader() as session:
            row = session.scalar(
                sqlalchemy.select(self._model).where(
                    self._model.node_id == key
                )
            )
            return None if row is None else convert(row)

    def get(self, id_: str, convert: Callable[[Any], T]) -> T:
        """Return a row.

        :raises engine.providers.base.NotFound: the row does not exist
        """
        with self._database.reader() as session:
            return convert(self._existing(session, id_))

    def change(
        self,
        id_: str,
        operation: str,
        convert: Callable[[Any], T],
        **values: Any,
    ) -> T:
        """Simulate an operation, and set columns.

        :raises engine.providers.base.NotFound: the row does not exist
        """
        self._work(self.get(id_, _key), operation)

        def change(session: orm.Session) -> T:
            row = self._existing(session, id_)
            for name, value in values.items():
                setattr(row, name, value)
            row.updated_at = clock.utcnow()
            session.flush()
            return convert(row)

        return self._database.write(change)

    def operate(
        self,
        id_: str,
        operation: str,
        transitions: Transitions,
        convert: Callable[[Any], T],
    ) -> T:
        """Simulate an operation that may change the status.

        :raises engine.providers.base.ProviderError: the current status does
            not allow it
        """
        if operation not in transitions:
            return self.change(id_, operation, convert)
        before, after = transitions[operation]
        status = self.get(id_, _status)
        # An engine that died may have done this already.
        if before is not None and status not in (before, after):
            raise base.ProviderError(
                f'cannot {operation} {self._noun} {id_} while it is {status}'
            )
        return self.change(id_, operation, convert, status=after)

    def delete(self, id_: str) -> None:
        """Delete a row, if it exists."""
        try:
            key = self.get(id_, _key)
        except base.NotFound:
            return
        self._work(key, 'delete')
        self._database.write(
            lambda session: session.execute(
                sqlalchemy.delete(self._model).where(self._model.id == id_)
            )
        )

    def _existing(self, session: orm.Session, id_: str) -> Any:
        row = session.get(self._model, id_, populate_existing=True)
        if row is None:
            raise self._not_found(f'there is no {self._noun} {id_}')
        return row

    def _work(self, key: str, operation: str) -> None:
        resource = f'the {self._noun} of node {key}'
        self._cloud.work(key, operation, resource)


def _key(row: models.SimulatedObject) -> str:
    return row.node_id


def _status(row: models.SimulatedObject) -> str:
    return row.status
