# SPDX-License-Identifier: Apache-2.0
"""Handlers for clusters; all but list and show only queue an action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import orm

from engine import names, sizes
from engine.actions import deletion_hooks, policy_checks
from engine.db import (
    actions,
    clock,
    database,
    find,
    models,
    nodes,
    quotas,
    statements,
)
from engine.handlers import common
from engine.policies import base as policy_base
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles

CLUSTER = models.Cluster

#: Raises an error, in the queueing transaction, if the action is impossible.
Precondition = Callable[[orm.Session, models.Cluster], common.Resolved | None]

#: Returns the number of nodes that the action will add, or 0 if the action
#: decides that; raises an error if the action is impossible.
Growth = Callable[[orm.Session, models.Cluster], int]


class ClusterActionHandlers(common.Handlers):
    """Shared base of handlers that queue actions on clusters."""

    def bounds(self, cluster: models.Cluster) -> sizes.Bounds:
        """Return the limits of a cluster's size."""
        return sizes.Bounds(
            cluster.min_size, cluster.max_size, self.runtime.node_limit()
        )

    def queue_action(
        self,
        context: Any,
        action_name: str,
        request: Any,
        check: Precondition = lambda session, cluster: None,
        growth: Growth = lambda session, cluster: 0,
    ) -> resources.Accepted:
        """Queue an action on the cluster that a request names.

        :param check: raises an error if the action is impossible; may return
            values for the action in place of those in the request
        :param growth: called after ``check``
        """

        def body(session: orm.Session) -> resources.Accepted:
            cluster = common.lock_cluster(session, context, request.identity)
            resolved = check(session, cluster)
            more = growth(session, cluster)
            accepted = self.accepted(
                session, context, action_name, cluster, request, resolved
            )
            self.check_node_quota_last(session, cluster.project, more)
            return accepted

        return self.write(body)

    def check_node_quota_last(
        self, session: orm.Session, project: str | None, more: int
    ) -> None:
        """Reject, before the commit, an action that would add too many nodes.

        The action checks this again, because other actions may add nodes
        before it runs.

        :param more: the number of nodes that the action adds
        :raises vobjects.clustering.errors.OverQuota: states the numbers
        """
        limit = self.runtime.conf.engine.max_nodes_per_project
        database.before_commit(
            session,
            lambda last: quotas.check_growth(
                last, models.Node, project, more, limit
            ),
        )

    def accepted(
        self,
        session: orm.Session,
        context: Any,
        action_name: str,
        cluster: models.Cluster,
        request: Any,
        resolved: common.Resolved | None = None,
    ) -> resources.Accepted:
        """Queue an action on a cluster whose row is locked."""
        action = self.queue(
            session,
            context,
            action_name,
            cluster,
            request,
            cluster=cluster,
            resolved=resolved,
        )
        resource = common.cluster_resources(session, [cluster])[0]
        return resources.Accepted(
            action=action.id, cluster=resource, node=None
        )

    def write(
        self, body: Callable[[orm.Session], resources.Accepted]
    ) -> resources.Accepted:
        """Run a transaction that queues an action, and announce the action."""
        accepted = self.commit(body)
        self.runtime.wake(accepted.action)
        return accepted


class ClusterHandlers(ClusterActionHandlers):
    """Handle requests for clusters."""

    @handles(requests.ClusterListRequest)
    def list(
        self, context: Any, request: requests.ClusterListRequest
    ) -> list[resources.Cluster]:
        """Return the caller's clusters."""
        with self.runtime.database.read_connection() as connection:
            return common.CLUSTER_VIEW.page(connection, context, request)

    @handles(requests.ClusterGetRequest)
    def get(
        self, context: Any, request: requests.ClusterGetRequest
    ) -> resources.Cluster:
        """Return a cluster."""
        with self.runtime.database.read_connection() as connection:
            cluster: resources.Cluster = common.CLUSTER_VIEW.get(
                connection, context, request.identity
            )
            return cluster

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
            profile, now = common.find_profile_now(
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
                user=context.user_id,
                project=context.project_id,
                domain=context.domain_id,
            )
            statements.insert(session, [cluster])
            action = self.queue(
                session,
                context,
                'CLUSTER_CREATE',
                cluster,
                request,
                cluster=cluster,
                resolved={'profile_id': profile.id},
            )
            quotas.check_last(
                session,
                models.Cluster,
                context.project_id,
                self.runtime.conf.engine.max_clusters_per_project,
            )
            self.check_node_quota_last(session, context.project_id, desired)
            resource = common.cluster_resource(cluster, profile.name, [], [])
            return resources.Accepted(
                action=action.id, cluster=resource, node=None
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
        ) -> common.Resolved:
            if cluster.status == 'ERROR':
                raise errors.FeatureNotSupported(
                    'Updating a cluster in error state is not supported.'
                )
            changed = [
                field
                for field, value in (
                    ('name', cluster.name),
                    ('metadata', cluster.meta),
                    ('timeout', cluster.timeout),
                    ('config', cluster.config),
                )
                # As in Senlin, null starts an action that changes nothing.
                if field in request and request.get(field) != value
            ]
            if 'profile_only' in request:
                changed.append('profile_only')
            resolved: dict[str, str] = {}
            profile_identity = request.get('profile_id')
            if profile_identity is not None:
                profile = common.find_profile(
                    session, context, profile_identity
                )
                reject_other_profile_type(
                    session,
                    cluster.profile_id,
                    profile,
                    'Cannot update a cluster to a different profile type',
                )
                resolved['profile_id'] = profile.id
                if profile.id != cluster.profile_id:
                    changed.append('profile_id')
            if not changed:
                raise errors.BadRequest('No property needs an update.')
            return resolved

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
            size, _ = change.apply(present, self.bounds(cluster))
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
                self.bounds(cluster).check_limit(
                    cluster.desired_capacity + sign * count
                )
            if not self.queue_conflicts:
                common.reject_conflict(session, action_name, cluster)
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


def reject_other_profile_type(
    session: orm.Session, old_id: str, new: models.Profile, message: str
) -> None:
    """Reject a change to a profile of another type.

    :param message: beginning of the error message
    :raises vobjects.clustering.errors.BadRequest: names both types
    """
    old = session.get(models.Profile, old_id)
    if old is None:
        raise find.not_found(models.Profile, old_id)
    if old.type != new.type:
        raise errors.BadRequest.advised(
            f'{message}, operation aborted.',
            f'Profile {new.id} is of type {new.type}, not {old.type}.',
        )


def _check_config(request: Any) -> None:
    """Reject a config with an invalid format for node names."""
    names.check_config(request.get('config') or {})
