# SPDX-License-Identifier: Apache-2.0
"""Stages of CLUSTER_CHECK and CLUSTER_RECOVER."""

from __future__ import annotations

from sqlalchemy import orm

from engine.actions import action_run, checks
from engine.actions import clusters as steps
from engine.db import actions, models, nodes
from vobjects.clustering.requests import nodes as requests


def check(job: action_run.Work, session: orm.Session) -> None:
    """Derive health checks of the nodes."""
    if (job.request.get('params') or {}).get('delete_check_action'):
        actions.delete_ended(session, job.action.target, 'CLUSTER_CHECK')
    steps.begin(job, session, 'CHECKING', 'Check in progress')
    steps.wait(job, session, _checks(job, session), checked)


def checked(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    steps.finish(job, session, 'Cluster checking completed.', 'checking')


def recover(job: action_run.Work, session: orm.Session) -> None:
    """Derive health checks of the nodes, if the request asks for them."""
    steps.begin(job, session, 'RECOVERING', 'Recovery in progress')
    looks = _checks(job, session) if job.request.get('check') else []
    steps.wait(job, session, looks, repair)


def repair(job: action_run.Work, session: orm.Session) -> None:
    """Derive recoveries of unhealthy nodes, as requested or by policy."""
    request = job.request
    given = {
        name: value
        for name in ('operation', 'operation_params')
        if (value := request.get(name)) is not None
    }
    if 'operation' not in given:
        given = {
            **(checks.decided(job, 'health').get('request') or {}),
            **given,
        }
    children = [
        job.child(
            'NODE_RECOVER',
            node.id,
            requests.NodeRecoverRequest(identity=node.id, **given),
        )
        for node in nodes.of_cluster(session, job.action.target)
        if node.status != 'ACTIVE'
    ]
    steps.wait(job, session, children, refit)


def refit(job: action_run.Work, session: orm.Session) -> None:
    """Create or delete nodes to match the desired capacity, if requested."""
    if not job.request.get('check_capacity') or job.failures(session):
        recovered(job, session)
        return
    cluster = steps.locked(job, session)
    members = nodes.of_cluster(session, cluster.id)
    surplus = len(members) - cluster.desired_capacity
    if surplus > 0:
        steps.shrink(job, session, members, surplus, recovered)
    else:
        steps.grow(job, session, cluster, -surplus, recovered)


def recovered(job: action_run.Work, session: orm.Session) -> None:
    """Evaluate the nodes, and end the action."""
    steps.finish(job, session, 'Cluster recovery succeeded.', 'recovering')


def _checks(job: action_run.Work, session: orm.Session) -> list[models.Action]:
    return [
        job.child(
            'NODE_CHECK',
            node.id,
            requests.NodeCheckRequest(identity=node.id),
        )
        for node in nodes.of_cluster(session, job.action.target)
    ]
