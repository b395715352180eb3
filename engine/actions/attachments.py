# SPDX-License-Identifier: Apache-2.0
"""Policies of a cluster: attaching, detaching, enabling and disabling them.

Each is an action, because the cluster is locked meanwhile.
"""

from __future__ import annotations

from sqlalchemy import orm

from engine.actions import clusters as steps
from engine.actions import work
from engine.db import bindings, models
from engine.policies import base
from engine.profiles import schema
from vobjects.clustering import errors


def attach(job: work.Work, session: orm.Session) -> None:
    """CLUSTER_ATTACH_POLICY."""
    cluster = steps.locked(job, session)
    policy = _policy(job, session)
    if bindings.get(session, cluster.id, policy.id) is not None:
        job.succeed(session, 'Policy already attached.')
        return
    kind = job.run.policy_types.get(policy.type)
    try:
        _refuse_unfit(job, session, cluster, kind)
        data = kind.attach(cluster, _properties(kind, policy))
    except base.PolicyRefusal as refusal:
        job.fail(session, str(refusal))
        return
    session.add(
        models.ClusterPolicy(
            id=models.new_id(),
            cluster_id=cluster.id,
            policy_id=policy.id,
            priority=kind.priority,
            enabled=work.given(job.request, 'enabled') is not False,
            data=data,
        )
    )
    session.flush()
    job.succeed(session, 'Policy attached.')


def detach(job: work.Work, session: orm.Session) -> None:
    """CLUSTER_DETACH_POLICY."""
    cluster = steps.locked(job, session)
    policy = _policy(job, session)
    binding = bindings.get(session, cluster.id, policy.id)
    if binding is None:
        job.fail(session, 'Policy not attached.')
        return
    kind = job.run.policy_types.get(policy.type)
    try:
        kind.detach(
            cluster,
            base.Attached(policy, binding, _properties(kind, policy)),
        )
    except base.PolicyRefusal as refusal:
        job.fail(session, str(refusal))
        return
    session.delete(binding)
    session.flush()
    job.succeed(session, 'Policy detached.')


def change(job: work.Work, session: orm.Session) -> None:
    """CLUSTER_UPDATE_POLICY."""
    cluster = steps.locked(job, session)
    policy = _policy(job, session)
    binding = bindings.get(session, cluster.id, policy.id)
    enabled = work.given(job.request, 'enabled')
    if binding is None:
        job.fail(session, 'Policy not attached.')
    elif enabled is None:
        job.succeed(session, 'No update is needed.')
    else:
        binding.enabled = enabled
        job.succeed(session, 'Policy updated.')


def keep(session: orm.Session, action: models.Action, reason: str) -> None:
    """Leave a cluster as it is, to whose nodes nothing was done."""


def _policy(job: work.Work, session: orm.Session) -> models.Policy:
    policy = session.get(models.Policy, job.request.policy_id)
    if policy is None:
        raise errors.ResourceNotFound(
            f'The policy {job.request.policy_id} is gone.'
        )
    return policy


def _properties(
    kind: base.PolicyType, policy: models.Policy
) -> dict[str, object]:
    return schema.filled(kind.properties, policy.spec.get('properties') or {})


def _refuse_unfit(
    job: work.Work,
    session: orm.Session,
    cluster: models.Cluster,
    kind: base.PolicyType,
) -> None:
    """Refuse a policy that the cluster cannot have.

    :raises engine.policies.base.PolicyRefusal: saying why
    """
    profile = session.get_one(models.Profile, cluster.profile_id)
    name = job.run.profile_types.get(profile.type).name
    if kind.profile_types != base.ANY and name not in kind.profile_types:
        raise base.PolicyRefusal(
            f'Policy not applicable on profile type: {name}'
        )
    if not kind.singleton:
        return
    for _, other in bindings.of_cluster(session, cluster.id):
        if other.type.rpartition('-')[0] == kind.name:
            raise base.PolicyRefusal(
                f'Only one instance of policy type ({kind.name}) can be'
                f' attached to a cluster, but another instance ({other.id})'
                f' is found attached to the cluster ({cluster.id}) already.'
            )
