# SPDX-License-Identifier: Apache-2.0
"""Table of the types of actions: stages, locks and failure handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import orm

from engine.actions import (
    action_run,
    clusters,
    deletion_hooks,
    members,
    node_policies,
    nodes,
    operations,
    policy_bindings,
    policy_checks,
    recovery,
    updating,
)
from engine.actions.action_run import (
    ActionRun,
    ActionType,
    FailureHandler,
    Stage,
    Step,
)
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
    lock_requests = [locks.LockRequest(models.Node, action.target)]
    if (
        action.cause == consts.CAUSE_REQUEST
        and action.cluster_id is not None
        and not action_run.is_forced(request)
    ):
        lock_requests.insert(
            0,
            locks.LockRequest(
                models.Cluster, action.cluster_id, exclusive=False
            ),
        )
    return lock_requests


def _cluster_action(*steps: Step) -> ActionType:
    by_name = {step.__name__: step for step in steps}
    return ActionType(
        {
            'start': _checked_step(steps[0]),
            **{
                name: clusters.in_transaction(step)
                for name, step in by_name.items()
            },
        },
        _cluster_locks,
        clusters.mark_failed,
        steps={'start': _checked(steps[0], {}), **by_name},
    )


def step_of(run: ActionRun) -> Step | None:
    """Return the step that is the run's next stage; None: it is no step.

    If a policy has to look at the cloud before an action, its first stage
    consists of more than one transaction.
    """
    if run.action.stage == 'start' and policy_checks.needs_cloud_info(run):
        return None
    return run.action_type.steps.get(run.action.stage)


def _with_start(
    action_type: ActionType, wrap: Callable[[Stage], Stage]
) -> ActionType:
    """Return a type whose first stage is wrapped, and no longer a step."""
    stages = {**action_type.stages, 'start': wrap(action_type.stages['start'])}
    steps = {**action_type.steps}
    del steps['start']
    return dataclasses.replace(action_type, stages=stages, steps=steps)


def _checked(step: Step, cloud_info: Mapping[str, Any]) -> Step:
    """Return a step that runs another one if the cluster's policies agree."""

    def check_and_run(run: ActionRun, session: orm.Session) -> None:
        if policy_checks.check_before(run, session, cloud_info):
            step(run, session)

    return check_and_run


def _checked_step(step: Step) -> Stage:
    """Return a stage that runs a step if the cluster's policies agree."""

    def check_and_run(run: ActionRun) -> None:
        checked = _checked(step, policy_checks.collect_cloud_info(run))
        run.write(lambda session: checked(run, session))

    return check_and_run


def _binding_action(stages: Mapping[str, Stage], **options: Any) -> ActionType:
    return ActionType(stages, _cluster_locks, keep_status, **options)


def _node_action(
    stage: Stage, on_failure: FailureHandler = nodes.mark_failed
) -> ActionType:
    return ActionType(
        {'start': _checked_if_requested(stage)}, _node_locks, on_failure
    )


def _removal_action(remove: Stage, on_failure: FailureHandler) -> ActionType:
    return ActionType(
        {
            'start': _checked_if_requested(deletion_hooks.delay_first(remove)),
            deletion_hooks.NOTIFY: deletion_hooks.notify_hook,
            deletion_hooks.REMOVE: remove,
        },
        _node_locks,
        on_failure,
    )


def _checked_if_requested(stage: Stage) -> Stage:
    """Return a stage that runs if the cluster's policies agree."""

    def check_and_run(run: ActionRun) -> None:
        is_requested = (
            run.action.cause == consts.CAUSE_REQUEST
            and run.action.cluster_id is not None
        )
        if not is_requested:
            stage(run)
            return
        cloud_info = policy_checks.collect_cloud_info(run)
        if run.write(
            lambda session: policy_checks.check_before(
                run, session, cloud_info
            )
        ):
            stage(run)

    return check_and_run


def keep_status(
    session: orm.Session, action: models.Action, reason: str
) -> None:
    """Leave the target's status, because its objects did not change."""


#: Name of an action -> its type; a cluster action lists its steps in order.
ACTION_TYPES: dict[str, ActionType] = {
    'CLUSTER_CREATE': _cluster_action(clusters.create, clusters.created),
    'CLUSTER_UPDATE': _cluster_action(
        updating.update, updating.go_on, updating.batch, updating.updated
    ),
    'CLUSTER_DELETE': dataclasses.replace(
        _with_start(
            _cluster_action(clusters.delete, clusters.deleted),
            policy_bindings.detach_first,
        ),
        is_cancellable=lambda action: (
            action.start_time is None or action.stage != 'start'
        ),
    ),
    'CLUSTER_RESIZE': _cluster_action(clusters.resize, clusters.resized),
    'CLUSTER_SCALE_IN': _cluster_action(clusters.scale_in, clusters.scaled),
    'CLUSTER_SCALE_OUT': _cluster_action(clusters.scale_out, clusters.scaled),
    'CLUSTER_CHECK': _cluster_action(recovery.check, recovery.checked),
    'CLUSTER_RECOVER': _cluster_action(
        recovery.recover,
        recovery.repair,
        recovery.refit,
        recovery.recovered,
    ),
    'CLUSTER_ADD_NODES': _cluster_action(members.add, members.added),
    'CLUSTER_DEL_NODES': _cluster_action(members.remove, members.removed),
    'CLUSTER_REPLACE_NODES': _cluster_action(
        members.replace, members.refill, members.replaced
    ),
    'CLUSTER_ATTACH_POLICY': _binding_action(
        {
            'start': policy_bindings.attach,
            policy_bindings.UNDO: policy_bindings.undo_attach,
        },
        undo=policy_bindings.undo_attach_stage,
    ),
    'CLUSTER_DETACH_POLICY': _binding_action(
        {'start': policy_bindings.detach},
        is_cancellable=lambda action: action.start_time is None,
    ),
    'CLUSTER_UPDATE_POLICY': _binding_action(
        {
            'start': policy_bindings.update,
            policy_bindings.UNDO: policy_bindings.undo_update,
        },
        undo=policy_bindings.undo_update_stage,
    ),
    'CLUSTER_OPERATION': _cluster_action(
        operations.operate_all, operations.operated
    ),
    'NODE_CREATE': _node_action(nodes.create),
    'NODE_UPDATE': _node_action(nodes.update),
    'NODE_DELETE': _removal_action(
        nodes.delete, deletion_hooks.mark_failed_if_changed
    ),
    'NODE_CHECK': _node_action(nodes.check),
    'NODE_RECOVER': _node_action(nodes.recover),
    'NODE_OPERATION': _node_action(operations.operate),
    'NODE_JOIN': _node_action(
        node_policies.add_first(members.join), keep_status
    ),
    'NODE_LEAVE': _removal_action(
        node_policies.remove_first(members.leave), keep_status
    ),
}
