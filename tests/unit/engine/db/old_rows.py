# SPDX-License-Identifier: Apache-2.0
"""Add actions and events with past times."""

from __future__ import annotations

import datetime
from typing import Any

from engine.db import clock, database, models
from vobjects_sql.stored import StoredText


def _add(database_: database.Database, model: type[Any], **values: Any) -> str:
    """Add a row; times are ages in days."""
    with database_.writer() as session:
        now = clock.now(session)

        def ago(days: float) -> datetime.datetime:
            return now - datetime.timedelta(days=days)

        if model is models.Event:
            values['timestamp'] = ago(values['timestamp'])
        else:
            values['created_at'] = ago(values['created_at'])
            if values.get('end_time') is not None:
                values['end_time'] = ago(values['end_time']).timestamp()
        row = model(id=models.new_id(), **values)
        session.add(row)
    row_id: str = row.id
    return row_id


def action(
    target: database.Database,
    created: float,
    ended: float | None = None,
    **values: Any,
) -> str:
    """Add an action; ``created`` and ``ended`` are ages in days."""
    if ended is None:
        values.setdefault('status', 'RUNNING')
    values = {
        'name': 'a',
        'action': 'NODE_CHECK',
        'target': models.new_id(),
        'cause': 'RPC Request',
        'timeout': 60,
        'status': 'SUCCEEDED',
        'project': 'ours',
        **values,
    }
    return _add(
        target,
        models.Action,
        created_at=created,
        end_time=ended,
        inputs=StoredText('{}'),
        **values,
    )


def event(target: database.Database, age: float, **values: Any) -> str:
    """Add an event that is ``age`` days old."""
    values = {
        'level': 20,
        'oid': models.new_id(),
        'oname': 'n',
        'otype': 'NODE',
        'action': 'NODE_CHECK',
        'status': 'ACTIVE',
        'project': 'ours',
        **values,
    }
    return _add(target, models.Event, timestamp=age, **values)
