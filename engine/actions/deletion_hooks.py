# SPDX-License-Identifier: Apache-2.0
"""Delay the removal of nodes as a deletion policy specifies.

::

               grace_period       notified          completed, or timeout
    start/tell ------------> tell ------> (WAITING_LIFECYCLE_    ---------> go
                              |  ^        COMPLETION)
                              '--' delivery failed: retry a few times

``tell`` is :func:`notify_hook`; ``go`` removes the node. Without a hook,
``go`` follows the grace period. No thread waits: the action is
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
from engine.actions import action_run, node_steps, nodes, policy_checks
from engine.db import actions, clock, models
from engine.db import nodes as node_rows
from vobjects.clustering import consts

#: Names of stages, as stored in the database.
NOTIFY, REMOVE = 'tell', 'go'

#: Status reasons while an action waits, and after it has waited.
NOTIFIED = 'Waiting for complete_lifecycle or the timeout of the hook.'
NOT_NOTIFIED = f'{NOTIFIED} The hook was not notified: '
COMPLETED = 'Completed by complete_lifecycle.'


def delay_children(
    run: action_run.ActionRun,
    session: orm.Session,
    children: Sequence[models.Action],
) -> None:
    """Delay new actions that remove nodes, as the policies specify."""
    grace, hook = _hook_decisions(run)
    if not grace and not hook:
        return
    deadline = run.extend(session, _max_wait(grace, hook))
    for child in children:
        child.deadline = deadline
        if grace:
            child.not_before = actions.later(clock.now(session), grace)
        if hook:
            child.stage = NOTIFY
            child.cause = consts.CAUSE_DERIVED_HOOK
            child.data = {'hook': dict(hook)}


def delay_first(remove: action_run.Stage) -> action_run.Stage:
    """Return the first stage of an action that removes a node.

    :param remove: the stage that removes the node
    """

    def enter(run: action_run.ActionRun) -> None:
        grace, hook = _hook_decisions(run)
        if grace or hook:
            run.write(
                lambda session: _start_waiting(run, session, grace, hook)
            )
        else:
            remove(run)

    return enter


def _start_waiting(
    run: action_run.ActionRun,
    session: orm.Session,
    grace: int,
    hook: Mapping[str, Any],
) -> None:
    node = node_steps.get_node(run, session)
    nodes.check_may_leave(run.runtime, session, node)
    run.extend(session, _max_wait(grace, hook))
    run.pause(
        session,
        NOTIFY if hook else REMOVE,
        seconds=grace,
        data={**run.action.data, 'hook': dict(hook)},
    )


def _hook_decisions(
    run: action_run.ActionRun,
) -> tuple[int, Mapping[str, Any]]:
    """Return the grace period in seconds, and the hook to notify.

    A forced deletion has neither.
    """
    if action_run.is_forced(run.request):
        return 0, {}
    decided = policy_checks.decisions(run, 'deletion')
    return int(decided.get('grace_period') or 0), decided.get('hooks') or {}


def _max_wait(grace: int, hook: Mapping[str, Any]) -> int:
    """Return the maximum number of seconds that a node stays."""
    return grace + int(hook.get('timeout') or 0)


def notify_hook(run: action_run.ActionRun) -> None:
    """Notify the hook about the node, and wait for the completion.

    A node that is not working needs no notification.
    """
    action = run.action
    with run.runtime.database.reader() as session:
        node = node_rows.get(session, action.target)
    if node is None or node.status != 'ACTIVE' or not node.physical_id:
        run.write(lambda session: run.pause(session, REMOVE))
        return
    failure = ''
    if not action.data.get('let_go'):
        try:
            lifecycle_hooks.send(
                run.runtime.conf,
                run.runtime.queues,
                action.data['hook'],
                action.project,
                lifecycle_hooks.hook_message(action, node),
            )
        except lifecycle_hooks.HookError as error:
            failure = str(error)
    run.write(lambda session: _record_notification(run, session, failure))


def _record_notification(
    run: action_run.ActionRun, session: orm.Session, failure: str
) -> None:
    action = actions.get(session, run.action.id)
    assert action is not None
    # The completion may have arrived before this transaction.
    if action.data.get('let_go'):
        run.pause(session, REMOVE, status_reason=COMPLETED)
        return
    options = run.runtime.conf.hooks
    attempt = int(action.data.get('attempt', 0)) + 1
    if failure and attempt < options.attempts:
        run.pause(
            session,
            NOTIFY,
            seconds=options.retry_interval * 2 ** (attempt - 1),
            data={**action.data, 'attempt': attempt},
            status_reason=f'The hook is notified again: {failure}',
        )
        return
    run.pause(
        session,
        REMOVE,
        status=consts.WAITING_LIFECYCLE,
        seconds=int(action.data['hook'].get('timeout') or 0),
        status_reason=NOT_NOTIFIED + failure if failure else NOTIFIED,
    )


def complete(session: orm.Session, action: models.Action) -> bool:
    """Complete the lifecycle hook of an action, so that it stops waiting.

    :param action: a locked action with a hook
    :returns: whether any engine can claim it now
    """
    if actions.resume(session, action.id, COMPLETED):
        return True
    if action.stage == NOTIFY and action.status in ('READY', 'RUNNING'):
        action.data = {**action.data, 'let_go': True}
        session.flush()
    return False


def mark_failed_if_changed(
    session: orm.Session, action: models.Action, reason: str
) -> None:
    """Leave the node's status, unless the action has begun to change it."""
    node = node_rows.get(session, action.target)
    if node is not None and node.status in ('INIT', 'DELETING'):
        nodes.mark_failed(session, action, reason)
