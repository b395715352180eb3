# SPDX-License-Identifier: Apache-2.0
"""Stages of CLUSTER_CHECK and CLUSTER_RECOVER."""

from __future__ import annotations

from sqlalchemy import orm

from engine.actions import action_run, policy_checks
from engine.actions import clusters as cluster_actions
from engine.db import actions, models, nodes
from vobjects.clustering.requests import nodes as requests


def check(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive health checks of the nodes."""
    if (run.request.get('params') or {}).get('delete_check_action'):
        actions.delete_ended(session, run.action.target, 'CLUSTER_CHECK')
    cluster_actions.begin(run, session, 'CHECKING', 'Check in progress')
    cluster_actions.wait(run, session, _checks(run, session), checked)


def checked(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    cluster_actions.finish(
        run, session, 'Cluster checking completed.', 'checking'
    )


def recover(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive health checks of the nodes, if the request asks for them."""
    cluster_actions.begin(run, session, 'RECOVERING', 'Recovery in progress')
    checks = _checks(run, session) if run.request.get('check') else []
    cluster_actions.wait(run, session, checks, repair)


def repair(run: action_run.ActionRun, session: orm.Session) -> None:
    """Derive recoveries of unhealthy nodes, as requested or by policy.

    A node whose check has failed may be well, and is not recovered.
    """
    request, unknown = run.request, run.failed_children(session)
    unchecked = {check.target for check in unknown}
    fields = {
        name: value
        for name in ('operation', 'operation_params')
        if (value := request.get(name)) is not None
    }
    if 'operation' not in fields:
        fields = {
            **(policy_checks.decisions(run, 'health').get('request') or {}),
            **fields,
        }
    ids = [
        node.id
        for node in nodes.of_cluster(session, run.action.target)
        if node.status != 'ACTIVE' and node.id not in unchecked
    ]
    children = run.children(
        'NODE_RECOVER', requests.NodeRecoverRequest, ids, **fields
    )
    cluster_actions.wait(run, session, children, refit, unknown)


def refit(run: action_run.ActionRun, session: orm.Session) -> None:
    """Create or delete nodes to match the desired capacity, if requested."""
    if not run.request.get('check_capacity') or run.failures(session):
        recovered(run, session)
        return
    cluster = cluster_actions.lock_cluster(run, session)
    members = nodes.of_cluster(session, cluster.id)
    surplus = len(members) - cluster.desired_capacity
    if surplus > 0:
        cluster_actions.shrink(run, session, members, surplus, recovered)
    else:
        cluster_actions.grow(run, session, cluster, -surplus, recovered)


def recovered(run: action_run.ActionRun, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    cluster_actions.finish(
        run, session, 'Cluster recovery succeeded.', 'recovering'
    )


def _checks(
    run: action_run.ActionRun, session: orm.Session
) -> list[models.Action]:
    ids = [node.id for node in nodes.of_cluster(session, run.action.target)]
    return run.children('NODE_CHECK', requests.NodeCheckRequest, ids)
