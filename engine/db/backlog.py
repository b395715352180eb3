# SPDX-License-Identifier: Apache-2.0
"""Measure the work that all engines have left to do."""

from __future__ import annotations

import dataclasses

import sqlalchemy
from sqlalchemy import orm

from engine.db import actions, clock, models


@dataclasses.dataclass(frozen=True, slots=True)
class Backlog:
    """Counts of unfinished actions and of locks.

    :ivar by_status: number of unfinished actions by status
    :ivar blocked: number of actions waiting for a lock of another action
    :ivar oldest: age in seconds of the oldest READY action that has no delay
    :ivar locks: number of locks on clusters and nodes; several actions can
        share a cluster
    """

    by_status: dict[str, int]
    blocked: int
    oldest: float
    locks: int


def measure(session: orm.Session) -> Backlog:
    """Return the current backlog."""
    action = models.Action
    count = sqlalchemy.func.count()
    found = dict.fromkeys(actions.UNFINISHED, 0)
    for status, number in session.execute(
        sqlalchemy.select(action.status, count)
        .where(action.status.in_(actions.UNFINISHED))
        .group_by(action.status)
    ):
        found[status] = number
    blocked = session.scalar(
        sqlalchemy.select(count).where(action.blocked_on.is_not(None))
    )
    created = session.scalar(
        sqlalchemy.select(sqlalchemy.func.min(action.created_at)).where(
            action.status == 'READY', action.not_before.is_(None)
        )
    )
    now = clock.now(session)
    return Backlog(
        found,
        blocked or 0,
        0.0 if created is None else max(0.0, (now - created).total_seconds()),
        session.scalar(sqlalchemy.select(count).select_from(models.Lock)) or 0,
    )
