# SPDX-License-Identifier: Apache-2.0
"""Take over actions of dead engines, and end overdue actions.

Every engine has a reaper, and all of them sweep. Each change is a conditional
statement, so that only one of two concurrent reapers makes it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import orm

from engine import log_context, scheduler, suspend_detector
from engine.actions import cancellation
from engine.actions.runtime import Runtime
from engine.db import actions, database, dependencies, idempotency, models
from engine.db.ledger import DatabaseLedger
from vobjects.rpc import fleet

LOG = logging.getLogger(__name__)

#: Seconds between two deletions of old call records.
CALL_CLEANUP_INTERVAL = 60


class Reaper:
    """Clean up after dead engines and overdue actions.

    :param own_scheduler: the scheduler of this process; None if it has none
    :param period: heartbeat interval in seconds
    :param heartbeat_age: returns the seconds since this process's last
        heartbeat
    :param announce: called after a sweep removed members from the ledger
    """

    def __init__(
        self,
        runtime: Runtime,
        ledger: DatabaseLedger,
        *,
        own_scheduler: scheduler.Scheduler | None = None,
        period: float,
        heartbeat_age: Callable[[], float] = lambda: 0.0,
        announce: Callable[[], None] = lambda: None,
    ) -> None:
        self._runtime = runtime
        self._ledger = ledger
        self._own_scheduler = own_scheduler
        self._dead_after = period * fleet.DEAD_AFTER_PERIODS
        self._interval = period / fleet.BEATS_PER_PERIOD
        self._heartbeat_age = heartbeat_age
        self._suspend_detector = suspend_detector.SuspendDetector(
            longest_pause=period, memory=period
        )
        self._announce = announce
        self._next_cleanup = float('-inf')
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._loop, name='reaper', daemon=True
        )

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current sweep."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def sweep(self) -> list[fleet.Member]:
        """Sweep once.

        :returns: the processes that were found dead
        """
        allowance = self._suspend_detector.allowed_silence(
            self._heartbeat_age()
        )
        dead = self._ledger.expire(self._dead_after + allowance)
        for member in dead:
            LOG.warning('%s died: no heartbeat', member.label)
        if dead:
            self._announce()
        is_any_ready = self._take_over_all(
            {member.id: member for member in dead}
        )
        is_any_ready |= self._end_overdue()
        is_any_ready |= self._resume_waiting()
        self._delete_call_records()
        if self._own_scheduler is not None:
            self._own_scheduler.give_back()
        if is_any_ready:
            self._runtime.wake()
        return dead

    def _loop(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                self.sweep()
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, 'The sweep failed')

    def _take_over_all(self, dead: dict[str, fleet.Member]) -> bool:
        with self._runtime.database.reader() as session:
            orphans = actions.orphans(session)
        is_any_ready = False
        for orphan in orphans:
            owner = orphan.owner or ''
            member = dead.get(owner)
            label = member.label if member else f'engine {owner[:8]}'

            def body(
                session: orm.Session,
                orphan: models.Action = orphan,
                reason: str = f'{label} died',
            ) -> bool:
                return self._take_over_action(session, orphan, reason)

            is_any_ready |= self._runtime.database.write(body)
        return is_any_ready

    def _take_over_action(
        self, session: orm.Session, orphan: models.Action, reason: str
    ) -> bool:
        """Make a dead engine's action ready again, or end it.

        :returns: whether an action became ready
        """
        claim = actions.Claim(orphan.id, orphan.owner or '', orphan.claims)
        if orphan.deaths + 1 >= self._runtime.conf.engine.max_attempts:
            if not actions.update(session, claim.condition()):
                return False
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
        is_any_ready = False
        for action in overdue:
            LOG.warning(
                'The action took too long', extra=log_context.log_extra(action)
            )

            def body(session: orm.Session, id_: str = action.id) -> bool:
                return cancellation.end_tree(
                    self._runtime, session, id_, 'TIMEOUT'
                )

            is_any_ready |= self._runtime.database.write(body)
        return is_any_ready

    def _delete_call_records(self) -> None:
        now = time.monotonic()
        if now >= self._next_cleanup:
            self._next_cleanup = now + CALL_CLEANUP_INTERVAL
            self._runtime.database.write(idempotency.delete_old)

    def _resume_waiting(self) -> bool:
        """Wake actions whose dependencies have all ended; a safety net."""
        with self._runtime.database.reader() as session:
            waiting = dependencies.resumable(session)
        is_any_ready = False
        for action_id in waiting:

            def body(session: orm.Session, id_: str = action_id) -> bool:
                return dependencies.resume_if_done(session, id_)

            is_any_ready |= self._runtime.database.write(body)
        return is_any_ready
