# SPDX-License-Identifier: Apache-2.0
"""Call the policies of a cluster before and after its actions.

Policies check only actions that a user requested: decisions for the request
also cover the actions derived from it. The decisions are stored in the data of
the action, under ``policies``; read them with :func:`decisions`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import orm

from engine import distribution
from engine.actions import action_run
from engine.actions.runtime import Runtime
from engine.db import actions, clock, clusters, models, nodes
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import consts

DECISIONS = 'policies'

#: Calls a hook of a policy type.
PolicyHook = Callable[
    [base.PolicyType, base.PolicyContext, base.AttachedPolicy], None
]


@dataclasses.dataclass(frozen=True, slots=True)
class _CloudInfoError:
    """The reason why a policy could not look at the cloud."""

    reason: str


def needs_cloud_info(run: action_run.ActionRun) -> bool:
    """Tell whether a policy may have to look at the cloud before an action."""
    action = run.action
    return (
        action.cause == consts.CAUSE_REQUEST
        and action.cluster_id is not None
        and action.action in run.runtime.policy_types.cloud_info_actions
    )


def collect_cloud_info(run: action_run.ActionRun) -> dict[str, Any]:
    """Collect the information from the cloud that policies need.

    :returns: information by policy ID, for :func:`check_before`
    """
    action = run.action
    if action.cluster_id is None or not needs_cloud_info(run):
        return {}
    with run.runtime.database.reader() as session:
        policies = [
            (policy_type, attached)
            for policy_type, attached in attached_policies(
                run.runtime, session, action.cluster_id
            )
            if action.action in policy_type.cloud_info_actions
        ]
    cloud_info: dict[str, Any] = {}
    for policy_type, attached in policies:
        try:
            info = policy_type.get_cloud_info(run.cloud, attached)
        except (base.PolicyCheckError, providers.ProviderError) as error:
            info = _CloudInfoError(str(error))
        cloud_info[attached.policy.id] = info
    return cloud_info


def check_before(
    run: action_run.ActionRun,
    session: orm.Session,
    cloud_info: Mapping[str, Any],
) -> bool:
    """Run the policy checks before an action.

    If a policy refuses, the action fails before it has changed anything.

    :param cloud_info: the result of :func:`collect_cloud_info`
    :returns: whether all policies agreed
    """

    def call_hook(
        policy_type: base.PolicyType,
        context: base.PolicyContext,
        attached: base.AttachedPolicy,
    ) -> None:
        info = cloud_info.get(attached.policy.id)
        if isinstance(info, _CloudInfoError):
            raise base.PolicyCheckError(info.reason)
        context.cloud_info = cloud_info
        policy_type.pre_op(context, attached)

    refusal = _call_policies(run, session, base.BEFORE, call_hook)
    if refusal:
        run.fail(session, f'Policy check failure: {refusal}')
    return not refusal


def check_after(
    run: action_run.ActionRun, session: orm.Session, success: str
) -> None:
    """Run the policy checks after an action's work, and end the action.

    :param success: the status reason if all policies agree
    """
    refusal = _call_policies(
        run,
        session,
        base.AFTER,
        lambda policy_type, context, attached: policy_type.post_op(
            context, attached
        ),
    )
    if refusal:
        run.fail(session, f'Policy check failure: {refusal}')
    else:
        run.succeed(session, success)


def decisions(run: action_run.ActionRun, topic: str) -> Mapping[str, Any]:
    """Return the decisions that policies made before the action began.

    :param topic: the part of the decisions, such as ``deletion``
    """
    by_topic: dict[str, Any] = run.action.data.get(DECISIONS) or {}
    decisions: Mapping[str, Any] = by_topic.get(topic) or {}
    return decisions


def attached_policies(
    runtime: Runtime,
    session: orm.Session,
    cluster_id: str,
    *,
    enabled_only: bool = True,
) -> Iterator[tuple[base.PolicyType, base.AttachedPolicy]]:
    """Yield the policies of a cluster, lowest priority number first."""
    for binding, policy in clusters.bindings(
        session, cluster_id, enabled_only=enabled_only
    ):
        policy_type = runtime.policy_types.get(policy.type)
        properties = runtime.policy_types.properties_of(
            policy.type, policy.spec
        )
        yield policy_type, base.AttachedPolicy(policy, binding, properties)


def _call_policies(
    run: action_run.ActionRun,
    session: orm.Session,
    when: str,
    call_hook: PolicyHook,
) -> str:
    """Call each policy in turn.

    :returns: the reason of the first refusal; empty if all policies agree
    """
    action = run.action
    if (
        action.cause != consts.CAUSE_REQUEST
        or action.cluster_id is None
        or run.has_policies is False
        or action.action not in run.runtime.policy_types.checked_actions
    ):
        return ''
    policies = list(attached_policies(run.runtime, session, action.cluster_id))
    run.has_policies = bool(policies)
    cluster: models.Cluster | None = None
    context: base.PolicyContext | None = None
    for policy_type, attached in policies:
        if not policy_type.checks_action(when, attached, action.action):
            continue
        if context is None:
            cluster = clusters.lock(session, action.cluster_id)
            if cluster is None:
                return ''
            context = base.PolicyContext(
                session=session,
                action=action,
                request=run.request,
                cluster=cluster,
                bounds=run.runtime.bounds(cluster),
                now=clock.now(session),
                decisions=dict(action.data.get(DECISIONS) or {}),
            )
        try:
            call_hook(policy_type, context, attached)
        except base.REFUSALS as refusal:
            return f"Failed policy '{attached.policy.name}': {refusal}"
    if context is not None and when == base.BEFORE:
        action.data = {**action.data, DECISIONS: context.decisions}
        actions.update(session, run.claim.condition(), data=action.data)
        _store_placement(session, action, context.decisions)
    return ''


def _store_placement(
    session: orm.Session, action: models.Action, decisions: Mapping[str, Any]
) -> None:
    """Store the chosen placement in a node that a user creates."""
    if action.action != 'NODE_CREATE':
        return
    (placement,) = distribution.new_placements(decisions, 1)
    node = nodes.get(session, action.target) if placement else None
    if node is not None:
        node.data = {**node.data, distribution.PLACEMENT: placement}
        session.flush()
