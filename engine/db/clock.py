# SPDX-License-Identifier: Apache-2.0
"""The database's clock, which all hosts share.

Times that one host writes and another compares come from this clock, so that
the clocks of the engines may differ.
"""

from __future__ import annotations

import datetime

import sqlalchemy
from sqlalchemy import orm

from vobjects_sql.columns import utcnow

__all__ = ['now', 'utcnow']

_NOW = sqlalchemy.select(utcnow())


def now(session: orm.Session) -> datetime.datetime:
    """Return the database's current time as an aware UTC datetime."""
    value: datetime.datetime | None = session.scalar(_NOW)
    assert value is not None
    return value
