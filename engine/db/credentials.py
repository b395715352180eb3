# SPDX-License-Identifier: Apache-2.0
"""Credentials of receivers: kept apart, so that they outlive their receiver.

However a receiver goes, with its cluster perhaps, its credential stays until
it has been revoked where it is valid. So do others that are of no more use
(:mod:`engine.db.trusts`): no receiver has their ID.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import models, statements

TABLE = models.ReceiverCredential

#: Rows that are looked at together.
BATCH = 100


def add(session: orm.Session, receiver_id: str, sealed: str) -> None:
    """Keep the credential of a receiver."""
    session.add(TABLE(receiver_id=receiver_id, sealed=sealed))


def get(session: orm.Session, receiver_id: str) -> str | None:
    """Return the credential of a receiver, sealed."""
    row = session.get(TABLE, receiver_id)
    return row.sealed if row else None


def left(session: orm.Session, after: str) -> Sequence[str]:
    """Return the IDs of some receivers that are gone and have credentials.

    :param after: the ID that the batch before ended with
    """
    receiver = sqlalchemy.select(models.Receiver.id).where(
        models.Receiver.id == TABLE.receiver_id
    )
    query = (
        sqlalchemy.select(TABLE.receiver_id)
        .where(TABLE.receiver_id > after, ~receiver.exists())
        .order_by(TABLE.receiver_id)
        .limit(BATCH)
    )
    return session.scalars(query).all()


def forget(session: orm.Session, receiver_id: str) -> None:
    """Drop a credential that is revoked."""
    statements.change(
        session,
        sqlalchemy.delete(TABLE).where(TABLE.receiver_id == receiver_id),
    )


def renew(
    session: orm.Session,
    model: Any,
    after: str,
    changed: Callable[[str], str],
) -> tuple[str, int]:
    """Seal some credentials anew.

    :param model: the class of the table, whose column ``sealed`` has them
    :param after: the ID that the batch before ended with
    :param changed: returns a sealed text sealed with another key
    :returns: the last ID, and how many there were
    """
    (key,) = sqlalchemy.inspect(model).primary_key
    query = (
        sqlalchemy.select(model)
        .where(key > after)
        .order_by(key)
        .limit(BATCH)
        .with_for_update()
    )
    rows = session.scalars(query).all()
    for row in rows:
        row.sealed = changed(row.sealed)
    return (getattr(rows[-1], key.key) if rows else after), len(rows)
