# SPDX-License-Identifier: Apache-2.0
"""Recorded responses of calls that changed something.

The record is written in the transaction of the change. When an engine dies
before the client receives its response, the engine that handles the retry
finds both the change and the record, or neither. If two engines run the same
call at the same time, the primary key makes one transaction fail.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models, statements
from vobjects.objects.manifest import Manifest
from vobjects.rpc import call_state, fleet_types, serializer

#: Seconds to keep a record: longer than any client waits for a response, and
#: longer than a broker keeps a message that was read.
RETENTION = 600

#: The text is that of the column's type, already serialized.
_RECORD = sqlalchemy.insert(statements.table(models.RecordedCall)).values(
    answered=sqlalchemy.bindparam('text', type_=sqlalchemy.Text())
)


def record(
    session: orm.Session, call: str, response: Any, manifest: Manifest | None
) -> None:
    """Record the response of a call, as part of the transaction.

    :param response: a resource, a list of them, or None
    :param manifest: the object versions that every engine reads; None: the
        versions of this release
    :raises oslo_db.exception.DBDuplicateEntry: the call has a record already
    """
    text = call_state.record_of(response, manifest)
    session.connection().execute(_RECORD, {'id': call, 'text': text})


def recall(session: orm.Session, call: str) -> fleet_types.Record | None:
    """Return the recorded response of a call, or None if there is none."""
    row = session.get(models.RecordedCall, call)
    if row is None:
        return None
    answered: fleet_types.Record = serializer.from_wire(row.answered)
    return answered


def delete_old(session: orm.Session, retention: float = RETENTION) -> None:
    """Delete records that are older than ``kept`` seconds."""
    oldest = clock.now(session) - datetime.timedelta(seconds=retention)
    session.execute(
        sqlalchemy.delete(models.RecordedCall).where(
            models.RecordedCall.created_at < oldest
        )
    )
