# SPDX-License-Identifier: Apache-2.0
"""How much there is to do, for all engines together."""

from __future__ import annotations

import dataclasses

import sqlalchemy
from sqlalchemy import orm

from engine.db import actions, clock, models


@dataclasses.dataclass(frozen=True, slots=True)
class Backlog:
    """What has not ended.

    :ivar by_status: status -> actions in it
    :ivar blocked: those of them that wait for another's lock
    :ivar oldest: age in seconds of the oldest action that could be claimed
    :ivar locks: clusters and nodes that are locked, once for each action
    """

    by_status: dict[str, int]
    blocked: int
    oldest: float
    locks: int


def measure(session: orm.Session) -> Backlog:
    """Return what there is to do."""
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
