# SPDX-License-Identifier: Apache-2.0
"""Handlers for receivers, and for webhooks that start their actions.

Any caller that knows a receiver's ID may call its webhook, which acts as the
receiver's owner. The receiver's own credential authorizes it to do so; see
:mod:`engine.trusts`.
"""

from __future__ import annotations

import logging
import urllib.parse
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import credentials, find, models, statements
from engine.handlers import common, messages, triggers, views
from engine.trusts import keystone
from vobjects import exceptions
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import receivers as requests
from vobjects.rpc.server import handles

LOG = logging.getLogger(__name__)

RECEIVER = models.Receiver

#: Key in a receiver's channel: what the API's rules can use of its creator.
CREATOR = 'creator'

#: Role of a creator whose roles are not known.
MEMBER = 'member'


class ReceiverHandlers(common.Handlers):
    """Handle requests for receivers and webhooks."""

    @handles(requests.ReceiverListRequest)
    def list(self, context: Any, request: Any) -> list[resources.Receiver]:
        """Return the caller's receivers."""
        return self.page(VIEW, context, request, by_cluster=True)

    @handles(requests.ReceiverCreateRequest)
    def create(self, context: Any, request: Any) -> resources.Receiver:
        """Create a webhook receiver or a message receiver.

        Each message names its own cluster and action, so message receivers
        ignore those of the request.
        """
        values = {
            'id': models.new_id(),
            'name': request.name,
            'type': request.type,
            'params': request.get('params') or {},
            **common.owner_of(context),
        }
        endpoint = request.get('endpoint') or ''
        if request.type == 'webhook':
            return self._create_webhook(context, request, values, endpoint)
        with self.runtime.trusts.create_credential(
            context, values['id']
        ) as encrypted_credential:
            channel = {
                **messages.open_channel(
                    self.runtime, context.project_id, values['id'], endpoint
                ),
                CREATOR: _credentials(context),
            }
            return self.commit(
                lambda session: self._insert(
                    session,
                    context,
                    encrypted_credential,
                    channel=channel,
                    **values,
                )
            )

    def _create_webhook(
        self,
        context: Any,
        request: Any,
        values: Mapping[str, Any],
        endpoint: str,
    ) -> resources.Receiver:
        identity = request.get('cluster_id')
        if identity is None:
            raise errors.BadRequest(
                'Cluster identity is required for creating webhook receiver.'
            )
        action_name = request.get('action')
        if action_name is None:
            raise errors.BadRequest(
                'Action name is required for creating webhook receiver.'
            )
        triggers.build_request(action_name, identity, values['params'])
        triggers.check_allowed(action_name, context.denied_actions)
        url = _url(endpoint, values['id'], values['params'])

        def body(session: orm.Session) -> resources.Receiver:
            cluster = _find_cluster(session, context, identity)
            return self._insert(
                session,
                context,
                encrypted_credential,
                cluster_id=cluster.id,
                action=action_name,
                channel={'alarm_url': url, CREATOR: _credentials(context)},
                **values,
            )

        # Before the request to Keystone.
        with self.runtime.database.reader() as session:
            _find_cluster(session, context, identity)
        with self.runtime.trusts.create_credential(
            context, values['id']
        ) as encrypted_credential:
            return self.commit(body)

    def _insert(
        self,
        session: orm.Session,
        context: Any,
        encrypted_credential: str | None,
        **values: Any,
    ) -> resources.Receiver:
        """Add a receiver, with its credential if it has one."""
        row = RECEIVER(**values)
        session.add(row)
        if encrypted_credential is not None:
            credentials.add(session, row.id, encrypted_credential)
        self.check_quota(session, context, RECEIVER)
        return VIEW.from_entity(row)

    @handles(requests.ReceiverGetRequest)
    def get(self, context: Any, request: Any) -> resources.Receiver:
        """Return a receiver.

        If the API asks, ``actor`` has the owner's credentials for its rules,
        and a caller without a project can see the receiver of a webhook.
        """
        if context.asks_owner:
            return self._get_with_owner(context, request.identity)
        return VIEW.get(self.runtime.database, context, request.identity)

    def _get_with_owner(
        self, context: Any, identity: str
    ) -> resources.Receiver:
        with self.runtime.database.reader() as session:
            row = (
                _find_webhook(session, identity)
                if context.project_id is None
                else find.find(session, RECEIVER, identity, context.project_id)
            )
        resource = VIEW.from_entity(row)
        creator = row.channel.get(CREATOR) or {}
        if not creator.get('roles'):  # an earlier release created it
            roles = self.runtime.trusts.roles(row.id) or [MEMBER]
            creator = {**creator, 'roles': roles}
        resource.actor = creator
        return resource

    @handles(requests.ReceiverUpdateRequest)
    def update(self, context: Any, request: Any) -> resources.Receiver:
        """Change the name, action or parameters of a receiver."""

        def complete(row: models.Receiver) -> None:
            if row.type == 'webhook':
                triggers.check_allowed(row.action, context.denied_actions)
                _check_webhook(row)
            if row.user == context.user_id:
                row.channel = {**row.channel, CREATOR: _credentials(context)}

        values = {
            name: request.get(name) for name in ('name', 'action', 'params')
        }
        return self.update_row(
            VIEW, context, request, values, complete=complete
        )

    @handles(requests.ReceiverDeleteRequest)
    def delete(self, context: Any, request: Any) -> None:
        """Delete a receiver and, if it has one, its queue."""
        with self.runtime.database.reader() as session:
            row = find.find(
                session, RECEIVER, request.identity, context.project_id
            )
        if row.type == 'message':
            messages.close_channel(self.runtime, row.project, row.channel)

        def body(session: orm.Session) -> None:
            statements.change(
                session,
                sqlalchemy.delete(RECEIVER).where(RECEIVER.id == row.id),
            )

        self.commit(body)
        try:
            self.runtime.trusts.revoke(row.id)
        except keystone.KeystoneUnavailable as error:
            LOG.warning('Receiver %s is revoked later: %s', row.id, error)

    @handles(requests.WebhookTriggerRequest)
    def trigger(self, context: Any, request: Any) -> resources.Accepted:
        """Start the action of a receiver, as the receiver's owner."""
        with self.runtime.database.reader() as session:
            row = _find_webhook(session, request.identity)
        trigger_request = triggers.build_request(
            row.action,
            row.cluster_id,
            {**row.params, **request.params},
            request.body,
        )
        triggers.check_allowed(row.action, context.denied_actions)
        self.runtime.trusts.check_receiver(row.id)
        return triggers.handle_as_owner(
            triggers.trigger_handlers(self.runtime),
            row,
            trigger_request,
            context.request_id,
        )


def _find_webhook(session: orm.Session, identity: str) -> models.Receiver:
    row = None
    if find.is_storable(identity):
        row = session.get(RECEIVER, identity.lower())
    if row is None or row.type != 'webhook':
        raise find.not_found(RECEIVER, identity)
    return row


def _check_webhook(row: models.Receiver) -> None:
    """Reject parameters unknown to the action, and update the URL."""
    triggers.build_request(row.action, row.cluster_id, row.params)
    url = row.channel['alarm_url']
    endpoint = url[: url.index('/v1/webhooks/')]
    row.channel = {
        **row.channel,
        'alarm_url': _url(endpoint, row.id, row.params),
    }


def _url(endpoint: str, receiver_id: str, params: Mapping[str, Any]) -> str:
    """Return the URL of a webhook, in Senlin's form.

    Parameters that a query cannot express are left out. A call applies them
    anyway, as it applies all parameters of the receiver.
    """
    query = urllib.parse.urlencode(
        [
            ('V', '2'),
            *(
                (name, _query_value(value))
                for name, value in sorted(params.items())
                if value is not None and not isinstance(value, (dict, list))
            ),
        ]
    )
    return f'{endpoint}/v1/webhooks/{receiver_id}/trigger?{query}'


def _query_value(value: Any) -> Any:
    is_integral = isinstance(value, float) and value.is_integer()
    return int(value) if is_integral else value


def _find_cluster(
    session: orm.Session, context: Any, identity: str
) -> models.Cluster:
    name = exceptions.cut(identity)
    with common.bad_if_missing(
        f'The referenced cluster {name} could not be found.'
    ):
        return find.find(session, models.Cluster, identity, context.project_id)


def _visible_channel(channel: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a channel that users see."""
    hidden = ('subscription', CREATOR)
    return {key: value for key, value in channel.items() if key not in hidden}


def _credentials(context: Any) -> dict[str, Any]:
    """Return what the API's rules can use besides the owner's IDs."""
    return {
        'roles': list(context.roles),
        'user_domain_id': context.user_domain_id,
        'project_domain_id': context.project_domain_id,
    }


VIEW = views.ResourceView(
    resources.Receiver,
    RECEIVER,
    sort=consts.RECEIVER_SORT_KEYS,
    filters=('name', 'type', 'action', 'user'),
    computed={'channel': _visible_channel},
    constants={'actor': {}},
)
