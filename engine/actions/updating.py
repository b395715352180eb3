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

from engine.actions import action_run, checks
from engine.actions import clusters as steps
from engine.db import models, nodes
from vobjects.clustering.requests import nodes as requests

#: Key in an action's data: the number of batches begun.
DONE = 'batches'


def update(job: action_run.Work, session: orm.Session) -> None:
    """Change the cluster's properties, and begin the first batch."""
    cluster = steps.begin(job, session, 'UPDATING', 'Update in progress')
    for field, column in (
        ('name', 'name'),
        ('metadata', 'meta'),
        ('timeout', 'timeout'),
        ('config', 'config'),
    ):
        value = job.request.get(field)
        if value is not None:
            setattr(cluster, column, value)
    decided = checks.decided(job, 'update')
    pauses = max(0, len(decided.get('plan') or ()) - 1)
    if pauses:
        job.extend(session, pauses * decided['pause_time'])
    batch(job, session)


def batch(job: action_run.Work, session: orm.Session) -> None:
    """Update the nodes of the next batch."""
    done = job.action.data.get(DONE, 0)
    children = [
        job.child(
            'NODE_UPDATE',
            node.id,
            requests.NodeUpdateRequest(
                identity=node.id, profile_id=job.request.profile_id
            ),
        )
        for node in _batch(job, session, done)
    ]
    job.action.data = {**job.action.data, DONE: done + 1}
    steps.wait(job, session, children, go_on)


def go_on(job: action_run.Work, session: orm.Session) -> None:
    """Pause before the next batch, if any."""
    decided = checks.decided(job, 'update')
    left = len(decided.get('plan') or ()) - job.action.data[DONE]
    if left <= 0 or job.failures(session):
        updated(job, session)
        return
    job.pause(
        session,
        batch.__name__,
        seconds=decided['pause_time'],
        data=job.action.data,
        status_reason=f'Pauses between batches; {left} to go',
    )


def updated(job: action_run.Work, session: orm.Session) -> None:
    """Set the cluster's profile, if all nodes were updated."""
    profile_id = job.request.get('profile_id')
    if profile_id is not None and not job.failures(session):
        steps.locked(job, session).profile_id = profile_id
    steps.finish(job, session, 'Cluster update completed.', 'updating')


def _batch(
    job: action_run.Work, session: orm.Session, number: int
) -> Sequence[models.Node]:
    found = nodes.with_other_profile(
        session, job.action.target, job.request.profile_of_nodes()
    )
    plan = checks.decided(job, 'update').get('plan')
    if plan is None:
        return found
    chosen = set(plan[number]) if number < len(plan) else set()
    return [node for node in found if node.id in chosen]
