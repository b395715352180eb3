# SPDX-License-Identifier: Apache-2.0
"""Finding a row by what a user calls it: ID, name, or the ID's beginning."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
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
    attempts: list[_Attempt] = []
    if FULL_ID.fullmatch(identity):
        attempts.append('any id' if any_project_by_id else 'id')
    if hasattr(model, 'name'):
        attempts.append('name')
    if SHORT_ID.fullmatch(identity):
        attempts.append('short id')
    for attempt in attempts if is_storable(identity) else ():
        query = _query(model, attempt, project is None, for_share)
        found: Sequence[Row] = session.scalars(
            query,
            {
                'identity': identity,
                'prefix': f'{identity.lower()}%',
                'project': project,
            },
        ).all()
        if len(found) > 1:
            raise errors.MultipleChoices(
                f'{exceptions.cut(identity)} fits more than one {kind(model)};'
                ' give the ID'
            )
        if found:
            return found[0]
    raise not_found(model, identity)


@functools.cache
def _query(
    model: type[Any], attempt: _Attempt, is_nobodys: bool, for_share: bool
) -> sqlalchemy.Select[Any]:
    """Return a query, made once: that takes longer than to run it.

    :param is_nobodys: whether the project is None
    """
    identity: Any = sqlalchemy.bindparam('identity')
    if attempt == 'name':
        meant = model.name == identity
    elif attempt == 'short id':
        meant = model.id.like(sqlalchemy.bindparam('prefix'))
    else:
        meant = model.id == identity
    query = sqlalchemy.select(model).where(meant).limit(2)
    if for_share:
        query = query.with_for_update(read=True)
    if attempt == 'any id':
        return query
    if is_nobodys:
        return query.where(owned_by(model, None))
    return query.where(model.project == sqlalchemy.bindparam('project'))


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
