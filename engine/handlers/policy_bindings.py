# SPDX-License-Identifier: Apache-2.0
"""Handlers for the policies of a cluster: list, attach, detach, update."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.db import clusters, find, models
from engine.handlers import common, queueing
from vobjects import exceptions
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import policies as requests
from vobjects.rpc.server import handles

CLUSTER, POLICY = models.Cluster, models.Policy
BINDING = models.ClusterPolicy

SORT_KEYS: dict[str, Any] = {
    'enabled': BINDING.enabled,
    'priority': BINDING.priority,
    'policy_name': POLICY.name,
}


class AttachmentHandlers(queueing.ActionHandlers):
    """Handle requests for the policies of clusters."""

    @handles(requests.ClusterPolicyListRequest)
    def list(
        self, context: Any, request: Any
    ) -> list[resources.ClusterPolicy]:
        """Return the policies of a cluster."""
        with self.runtime.database.reader() as session:
            cluster = common.find_visible(
                session, CLUSTER, context, request.identity
            )
            query = (
                sqlalchemy.select(BINDING, POLICY)
                .join(POLICY, POLICY.id == BINDING.policy_id)
                .where(BINDING.cluster_id == cluster.id)
            )
            filters: dict[str, Any] = {
                'enabled': BINDING.enabled,
                'policy_name': POLICY.name,
                'policy_type': POLICY.type,
            }
            for field, column in filters.items():
                value = request.get(field)
                if value is not None:
                    query = query.where(column == value)
            for item in (request.get('sort') or 'priority').split(','):
                key, _, direction = item.partition(':')
                column = SORT_KEYS[key]
                query = query.order_by(
                    column.desc() if direction == 'desc' else column.asc()
                )
            return [
                _binding_resource(cluster, binding, policy)
                for binding, policy in session.execute(
                    query.order_by(BINDING.id)
                )
            ]

    @handles(requests.ClusterPolicyGetRequest)
    def get(self, context: Any, request: Any) -> resources.ClusterPolicy:
        """Return a policy of a cluster."""
        with self.runtime.database.reader() as session:
            cluster = common.find_visible(
                session, CLUSTER, context, request.identity
            )
            policy = find.find(
                session, POLICY, request.policy_id, cluster.project
            )
            binding = clusters.get_binding(session, cluster.id, policy.id)
            if binding is None:
                raise errors.PolicyBindingNotFound(
                    f'The policy {exceptions.cut(request.policy_id)} is not'
                    ' found attached to the specified cluster'
                    f' {exceptions.cut(request.identity)}.'
                )
            return _binding_resource(cluster, binding, policy)

    @handles(requests.ClusterAttachPolicyRequest)
    def attach(self, context: Any, request: Any) -> resources.Accepted:
        """Attach a policy to a cluster."""

        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            policy = _find_policy(session, context, request.policy_id)
            self._check_quota(session, cluster, policy)
            return {'policy_id': policy.id}

        return self.queue_action(
            context, 'CLUSTER_ATTACH_POLICY', request, check
        )

    @handles(requests.ClusterDetachPolicyRequest)
    def detach(self, context: Any, request: Any) -> resources.Accepted:
        """Detach a policy from a cluster."""
        return self._queue_change(context, 'CLUSTER_DETACH_POLICY', request)

    @handles(requests.ClusterUpdatePolicyRequest)
    def update(self, context: Any, request: Any) -> resources.Accepted:
        """Enable or disable a policy of a cluster."""
        return self._queue_change(context, 'CLUSTER_UPDATE_POLICY', request)

    def _check_quota(
        self,
        session: orm.Session,
        cluster: models.Cluster,
        policy: models.Policy,
    ) -> None:
        """Reject a further policy of a cluster that has as many as it may.

        :raises vobjects.clustering.errors.OverQuota: states both numbers
        """
        limit = self.runtime.conf.engine.max_policies_per_cluster
        attached = [
            row.id for _, row in clusters.bindings(session, cluster.id)
        ]
        if len(attached) >= limit and policy.id not in attached:
            raise errors.OverQuota(
                f'Quota exceeded for resources. The cluster has'
                f' {len(attached)} policies; it may have {limit}.'
            )

    def _queue_change(
        self, context: Any, action_name: str, request: Any
    ) -> resources.Accepted:
        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            policy = _find_policy(session, context, request.policy_id)
            if clusters.get_binding(session, cluster.id, policy.id) is None:
                raise errors.BadRequest(
                    f'The policy {exceptions.cut(request.policy_id)} is not'
                    ' attached to the specified cluster'
                    f' {exceptions.cut(cluster.id)}.'
                )
            return {'policy_id': policy.id}

        return self.queue_action(context, action_name, request, check)


def _find_policy(
    session: orm.Session, context: Any, identity: str
) -> models.Policy:
    """Return the policy that a request's body names.

    The lock keeps others from deleting it before the action can be seen.
    """
    name = exceptions.cut(identity)
    with common.bad_if_missing(
        f'The specified policy {name} could not be found.'
    ):
        return find.find_shared_now(
            session, POLICY, identity, context.project_id
        )[0]


def _binding_resource(
    cluster: models.Cluster,
    binding: models.ClusterPolicy,
    policy: models.Policy,
) -> resources.ClusterPolicy:
    return resources.ClusterPolicy(
        id=binding.id,
        cluster_id=cluster.id,
        cluster_name=cluster.name,
        policy_id=policy.id,
        policy_name=policy.name,
        policy_type=policy.type,
        enabled=binding.enabled,
        priority=binding.priority,
        data=binding.data,
        last_op=binding.last_op,
    )
