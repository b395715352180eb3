# SPDX-License-Identifier: Apache-2.0
"""Call the policies of a cluster before and after its actions.

Policies check only actions that a user requested: decisions for the request
also cover the actions derived from it. The decisions are stored in the data of
the action, under ``policies``; read them with :func:`decided`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import orm

from engine import distribution
from engine.actions import action_run, runtime
from engine.db import actions, clock, clusters, models, nodes
from engine.policies import base
from engine.providers import base as providers
from vobjects.clustering import consts

DECISIONS = 'policies'

#: Calls a hook of a policy type.
Ask = Callable[[base.PolicyType, base.Check, base.Attached], None]


@dataclasses.dataclass(frozen=True, slots=True)
class _Unseen:
    """The reason why a policy could not look at the cloud."""

    reason: str


def look(job: action_run.Work) -> dict[str, Any]:
    """Collect the information from the cloud that policies need.

    :returns: information by policy ID, for :func:`before`
    """
    action = job.action
    if (
        action.cause != consts.CAUSE_REQUEST
        or action.cluster_id is None
        or action.action not in job.run.policy_types.looks
    ):
        return {}
    with job.run.database.reader() as session:
        found = [
            (kind, attached)
            for kind, attached in asked(job.run, session, action.cluster_id)
            if action.action in kind.looks
        ]
    seen: dict[str, Any] = {}
    for kind, attached in found:
        try:
            sight = kind.look(job.cloud, attached)
        except (base.PolicyRefusal, providers.ProviderError) as error:
            sight = _Unseen(str(error))
        seen[attached.policy.id] = sight
    return seen


def before(
    job: action_run.Work, session: orm.Session, seen: Mapping[str, Any]
) -> bool:
    """Run the policy checks before an action.

    If a policy refuses, the action fails before it has changed anything.

    :param seen: the result of :func:`look`
    :returns: whether all policies agreed
    """

    def ask(
        kind: base.PolicyType, check: base.Check, attached: base.Attached
    ) -> None:
        sight = seen.get(attached.policy.id)
        if isinstance(sight, _Unseen):
            raise base.PolicyRefusal(sight.reason)
        check.seen = seen
        kind.pre_op(check, attached)

    refusal = _ask(job, session, base.BEFORE, ask)
    if refusal:
        job.fail(session, f'Policy check failure: {refusal}')
    return not refusal


def conclude(job: action_run.Work, session: orm.Session, success: str) -> None:
    """Run the policy checks after an action's work, and end the action.

    :param success: the status reason if all policies agree
    """
    refusal = _ask(
        job,
        session,
        base.AFTER,
        lambda kind, check, attached: kind.post_op(check, attached),
    )
    if refusal:
        job.fail(session, f'Policy check failure: {refusal}')
    else:
        job.succeed(session, success)


def decided(job: action_run.Work, topic: str) -> Mapping[str, Any]:
    """Return the decisions that policies made before the action began.

    :param topic: the part of the decisions, such as ``deletion``
    """
    decisions: dict[str, Any] = job.action.data.get(DECISIONS) or {}
    found: Mapping[str, Any] = decisions.get(topic) or {}
    return found


def asked(
    run: runtime.Runtime,
    session: orm.Session,
    cluster_id: str,
    *,
    enabled_only: bool = True,
) -> Iterator[tuple[base.PolicyType, base.Attached]]:
    """Yield the policies of a cluster, lowest priority number first."""
    for binding, policy in clusters.bindings(
        session, cluster_id, enabled_only=enabled_only
    ):
        kind = run.policy_types.get(policy.type)
        properties = run.policy_types.properties_of(policy.type, policy.spec)
        yield kind, base.Attached(policy, binding, properties)


def _ask(
    job: action_run.Work, session: orm.Session, when: str, ask: Ask
) -> str:
    """Call each policy in turn.

    :returns: the reason of the first refusal; empty if all policies agree
    """
    action = job.action
    if (
        action.cause != consts.CAUSE_REQUEST
        or action.cluster_id is None
        or job.has_policies is False
    ):
        return ''
    policies = list(asked(job.run, session, action.cluster_id))
    job.has_policies = bool(policies)
    cluster: models.Cluster | None = None
    check: base.Check | None = None
    for kind, attached in policies:
        if not kind.is_asked(when, attached, action.action):
            continue
        if check is None:
            cluster = clusters.lock(session, action.cluster_id)
            if cluster is None:
                return ''
            check = base.Check(
                session=session,
                action=action,
                request=job.request,
                cluster=cluster,
                node_limit=job.run.node_limit(),
                now=clock.now(session),
                decided=dict(action.data.get(DECISIONS) or {}),
            )
        try:
            ask(kind, check, attached)
        except base.PolicyRefusal as refusal:
            return f"Failed policy '{attached.policy.name}': {refusal}"
    if check is not None and when == base.BEFORE:
        action.data = {**action.data, DECISIONS: check.decided}
        actions.update(session, job.claim.condition(), data=action.data)
        _place(session, action, check.decided)
    return ''


def _place(
    session: orm.Session, action: models.Action, decided: Mapping[str, Any]
) -> None:
    """Store the chosen placement in a node that a user creates."""
    if action.action != 'NODE_CREATE':
        return
    (placement,) = distribution.of_new_nodes(decided, 1)
    node = nodes.get(session, action.target) if placement else None
    if node is not None:
        node.data = {**node.data, distribution.PLACEMENT: placement}
        session.flush()
