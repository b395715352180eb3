# SPDX-License-Identifier: Apache-2.0
"""The events of a cloud about its servers, and their storage."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import database, health, statements


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """An event about a server.

    :ivar id: the ID of the event
    :ivar type: a type of Nova, such as ``compute.instance.power_off.end``
    """

    id: str
    server_id: str
    type: str


#: Types of events after which a server no longer works.
FAILURES = (
    'compute.instance.delete.end',
    'compute.instance.pause.end',
    'compute.instance.power_off.end',
    'compute.instance.rebuild.error',
    'compute.instance.shutdown.end',
    'compute.instance.soft_delete.end',
)


class EventStore:
    """The events of a cloud's servers, in a table.

    Every engine receives each event, until one of them acknowledges it.

    :param model: the mapped class, with ``id``, ``server_id`` and ``type``
    """

    def __init__(self, target: database.Database, model: Any) -> None:
        self._database = target
        self._model = model

    def start(self) -> None:
        """Start receiving events in the background, if necessary."""

    def stop(self) -> None:
        """Stop receiving events."""

    def add(self, session: orm.Session, server_id: str, type_: str) -> None:
        """Add an event in a transaction, and delete old ones."""
        health.delete_old_events(session, self._model)
        session.add(self._model(server_id=server_id, type=type_))

    def of(self, server_ids: Collection[str]) -> list[Event]:
        """Return the events of some servers, oldest first."""
        rows: list[Any] = []
        with self._database.reader() as session:
            for batch in statements.portions(server_ids):
                rows += session.scalars(
                    sqlalchemy.select(self._model).where(
                        self._model.server_id.in_(batch)
                    )
                )
        rows.sort(key=lambda row: row.id)
        return [Event(str(row.id), row.server_id, row.type) for row in rows]

    def acknowledge(self, event_ids: Collection[str]) -> None:
        """Acknowledge events, so that they are not returned again."""

        def body(session: orm.Session) -> None:
            for batch in statements.portions(event_ids):
                statements.change(
                    session,
                    sqlalchemy.delete(self._model).where(
                        self._model.id.in_([int(id_) for id_ in batch])
                    ),
                )

        if event_ids:
            self._database.write(body)
