# SPDX-License-Identifier: Apache-2.0
"""Credentials of receivers, stored separately to outlive them.

A receiver can be deleted in several ways, for example with its cluster. Its
credential stays until it has been revoked in Keystone. The table also holds
other credentials to revoke (:mod:`engine.db.trusts`); no receiver has their
ID.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import models, statements

TABLE = models.ReceiverCredential

#: Maximum number of rows to process together.
BATCH = 100


def add(session: orm.Session, receiver_id: str, sealed: str) -> None:
    """Store the encrypted credential of a receiver."""
    session.add(TABLE(receiver_id=receiver_id, sealed=sealed))


def get(session: orm.Session, receiver_id: str) -> str | None:
    """Return the encrypted credential of a receiver."""
    row = session.get(TABLE, receiver_id)
    return row.sealed if row else None


def unused(session: orm.Session, after: str) -> Sequence[str]:
    """Return a batch of IDs of deleted receivers that left a credential.

    :param after: the last ID of the previous batch
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


def delete(session: orm.Session, receiver_id: str) -> None:
    """Delete a credential that was revoked."""
    statements.change(
        session,
        sqlalchemy.delete(TABLE).where(TABLE.receiver_id == receiver_id),
    )


def reencrypt(
    session: orm.Session,
    model: Any,
    after: str,
    changed: Callable[[str], str],
) -> tuple[str, int]:
    """Encrypt a batch of credentials with another key.

    :param model: the mapped class; its column ``sealed`` holds the encrypted
        text
    :param after: the last ID of the previous batch
    :param changed: decrypts a text and encrypts it with the new key
    :returns: the last ID of this batch, and the number of its rows
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
