# SPDX-License-Identifier: Apache-2.0
"""Delay the removal of nodes as a deletion policy specifies.

::

               grace_period       notified          completed, or timeout
    start/tell ------------> tell ------> (WAITING_LIFECYCLE_    ---------> go
                              |  ^        COMPLETION)
                              '--' delivery failed: retry a few times

Without a hook, ``go`` follows the grace period. No thread waits: the action is
a row that keeps its locks, and any engine claims it when it is due. The
waiting time is added to the action's timeout. A hook is notified at least
once: if an engine dies at that moment, another one sends the notification
again, with the same token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine import lifecycle_hooks
from engine.actions import action_run, checks, nodes
from engine.db import actions, clock, models
from engine.db import nodes as node_rows
from vobjects.clustering import consts

TELL, GO = 'tell', 'go'

#: Status reasons while an action waits, and after it has waited.
TOLD = 'Waits to be let go, or for its time to be over.'
NOT_TOLD = f'{TOLD} Nobody was told: '
LET_GO = 'Let go by complete_lifecycle.'


def postpone(
    job: action_run.Work,
    session: orm.Session,
    children: Sequence[models.Action],
) -> None:
    """Delay new actions that remove nodes, as the policies specify."""
    grace, hook = _wanted(job)
    if not grace and not hook:
        return
    deadline = job.extend(session, _wait_of(grace, hook))
    for child in children:
        child.deadline = deadline
        if grace:
            child.not_before = actions.later(clock.now(session), grace)
        if hook:
            child.stage = TELL
            child.cause = consts.CAUSE_DERIVED_HOOK
            child.data = {'hook': dict(hook)}


def delayed(go: action_run.Stage) -> action_run.Stage:
    """Return the first stage of an action that removes a node.

    :param go: the stage that removes the node
    """

    def enter(job: action_run.Work) -> None:
        grace, hook = _wanted(job)
        if grace or hook:
            job.write(lambda session: _wait(job, session, grace, hook))
        else:
            go(job)

    return enter


def _wait(
    job: action_run.Work,
    session: orm.Session,
    grace: int,
    hook: Mapping[str, Any],
) -> None:
    nodes.check_may_leave(
        session, nodes.existing(job, session), job.run.node_limit()
    )
    job.extend(session, _wait_of(grace, hook))
    job.pause(
        session,
        TELL if hook else GO,
        seconds=grace,
        data={**job.action.data, 'hook': dict(hook)},
    )


def _wanted(job: action_run.Work) -> tuple[int, Mapping[str, Any]]:
    """Return the grace period in seconds, and the hook to notify."""
    decided = checks.decided(job, 'deletion')
    return int(decided.get('grace_period') or 0), decided.get('hooks') or {}


def _wait_of(grace: int, hook: Mapping[str, Any]) -> int:
    """Return the maximum number of seconds that a node stays."""
    return grace + int(hook.get('timeout') or 0)


def tell(job: action_run.Work) -> None:
    """Notify the hook about the node, and wait for the completion.

    A node that is not working needs no notification.
    """
    action = job.action
    with job.run.database.reader() as session:
        node = node_rows.get(session, action.target)
    if node is None or node.status != 'ACTIVE' or not node.physical_id:
        job.write(lambda session: job.pause(session, GO))
        return
    trouble = ''
    if not action.data.get('let_go'):
        try:
            lifecycle_hooks.tell(
                job.run.conf,
                job.run.queues,
                action.data['hook'],
                action.project,
                lifecycle_hooks.message(action, node),
            )
        except lifecycle_hooks.HookError as error:
            trouble = str(error)
    job.write(lambda session: _told(job, session, trouble))


def _told(job: action_run.Work, session: orm.Session, trouble: str) -> None:
    action = actions.get(session, job.action.id)
    assert action is not None
    # The completion may have arrived before this transaction.
    if action.data.get('let_go'):
        job.pause(session, GO, status_reason=LET_GO)
        return
    options = job.run.conf.hooks
    attempt = int(action.data.get('attempt', 0)) + 1
    if trouble and attempt < options.attempts:
        job.pause(
            session,
            TELL,
            seconds=options.retry_interval * 2 ** (attempt - 1),
            data={**action.data, 'attempt': attempt},
            status_reason=f'Nobody was told yet: {trouble}',
        )
        return
    job.pause(
        session,
        GO,
        status=consts.WAITING_LIFECYCLE,
        seconds=int(action.data['hook'].get('timeout') or 0),
        status_reason=NOT_TOLD + trouble if trouble else TOLD,
    )


def let_go(session: orm.Session, action: models.Action) -> bool:
    """Complete the lifecycle hook of an action, so that it stops waiting.

    :param action: a locked action with a hook
    :returns: whether any engine can claim it now
    """
    if actions.resume(session, action.id, LET_GO):
        return True
    if action.stage == TELL and action.status in ('READY', 'RUNNING'):
        action.data = {**action.data, 'let_go': True}
        session.flush()
    return False


def stay(session: orm.Session, action: models.Action, reason: str) -> None:
    """Leave the node's status, unless the action has begun to change it."""
    node = node_rows.get(session, action.target)
    if node is not None and node.status in ('INIT', 'DELETING'):
        nodes.abandon(session, action, reason)
