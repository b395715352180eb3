# SPDX-License-Identifier: Apache-2.0
"""Table of the kinds of actions: their stages, locks and cleanup."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from sqlalchemy import orm

from engine.actions import (
    attachments,
    checks,
    clusters,
    deletion_hooks,
    members,
    node_policies,
    nodes,
    operations,
    recovery,
    updating,
)
from engine.actions.action_run import Abandon, Kind, Stage, Work
from engine.db import locks, models
from vobjects.clustering import consts


def _cluster_locks(
    action: models.Action, request: Any
) -> list[locks.LockRequest]:
    return [locks.LockRequest(models.Cluster, action.target)]


def _node_locks(
    action: models.Action, request: Any
) -> list[locks.LockRequest]:
    """Return the locks of a node action; see :mod:`engine.db.locks`.

    A forced deletion does not wait for the cluster.
    """
    wants = [locks.LockRequest(models.Node, action.target)]
    if (
        action.cause == consts.CAUSE_REQUEST
        and action.cluster_id is not None
        and not is_forced(request)
    ):
        wants.insert(
            0,
            locks.LockRequest(
                models.Cluster, action.cluster_id, exclusive=False
            ),
        )
    return wants


def is_forced(request: Any) -> bool:
    """Tell whether a request forces the end of blocking actions."""
    return 'force' in request.fields and bool(request.get('force'))


def _cluster_kind(*steps: clusters.Step) -> Kind:
    stages = {step.__name__: clusters.in_transaction(step) for step in steps}
    return Kind(
        {'start': _checked(steps[0]), **stages},
        _cluster_locks,
        clusters.abandon,
    )


def _with_start(kind: Kind, around: Callable[[Stage], Stage]) -> Kind:
    """Return a kind whose first stage is wrapped."""
    stages = {**kind.stages, 'start': around(kind.stages['start'])}
    return dataclasses.replace(kind, stages=stages)


def _checked(step: clusters.Step) -> Stage:
    """Return a stage that runs a step if the cluster's policies agree."""

    def checked(job: Work) -> None:
        seen = checks.look(job)

        def body(session: orm.Session) -> None:
            if checks.before(job, session, seen):
                step(job, session)

        job.write(body)

    return checked


def _attachment_kind(stage: Stage) -> Kind:
    return Kind({'start': stage}, _cluster_locks, attachments.keep)


def _node_kind(stage: Stage, abandon: Abandon = nodes.abandon) -> Kind:
    return Kind({'start': _asking(stage)}, _node_locks, abandon)


def _departure_kind(go: Stage, abandon: Abandon) -> Kind:
    return Kind(
        {
            'start': _asking(deletion_hooks.delayed(go)),
            deletion_hooks.TELL: deletion_hooks.tell,
            deletion_hooks.GO: go,
        },
        _node_locks,
        abandon,
    )


def _asking(stage: Stage) -> Stage:
    """Return a stage that runs if the cluster's policies agree."""

    def asking(job: Work) -> None:
        is_asked = (
            job.action.cause == consts.CAUSE_REQUEST
            and job.action.cluster_id is not None
        )
        if not is_asked:
            stage(job)
            return
        seen = checks.look(job)
        if job.write(lambda session: checks.before(job, session, seen)):
            stage(job)

    return asking


def keep(session: orm.Session, action: models.Action, reason: str) -> None:
    """Leave the node's status, because its object did not change."""


#: Kind of action -> its stages; a cluster action lists its steps in order.
KINDS: dict[str, Kind] = {
    'CLUSTER_CREATE': _cluster_kind(clusters.create, clusters.created),
    'CLUSTER_UPDATE': _cluster_kind(
        updating.update, updating.go_on, updating.batch, updating.updated
    ),
    'CLUSTER_DELETE': _with_start(
        _cluster_kind(clusters.delete, clusters.deleted),
        attachments.releasing,
    ),
    'CLUSTER_RESIZE': _cluster_kind(clusters.resize, clusters.resized),
    'CLUSTER_SCALE_IN': _cluster_kind(clusters.scale_in, clusters.scaled),
    'CLUSTER_SCALE_OUT': _cluster_kind(clusters.scale_out, clusters.scaled),
    'CLUSTER_CHECK': _cluster_kind(recovery.check, recovery.checked),
    'CLUSTER_RECOVER': _cluster_kind(
        recovery.recover,
        recovery.repair,
        recovery.refit,
        recovery.recovered,
    ),
    'CLUSTER_ADD_NODES': _cluster_kind(members.add, members.added),
    'CLUSTER_DEL_NODES': _cluster_kind(members.remove, members.removed),
    'CLUSTER_REPLACE_NODES': _cluster_kind(
        members.replace, members.refill, members.replaced
    ),
    'CLUSTER_ATTACH_POLICY': _attachment_kind(attachments.attach),
    'CLUSTER_DETACH_POLICY': _attachment_kind(attachments.detach),
    'CLUSTER_UPDATE_POLICY': _attachment_kind(attachments.change),
    'CLUSTER_OPERATION': _cluster_kind(
        operations.operate_all, operations.operated
    ),
    'NODE_CREATE': _node_kind(nodes.create),
    'NODE_UPDATE': _node_kind(nodes.update),
    'NODE_DELETE': _departure_kind(nodes.delete, deletion_hooks.stay),
    'NODE_CHECK': _node_kind(nodes.check),
    'NODE_RECOVER': _node_kind(nodes.recover),
    'NODE_OPERATION': _node_kind(operations.operate),
    'NODE_JOIN': _node_kind(node_policies.joining(members.join), keep),
    'NODE_LEAVE': _departure_kind(
        node_policies.departing(members.leave), keep
    ),
}
