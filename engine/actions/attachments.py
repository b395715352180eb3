# SPDX-License-Identifier: Apache-2.0
"""Attach, detach, enable and disable the policies of a cluster.

Each of these is an action, because it locks the cluster. Cloud resources that
a policy needs are created before the policy is bound to the cluster, and
deleted before it is unbound. If an engine dies in between, another engine
starts the action again.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine.actions import action_run, node_policies
from engine.actions import clusters as steps
from engine.db import actions, clusters, models, nodes
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import consts, errors

LOG = logging.getLogger(__name__)

#: Key in an action's data: the plan made by the first attempt.
PLANNED = 'planned'


@dataclasses.dataclass(frozen=True, slots=True)
class _Case:
    """A policy, a cluster and its nodes, as they were when the action began.

    :ivar binding: while attaching, a binding that is not in the database yet
    """

    kind: base.PolicyType
    target: base.Target
    binding: models.ClusterPolicy
    members: Sequence[models.Node]

    @property
    def attached(self) -> base.Attached:
        return base.Attached(
            self.target.policy, self.binding, self.target.properties
        )


# CLUSTER_ATTACH_POLICY


def attach(job: action_run.Work) -> None:
    """Create the policy's resources, add the nodes, and bind the policy."""
    cloud = job.cloud
    case = job.write(lambda session: _begin(job, session, cloud))
    if case is None:
        return
    kind, attached = case.kind, case.attached
    made = False
    try:
        planned = _planned(job, case)
        case.binding.data = kind.attach(case.target, planned)
        made = True
        changes = (
            node_policies.take_in(cloud, kind, attached, case.members)
            if case.binding.enabled
            else {}
        )
    except node_policies.TROUBLES as error:
        if made:
            _undo(case)
        reason = str(error)
        job.write(lambda session: job.fail(session, reason))
        return

    def done(session: orm.Session) -> None:
        steps.locked(job, session)
        node_policies.note(session, changes)
        session.add(case.binding)
        session.flush()
        kind.bound(session, attached, job.run.conf)
        job.succeed(session, 'Policy attached.')

    try:
        job.write(done)
    except actions.ClaimLostError:
        _undo_if_unwanted(job, case)
        raise


def _begin(
    job: action_run.Work, session: orm.Session, cloud: providers.Provider
) -> _Case | None:
    cluster = steps.locked(job, session)
    policy = _policy(job, session)
    if clusters.get_binding(session, cluster.id, policy.id) is not None:
        job.succeed(session, 'Policy already attached.')
        return None
    kind = job.run.policy_types.get(policy.type)
    binding = models.ClusterPolicy(
        id=models.new_id(),
        cluster_id=cluster.id,
        policy_id=policy.id,
        priority=kind.priority,
        enabled=job.request.get('enabled') is not False,
        data={},
    )
    case = _case(job, session, cloud, cluster, policy, binding)
    try:
        _refuse_unfit(job, session, case)
    except base.PolicyRefusal as refusal:
        job.fail(session, str(refusal))
        return None
    return case


def _planned(job: action_run.Work, case: _Case) -> Mapping[str, Any]:
    """Return the plan of the first attempt, or make one and store it."""
    data = job.action.data
    if PLANNED in data:
        found: Mapping[str, Any] = data[PLANNED]
        return found
    planned = case.kind.plan(case.target)
    if planned:
        job.write(
            lambda session: actions.update(
                session,
                job.claim.condition(),
                data={**data, PLANNED: planned},
            )
        )
    return planned


def _undo(case: _Case) -> None:
    """Delete the resources of an attachment that failed."""
    try:
        case.kind.detach(case.target, case.binding.data)
    except node_policies.TROUBLES as error:
        LOG.warning(
            'Policy %s is not attached to cluster %s, but not all that was'
            ' made for it is gone: %s',
            case.target.policy.id,
            case.target.cluster.id,
            error,
        )


def _undo_if_unwanted(job: action_run.Work, case: _Case) -> None:
    """Delete the resources, unless another engine continues the action."""
    with job.run.database.reader() as session:
        action = actions.get(session, job.action.id)
        is_over = action is None or action.status in consts.ACTION_ENDS
    if is_over:
        _undo(case)


# CLUSTER_DETACH_POLICY


def detach(job: action_run.Work) -> None:
    """Delete the policy's resources, and unbind the policy."""
    cloud = job.cloud
    case = job.write(lambda session: _existing(job, session, cloud))
    if case is None:
        return
    try:
        changes = _release(job, case)
    except node_policies.TROUBLES as error:
        reason = str(error)
        job.write(lambda session: job.fail(session, reason))
        return

    def done(session: orm.Session) -> None:
        _forget(session, case, changes)
        job.succeed(session, 'Policy detached.')

    job.write(done)


def _existing(
    job: action_run.Work, session: orm.Session, cloud: providers.Provider
) -> _Case | None:
    cluster = steps.locked(job, session)
    policy = _policy(job, session)
    binding = clusters.get_binding(session, cluster.id, policy.id)
    if binding is None:
        job.fail(session, 'Policy not attached.')
        return None
    return _case(job, session, cloud, cluster, policy, binding)


def _release(job: action_run.Work, case: _Case) -> node_policies.Changes:
    """Delete a policy's cloud resources.

    :returns: changes of the nodes' data
    :raises engine.providers.base.ProviderError: the deletion failed
    :raises engine.policies.base.PolicyRefusal: the policy does not allow it
    """
    changes = node_policies.let_go(
        case.target.cloud, case.kind, case.attached, case.members
    )
    case.kind.detach(case.target, case.binding.data)
    return changes


def _forget(
    session: orm.Session, case: _Case, changes: node_policies.Changes
) -> None:
    node_policies.note(session, changes)
    binding = session.get(models.ClusterPolicy, case.binding.id)
    if binding is not None:
        case.kind.unbound(session, case.attached)
        session.delete(binding)
    session.flush()


# CLUSTER_UPDATE_POLICY


def change(job: action_run.Work) -> None:
    """Enable or disable the policy; enabling it adds the nodes."""
    cloud = job.cloud
    case = job.write(lambda session: _existing(job, session, cloud))
    if case is None:
        return
    enabled = job.request.get('enabled')
    if enabled is None:
        job.write(lambda session: job.succeed(session, 'No update is needed.'))
        return
    changes: node_policies.Changes = {}
    if enabled:
        try:
            changes = node_policies.take_in(
                cloud, case.kind, case.attached, case.members
            )
        except node_policies.TROUBLES as error:
            reason = str(error)
            job.write(lambda session: job.fail(session, reason))
            return

    def done(session: orm.Session) -> None:
        binding = session.get_one(models.ClusterPolicy, case.binding.id)
        binding.enabled = enabled
        node_policies.note(session, changes)
        case.kind.bound(
            session,
            dataclasses.replace(case.attached, binding=binding),
            job.run.conf,
        )
        job.succeed(session, 'Policy updated.')

    job.write(done)


# CLUSTER_DELETE


def releasing(stage: action_run.Stage) -> action_run.Stage:
    """Wrap a stage so that it first detaches all policies of the cluster.

    Detached policies cannot interfere with the deletion.
    """

    def release(job: action_run.Work) -> None:
        for case in reversed(_cases(job)):
            _release_and_forget(job, case)
        stage(job)

    return release


def _cases(job: action_run.Work) -> list[_Case]:
    """Return the policies of a cluster that is about to be deleted."""
    with job.run.database.reader() as session:
        bound = list(clusters.bindings(session, job.action.target))
    if not bound:
        return []
    cloud = job.cloud
    with job.run.database.reader() as session:
        cluster = session.get(models.Cluster, job.action.target)
        return [
            _case(job, session, cloud, cluster, policy, binding)
            for binding, policy in bound
            if cluster is not None
        ]


def _release_and_forget(job: action_run.Work, case: _Case) -> None:
    try:
        changes = _release(job, case)
    except node_policies.TROUBLES as error:
        if not job.request.get('force'):
            raise providers.ProviderError(
                f"Failed in detaching policy '{case.target.policy.name}':"
                f' {error}'
            ) from error
        changes = {}
        LOG.warning(
            'Cluster %s is deleted, and policy %s leaves something behind: %s',
            case.target.cluster.id,
            case.target.policy.id,
            error,
        )
    job.write(lambda session: _forget(session, case, changes))


def keep(session: orm.Session, action: models.Action, reason: str) -> None:
    """Leave the cluster's status, because its nodes did not change."""


def _case(
    job: action_run.Work,
    session: orm.Session,
    cloud: providers.Provider,
    cluster: models.Cluster,
    policy: models.Policy,
    binding: models.ClusterPolicy,
) -> _Case:
    kind = job.run.policy_types.get(policy.type)
    target = base.Target(
        conf=job.run.conf,
        cloud=cloud,
        cluster=cluster,
        profile=session.get_one(models.Profile, cluster.profile_id),
        policy=policy,
        properties=job.run.policy_types.properties_of(
            policy.type, policy.spec
        ),
    )
    return _Case(kind, target, binding, nodes.of_cluster(session, cluster.id))


def _policy(job: action_run.Work, session: orm.Session) -> models.Policy:
    policy = session.get(models.Policy, job.request.policy_id)
    if policy is None:
        raise errors.ResourceNotFound(
            f'The policy {job.request.policy_id} is gone.'
        )
    return policy


def _refuse_unfit(
    job: action_run.Work, session: orm.Session, case: _Case
) -> None:
    """Check that a policy can be attached to the cluster.

    :raises engine.policies.base.PolicyRefusal: with the reason
    """
    kind, cluster = case.kind, case.target.cluster
    name = job.run.profile_types.get(case.target.profile.type).name
    if kind.profile_types != base.ANY and name not in kind.profile_types:
        raise base.PolicyRefusal(
            f'Policy not applicable on profile type: {name}'
        )
    if not kind.singleton:
        return
    for _, other in clusters.bindings(session, cluster.id):
        if other.type.rpartition('-')[0] == kind.name:
            raise base.PolicyRefusal(
                f'Only one instance of policy type ({kind.name}) can be'
                f' attached to a cluster, but another instance ({other.id})'
                f' is found attached to the cluster ({cluster.id}) already.'
            )
