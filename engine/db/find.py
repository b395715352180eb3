# SPDX-License-Identifier: Apache-2.0
"""Finding a row by what a user calls it: ID, name, or the ID's beginning."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import sqlalchemy
from sqlalchemy import orm

from engine.db import models
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

Found = TypeVar('Found')

#: What an identity is taken for.
_Attempt = Literal['id', 'any id', 'name', 'short id']

#: What can be an ID: see ``models.new_id``.
FULL_ID = re.compile(r'[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')

#: What may be the beginning of an ID: as much as clients show, or more.
SHORT_ID = re.compile(r'[0-9a-fA-F]{8}[0-9a-fA-F-]{0,27}')


def find(
    session: orm.Session,
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
    for_share: bool = False,
) -> Row:
    """Return the one row that ``identity`` means.

    :param identity: an ID, else a name (events have none), else the
        beginning of an ID
    :param project: whose rows count
    :param any_project_by_id: whether a full ID may be another project's
    :param for_share: nobody changes or deletes the row before we commit
    :raises vobjects.clustering.errors.ResourceNotFound: there is none
    :raises vobjects.clustering.errors.MultipleChoices: there are several
    """

    def run(
        query: sqlalchemy.Select[Any], values: dict[str, Any]
    ) -> Sequence[Row]:
        return session.scalars(query, values).all()

    whole = _entity(model, for_share=for_share)
    return _one(run, whole, model, identity, project, any_project_by_id)


def find_columns(
    connection: sqlalchemy.Connection,
    query: sqlalchemy.Select[Any],
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
) -> sqlalchemy.Row[Any]:
    """Return what a query selects of the row that ``identity`` means.

    :param query: of the model's table; one that is made once
    :raises vobjects.clustering.errors.ResourceNotFound: as :func:`find`
    :raises vobjects.clustering.errors.MultipleChoices: does
    """

    def run(
        query: sqlalchemy.Select[Any], values: dict[str, Any]
    ) -> Sequence[sqlalchemy.Row[Any]]:
        return connection.execute(query, values).all()

    return _one(run, query, model, identity, project, any_project_by_id)


def id_of(
    connection: sqlalchemy.Connection,
    model: type[Row],
    identity: str,
    project: str | None,
    *,
    any_project_by_id: bool = False,
) -> str:
    """Return the ID of the row that ``identity`` means.

    :raises vobjects.clustering.errors.ResourceNotFound: as :func:`find`
    :raises vobjects.clustering.errors.MultipleChoices: does
    """
    found: str = find_columns(
        connection,
        _id(model),
        model,
        identity,
        project,
        any_project_by_id=any_project_by_id,
    )[0]
    return found


@functools.cache
def _id(model: type[Any]) -> sqlalchemy.Select[Any]:
    return sqlalchemy.select(model.__table__.c.id)


def _one(
    run: Callable[[sqlalchemy.Select[Any], dict[str, Any]], Sequence[Found]],
    query: sqlalchemy.Select[Any],
    model: type[Row],
    identity: str,
    project: str | None,
    any_project_by_id: bool,
) -> Found:
    attempts: list[_Attempt] = []
    if FULL_ID.fullmatch(identity):
        attempts.append('any id' if any_project_by_id else 'id')
    if hasattr(model, 'name'):
        attempts.append('name')
    if SHORT_ID.fullmatch(identity):
        attempts.append('short id')
    for attempt in attempts if is_storable(identity) else ():
        found = run(
            _query(query, model, attempt, project is None),
            {
                'identity': identity,
                'prefix': f'{identity.lower()}%',
                'project': project,
            },
        )
        if len(found) > 1:
            raise errors.MultipleChoices(
                'Multiple results found matching the query criteria'
                f' {exceptions.cut(identity)}. Please be more specific.'
            )
        if found:
            return found[0]
    raise not_found(model, identity)


@functools.cache
def _entity(model: type[Any], *, for_share: bool) -> sqlalchemy.Select[Any]:
    query = sqlalchemy.select(model)
    return query.with_for_update(read=True) if for_share else query


@functools.cache
def _query(
    query: sqlalchemy.Select[Any],
    model: type[Any],
    attempt: _Attempt,
    is_nobodys: bool,
) -> sqlalchemy.Select[Any]:
    """Return a query, made once: that takes longer than to run it.

    :param query: selects from the model's table
    :param is_nobodys: whether the project is None
    """
    # Not the class's attributes: with those it takes the ORM to run it.
    column = model.__table__.c
    identity: Any = sqlalchemy.bindparam('identity')
    if attempt == 'name':
        meant = column.name == identity
    elif attempt == 'short id':
        meant = column.id.like(sqlalchemy.bindparam('prefix'))
    else:
        meant = column.id == identity
    query = query.where(meant).limit(2)
    if attempt == 'any id':
        return query
    if is_nobodys:
        return query.where(column.project.is_(None))
    return query.where(column.project == sqlalchemy.bindparam('project'))


def owned_by(
    model: type[Any], project: str | None
) -> sqlalchemy.ColumnElement[bool]:
    """Return the condition of belonging to a project; None is one, too."""
    # Not IS NOT DISTINCT FROM: PostgreSQL has no index for it.
    if project is None:
        return model.project.is_(None)  # type: ignore[no-any-return]
    return model.project == project  # type: ignore[no-any-return]


def not_found(model: type[Any], identity: str) -> errors.ResourceNotFound:
    """Return the error for something that is not there."""
    # The words are Senlin's, which clients know.
    return errors.ResourceNotFound(
        f'The {kind(model)} {exceptions.cut(identity)} could not be found.'
    )


def kind(model: type[Any]) -> str:
    """Return what users call a row of a table: ``cluster``, ``node``..."""
    return model.__name__.lower()


def is_storable(text: str) -> bool:
    """Tell whether a text can be a name or an ID in the database.

    PostgreSQL has no NUL character, and half a surrogate pair no encoding.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    # MariaDB does not look at blanks at the end of a text.
    return '\0' not in text and not text.endswith(' ')
