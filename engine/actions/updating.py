# SPDX-License-Identifier: Apache-2.0
"""Stages of CLUSTER_UPDATE, which updates nodes in batches.

::

             children             pause
    batch --------------> go_on -------> batch --> ... --> updated

The properties of the cluster change at once. A batch policy plans the batches,
under the topic ``update`` of the policies' decisions. Without such a policy,
there is a single batch. A failure in a batch ends the update.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import orm

from engine.actions import action_run, policy_checks
from engine.actions import clusters as cluster_actions
from engine.db import models, nodes
from vobjects.clustering.requests import nodes as requests

#: Key in an action's data: the number of batches begun.
BATCHES_BEGUN = 'batches'


def update(run: action_run.ActionRun, session: orm.Session) -> None:
    """Change the cluster's properties, and begin the first batch."""
    cluster = cluster_actions.begin(
        run, session, 'UPDATING', 'Update in progress'
    )
    for field, column in (
        ('name', 'name'),
        ('metadata', 'meta'),
        ('timeout', 'timeout'),
        ('config', 'config'),
    ):
        value = run.request.get(field)
        if value is not None:
            setattr(cluster, column, value)
    decisions = policy_checks.decisions(run, 'update')
    pauses = max(0, len(decisions.get('plan') or ()) - 1)
    if pauses:
        run.extend(session, pauses * decisions['pause_time'])
    batch(run, session)


def batch(run: action_run.ActionRun, session: orm.Session) -> None:
    """Update the nodes of the next batch."""
    begun = run.action.data.get(BATCHES_BEGUN, 0)
    children = run.children(
        'NODE_UPDATE',
        requests.NodeUpdateRequest,
        [node.id for node in _batch(run, session, begun)],
        profile_id=run.request.get('profile_id'),
    )
    run.action.data = {**run.action.data, BATCHES_BEGUN: begun + 1}
    cluster_actions.wait(run, session, children, go_on)


def go_on(run: action_run.ActionRun, session: orm.Session) -> None:
    """Pause before the next batch, if any."""
    decisions = policy_checks.decisions(run, 'update')
    left = len(decisions.get('plan') or ()) - run.action.data[BATCHES_BEGUN]
    if left <= 0 or run.failures(session):
        updated(run, session)
        return
    run.pause(
        session,
        batch.__name__,
        seconds=decisions['pause_time'],
        data=run.action.data,
        status_reason=f'Pauses between batches; {left} to go',
    )


def updated(run: action_run.ActionRun, session: orm.Session) -> None:
    """Set the cluster's profile, if all nodes were updated."""
    profile_id = run.request.get('profile_id')
    if profile_id is not None and not run.failures(session):
        cluster_actions.lock_cluster(run, session).profile_id = profile_id
    cluster_actions.finish(
        run, session, 'Cluster update completed.', 'updating'
    )


def _batch(
    run: action_run.ActionRun, session: orm.Session, number: int
) -> Sequence[models.Node]:
    outdated = nodes.with_other_profile(
        session, run.action.target, run.request.profile_of_nodes()
    )
    plan = policy_checks.decisions(run, 'update').get('plan')
    if plan is None:
        return outdated
    chosen = set(plan[number]) if number < len(plan) else set()
    return [node for node in outdated if node.id in chosen]
