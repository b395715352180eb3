# SPDX-License-Identifier: Apache-2.0
"""Receivers of messages: each has a queue, whose messages start actions.

A message says what is to be done, which the receiver's owner then asks for::

    {"cluster": "web", "action": "CLUSTER_SCALE_OUT", "params": {"count": 2}}

The action is made in the transaction that remembers its message, so that a
message which comes again, because an engine died or its claim ended, makes no
second one.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from typing import Any

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.actions import runtime
from engine.db import clock, find, models, statements
from engine.handlers import common, triggers
from engine.queues import base as queues
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.requests import receivers as requests
from vobjects.rpc import server
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

#: No message stays in a queue for longer: Zaqar allows 14 days.
LONGEST_LIFE = datetime.timedelta(days=15)

#: Claims made for one notification at most: the caller waits for them.
ROUNDS = 10


class _IgnoredError(Exception):
    """A message asks for nothing that its receiver does."""


class MessageHandlers(common.Handlers):
    """See the module's docstring."""

    @handles(requests.ReceiverNotifyRequest)
    def notify(
        self, context: Any, request: requests.ReceiverNotifyRequest
    ) -> None:
        """Have a receiver do what its messages ask for."""
        with self.run.database.reader() as session:
            receiver = find.find(
                session, models.Receiver, request.identity, context.project_id
            )
        if receiver.type != 'message':
            raise errors.BadRequest(
                'Notifying non-message receiver is not allowed.'
            )
        self.run.delegations.check(receiver.id)
        try:
            for _ in range(ROUNDS):
                if not self._empty(context, receiver):
                    break
        except queues.QueueError as error:
            raise errors.Unavailable(str(error)) from error

    def _empty(self, context: Any, receiver: models.Receiver) -> bool:
        """Do what some messages ask for; tell whether there may be more."""
        queue, project = receiver.channel['queue_name'], receiver.project
        claim = self.run.queues.claim(project, queue)
        if not claim.messages:
            return False
        kept = False
        for message in claim.messages:
            if self._start(context, receiver, message):
                self.run.queues.remove(project, queue, message.id, claim.id)
                self._forget(receiver, message)
            else:
                kept = True
        self.run.queues.release(project, queue, claim.id)
        return not kept

    def _start(
        self, context: Any, receiver: models.Receiver, message: queues.Message
    ) -> bool:
        """Start what a message asks for, unless that has been done.

        :returns: whether the message is of no more use
        """
        what = f'message {message.id} of receiver {receiver.id}'
        try:
            asked = self._asked(context, receiver, message.body)
            # A call may bring many messages: each is remembered for itself.
            with server.handling(''):
                made = self.run.database.write(
                    lambda session: self._once(
                        session, receiver, message, asked, context.request_id
                    )
                )
        except oslo_db_exception.DBDuplicateEntry:
            made = False  # another engine was faster
        except errors.ActionConflict as error:
            LOG.info('Left %s for later: %s', what, error)
            return False
        except (_IgnoredError, errors.ClusteringError) as error:
            LOG.warning('Ignored %s: %s', what, error)
            return True
        if made:
            self.run.wake()
        return True

    def _once(
        self,
        session: orm.Session,
        receiver: models.Receiver,
        message: queues.Message,
        asked: Any,
        request_id: str | None,
    ) -> bool:
        if session.get(models.ReceivedMessage, (receiver.id, message.id)):
            return False
        if session.get(models.Receiver, receiver.id) is None:
            raise find.not_found(models.Receiver, receiver.id)
        session.add(
            models.ReceivedMessage(
                receiver_id=receiver.id, message_id=message.id
            )
        )
        session.flush()
        run = dataclasses.replace(
            self.run,
            database=self.run.database.joined(session),
            wake=lambda: None,
        )
        triggers.start(triggers.starter(run), receiver, asked, request_id)
        return True

    def _asked(
        self, context: Any, receiver: models.Receiver, body: Any
    ) -> Any:
        """Return the request that a message is.

        :raises _IgnoredError: it is none, or not for this receiver
        :raises vobjects.clustering.errors.ClusteringError: likewise
        """
        body = body if isinstance(body, dict) else {}
        identity, kind = body.get('cluster'), body.get('action')
        params = {} if body.get('params') is None else body['params']
        if not (identity and isinstance(identity, str)):
            raise _IgnoredError('it names no cluster')
        if not (kind and isinstance(kind, str)):
            raise _IgnoredError('it names no action')
        if not isinstance(params, dict):
            raise _IgnoredError('its params are no JSON object')
        with self.run.database.reader() as session:
            cluster = find.find(
                session, models.Cluster, identity, receiver.project
            )
        if cluster.user != receiver.user and not context.is_admin:
            raise _IgnoredError(
                f'the cluster {exceptions.cut(identity)} is not of the'
                ' user who has the receiver'
            )
        return triggers.request(kind, cluster.id, params, waits=True)

    def _forget(
        self, receiver: models.Receiver, message: queues.Message
    ) -> None:
        """Drop the note of a message that cannot come again.

        And those of long ago, whose engine died before it could do so.
        """
        table = models.ReceivedMessage

        def body(session: orm.Session) -> None:
            long_ago = clock.now(session) - LONGEST_LIFE
            statements.change(
                session,
                sqlalchemy.delete(table).where(
                    table.receiver_id == receiver.id,
                    sqlalchemy.or_(
                        table.message_id == message.id,
                        table.created_at < long_ago,
                    ),
                ),
            )

        self.run.database.write(body)


def open_channel(
    run: runtime.Runtime, project: str | None, receiver_id: str, endpoint: str
) -> dict[str, Any]:
    """Make a receiver's queue, and have the receiver notified by it.

    :param endpoint: what clients call the root of the API
    :raises vobjects.clustering.errors.Unavailable: it cannot be made
    """
    queue = f'senlin-receiver-{receiver_id}'
    try:
        run.queues.create(project, queue)
        subscription = run.queues.subscribe(
            project, queue, f'{endpoint}/v1/receivers/{receiver_id}/notify'
        )
    except queues.QueueError as error:
        raise errors.Unavailable(str(error)) from error
    return {'queue_name': queue, 'subscription': subscription}


def close_channel(
    run: runtime.Runtime, project: str | None, channel: dict[str, Any]
) -> None:
    """Remove a receiver's queue, with what is in it.

    :raises vobjects.clustering.errors.Unavailable: it cannot be removed
    """
    queue = channel['queue_name']
    try:
        run.queues.unsubscribe(project, queue, channel['subscription'])
        run.queues.delete(project, queue)
    except queues.QueueError as error:
        raise errors.Unavailable(str(error)) from error
