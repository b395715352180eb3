# SPDX-License-Identifier: Apache-2.0
"""Shared code for the simulated servers, stacks and containers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine import storage
from engine.providers import base
from vobjects_simulated import state

T = TypeVar('T')

#: Operation -> the required status (None: any), and the new status.
Transitions = Mapping[str, tuple[str | None, str]]


def identity(row: Any) -> dict[str, Any]:
    """Return what the details of servers and containers begin with."""
    return {
        'id': row.id,
        'name': row.name,
        'status': row.status,
        'created': row.created_at.isoformat(),
    }


class ResourceTable(Generic[T]):
    """The resources in one table.

    :cvar model: the table
    :cvar noun: the users' word for a resource, such as ``stack``
    :cvar not_found: the exception for a missing resource
    :cvar transitions: the operations that change the status
    """

    model: type[Any]
    noun: str
    not_found: type[base.NotFound]
    transitions: Transitions = {}

    def __init__(self, cloud: state.Simulation) -> None:
        self.cloud = cloud
        self.database = cloud.database

    # What differs between the tables.

    def described(self, row: Any) -> T:
        """Return a row as the description of a resource."""
        raise NotImplementedError

    def is_here(self, row: Any) -> bool:
        """Return whether a row belongs to this region."""
        return True

    def columns(
        self, session: orm.Session, key: str, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return further columns of a new row.

        :raises engine.providers.base.ProviderError: it cannot be created
        """
        return {}

    def wait_time(self, properties: Mapping[str, Any]) -> float:
        """Return the seconds of an operation in addition to the latency."""
        return 0.0

    def after_change(
        self, session: orm.Session, row: Any, operation: str
    ) -> None:
        """Record an operation in other tables."""

    # The operations.

    def add(
        self, key: str, name: str, status: str, properties: Mapping[str, Any]
    ) -> T:
        """Add a resource, or return the existing one of ``key``."""
        self.work(key, 'create', properties)

        def insert(session: orm.Session) -> T:
            row = self.model(
                node_id=key,
                name=name,
                status=status,
                properties=dict(properties),
                **self.columns(session, key, properties),
            )
            session.add(row)
            session.flush()
            return self.described(row)

        try:
            return self.find(key) or self.database.write(insert)
        except oslo_db_exception.DBDuplicateEntry:
            # Another engine, which took over the node, was faster.
            existing = self.find(key)
            if existing is None:
                raise base.ProviderError(
                    f'the {self.noun} of {key} vanished while it was created'
                ) from None
            return existing

    def find(self, key: str) -> T | None:
        """Return the resource that was created for ``key``, if any."""
        with self.database.reader() as session:
            row = session.scalar(
                sqlalchemy.select(self.model).where(self.model.node_id == key)
            )
            if row is None or not self.is_here(row):
                return None
            return self.described(row)

    def get(self, id_: str) -> T:
        """Return a resource."""
        with self.database.reader() as session:
            return self.described(self.existing(session, id_))

    def change(self, id_: str, operation: str, **values: Any) -> T:
        """Simulate an operation, and set columns."""
        self.work(*self.known(id_, operation))

        def change(session: orm.Session) -> T:
            row = self.existing(session, id_)
            for name, value in values.items():
                setattr(row, name, value)
            row.updated_at = storage.utcnow()
            self.after_change(session, row, operation)
            session.flush()
            return self.described(row)

        return self.database.write(change)

    def operate(
        self, id_: str, operation: str, parameters: Mapping[str, Any]
    ) -> T:
        """Run an operation, which may change the status.

        :raises engine.providers.base.ProviderError: the current status does
            not allow it
        """
        if operation not in self.transitions:
            return self.change(id_, operation)
        before, after = self.transitions[operation]
        with self.database.reader() as session:
            status = self.existing(session, id_).status
        # An engine that died may have done this already.
        if before is not None and status not in (before, after):
            raise base.ProviderError(
                f'cannot {operation} {self.noun} {id_} while it is {status}'
            )
        return self.change(id_, operation, status=after)

    def remove(self, id_: str, operation: str = 'delete') -> None:
        """Delete a resource, if it exists."""
        try:
            known = self.known(id_, operation)
        except base.NotFound:
            return
        self.work(*known)
        self.database.write(
            lambda session: session.execute(
                sqlalchemy.delete(self.model).where(self.model.id == id_)
            )
        )

    def known(
        self, id_: str, operation: str
    ) -> tuple[str, str, Mapping[str, Any]]:
        """Return the arguments of :meth:`work` for a resource."""
        with self.database.reader() as session:
            row = self.existing(session, id_)
            return row.node_id, operation, row.properties

    def existing(self, session: orm.Session, id_: str) -> Any:
        """Return the row of a resource.

        :raises engine.providers.base.NotFound: it does not exist
        """
        row = session.get(self.model, id_, populate_existing=True)
        if row is None or not self.is_here(row):
            raise self.not_found(f'there is no {self.noun} {id_}')
        return row

    def work(
        self, key: str, operation: str, properties: Mapping[str, Any]
    ) -> None:
        """Simulate the delay of an operation, and its random failure."""
        self.cloud.work(
            key,
            operation,
            f'the {self.noun} of node {key}',
            seconds=self.wait_time(properties),
        )
