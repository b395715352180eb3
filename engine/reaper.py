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
from engine.db import (
    actions,
    database,
    dependencies,
    idempotency,
    models,
    services,
)
from vobjects.rpc import fleet

LOG = logging.getLogger(__name__)

#: Seconds between two deletions of old call records.
FORGET_EVERY = 60


class Reaper:
    """Clean up after dead engines and overdue actions.

    :param ours: the scheduler of this process; None if it has none
    :param period: heartbeat interval in seconds
    :param silence: returns the seconds since this process's last heartbeat
    :param announce: called after a sweep removed members from the ledger
    """

    def __init__(
        self,
        runtime: Runtime,
        ledger: services.DatabaseLedger,
        *,
        ours: scheduler.Scheduler | None = None,
        period: float,
        silence: Callable[[], float] = lambda: 0.0,
        announce: Callable[[], None] = lambda: None,
    ) -> None:
        self._runtime = runtime
        self._ledger = ledger
        self._ours = ours
        self._dead_after = period * fleet.DEAD_AFTER_PERIODS
        self._interval = period / fleet.BEATS_PER_PERIOD
        self._silence = silence
        self._vigil = suspend_detector.Vigil(
            longest_pause=period, memory=period
        )
        self._announce = announce
        self._forget_at = float('-inf')
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
        allowed = self._vigil.allowance(self._silence())
        dead = self._ledger.expire(self._dead_after + allowed)
        for member in dead:
            LOG.warning('%s died: no heartbeat', member.label)
        if dead:
            self._announce()
        woken = self._take_over({member.id: member for member in dead})
        woken |= self._end_overdue()
        woken |= self._resume_forgotten()
        self._forget_calls()
        if self._ours is not None:
            self._ours.give_back()
        if woken:
            self._runtime.wake()
        return dead

    def _loop(self) -> None:
        while not self._stopping.wait(self._interval):
            try:
                self.sweep()
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, 'The sweep failed')

    def _take_over(self, dead: dict[str, fleet.Member]) -> bool:
        with self._runtime.database.reader() as session:
            orphans = actions.orphans(session)
        woken = False
        for orphan in orphans:
            owner = orphan.owner or ''
            member = dead.get(owner)
            who = member.label if member else f'engine {owner[:8]}'

            def body(
                session: orm.Session,
                orphan: models.Action = orphan,
                reason: str = f'{who} died',
            ) -> bool:
                return self._rescue(session, orphan, reason)

            woken |= self._runtime.database.write(body)
        return woken

    def _rescue(
        self, session: orm.Session, orphan: models.Action, reason: str
    ) -> bool:
        """Make a dead engine's action ready again, or end it.

        :returns: whether an action became ready
        """
        claim = actions.Claim(orphan.id, orphan.owner or '', orphan.claims)
        if orphan.deaths + 1 >= self._runtime.conf.engine.max_attempts:
            if not actions.update(session, claim.condition()):
                return False
            times = orphan.deaths + 1
            return cancellation.end_action(
                self._runtime,
                session,
                orphan,
                'FAILED',
                f'{reason} while running it, as happened {times} times',
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
        woken = False
        for action in overdue:
            LOG.warning(
                'The action took too long', extra=log_context.log_extra(action)
            )

            def body(session: orm.Session, id_: str = action.id) -> bool:
                return cancellation.end_tree(
                    self._runtime, session, id_, 'TIMEOUT'
                )

            woken |= self._runtime.database.write(body)
        return woken

    def _forget_calls(self) -> None:
        now = time.monotonic()
        if now >= self._forget_at:
            self._forget_at = now + FORGET_EVERY
            self._runtime.database.write(idempotency.delete_old)

    def _resume_forgotten(self) -> bool:
        """Wake actions whose dependencies have all ended; a safety net."""
        with self._runtime.database.reader() as session:
            forgotten = dependencies.resumable(session)
        woken = False
        for action_id in forgotten:

            def body(session: orm.Session, id_: str = action_id) -> bool:
                return dependencies.resume_if_done(session, id_)

            woken |= self._runtime.database.write(body)
        return woken
