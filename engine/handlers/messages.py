# SPDX-License-Identifier: Apache-2.0
"""Handlers for message receivers, which start actions from a queue.

A message contains an action, which runs as the receiver's owner::

    {"cluster": "web", "action": "CLUSTER_SCALE_OUT", "params": {"count": 2}}

The transaction that queues the action also records the message. If the message
is delivered again, because an engine died or its claim expired, no second
action is queued.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import logging
from typing import Any

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.actions.runtime import Runtime
from engine.db import clock, find, models, statements
from engine.handlers import common, triggers
from engine.queues import base as queues
from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.requests import receivers as requests
from vobjects.microversions import errors as input_errors
from vobjects.microversions import json_body
from vobjects.rpc import call_state
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

#: Longer than any message stays in a queue: Zaqar allows 14 days.
MAX_MESSAGE_AGE = datetime.timedelta(days=15)

#: Maximum number of claims for one notification, as the caller waits for them.
MAX_CLAIMS = 10


class _InvalidMessageError(Exception):
    """A message does not contain a valid action for its receiver."""


class MessageHandlers(common.Handlers):
    """Handle notifications of message receivers."""

    @handles(requests.ReceiverNotifyRequest)
    def notify(
        self, context: Any, request: requests.ReceiverNotifyRequest
    ) -> None:
        """Process the messages in a receiver's queue."""
        with self.runtime.database.reader() as session:
            receiver = find.find(
                session, models.Receiver, request.identity, context.project_id
            )
        if receiver.type != 'message':
            raise errors.BadRequest(
                'Notifying non-message receiver is not allowed.'
            )
        self.runtime.trusts.check_receiver(receiver.id)
        try:
            for _ in range(MAX_CLAIMS):
                if not self._process_claim(context, receiver):
                    break
        except queues.QueueError as error:
            raise errors.Unavailable(str(error)) from error

    def _process_claim(self, context: Any, receiver: models.Receiver) -> bool:
        """Process one claim of messages; return whether more may follow."""
        queue, project = receiver.channel['queue_name'], receiver.project
        claim = self.runtime.queues.claim(project, queue)
        if not claim.messages:
            return False
        is_any_left = False
        for message in claim.messages:
            if self._start_action(context, receiver, message):
                self.runtime.queues.remove(
                    project, queue, message.id, claim.id
                )
                self._delete_records(receiver, message)
            else:
                is_any_left = True
        self.runtime.queues.release(project, queue, claim.id)
        return not is_any_left

    def _start_action(
        self, context: Any, receiver: models.Receiver, message: queues.Message
    ) -> bool:
        """Start the action of a message, unless it was started before.

        :returns: whether the message can be removed
        """
        message_label = f'message {message.id} of receiver {receiver.id}'
        try:
            request = self._build_request(context, receiver, message.body)
            # One call may process many messages; each is recorded by itself,
            # not as a part of the call.
            with call_state.call_scope(''):
                is_started = self.runtime.database.write(
                    lambda session: self._start_action_once(
                        session, receiver, message, request, context.request_id
                    )
                )
        except oslo_db_exception.DBDuplicateEntry:
            is_started = False  # another engine was faster
        except (errors.ActionConflict, *exceptions.TOO_OLD) as error:
            LOG.info('Left %s for later: %s', message_label, error)
            return False
        except (_InvalidMessageError, errors.ClusteringError) as error:
            LOG.warning('Ignored %s: %s', message_label, error)
            return True
        if is_started:
            self.runtime.wake()
        return True

    def _start_action_once(
        self,
        session: orm.Session,
        receiver: models.Receiver,
        message: queues.Message,
        request: Any,
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
        runtime = dataclasses.replace(
            self.runtime,
            database=self.runtime.database.bound_to(session),
            wake=lambda action_id='': None,
        )
        handlers = triggers.trigger_handlers(runtime, queue_conflicts=True)
        triggers.handle_as_owner(handlers, receiver, request, request_id)
        return True

    def _build_request(
        self, context: Any, receiver: models.Receiver, body: Any
    ) -> Any:
        """Convert a message to a request.

        :raises _InvalidMessageError: the message is malformed, or the owner of
            the receiver may not act on the cluster
        :raises vobjects.clustering.errors.ClusteringError: the cluster does
            not exist, or the request is invalid
        """
        body = body if isinstance(body, dict) else {}
        identity, action_name = body.get('cluster'), body.get('action')
        params = {} if body.get('params') is None else body['params']
        if not (identity and isinstance(identity, str)):
            raise _InvalidMessageError('cluster: must be a name or ID')
        if not (action_name and isinstance(action_name, str)):
            raise _InvalidMessageError('action: must be the name of an action')
        if not isinstance(params, dict):
            raise _InvalidMessageError('params: must be a JSON object')
        _check_as_body(params)
        with self.runtime.database.reader() as session:
            cluster = find.find(
                session, models.Cluster, identity, receiver.project
            )
        if cluster.user != receiver.user and not context.is_admin:
            raise _InvalidMessageError(
                f'the cluster {exceptions.cut(identity)} belongs to another'
                ' user than the receiver'
            )
        triggers.check_allowed(action_name, context.denied_actions)
        return triggers.build_request(action_name, cluster.id, params)

    def _delete_records(
        self, receiver: models.Receiver, message: queues.Message
    ) -> None:
        """Delete the record of a message that cannot be delivered again.

        Also deletes old records that engines left behind when they died.
        """
        table = models.ReceivedMessage

        def body(session: orm.Session) -> None:
            oldest = clock.now(session) - MAX_MESSAGE_AGE
            statements.change(
                session,
                sqlalchemy.delete(table).where(
                    table.receiver_id == receiver.id,
                    sqlalchemy.or_(
                        table.message_id == message.id,
                        table.created_at < oldest,
                    ),
                ),
            )

        self.runtime.database.write(body)


def _check_as_body(params: dict[str, Any]) -> None:
    """Reject what the body of a direct request must not have, such as NaN.

    :raises _InvalidMessageError: names the fault
    """
    try:
        json_body.load_json(json.dumps(params).encode())
    except RecursionError:
        raise _InvalidMessageError('params: nested too deeply') from None
    except input_errors.InputError as error:
        raise _InvalidMessageError(f'params: {error}') from None


def open_channel(
    runtime: Runtime, project: str | None, receiver_id: str, endpoint: str
) -> dict[str, Any]:
    """Create a receiver's queue, and have the queue notify the receiver."""
    queue = f'senlin-receiver-{receiver_id}'
    try:
        runtime.queues.create(project, queue)
        subscription = runtime.queues.subscribe(
            project, queue, f'{endpoint}/v1/receivers/{receiver_id}/notify'
        )
    except queues.QueueError as error:
        raise errors.Unavailable(str(error)) from error
    return {'queue_name': queue, 'subscription': subscription}


def close_channel(
    runtime: Runtime, project: str | None, channel: dict[str, Any]
) -> None:
    """Delete a receiver's queue and the messages in it.

    :raises vobjects.clustering.errors.Unavailable: the queue cannot be deleted
    """
    queue = channel['queue_name']
    try:
        runtime.queues.unsubscribe(project, queue, channel['subscription'])
        runtime.queues.delete(project, queue)
    except queues.QueueError as error:
        raise errors.Unavailable(str(error)) from error
