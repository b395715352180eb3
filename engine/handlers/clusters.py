# SPDX-License-Identifier: Apache-2.0
"""Clusters. All but list and show only queue an action."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import orm

from engine import names, sizes
from engine.actions import checks
from engine.actions import clusters as steps
from engine.db import clock, find, models, nodes, quotas, statements
from engine.handlers import common, recovery
from engine.policies import base as policy_types
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles

CLUSTER = models.Cluster

#: Refuses, in the queueing transaction, what cannot be done.
Check = Callable[[orm.Session, models.Cluster], None]


class ClusterQueue(common.Handlers):
    """What handlers need that queue actions on clusters."""

    def bounds(self, cluster: models.Cluster) -> sizes.Bounds:
        """Return how many nodes a cluster may have."""
        return sizes.Bounds(
            cluster.min_size, cluster.max_size, self.run.node_limit()
        )

    def queued(
        self,
        context: Any,
        kind: str,
        request: Any,
        check: Check = lambda session, cluster: None,
    ) -> resources.Accepted:
        """Queue an action on the cluster that a request names.

        :param check: refuses what cannot be done
        """

        def body(session: orm.Session) -> resources.Accepted:
            cluster = common.locked_cluster(session, context, request.identity)
            check(session, cluster)
            return self.accepted(session, context, kind, cluster, request)

        return self.write(body)

    def accepted(
        self,
        session: orm.Session,
        context: Any,
        kind: str,
        cluster: models.Cluster,
        request: Any,
    ) -> resources.Accepted:
        """Queue an action on a cluster whose row we have locked."""
        action = self.queue(
            session, context, kind, cluster, request, cluster=cluster
        )
        shown = common.cluster_resources(session, [cluster])[0]
        return resources.Accepted(action=action.id, cluster=shown, node=None)

    def write(
        self, body: Callable[[orm.Session], resources.Accepted]
    ) -> resources.Accepted:
        """Run what queues an action in a transaction, and say so."""
        accepted = self.commit(body)
        self.run.wake()
        return accepted


class ClusterHandlers(ClusterQueue):
    """See the module's docstring."""

    @handles(requests.ClusterListRequest)
    def list(
        self, context: Any, request: requests.ClusterListRequest
    ) -> list[resources.Cluster]:
        """Return the caller's clusters."""
        with self.run.database.columns() as connection:
            return common.CLUSTERS.page(connection, context, request)

    @handles(requests.ClusterGetRequest)
    def get(
        self, context: Any, request: requests.ClusterGetRequest
    ) -> resources.Cluster:
        """Return a cluster."""
        with self.run.database.columns() as connection:
            found: resources.Cluster = common.CLUSTERS.one(
                connection, context, request.identity
            )
            return found

    @handles(requests.ClusterCreateRequest)
    def create(
        self, context: Any, request: requests.ClusterCreateRequest
    ) -> resources.Accepted:
        """Create a cluster; an action creates its nodes."""
        bounds = sizes.Bounds(0, -1, self.run.node_limit()).changed(
            common.given(request, 'min_size'),
            common.given(request, 'max_size'),
        )
        desired = common.given(request, 'desired_capacity')
        if desired is None:
            desired = bounds.minimum
        bounds.check_size(desired)
        bounds.check()
        _check_config(request)

        def body(session: orm.Session) -> resources.Accepted:
            profile = common.specified_profile(
                session, context, request.profile_id
            )
            request.profile_id = profile.id
            cluster = CLUSTER(
                id=models.new_id(),
                name=request.name,
                profile_id=profile.id,
                min_size=bounds.minimum,
                max_size=bounds.maximum,
                desired_capacity=desired,
                timeout=common.given(request, 'timeout') or self.run.timeout(),
                status='INIT',
                status_reason='Initializing',
                meta=common.given(request, 'metadata') or {},
                data={},
                dependents={},
                config=common.given(request, 'config') or {},
                init_at=clock.now(session),
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
            )
            # Last, because it makes others wait.
            quotas.check_clusters(
                session,
                context.project_id,
                self.run.conf.engine.max_clusters_per_project,
            )
            shown = common.cluster_resource(cluster, profile.name, [], [])
            return resources.Accepted(
                action=action.id, cluster=shown, node=None
            )

        return self.write(body)

    @handles(requests.ClusterUpdateRequest)
    def update(
        self, context: Any, request: requests.ClusterUpdateRequest
    ) -> resources.Accepted:
        """Change a cluster."""
        _check_config(request)

        def check(session: orm.Session, cluster: models.Cluster) -> None:
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
                if common.given(request, field) not in (None, value)
            ]
            named = common.given(request, 'profile_id')
            if named is not None:
                profile = common.specified_profile(session, context, named)
                refuse_other_type(
                    session,
                    cluster.profile_id,
                    profile,
                    'Cannot update a cluster to a different profile type',
                )
                request.profile_id = profile.id
                if profile.id != cluster.profile_id:
                    changed.append('profile_id')
            if not changed:
                raise errors.BadRequest('No property needs an update.')

        return self.queued(context, 'CLUSTER_UPDATE', request, check)

    @handles(requests.ClusterDeleteRequest)
    def delete(
        self, context: Any, request: requests.ClusterDeleteRequest
    ) -> resources.Accepted:
        """Delete a cluster with its nodes."""

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            if not common.given(request, 'force'):
                common.refuse_deletion(session, cluster)
            common.refuse_if_depended(cluster)

        return self.queued(context, 'CLUSTER_DELETE', request, check)

    @handles(requests.ClusterResizeRequest)
    def resize(
        self, context: Any, request: requests.ClusterResizeRequest
    ) -> resources.Accepted:
        """Change a cluster's size, or the bounds of it."""
        change = steps.resize_of(request)
        change.check()

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            present = nodes.count_of_cluster(session, cluster.id)
            change.apply(present, self.bounds(cluster))

        return self.queued(context, 'CLUSTER_RESIZE', request, check)

    @handles(requests.ClusterScaleInRequest)
    def scale_in(
        self, context: Any, request: requests.ClusterScaleInRequest
    ) -> resources.Accepted:
        """Remove nodes."""
        return self._scale(context, 'CLUSTER_SCALE_IN', request, -1)

    @handles(requests.ClusterScaleOutRequest)
    def scale_out(
        self, context: Any, request: requests.ClusterScaleOutRequest
    ) -> resources.Accepted:
        """Add nodes."""
        return self._scale(context, 'CLUSTER_SCALE_OUT', request, 1)

    def _scale(
        self, context: Any, kind: str, request: Any, sign: int
    ) -> resources.Accepted:
        count = common.given(request, 'count')
        if count == 0:
            operation = kind.removeprefix('CLUSTER_').lower().replace('_', '-')
            raise errors.BadRequest(
                f'Count for {operation} request cannot be 0.'
            )

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            policies = [
                one
                for one in checks.asked(self.run, session, cluster.id)
                if one[0].is_asked(policy_types.BEFORE, one[1], kind)
            ]
            if common.given(request, 'refuse_conflict'):
                _refuse_while_cooling(session, cluster, kind, policies)
            if count is None and policies:
                return  # one of them may say how many
            present = nodes.count_of_cluster(session, cluster.id)
            size = present + sign * (count or 1)
            self.bounds(cluster).check_size(max(size, 0))

        return self.queued(context, kind, request, check)

    @handles(requests.ClusterCheckRequest)
    def check(
        self, context: Any, request: requests.ClusterCheckRequest
    ) -> resources.Accepted:
        """Look whether a cluster's nodes are well."""
        return self.queued(context, 'CLUSTER_CHECK', request)

    @handles(requests.ClusterRecoverRequest)
    def recover(
        self, context: Any, request: requests.ClusterRecoverRequest
    ) -> resources.Accepted:
        """Bring a cluster's nodes back to health."""
        recovery.check(request)
        return self.queued(context, 'CLUSTER_RECOVER', request)


def refuse_other_type(
    session: orm.Session, old_id: str, new: models.Profile, words: str
) -> None:
    """Refuse to go from one profile to one of another type.

    :param words: what is refused
    :raises vobjects.clustering.errors.BadRequest: naming both types
    """
    old = session.get(models.Profile, old_id)
    if old is None:
        raise find.not_found(models.Profile, old_id)
    if old.type != new.type:
        raise errors.BadRequest.advised(
            f'{words}, operation aborted.',
            f'Profile {new.id} is of type {new.type}, not {old.type}.',
        )


def _check_config(request: Any) -> None:
    """Refuse a config by which no node could be made."""
    names.member_name(common.given(request, 'config') or {}, 1)


def _refuse_while_cooling(
    session: orm.Session,
    cluster: models.Cluster,
    kind: str,
    policies: Iterable[tuple[policy_types.PolicyType, policy_types.Attached]],
) -> None:
    """Refuse to scale again before a policy has cooled down.

    :raises vobjects.clustering.errors.ActionCooldown: naming the policy
    """
    now = clock.now(session)
    for policy_type, attached in policies:
        if policy_type.cools_down(attached, kind, now):
            raise errors.ActionCooldown(
                f'The {kind} action for cluster {cluster.id} cannot be'
                f' processed due to Policy {attached.policy.id} cooldown'
                ' still in progress'
            )
