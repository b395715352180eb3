# SPDX-License-Identifier: Apache-2.0
"""Handlers for clusters; all but list and show only queue an action."""

from __future__ import annotations

from typing import Any

from sqlalchemy import orm

from engine import names, sizes
from engine.actions import deletion_hooks, policy_checks
from engine.db import (
    actions,
    clock,
    find,
    models,
    nodes,
    quotas,
    statements,
)
from engine.handlers import common, queueing
from engine.policies import base as policy_base
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles

CLUSTER = models.Cluster


class ClusterHandlers(queueing.ActionHandlers):
    """Handle requests for clusters."""

    @handles(requests.ClusterListRequest)
    def list(
        self, context: Any, request: requests.ClusterListRequest
    ) -> list[resources.Cluster]:
        """Return the caller's clusters."""
        return self.page(common.CLUSTER_VIEW, context, request)

    @handles(requests.ClusterGetRequest)
    def get(
        self, context: Any, request: requests.ClusterGetRequest
    ) -> resources.Cluster:
        """Return a cluster."""
        return common.CLUSTER_VIEW.get(
            self.runtime.database, context, request.identity
        )

    @handles(requests.ClusterCreateRequest)
    def create(
        self, context: Any, request: requests.ClusterCreateRequest
    ) -> resources.Accepted:
        """Create a cluster; an action creates its nodes."""
        bounds = sizes.Bounds(0, -1, self.runtime.node_limit()).changed(
            request.get('min_size'),
            request.get('max_size'),
        )
        desired = request.get('desired_capacity')
        if desired is None:
            desired = bounds.minimum
        bounds.check_size(desired)
        bounds.check()
        _check_config(request)

        def body(session: orm.Session) -> resources.Accepted:
            profile, now = common.find_profile(
                session, context, request.profile_id
            )
            cluster = CLUSTER(
                id=models.new_id(),
                name=request.name,
                profile_id=profile.id,
                min_size=bounds.minimum,
                max_size=bounds.maximum,
                desired_capacity=desired,
                timeout=request.get('timeout') or self.runtime.timeout(),
                status='INIT',
                status_reason='Initializing',
                meta=request.get('metadata') or {},
                data={},
                dependents={},
                config=request.get('config') or {},
                init_at=now,
                **common.owner_of(context),
            )
            statements.insert(session, [cluster])
            action_id = self.queue(
                session,
                context,
                'CLUSTER_CREATE',
                cluster,
                request,
                {'profile_id': profile.id},
            )
            self.check_quota(session, context, CLUSTER, quotas.check_last)
            self.check_node_quota_last(session, context.project_id, desired)
            resource = common.CLUSTER_VIEW.from_entity(
                cluster, profile_name=profile.name, nodes=[], policies=[]
            )
            return resources.Accepted(
                action=action_id, cluster=resource, node=None
            )

        return self.write(body)

    @handles(requests.ClusterUpdateRequest)
    def update(
        self, context: Any, request: requests.ClusterUpdateRequest
    ) -> resources.Accepted:
        """Update a cluster."""
        _check_config(request)

        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            if cluster.status == 'ERROR':
                raise errors.FeatureNotSupported(
                    'Updating a cluster in error state is not supported.'
                )
            changed = [
                field
                for field, column in (
                    ('name', 'name'),
                    ('metadata', 'meta'),
                    ('timeout', 'timeout'),
                    ('config', 'config'),
                )
                # As in Senlin, null starts an action that changes nothing.
                if field in request
                and statements.differs(cluster, column, request.get(field))
            ]
            if 'profile_only' in request:
                changed.append('profile_only')
            return queueing.resolve_update(
                session, context, request, cluster, changed
            )

        return self.queue_action(context, 'CLUSTER_UPDATE', request, check)

    @handles(requests.ClusterDeleteRequest)
    def delete(
        self, context: Any, request: requests.ClusterDeleteRequest
    ) -> resources.Accepted:
        """Delete a cluster with its nodes."""

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            if not request.get('force'):
                common.reject_busy_deletion(session, cluster)
            common.reject_if_depended_on(cluster)

        return self.queue_action(context, 'CLUSTER_DELETE', request, check)

    @handles(requests.ClusterResizeRequest)
    def resize(
        self, context: Any, request: requests.ClusterResizeRequest
    ) -> resources.Accepted:
        """Change the size of a cluster, its limits, or both."""
        change = sizes.Resize.from_request(request)
        change.check()

        def growth(session: orm.Session, cluster: models.Cluster) -> int:
            present = nodes.count_of_cluster(session, cluster.id)
            size, _ = change.apply(present, self.runtime.bounds(cluster))
            return size - present

        return self.queue_action(
            context, 'CLUSTER_RESIZE', request, growth=growth
        )

    @handles(requests.ClusterScaleInRequest)
    def scale_in(
        self, context: Any, request: requests.ClusterScaleInRequest
    ) -> resources.Accepted:
        """Remove nodes from a cluster."""
        return self._scale(context, 'CLUSTER_SCALE_IN', request, -1)

    @handles(requests.ClusterScaleOutRequest)
    def scale_out(
        self, context: Any, request: requests.ClusterScaleOutRequest
    ) -> resources.Accepted:
        """Add nodes to a cluster."""
        return self._scale(context, 'CLUSTER_SCALE_OUT', request, 1)

    def _scale(
        self, context: Any, action_name: str, request: Any, sign: int
    ) -> resources.Accepted:
        count = request.get('count')
        if count == 0:
            operation = (
                action_name.removeprefix('CLUSTER_').lower().replace('_', '-')
            )
            raise errors.BadRequest(
                f'Count for {operation} request cannot be 0.'
            )

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            # The action checks min_size and max_size: a scaling policy may
            # adjust the count.
            if count is not None:
                self.runtime.bounds(cluster).check_limit(
                    cluster.desired_capacity + sign * count
                )
            if not self.queue_conflicts:
                queueing.reject_conflict(session, action_name, cluster)
                self._reject_in_cooldown(session, cluster, action_name)

        def growth(session: orm.Session, cluster: models.Cluster) -> int:
            if sign < 0 or self._has_policy_before(
                session, cluster, action_name
            ):
                return 0
            return 1 if count is None else count

        return self.queue_action(context, action_name, request, check, growth)

    def _has_policy_before(
        self, session: orm.Session, cluster: models.Cluster, action_name: str
    ) -> bool:
        """Tell whether a policy may change or refuse an action."""
        return any(
            policy_type.checks_action(
                policy_base.BEFORE, attached, action_name
            )
            for policy_type, attached in policy_checks.attached_policies(
                self.runtime, session, cluster.id
            )
        )

    def _reject_in_cooldown(
        self, session: orm.Session, cluster: models.Cluster, action_name: str
    ) -> None:
        """Reject a scaling action during the cooldown of a policy.

        :raises vobjects.clustering.errors.ActionCooldown: names the policy
        """
        now = clock.now(session)
        for policy_type, attached in policy_checks.attached_policies(
            self.runtime, session, cluster.id
        ):
            if policy_type.in_cooldown(attached, action_name, now):
                raise errors.ActionCooldown(
                    f'The {action_name} action for cluster {cluster.id} cannot'
                    f' be processed due to Policy {attached.policy.id}'
                    ' cooldown still in progress'
                )

    @handles(requests.ClusterCheckRequest)
    def check(
        self, context: Any, request: requests.ClusterCheckRequest
    ) -> resources.Accepted:
        """Check the health of a cluster's nodes."""
        return self.queue_action(context, 'CLUSTER_CHECK', request)

    @handles(requests.ClusterRecoverRequest)
    def recover(
        self, context: Any, request: requests.ClusterRecoverRequest
    ) -> resources.Accepted:
        """Recover the unhealthy nodes of a cluster."""
        common.check_reboot_type(request)
        return self.queue_action(context, 'CLUSTER_RECOVER', request)

    @handles(requests.ClusterCompleteLifecycleRequest)
    def complete_lifecycle(
        self, context: Any, request: requests.ClusterCompleteLifecycleRequest
    ) -> resources.Accepted:
        """Complete a lifecycle hook; no error if the node is already gone.

        The hook's timeout may have expired before the request.
        """
        token = request.lifecycle_action_token

        def body(session: orm.Session) -> bool:
            cluster = find.find(
                session, models.Cluster, request.identity, context.project_id
            )
            action = None
            if find.is_storable(token):
                action = actions.lock(session, token)
            if action is None or action.cluster_id != cluster.id:
                raise find.not_found(models.Action, token)
            if not action.data.get('hook'):
                return False  # no hook; Senlin accepts it, too
            return deletion_hooks.complete(session, action)

        if self.runtime.database.write(body):
            self.runtime.wake()
        return resources.Accepted(action=token, cluster=None, node=None)


def _check_config(request: Any) -> None:
    """Reject a config with an invalid format for node names."""
    names.check_config(request.get('config') or {})
