# SPDX-License-Identifier: Apache-2.0
"""What calls were answered that changed something.

A record is written in the transaction of the change itself. So whoever is
asked once more, because an engine died before its answer was heard, finds
either both or none; and of two that do the same at the same time, one fails
by the primary key.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements
from vobjects import serializer
from vobjects.manifest import Manifest
from vobjects.rpc import objects

#: Seconds for which a call is remembered: longer than anybody waits for the
#: answer of one, and than a broker keeps a message that was read.
KEPT = 600


def record(
    session: orm.Session, call: str, answer: Any, spoken: Manifest | None
) -> None:
    """Record what a call is answered, if the transaction commits.

    :param answer: a resource, a list of them, or None
    :param spoken: what every engine reads; None: what we do
    :raises oslo_db.exception.DBDuplicateEntry: it was recorded before
    """
    answered = objects.Answered(content=serializer.to_wire(answer, spoken))
    # Who does not speak it never looks into this table.
    readers = spoken if spoken and answered.obj_name() in spoken else None
    statements.insert(
        session,
        [models.Call(id=call, answered=serializer.to_wire(answered, readers))],
    )


def recall(session: orm.Session, call: str) -> objects.Answered | None:
    """Return what a call was answered; None: it has changed nothing."""
    found = session.get(models.Call, call)
    if found is None:
        return None
    answered: objects.Answered = serializer.from_wire(found.answered)
    return answered


def forget(session: orm.Session, kept: float = KEPT) -> None:
    """Remove records that are older than some seconds."""
    past = clock.now(session) - datetime.timedelta(seconds=kept)
    session.execute(
        sqlalchemy.delete(models.Call).where(models.Call.created_at < past)
    )
