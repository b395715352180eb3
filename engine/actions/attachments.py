# SPDX-License-Identifier: Apache-2.0
"""A policy and a cluster, as the actions that bind them see them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from sqlalchemy import orm

from engine.actions import action_run, node_policies
from engine.actions import clusters as cluster_actions
from engine.db import clusters, models, nodes
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import errors


@dataclasses.dataclass(frozen=True, slots=True)
class Attachment:
    """A policy, a cluster and its nodes, as they were when the action began.

    :ivar binding: while attaching, a binding that is not in the database yet
    """

    policy_type: base.PolicyType
    target: base.AttachmentTarget
    binding: models.ClusterPolicy
    members: Sequence[models.Node]

    @property
    def attached(self) -> base.AttachedPolicy:
        return base.AttachedPolicy(
            self.target.policy, self.binding, self.target.properties
        )

    def add_nodes(self, changes: node_policies.Changes) -> None:
        """Add the nodes to the policy.

        :param changes: receives the changes of the nodes added so far, also if
            the next one cannot be added
        :raises engine.providers.base.ProviderError: a node cannot be added
        """
        if self.policy_type.tracks_nodes:
            for node in self.members:
                changes[node.id] = self.policy_type.add_node(
                    self.target.cloud, self.attached, node
                )

    def detach(self, members: Iterable[models.Node]) -> node_policies.Changes:
        """Remove nodes from the policy, and delete its cloud resources.

        :returns: changes of the nodes' data
        :raises engine.providers.base.ProviderError: the deletion failed
        :raises engine.policies.base.PolicyCheckError: the policy does not
            allow it
        """
        changes: node_policies.Changes = {}
        if self.policy_type.tracks_nodes:
            changes = self.policy_type.remove_nodes(
                self.target.cloud, self.attached, members
            )
        self.policy_type.detach(self.target, self.binding.data)
        return changes


def load_existing(run: action_run.ActionRun) -> Attachment | None:
    """Return the attachment of a bound policy; fail the action if none is."""
    cloud = run.cloud

    def body(session: orm.Session) -> Attachment | None:
        cluster = cluster_actions.lock_cluster(run, session)
        policy = get_policy(run, session)
        binding = clusters.get_binding(session, cluster.id, policy.id)
        if binding is None:
            run.fail(session, 'Policy not attached.')
            return None
        return load(run, session, cloud, cluster, policy, binding)

    return run.write(body)


def load_new(
    run: action_run.ActionRun,
    session: orm.Session,
    cloud: providers.Provider,
    cluster: models.Cluster,
    policy: models.Policy,
) -> Attachment:
    """Return an attachment with a new binding.

    The ID of the action is the ID of the binding, so all attempts agree on it.
    """
    binding = models.ClusterPolicy(
        id=run.action.id,
        cluster_id=cluster.id,
        policy_id=policy.id,
        priority=run.runtime.policy_types.get(policy.type).priority,
        enabled=run.request.get('enabled') is not False,
        data={},
    )
    return load(run, session, cloud, cluster, policy, binding)


def load(
    run: action_run.ActionRun,
    session: orm.Session,
    cloud: providers.Provider,
    cluster: models.Cluster,
    policy: models.Policy,
    binding: models.ClusterPolicy,
) -> Attachment:
    """Return an attachment with the present nodes of the cluster."""
    policy_type = run.runtime.policy_types.get(policy.type)
    target = base.AttachmentTarget(
        conf=run.runtime.conf,
        cloud=cloud,
        key=binding.id,
        cluster=cluster,
        profile=session.get_one(models.Profile, cluster.profile_id),
        policy=policy,
        properties=run.runtime.policy_types.properties_of(
            policy.type, policy.spec
        ),
    )
    return Attachment(
        policy_type, target, binding, nodes.of_cluster(session, cluster.id)
    )


def get_policy(
    run: action_run.ActionRun, session: orm.Session
) -> models.Policy:
    """Return the policy that the request names.

    :raises vobjects.clustering.errors.ResourceNotFound: it was deleted
    """
    policy = session.get(models.Policy, run.request.policy_id)
    if policy is None:
        raise errors.ResourceNotFound(
            f'The policy {run.request.policy_id} is gone.'
        )
    return policy


def check_attachable(
    run: action_run.ActionRun, session: orm.Session, attachment: Attachment
) -> None:
    """Check that a policy can be attached to the cluster.

    :raises engine.policies.base.PolicyCheckError: with the reason
    """
    policy_type, cluster = attachment.policy_type, attachment.target.cluster
    profile_type = run.runtime.profile_types.get(
        attachment.target.profile.type
    )
    if (
        policy_type.profile_types != base.ANY
        and profile_type.name not in policy_type.profile_types
        and policy_type.name not in profile_type.policies
    ):
        raise base.PolicyCheckError(
            f'Policy not applicable on profile type: {profile_type.name}'
        )
    if not policy_type.singleton:
        return
    for _, other in clusters.bindings(session, cluster.id):
        if other.type.rpartition('-')[0] == policy_type.name:
            raise base.PolicyCheckError(
                f'Only one instance of policy type ({policy_type.name}) can be'
                f' attached to a cluster, but another instance ({other.id})'
                f' is found attached to the cluster ({cluster.id}) already.'
            )
