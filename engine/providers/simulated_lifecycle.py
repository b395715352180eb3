# SPDX-License-Identifier: Apache-2.0
"""What the simulated cloud tells of its servers: rows of a table.

Whoever reports an event forgets those that nobody wanted for so long.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, statements
from engine.db import simulation as tables
from engine.providers import lifecycle, simulation

#: Seconds that an event is kept.
KEPT = 3600

#: What an operation on a server is told as.
TYPES: Mapping[str, str] = {
    'stop': 'compute.instance.power_off.end',
    'pause': 'compute.instance.pause.end',
}


class Events:
    """See :class:`engine.providers.lifecycle.Events`."""

    def __init__(self, cloud: simulation.Simulation) -> None:
        self._database = cloud.database

    def of(self, server_ids: Collection[str]) -> list[lifecycle.Event]:
        """Return what happened to some servers, in its order."""
        found: list[tables.Event] = []
        with self._database.reader() as session:
            for some in statements.portions(server_ids):
                found += session.scalars(
                    sqlalchemy.select(tables.Event).where(
                        tables.Event.server_id.in_(some)
                    )
                )
        found.sort(key=lambda row: row.id)
        return [
            lifecycle.Event(str(row.id), row.server_id, row.type)
            for row in found
        ]

    def acknowledge(self, event_ids: Collection[str]) -> None:
        """Have events told no more."""

        def body(session: orm.Session) -> None:
            for some in statements.portions(event_ids):
                statements.change(
                    session,
                    sqlalchemy.delete(tables.Event).where(
                        tables.Event.id.in_([int(id_) for id_ in some])
                    ),
                )

        if event_ids:
            self._database.write(body)


def report(session: orm.Session, server_id: str, operation: str) -> None:
    """Tell of an operation, if it is of a kind that is told."""
    type_ = TYPES.get(operation)
    if type_ is None:
        return
    since = clock.now(session) - datetime.timedelta(seconds=KEPT)
    statements.change(
        session,
        sqlalchemy.delete(tables.Event).where(tables.Event.created_at < since),
    )
    session.add(tables.Event(server_id=server_id, type=type_))
