# SPDX-License-Identifier: Apache-2.0
"""Handlers for nodes; all but list and show only queue an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import sizes, spec_schema
from engine.actions import clusters as cluster_actions
from engine.actions import nodes as node_actions
from engine.db import clusters, find, models, nodes, quotas
from engine.handlers import common
from engine.handlers.clusters import reject_other_profile_type
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import nodes as requests
from vobjects.rpc.server import handles

NODE = models.Node

#: Raises an error, in the queueing transaction, if the action is impossible.
Precondition = Callable[[orm.Session, models.Node], common.Resolved | None]


class NodeHandlers(common.Handlers):
    """Handle requests for nodes."""

    @handles(requests.NodeListRequest)
    def list(
        self, context: Any, request: requests.NodeListRequest
    ) -> list[resources.Node]:
        """Return the caller's nodes, or those of one cluster."""
        with self.runtime.database.read_connection() as connection:
            identity = request.get('cluster_id')
            cluster = identity and _specified_cluster(
                connection,
                context,
                identity,
                'Cannot find the given cluster: {}.',
                any_project=bool(
                    request.get('global_project') and context.is_admin
                ),
            )
            return common.NODE_VIEW.page(
                connection,
                context,
                request,
                cluster_id=[cluster] if cluster else None,
            )

    @handles(requests.NodeGetRequest)
    def get(
        self, context: Any, request: requests.NodeGetRequest
    ) -> resources.Node:
        """Return a node, with the cloud's details if requested."""
        with self.runtime.database.read_connection() as connection:
            node: resources.Node = common.NODE_VIEW.get(
                connection, context, request.identity
            )
        if not request.get('show_details'):
            return node
        with self.runtime.database.reader() as session:
            row = session.get(NODE, node.id)
            profile = session.get(models.Profile, node.profile_id)
        if row is not None and profile is not None:
            node.details = common.cloud_details(self.runtime, row, profile)
        return node

    @handles(requests.NodeCreateRequest)
    def create(
        self, context: Any, request: requests.NodeCreateRequest
    ) -> resources.Accepted:
        """Create a node; an action creates its cloud object."""

        def body(session: orm.Session) -> resources.Accepted:
            profile = common.find_profile(session, context, request.profile_id)
            resolved = {'profile_id': profile.id}
            cluster = None
            identity = request.get('cluster_id')
            if identity:
                cluster = self._lock_cluster_with_room(
                    session, context, identity
                )
                reject_other_profile_type(
                    session,
                    cluster.profile_id,
                    profile,
                    'Node and cluster have different profile type',
                )
                resolved['cluster_id'] = cluster.id
            node = self._insert_node(
                session, context, request, profile, cluster
            )
            accepted = self._queue_on(
                session, context, 'NODE_CREATE', node, request, resolved
            )
            quotas.check_last(
                session,
                models.Node,
                context.project_id,
                self.runtime.conf.engine.max_nodes_per_project,
            )
            return accepted

        return self._commit_and_wake(body)

    @handles(requests.NodeUpdateRequest)
    def update(
        self, context: Any, request: requests.NodeUpdateRequest
    ) -> resources.Accepted:
        """Update a node."""

        def check(session: orm.Session, node: models.Node) -> common.Resolved:
            changed = [
                column
                for column, value in node_actions.new_values(request).items()
                if value != getattr(node, column)
            ]
            changed += node_actions.cleared_fields(request)
            resolved: dict[str, str] = {}
            profile_identity = request.get('profile_id')
            if profile_identity is not None:
                profile = common.find_profile(
                    session, context, profile_identity
                )
                reject_other_profile_type(
                    session,
                    node.profile_id,
                    profile,
                    'Cannot update a node to a different profile type',
                )
                resolved['profile_id'] = profile.id
                if profile.id != node.profile_id:
                    changed.append('profile_id')
            if not changed:
                raise errors.BadRequest('No property needs an update.')
            return resolved

        return self._queue(context, 'NODE_UPDATE', request, check)

    @handles(requests.NodeDeleteRequest)
    def delete(
        self, context: Any, request: requests.NodeDeleteRequest
    ) -> resources.Accepted:
        """Delete a node."""

        def check(session: orm.Session, node: models.Node) -> None:
            if not request.get('force'):
                common.reject_busy_deletion(session, node)
            common.reject_if_depended_on(node)
            node_actions.check_may_leave(
                session, node, self.runtime.node_limit()
            )

        return self._queue(context, 'NODE_DELETE', request, check)

    @handles(requests.NodeCheckRequest)
    def check(
        self, context: Any, request: requests.NodeCheckRequest
    ) -> resources.Accepted:
        """Check the health of a node."""
        return self._queue(context, 'NODE_CHECK', request)

    @handles(requests.NodeRecoverRequest)
    def recover(
        self, context: Any, request: requests.NodeRecoverRequest
    ) -> resources.Accepted:
        """Recover a node."""

        def check(session: orm.Session, node: models.Node) -> None:
            common.check_reboot_type(request)
            timeout = request.get('delete_timeout') or 0
            if timeout > spec_schema.MAX_OPERATION_TIME:
                raise errors.BadRequest(
                    'delete_timeout: must be at most'
                    f' {spec_schema.MAX_OPERATION_TIME}, not {timeout}'
                )
            operation = request.get('operation')
            if operation in ('REBOOT', 'REBUILD') and not node.physical_id:
                raise errors.BadRequest(
                    f'A node without an object cannot be recovered by'
                    f' {operation}; use RECREATE.'
                )

        return self._queue(context, 'NODE_RECOVER', request, check)

    @handles(requests.NodeOperationRequest)
    def operate(
        self, context: Any, request: requests.NodeOperationRequest
    ) -> resources.Accepted:
        """Perform an operation of the node's profile type."""

        def check(session: orm.Session, node: models.Node) -> None:
            profile = session.get(models.Profile, node.profile_id)
            assert profile is not None  # guaranteed by a foreign key
            self.runtime.profile_types.check_operation(
                profile.type,
                request.operation,
                request.get('params') or {},
            )

        return self._queue(context, 'NODE_OPERATION', request, check)

    def _lock_cluster_with_room(
        self, session: orm.Session, context: Any, identity: str
    ) -> models.Cluster:
        cluster_id = _specified_cluster(
            session.connection(), context, identity
        )
        cluster = clusters.lock(session, cluster_id)
        if cluster is None:
            raise find.not_found(models.Cluster, identity)
        common.reject_if_deleting(session, cluster)
        size = nodes.count_of_cluster(session, cluster.id) + 1
        sizes.Bounds(
            cluster.min_size, cluster.max_size, self.runtime.node_limit()
        ).check_size(size)
        return cluster

    def _insert_node(
        self,
        session: orm.Session,
        context: Any,
        request: Any,
        profile: models.Profile,
        cluster: models.Cluster | None,
    ) -> models.Node:
        if cluster is None:
            node = NODE(
                id=models.new_id(),
                name=request.name,
                profile_id=profile.id,
                status='INIT',
                status_reason='Initializing',
                user=context.user_id,
                project=context.project_id,
                domain=context.domain_id,
            )
            session.add(node)
        else:
            node = cluster_actions.add_node(
                session,
                cluster,
                name=request.name,
                profile_id=profile.id,
            )
        node.role = request.get('role') or None
        node.meta = request.get('metadata') or {}
        session.flush()
        return node

    def _queue(
        self,
        context: Any,
        action_name: str,
        request: Any,
        check: Precondition = lambda session, node: None,
    ) -> resources.Accepted:
        def body(session: orm.Session) -> resources.Accepted:
            node = common.lock_node(session, context, request.identity)
            resolved = check(session, node)
            return self._queue_on(
                session, context, action_name, node, request, resolved
            )

        return self._commit_and_wake(body)

    def _queue_on(
        self,
        session: orm.Session,
        context: Any,
        action_name: str,
        node: models.Node,
        request: Any,
        resolved: common.Resolved | None,
    ) -> resources.Accepted:
        cluster = None
        if node.cluster_id is not None:
            cluster = clusters.get(session, node.cluster_id)
        action = self.queue(
            session,
            context,
            action_name,
            node,
            request,
            cluster=cluster,
            resolved=resolved,
        )
        resource = common.node_resources(session, [node])[0]
        return resources.Accepted(
            action=action.id, cluster=None, node=resource
        )

    def _commit_and_wake(
        self, body: Callable[[orm.Session], resources.Accepted]
    ) -> resources.Accepted:
        accepted = self.commit(body)
        self.runtime.wake(accepted.action)
        return accepted


def _specified_cluster(
    connection: sqlalchemy.Connection,
    context: Any,
    identity: str,
    message: str = 'The specified cluster {!r} could not be found.',
    *,
    any_project: bool = False,
) -> str:
    """Return the ID of the cluster in a request's query or body.

    :param message: error message, with a placeholder for the identity
    :raises vobjects.clustering.errors.BadRequest: the cluster does not exist
    """
    try:
        return find.id_of(
            connection,
            models.Cluster,
            identity,
            context.project_id,
            any_project_by_id=any_project,
        )
    except errors.ResourceNotFound:
        raise errors.BadRequest(message.format(identity)) from None
