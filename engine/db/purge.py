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

Model = models.Action | models.Event

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


def count(
    target: database.Database,
    model: type[Model],
    until: datetime.datetime,
    projects: list[str] | None = None,
) -> int:
    """Return how many rows :func:`delete` would delete."""
    query = sqlalchemy.select(sqlalchemy.func.count()).select_from(model)
    with target.reader() as session:
        return session.scalar(query.where(*_old(model, until, projects))) or 0


def _old(
    model: type[Model], until: datetime.datetime, projects: list[str] | None
) -> list[sqlalchemy.ColumnElement[bool]]:
    """Return the conditions for the rows to delete."""
    old = _EVENT.timestamp < until if model is _EVENT else _ended(until)
    return [old, *([] if projects is None else [model.project.in_(projects)])]


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


def delete(
    target: database.Database,
    model: type[Model],
    until: datetime.datetime,
    projects: list[str] | None = None,
) -> Iterator[int]:
    """Delete actions that ended, or events that happened, before a time.

    Actions that an unfinished action waited for are kept, because that action
    will query their results.

    :param projects: the IDs of the projects; None: all
    :returns: an iterator that yields the number of rows in each batch
    """
    condition = sqlalchemy.and_(*_old(model, until, projects))
    time = _EVENT.timestamp if model is _EVENT else _ACTION.created_at
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
