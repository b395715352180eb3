# SPDX-License-Identifier: Apache-2.0
"""Delete old actions and events in small batches.

Each batch is a separate transaction. It finds its rows without locking them,
and deletes them by primary key. Other transactions wait for at most one batch.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, database, models, statements
from vobjects.clustering import consts

#: Maximum number of rows that one transaction deletes.
BATCH = 500

_ACTION = models.Action
_EVENT = models.Event


def cutoff_time(target: database.Database, age: float) -> datetime.datetime:
    """Return the database's time minus ``age`` seconds.

    Returns the earliest possible datetime if the age is too large.
    """
    with target.reader() as session:
        now = clock.now(session)
    try:
        return now - datetime.timedelta(seconds=age)
    except OverflowError:
        return datetime.datetime.min.replace(tzinfo=datetime.UTC)


def delete_actions(
    target: database.Database,
    until: datetime.datetime,
    projects: list[str] | None = None,
) -> Iterator[int]:
    """Delete actions that ended before a time.

    Actions that an unfinished action waited for are kept, because that action
    will query their results.

    :param projects: the IDs of the projects; None: all
    :returns: an iterator that yields the number of rows in each batch
    """
    return _delete(
        target, _ACTION, _ACTION.created_at, _ended(until), projects
    )


def delete_events(
    target: database.Database,
    until: datetime.datetime,
    projects: list[str] | None = None,
) -> Iterator[int]:
    """Delete events that happened before a time.

    :param projects: the IDs of the projects; None: all
    :returns: an iterator that yields the number of rows in each batch
    """
    older = _EVENT.timestamp < until
    return _delete(target, _EVENT, _EVENT.timestamp, older, projects)


def count(
    target: database.Database,
    until: datetime.datetime,
    projects: list[str] | None = None,
) -> tuple[int, int]:
    """Return how many actions and events would be deleted."""
    with target.reader() as session:
        counts = [
            session.scalar(
                sqlalchemy.select(sqlalchemy.func.count())
                .select_from(model)
                .where(old, *_of(model, projects))
            )
            for model, old in (
                (_ACTION, _ended(until)),
                (_EVENT, _EVENT.timestamp < until),
            )
        ]
    return counts[0] or 0, counts[1] or 0


def _ended(until: datetime.datetime) -> sqlalchemy.ColumnElement[bool]:
    waiting = orm.aliased(_ACTION)
    dependency = models.ActionDependency
    is_waited_for = (
        sqlalchemy.exists()
        .where(
            dependency.depended == _ACTION.id,
            dependency.dependent == waiting.id,
            waiting.status.not_in(consts.ACTION_ENDS),
        )
        .correlate(_ACTION)
    )
    return sqlalchemy.and_(
        # The end time decides; the earlier creation time has an index.
        _ACTION.created_at < until,
        _ACTION.end_time < until.timestamp(),
        _ACTION.status.in_(consts.ACTION_ENDS),
        ~is_waited_for,
    )


def _of(
    model: type[models.Action | models.Event], projects: list[str] | None
) -> list[sqlalchemy.ColumnElement[bool]]:
    return [] if projects is None else [model.project.in_(projects)]


def _delete(
    target: database.Database,
    model: type[models.Action | models.Event],
    time: orm.InstrumentedAttribute[datetime.datetime],
    old: sqlalchemy.ColumnElement[bool],
    projects: list[str] | None,
) -> Iterator[int]:
    condition = sqlalchemy.and_(old, *_of(model, projects))
    last_deleted: tuple[datetime.datetime, str] | None = None
    while True:
        query = sqlalchemy.select(time, model.id).where(condition)
        if last_deleted is not None:
            # Skip the deleted rows, which databases clean up later.
            query = query.where(
                sqlalchemy.or_(
                    time > last_deleted[0],
                    sqlalchemy.and_(
                        time == last_deleted[0], model.id > last_deleted[1]
                    ),
                )
            )
        with target.reader() as session:
            rows = session.execute(
                query.order_by(time, model.id).limit(BATCH)
            ).all()
        if not rows:
            return
        last_deleted = (rows[-1][0], rows[-1][1])
        # The type keeps an ID that is no text, which SQLite stores, from
        # deciding that of the others.
        ids = sqlalchemy.bindparam(
            'ids',
            [id_ for _, id_ in rows],
            type_=model.id.type,
            expanding=True,
        )
        statement = sqlalchemy.delete(model).where(model.id.in_(ids))

        def body(
            session: orm.Session, statement: sqlalchemy.Delete = statement
        ) -> int:
            return statements.change(session, statement)

        yield target.write(body)
