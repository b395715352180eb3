# SPDX-License-Identifier: Apache-2.0
"""Receivers, and the webhooks by which actions are started from outside.

Who knows a receiver's ID may call its webhook, which acts as the receiver's
owner: no more than that is asked of the caller.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.actions import runtime
from engine.db import clock, find, models
from engine.handlers import (
    attachments,
    clusters,
    common,
    members,
    operations,
)
from vobjects import exceptions
from vobjects.clustering import errors, resources
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters as cluster_requests
from vobjects.clustering.requests import policies as policy_requests
from vobjects.clustering.requests import receivers as requests
from vobjects.rpc import server
from vobjects.rpc.server import handles

RECEIVER = models.Receiver

SORT_KEYS = {
    'created_at': RECEIVER.created_at,
    'name': RECEIVER.name,
    'type': RECEIVER.type,
    'action': RECEIVER.action,
    'cluster_id': RECEIVER.cluster_id,
    'user': RECEIVER.user,
}

#: What a receiver can do -> the request that asks for it.
REQUESTS: Mapping[str, Any] = {
    'CLUSTER_DELETE': cluster_requests.ClusterDeleteRequest,
    'CLUSTER_UPDATE': cluster_requests.ClusterUpdateRequest,
    'CLUSTER_ADD_NODES': cluster_requests.ClusterAddNodesRequest,
    'CLUSTER_DEL_NODES': cluster_requests.ClusterDelNodesRequest,
    'CLUSTER_RESIZE': cluster_requests.ClusterResizeRequest,
    'CLUSTER_CHECK': cluster_requests.ClusterCheckRequest,
    'CLUSTER_RECOVER': cluster_requests.ClusterRecoverRequest,
    'CLUSTER_REPLACE_NODES': cluster_requests.ClusterReplaceNodesRequest,
    'CLUSTER_SCALE_OUT': cluster_requests.ClusterScaleOutRequest,
    'CLUSTER_SCALE_IN': cluster_requests.ClusterScaleInRequest,
    'CLUSTER_ATTACH_POLICY': policy_requests.ClusterAttachPolicyRequest,
    'CLUSTER_DETACH_POLICY': policy_requests.ClusterDetachPolicyRequest,
    'CLUSTER_UPDATE_POLICY': policy_requests.ClusterUpdatePolicyRequest,
    'CLUSTER_OPERATION': cluster_requests.ClusterOperationRequest,
}

#: Fields of those requests that no parameter sets.
_NOT_GIVEN = ('identity', 'refuse_conflict')


class ReceiverHandlers(common.Handlers):
    """See the module's docstring."""

    def __init__(self, run: runtime.Runtime) -> None:
        super().__init__(run)
        self._handlers = server.handlers_of(
            kind(run)
            for kind in (
                clusters.ClusterHandlers,
                members.MemberHandlers,
                operations.OperationHandlers,
                attachments.AttachmentHandlers,
            )
        )

    @handles(requests.ReceiverListRequest)
    def list(self, context: Any, request: Any) -> list[resources.Receiver]:
        """Return the caller's receivers."""
        with self.run.database.reader() as session:
            query = sqlalchemy.select(RECEIVER)
            identities = common.given(request, 'cluster_id')
            if identities:
                ids = common.cluster_ids(session, context, identities)
                query = query.where(RECEIVER.cluster_id.in_(ids))
            rows = common.listed(
                session,
                query,
                context,
                request,
                SORT_KEYS,
                {
                    'name': RECEIVER.name,
                    'type': RECEIVER.type,
                    'action': RECEIVER.action,
                    'user': RECEIVER.user,
                },
            )
        return [_resource(row) for row in rows]

    @handles(requests.ReceiverCreateRequest)
    def create(self, context: Any, request: Any) -> resources.Receiver:
        """Create a receiver for an action on a cluster."""
        _refuse_messages(request.type)
        identity = common.given(request, 'cluster_id')
        if identity is None:
            raise errors.BadRequest(
                'Cluster identity is required for creating webhook receiver.'
            )
        kind = common.given(request, 'action')
        if kind is None:
            raise errors.BadRequest(
                'Action name is required for creating webhook receiver.'
            )
        params = common.given(request, 'params') or {}
        _request(kind, identity, params)

        def body(session: orm.Session) -> resources.Receiver:
            cluster = _referenced(session, context, identity)
            id_ = models.new_id()
            endpoint = common.given(request, 'endpoint') or ''
            row = RECEIVER(
                id=id_,
                name=request.name,
                type=request.type,
                cluster_id=cluster.id,
                action=kind,
                params=params,
                channel={'alarm_url': _url(endpoint, id_, params)},
                user=context.user_id,
                project=context.project_id,
                domain=context.domain_id,
            )
            session.add(row)
            session.flush()
            return _resource(row)

        return self.run.database.write(body)

    @handles(requests.ReceiverGetRequest)
    def get(self, context: Any, request: Any) -> resources.Receiver:
        """Return a receiver."""
        with self.run.database.reader() as session:
            row = common.shown(session, RECEIVER, context, request.identity)
        return _resource(row)

    @handles(requests.ReceiverUpdateRequest)
    def update(self, context: Any, request: Any) -> resources.Receiver:
        """Change the name, the action or the parameters of a receiver."""

        def body(session: orm.Session) -> resources.Receiver:
            row = find.find(
                session, RECEIVER, request.identity, context.project_id
            )
            changed = {
                name: value
                for name in ('name', 'action', 'params')
                if (value := common.given(request, name)) is not None
                and value != getattr(row, name)
            }
            if not changed:
                raise errors.BadRequest('No property needs an update.')
            for name, value in changed.items():
                setattr(row, name, value)
            _request(row.action, row.cluster_id, row.params)
            url = row.channel['alarm_url']
            endpoint = url[: url.index('/v1/webhooks/')]
            row.channel = {'alarm_url': _url(endpoint, row.id, row.params)}
            row.updated_at = clock.utcnow()
            session.flush()
            return _resource(row)

        return self.run.database.write(body)

    @handles(requests.ReceiverDeleteRequest)
    def delete(self, context: Any, request: Any) -> None:
        """Delete a receiver."""
        self.run.database.write(
            lambda session: session.delete(
                find.find(
                    session, RECEIVER, request.identity, context.project_id
                )
            )
        )

    @handles(requests.ReceiverNotifyRequest)
    def notify(self, context: Any, request: Any) -> None:
        """Have a receiver look for messages, if it is one that has some."""
        with self.run.database.reader() as session:
            row = find.find(
                session, RECEIVER, request.identity, context.project_id
            )
        if row.type == 'webhook':
            raise errors.BadRequest(
                'Notifying non-message receiver is not allowed.'
            )
        _refuse_messages(row.type)

    @handles(requests.WebhookTriggerRequest)
    def trigger(self, context: Any, request: Any) -> resources.Accepted:
        """Start the action of a receiver, as the receiver's owner."""
        with self.run.database.reader() as session:
            row = None
            if find.is_storable(request.identity):
                row = session.get(RECEIVER, request.identity)
        if row is None:
            raise find.not_found(RECEIVER, request.identity)
        asked = _request(
            row.action,
            row.cluster_id,
            {**row.params, **request.params},
            request.body,
        )
        owner = RequestContext(
            user_id=row.user,
            project_id=row.project,
            domain_id=row.domain,
            request_id=context.request_id,
        )
        handler = self._handlers[asked.obj_name()]
        accepted: resources.Accepted = handler(owner, asked)
        return accepted


def _request(
    kind: str,
    cluster_id: str,
    params: Mapping[str, Any],
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Return the request for an action.

    :param params: all of them parameters of the action
    :param body: some of them may be
    :raises vobjects.clustering.errors.BadRequest: no receiver does this, or
        the parameters are no such
    """
    request_type = REQUESTS.get(kind)
    if request_type is None:
        raise errors.BadRequest(
            'Action name cannot be any of [CLUSTER_CREATE].'
        )
    known = [name for name in request_type.fields if name not in _NOT_GIVEN]
    found = request_type(identity=cluster_id)
    if 'refuse_conflict' in request_type.fields:
        found.refuse_conflict = True
    if known == ['params']:
        found.params = {**params, **(body or {})}
        return found
    for name in params:
        if name not in known:
            raise errors.BadRequest(
                f'params: {kind} has no {exceptions.cut(name)}; there are'
                f' {", ".join(known) or "none"}'
            )
    extra = {name: body[name] for name in known if body and name in body}
    for name, value in {**params, **extra}.items():
        try:
            setattr(found, name, value)
        except (ValueError, TypeError) as error:
            raise errors.BadRequest(f'params.{name}: {error}') from None
    return found


def _url(endpoint: str, receiver_id: str, params: Mapping[str, Any]) -> str:
    """Return what is to be called, in Senlin's form."""
    query = urllib.parse.urlencode([('V', '2'), *sorted(params.items())])
    return f'{endpoint}/v1/webhooks/{receiver_id}/trigger?{query}'


def _referenced(
    session: orm.Session, context: Any, identity: str
) -> models.Cluster:
    try:
        return find.find(session, models.Cluster, identity, context.project_id)
    except errors.ResourceNotFound:
        raise errors.BadRequest(
            f'The referenced cluster {exceptions.cut(identity)} could not be'
            ' found.'
        ) from None


def _refuse_messages(kind: str) -> None:
    """Refuse receivers of messages: no provider of ours has queues.

    :raises vobjects.clustering.errors.BadRequest: naming the type
    """
    if kind == 'message':
        raise errors.BadRequest(
            "Receivers of type 'message' need a message service, which this"
            " deployment has not; use type 'webhook'."
        )


def _resource(row: models.Receiver) -> resources.Receiver:
    return resources.Receiver(
        id=row.id,
        name=row.name,
        type=row.type,
        cluster_id=row.cluster_id,
        action=row.action,
        actor={},
        params=row.params,
        channel=row.channel,
        created_at=row.created_at,
        updated_at=row.updated_at,
        **common.owned(row),
    )
