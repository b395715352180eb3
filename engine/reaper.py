# SPDX-License-Identifier: Apache-2.0
"""Take over actions of dead engines, and end overdue actions.

Every engine has a reaper, and all of them sweep. Each change is a conditional
statement, so that only one of two concurrent reapers makes it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from sqlalchemy import orm

from engine import log_context, periodic, scheduler
from engine.actions import action_run, cancellation
from engine.actions.runtime import Runtime
from engine.db import actions, database, dependencies, idempotency, models
from vobjects.rpc import fleet

LOG = logging.getLogger(__name__)

Item = TypeVar('Item')

#: Seconds between two deletions of old call records.
CALL_CLEANUP_INTERVAL = 60


class Reaper(periodic.Periodic):
    """Clean up after dead engines and overdue actions.

    :param own_scheduler: the scheduler of this process; None if it has none
    :param period: heartbeat interval in seconds
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        own_scheduler: scheduler.Scheduler | None = None,
        period: float,
    ) -> None:
        self._runtime = runtime
        self._own_scheduler = own_scheduler
        #: ID -> description of the engines that died since the last sweep.
        self._dead: dict[str, str] = {}
        self._next_cleanup = float('-inf')
        interval = period / fleet.BEATS_PER_PERIOD
        super().__init__('reaper', self.sweep, interval, 'The sweep failed')

    def expect_orphans(self, members: list[fleet.Member]) -> None:
        """Sweep soon, because the ledger no longer has these members."""
        self._dead |= {member.id: member.label for member in members}
        self.wake()

    def sweep(self) -> None:
        """Sweep once."""
        dead, self._dead = self._dead, {}
        is_any_ready = self._take_over_all(dead)
        is_any_ready |= self._end_overdue()
        is_any_ready |= self._resume_waiting()
        self._delete_call_records()
        if self._own_scheduler is not None:
            self._own_scheduler.give_back()
        if is_any_ready:
            self._runtime.wake()

    def _take_over_all(self, dead: dict[str, str]) -> bool:
        with self._runtime.database.reader() as session:
            orphans = actions.orphans(session)

        def take_over(session: orm.Session, orphan: models.Action) -> bool:
            owner = orphan.owner or ''
            label = dead.get(owner, f'engine {owner[:8]}')
            return self._take_over_action(session, orphan, f'{label} died')

        return self._write_each({row.id: row for row in orphans}, take_over)

    def _write_each(
        self,
        found: Mapping[str, Item],
        change: Callable[[orm.Session, Item], bool],
    ) -> bool:
        """Change actions one by one: one that fails must not stop the others.

        :param found: ID of an action -> what the function gets
        :param change: returns whether an action became ready
        :returns: whether any action did
        """
        is_any_ready = False
        for id_, item in found.items():

            def body(session: orm.Session, item: Item = item) -> bool:
                return change(session, item)

            try:
                is_any_ready |= self._runtime.database.write(body)
            except action_run.TRANSIENT_ERRORS:
                raise
            except Exception as error:  # noqa: BLE001 - reported
                message = f'Could not clean up action {id_}'
                database.log_failure(LOG, error, message)
        return is_any_ready

    def _take_over_action(
        self, session: orm.Session, orphan: models.Action, reason: str
    ) -> bool:
        """Make a dead engine's action ready again, or end it.

        :returns: whether an action became ready
        """
        claim = actions.Claim(orphan.id, orphan.owner or '', orphan.claims)
        if orphan.deaths + 1 >= self._runtime.conf.engine.max_attempts:
            # No worker must keep the claim if the action is reverted first.
            if not actions.update(
                session, claim.condition(), status='READY', owner=None
            ):
                return False
            orphan.status = 'READY'
            attempts = orphan.deaths + 1
            return cancellation.end_action(
                self._runtime,
                session,
                orphan,
                'FAILED',
                f'{reason} while running it, as happened {attempts} times',
            )
        LOG.warning(
            'The action is ready again: %s',
            reason,
            extra=log_context.log_extra(orphan),
        )
        is_ready = actions.update(
            session,
            claim.condition(),
            status='READY',
            status_reason=f'{reason}; another engine goes on',
            owner=None,
            not_before=None,
            deaths=orphan.deaths + 1,
        )
        if is_ready:
            self._runtime.metrics.rescued(session)
        return is_ready

    def _end_overdue(self) -> bool:
        with self._runtime.database.reader() as session:
            overdue = actions.overdue(session)
        for action in overdue:
            LOG.warning(
                'The action took too long', extra=log_context.log_extra(action)
            )
        return self._write_each(
            {action.id: action.id for action in overdue},
            lambda session, id_: cancellation.end_tree(
                self._runtime, session, id_, 'TIMEOUT'
            ),
        )

    def _delete_call_records(self) -> None:
        now = time.monotonic()
        if now >= self._next_cleanup:
            self._next_cleanup = now + CALL_CLEANUP_INTERVAL
            self._runtime.database.write(idempotency.delete_old)

    def _resume_waiting(self) -> bool:
        """Wake actions whose dependencies have all ended; a safety net."""
        with self._runtime.database.reader() as session:
            waiting = dependencies.resumable(session)
        return self._write_each(
            {id_: id_ for id_ in waiting}, dependencies.resume_if_done
        )
