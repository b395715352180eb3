# SPDX-License-Identifier: Apache-2.0
"""Server events that are stored in a table until acknowledged."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import database, statements
from engine.providers import lifecycle


class EventStore:
    """Events from a table; see :class:`engine.providers.lifecycle.Events`.

    :param model: the mapped class, with ``id``, ``server_id`` and ``type``
    """

    def __init__(self, target: database.Database, model: Any) -> None:
        self._database = target
        self._model = model

    def start(self) -> None:
        """Do nothing: other code writes the rows."""

    def stop(self) -> None:
        """Do nothing."""

    def of(self, server_ids: Collection[str]) -> list[lifecycle.Event]:
        """Return the events of some servers, oldest first."""
        found: list[Any] = []
        with self._database.reader() as session:
            for some in statements.portions(server_ids):
                found += session.scalars(
                    sqlalchemy.select(self._model).where(
                        self._model.server_id.in_(some)
                    )
                )
        found.sort(key=lambda row: row.id)
        return [
            lifecycle.Event(str(row.id), row.server_id, row.type)
            for row in found
        ]

    def acknowledge(self, event_ids: Collection[str]) -> None:
        """Delete events."""

        def body(session: orm.Session) -> None:
            for some in statements.portions(event_ids):
                statements.change(
                    session,
                    sqlalchemy.delete(self._model).where(
                        self._model.id.in_([int(id_) for id_ in some])
                    ),
                )

        if event_ids:
            self._database.write(body)
