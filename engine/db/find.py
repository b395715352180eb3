# SPDX-License-Identifier: Apache-2.0
"""Find a row by its ID, its name or the beginning of its ID."""

from __future__ import annotations

import datetime
import functools
import re
from typing import Any, Literal, TypeVar

import sqlalchemy
from sqlalchemy import orm

from engine.db import clock, models
from vobjects import exceptions
from vobjects.clustering import errors

Row = TypeVar(
    'Row',
    models.Profile,
    models.Cluster,
    models.Node,
    models.Action,
    models.Event,
    models.Policy,
    models.Receiver,
)

#: How to interpret an identity.
_Attempt = Literal['id', 'any id', 'name', 'short id']

#: Format of a full ID; see ``models.new_id``.
FULL_ID = re.compile(r'[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')

#: Beginning of an ID, with at least the 8 characters that clients show.
SHORT_ID = re.compile(r'[0-9a-fA-F]{8}[0-9a-fA-F-]{0,27}')


def find(
    session: orm.Session,
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
) -> Row:
    """Return the row that ``identity`` refers to.

    :param identity: an ID, a name (events have none) or the beginning of an
        ID, tried in this order
    :param project: the project to search
    :param any_project_by_id: whether a full ID may belong to another project
    :raises vobjects.clustering.errors.ResourceNotFound: no row matches
    :raises vobjects.clustering.errors.MultipleChoices: several rows match
    """
    found: Row = find_columns(
        session,
        _entity_query(model),
        model,
        identity,
        project,
        any_project_by_id=any_project_by_id,
    )[0]
    return found


def find_shared_now(
    session: orm.Session,
    model: type[Row],
    identity: str,
    project: str | None,
) -> tuple[Row, datetime.datetime]:
    """Return the row that ``identity`` refers to, and the current time.

    The row is locked against changes and deletion until the transaction ends.

    :raises vobjects.clustering.errors.ResourceNotFound: no row matches
    :raises vobjects.clustering.errors.MultipleChoices: several rows match
    """
    query = _shared_query(model)
    found: Any = find_columns(session, query, model, identity, project)
    return found[0], found[1]


def find_columns(
    connection: sqlalchemy.Connection | orm.Session,
    query: sqlalchemy.Select[Any],
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
) -> sqlalchemy.Row[Any]:
    """Return columns of the row that ``identity`` refers to.

    :param query: selects from the model's table; create it once, because
        statements are cached by it
    :raises vobjects.clustering.errors.ResourceNotFound: no row matches
    :raises vobjects.clustering.errors.MultipleChoices: several rows match
    """
    attempts: list[_Attempt] = []
    if FULL_ID.fullmatch(identity):
        attempts.append('any id' if any_project_by_id else 'id')
    if hasattr(model, 'name'):
        attempts.append('name')
    if SHORT_ID.fullmatch(identity):
        attempts.append('short id')
    for attempt in attempts if is_storable(identity) else ():
        rows = connection.execute(
            _query(query, model, attempt, project is None),
            {
                'identity': (
                    identity if attempt == 'name' else identity.lower()
                ),
                'prefix': f'{identity.lower()}%',
                'project': project,
            },
        ).all()
        if len(rows) > 1:
            raise errors.MultipleChoices(
                'Multiple results found matching the query criteria'
                f' {exceptions.cut(identity)}. Please be more specific.'
            )
        if rows:
            return rows[0]
    raise not_found(model, identity)


def id_of(
    connection: sqlalchemy.Connection,
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
) -> str:
    """Return the ID of the row that ``identity`` refers to.

    :raises vobjects.clustering.errors.ResourceNotFound: no row matches
    :raises vobjects.clustering.errors.MultipleChoices: several rows match
    """
    id_: str = find_columns(
        connection,
        _id_query(model),
        model,
        identity,
        project,
        any_project_by_id=any_project_by_id,
    )[0]
    return id_


@functools.cache
def _id_query(model: type[Any]) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(model.__table__.c.id)


@functools.cache
def _entity_query(model: type[Any]) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(model)


@functools.cache
def _shared_query(model: type[Any]) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(model, clock.utcnow()).with_for_update(read=True)


@functools.cache
def _query(
    query: sqlalchemy.Select[Any],
    model: type[Any],
    attempt: _Attempt,
    without_project: bool,
) -> sqlalchemy.Select[Any]:
    """Return the query of an attempt.

    It is cached, because building it takes longer than running it.

    :param query: selects from the model's table
    :param without_project: whether the project is None
    """
    # Table columns, because a statement with mapped attributes needs the ORM.
    column = model.__table__.c
    identity: Any = sqlalchemy.bindparam('identity')
    if attempt == 'name':
        condition = column.name == identity
    elif attempt == 'short id':
        condition = column.id.like(sqlalchemy.bindparam('prefix'))
    else:
        condition = column.id == identity
    query = query.where(condition).limit(2)
    if attempt == 'any id':
        return query
    if without_project:
        return query.where(column.project.is_(None))
    return query.where(column.project == sqlalchemy.bindparam('project'))


def owned_by(
    model: type[Any], project: str | None
) -> sqlalchemy.ColumnElement[bool]:
    """Return the condition that a row belongs to a project or to none."""
    # Not IS NOT DISTINCT FROM: PostgreSQL cannot use an index for it.
    if project is None:
        return model.project.is_(None)  # type: ignore[no-any-return]
    return model.project == project  # type: ignore[no-any-return]


def not_found(model: type[Any], identity: str) -> errors.ResourceNotFound:
    """Return the error for a missing resource."""
    # The wording is Senlin's, which clients know.
    return errors.ResourceNotFound(
        f'The {resource_name(model)} {exceptions.cut(identity)} could not be'
        ' found.'
    )


def resource_name(model: type[Any]) -> str:
    """Return the API's name for a row of a table, such as ``cluster``."""
    return model.__name__.lower()


def is_storable(text: str) -> bool:
    """Tell whether a text can be a name or an ID in the database.

    PostgreSQL cannot store NUL characters, and lone surrogates cannot be
    encoded.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    # MariaDB ignores trailing blanks in comparisons.
    return '\0' not in text and not text.endswith(' ')
