# SPDX-License-Identifier: Apache-2.0
"""Asking the policies of a cluster, before and after its actions.

Only actions that a user asked for are asked about: what they derive was
decided with them. The decisions are in the data of the action, below
``policies``; :func:`decided` reads them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import orm

from engine import placements
from engine.actions import runtime, work
from engine.db import actions, bindings, clock, clusters, models, nodes
from engine.policies import base
from engine.profiles import schema
from engine.providers import base as providers
from vobjects.clustering import consts

DECISIONS = 'policies'

#: Calls a hook of a type of policies.
Ask = Callable[[base.PolicyType, base.Check, base.Attached], None]


@dataclasses.dataclass(frozen=True, slots=True)
class _Unseen:
    """Why a policy could not see what it has to know."""

    reason: str


def look(job: work.Work) -> dict[str, Any]:
    """Let the policies see in the cloud what they have to know.

    :returns: what each saw, by its ID, for :func:`before`
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
    job: work.Work, session: orm.Session, seen: Mapping[str, Any]
) -> bool:
    """Ask whether and how an action is done; tell whether it is.

    Where one refuses, the action has failed, and nothing was done.

    :param seen: from :func:`look`
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


def conclude(job: work.Work, session: orm.Session, success: str) -> None:
    """End an action that has done its work, after asking once more."""
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


def decided(job: work.Work, topic: str) -> Mapping[str, Any]:
    """Return what policies decided for an action before it began."""
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
    """Yield the policies of a cluster, the first to be asked first."""
    for binding, policy in bindings.of_cluster(
        session, cluster_id, enabled_only=enabled_only
    ):
        kind = run.policy_types.get(policy.type)
        properties = policy.spec.get('properties') or {}
        yield (
            kind,
            base.Attached(
                policy, binding, schema.filled(kind.properties, properties)
            ),
        )


def _ask(job: work.Work, session: orm.Session, when: str, ask: Ask) -> str:
    """Ask each policy in turn; return why one refuses, or ''."""
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
    """Have a node that a user creates remember where it is to go."""
    if action.action != 'NODE_CREATE':
        return
    (placement,) = placements.of_new_nodes(decided, 1)
    node = nodes.get(session, action.target) if placement else None
    if node is not None:
        node.data = {**node.data, placements.PLACEMENT: placement}
        session.flush()
