# SPDX-License-Identifier: Apache-2.0
"""The dispatcher ``database``, which stores events for the API."""

from __future__ import annotations

from sqlalchemy import orm

from engine.db import database, models, statements

#: Key in a session's ``info``: the events to store.
_EVENTS = 'vobjects_events'


def dispatch(session: orm.Session, event: models.Event) -> None:
    """Store an event, together with the others of the transaction."""
    events = session.info.setdefault(_EVENTS, [])
    if not events:
        database.before_commit(session, _store)
    events.append(event)


def _store(session: orm.Session) -> None:
    statements.insert(session, session.info.pop(_EVENTS))
