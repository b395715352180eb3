# SPDX-License-Identifier: Apache-2.0
"""Simulated queues, stored in a table that all engines share.

A queue exists as long as it has messages. Subscriptions have no effect: the
poster of a message must notify the receiver. Use ``vobjects queue`` to post
and show messages.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from oslo_config import cfg
from sqlalchemy import orm

from engine import storage
from engine.queues import base
from vobjects_simulated import tables

MESSAGE = tables.SimulatedMessage

#: Maximum number of messages in one claim.
MAX_CLAIMED = 20


class SimulatedQueues:
    """The simulated queue service; see :class:`engine.queues.base.Queues`."""

    def __init__(self, conf: cfg.ConfigOpts, target: storage.Database) -> None:
        self._options = conf.queues
        self._database = target

    def create(self, project: str | None, queue: str) -> None:
        """Do nothing: a queue exists once it has a message."""

    def delete(self, project: str | None, queue: str) -> None:
        """Delete the messages of a queue."""
        self._database.write(
            lambda session: storage.change(
                session,
                sqlalchemy.delete(MESSAGE).where(_in_queue(project, queue)),
            )
        )

    def subscribe(self, project: str | None, queue: str, url: str) -> str:
        """Do nothing: subscriptions are not supported."""
        return ''

    def unsubscribe(
        self, project: str | None, queue: str, subscription: str
    ) -> None:
        """Do nothing: subscriptions are not supported."""

    def post(
        self, project: str | None, queue: str, body: Mapping[str, Any]
    ) -> None:
        """Add a message, which expires after ``[queues] message_ttl``."""

        def write(session: orm.Session) -> None:
            _delete_expired(session, project, queue)
            session.add(
                MESSAGE(
                    id=storage.new_id(),
                    project=project or '',
                    queue=queue,
                    body=dict(body),
                    expires_at=self._after(session, self._options.message_ttl),
                )
            )

        self._database.write(write)

    def claim(self, project: str | None, queue: str) -> base.Claim:
        """Claim some messages that are not claimed."""
        id_ = storage.new_id()

        def write(session: orm.Session) -> list[base.Message]:
            rows = session.scalars(
                sqlalchemy.select(MESSAGE)
                .where(
                    _in_queue(project, queue),
                    MESSAGE.expires_at > storage.utcnow(),
                    sqlalchemy.or_(
                        MESSAGE.claimed_until.is_(None),
                        MESSAGE.claimed_until <= storage.utcnow(),
                    ),
                )
                .order_by(MESSAGE.created_at, MESSAGE.id)
                .limit(MAX_CLAIMED)
                .with_for_update(skip_locked=True)
            ).all()
            until = self._after(session, self._options.claim_ttl)
            for row in rows:
                row.claim_id, row.claimed_until = id_, until
            return [base.Message(row.id, row.body) for row in rows]

        messages = self._database.write(write)
        return base.Claim(id_ if messages else '', messages)

    def remove(
        self, project: str | None, queue: str, message: str, claim: str
    ) -> None:
        """Delete a message, if it still belongs to the claim."""
        self._database.write(
            lambda session: storage.change(
                session,
                sqlalchemy.delete(MESSAGE).where(
                    _in_queue(project, queue),
                    MESSAGE.id == message,
                    MESSAGE.claim_id == claim,
                ),
            )
        )

    def release(self, project: str | None, queue: str, claim: str) -> None:
        """Release the remaining messages of a claim."""
        self._database.write(
            lambda session: storage.change(
                session,
                sqlalchemy.update(MESSAGE)
                .where(_in_queue(project, queue), MESSAGE.claim_id == claim)
                .values(claim_id=None, claimed_until=None),
            )
        )

    @staticmethod
    def _after(session: orm.Session, seconds: int) -> datetime.datetime:
        return storage.now(session) + datetime.timedelta(seconds=seconds)


def _in_queue(
    project: str | None, queue: str
) -> sqlalchemy.ColumnElement[bool]:
    return sqlalchemy.and_(
        MESSAGE.project == (project or ''), MESSAGE.queue == queue
    )


def _delete_expired(
    session: orm.Session, project: str | None, queue: str
) -> None:
    storage.change(
        session,
        sqlalchemy.delete(MESSAGE).where(
            _in_queue(project, queue), MESSAGE.expires_at <= storage.utcnow()
        ),
    )
