# SPDX-License-Identifier: Apache-2.0
"""Handlers for nodes; all but list and show only queue an action."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import spec_schema
from engine.actions import clusters as cluster_actions
from engine.actions import nodes as node_actions
from engine.db import clusters, find, models, nodes, quotas, statements
from engine.handlers import common, queueing
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import nodes as requests
from vobjects.rpc.server import handles

NODE = models.Node


class NodeHandlers(queueing.ActionHandlers):
    """Handle requests for nodes."""

    model = NODE

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
        node = common.NODE_VIEW.get(
            self.runtime.database, context, request.identity
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
            profile, _ = common.find_profile(
                session, context, request.profile_id
            )
            resolved = {'profile_id': profile.id}
            cluster = None
            identity = request.get('cluster_id')
            if identity:
                cluster = self._lock_cluster_with_room(
                    session, context, identity
                )
                queueing.reject_other_profile_type(
                    session,
                    cluster.profile_id,
                    profile,
                    'Node and cluster have different profile type',
                )
                resolved['cluster_id'] = cluster.id
            node = self._insert_node(
                session, context, request, profile, cluster
            )
            accepted = self.accepted(
                session, context, 'NODE_CREATE', node, request, resolved
            )
            self.check_quota(session, context, NODE, quotas.check_last)
            return accepted

        return self.write(body)

    @handles(requests.NodeUpdateRequest)
    def update(
        self, context: Any, request: requests.NodeUpdateRequest
    ) -> resources.Accepted:
        """Update a node."""

        def check(
            session: orm.Session, node: models.Node
        ) -> queueing.Resolved:
            changed = [
                column
                for column, value in node_actions.new_values(request).items()
                if statements.differs(node, column, value)
            ]
            changed += node_actions.cleared_fields(request)
            return queueing.resolve_update(
                session, context, request, node, changed
            )

        return self.queue_action(context, 'NODE_UPDATE', request, check)

    @handles(requests.NodeDeleteRequest)
    def delete(
        self, context: Any, request: requests.NodeDeleteRequest
    ) -> resources.Accepted:
        """Delete a node."""

        def check(session: orm.Session, node: models.Node) -> None:
            if not request.get('force'):
                common.reject_busy_deletion(session, node)
            common.reject_if_depended_on(node)
            node_actions.check_may_leave(self.runtime, session, node)

        return self.queue_action(context, 'NODE_DELETE', request, check)

    @handles(requests.NodeCheckRequest)
    def check(
        self, context: Any, request: requests.NodeCheckRequest
    ) -> resources.Accepted:
        """Check the health of a node."""
        return self.queue_action(context, 'NODE_CHECK', request)

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

        return self.queue_action(context, 'NODE_RECOVER', request, check)

    @handles(requests.NodeOperationRequest)
    def operate(
        self, context: Any, request: requests.NodeOperationRequest
    ) -> resources.Accepted:
        """Perform an operation of the node's profile type."""

        return self.queue_action(
            *(context, 'NODE_OPERATION', request),
            lambda session, node: self.check_operation(session, node, request),
        )

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
        self.runtime.bounds(cluster).check_size(size)
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
                **common.owner_of(context),
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
    with common.bad_if_missing(message.format(identity)):
        return find.id_of(
            connection,
            models.Cluster,
            identity,
            context.project_id,
            any_project_by_id=any_project,
        )
