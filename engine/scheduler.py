# SPDX-License-Identifier: Apache-2.0
"""Claim ready actions, and run them in a pool of threads.

A dispatcher thread looks for work when it is notified, and at least every
``[engine] poll_interval`` seconds. It claims no more actions than there are
idle workers, and leaves the rest to other engines.
"""

from __future__ import annotations

import collections
import logging
import queue
import threading
import time

from oslo_versionedobjects import exception as ovo_exception
from sqlalchemy import orm

from engine.actions import (
    action_factory,
    action_run,
    action_types,
    cancellation,
)
from engine.actions.runtime import Runtime
from engine.db import actions, database, locks
from vobjects import exceptions

LOG = logging.getLogger(__name__)

#: Maximum number of candidates per query; other engines may claim some first.
CANDIDATES_PER_QUERY = 16

#: Errors from inputs that an engine of another release may have stored.
UNREADABLE_ERRORS = (
    ovo_exception.IncompatibleObjectVersion,
    ovo_exception.UnsupportedObjectError,
    exceptions.ConversionError,
)


class _UnreadableError(Exception):
    """The action's inputs are too new for this engine."""


class Scheduler:
    """Run the actions that one service claims.

    :param owner: ID of this service in the ledger; it can claim actions only
        while the ledger lists it
    """

    def __init__(self, runtime: Runtime, owner: str) -> None:
        options = runtime.conf.engine
        self.runtime = runtime
        self.owner = owner
        self._poll_interval: float = options.poll_interval
        self._lock_retry: float = options.lock_retry_interval
        self._unreadable_retry: float = options.unreadable_retry_interval
        self._worker_count: int = options.workers
        self._idle = threading.Semaphore(self._worker_count)
        self._runs: queue.SimpleQueue[action_run.ActionRun | None] = (
            queue.SimpleQueue()
        )
        #: Claims that a worker of this process runs or is about to get.
        self._running: set[actions.Claim] = set()
        self._running_lock = threading.Lock()
        #: Held while a claim is in the database but not yet in that set.
        self._claiming = threading.Lock()
        self._unreadable: dict[str, float] = {}
        #: Candidates of the last query that were not tried yet.
        self._candidates: collections.deque[str] = collections.deque()
        self._notified = threading.Event()
        self._stopping = threading.Event()
        self._dispatcher = threading.Thread(
            target=self._dispatch, name='scheduler', daemon=True
        )
        # Daemon threads: a hanging operation must not keep the process alive.
        self._workers = [
            threading.Thread(
                target=self._work, name=f'worker-{number}', daemon=True
            )
            for number in range(self._worker_count)
        ]

    def start(self) -> None:
        """Begin to claim and run actions."""
        self.runtime.metrics.watch(
            self._worker_count, lambda: len(self._running)
        )
        for thread in (self._dispatcher, *self._workers):
            thread.start()

    def notify(self) -> None:
        """Look for work now; called when new work is announced."""
        self._notified.set()

    def stop(self, timeout: float) -> None:
        """Stop claiming, and leave unfinished actions to other engines.

        :param timeout: seconds to wait for running actions
        """
        self._stopping.set()
        self._notified.set()
        self._idle.release()  # the dispatcher may wait for a worker
        deadline = time.monotonic() + timeout
        if self._dispatcher.is_alive():
            self._dispatcher.join()
        for _ in self._workers:
            self._runs.put(None)
        for thread in self._workers:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        self.give_back(lost_only=False)

    def step(self) -> bool:
        """Claim one action and run its stage in the calling thread.

        :returns: whether there was an action
        """
        run = self.claim()
        if run is None:
            return False
        try:
            run.perform()
        finally:
            self.finish(run)
        return True

    def claim(self) -> action_run.ActionRun | None:
        """Claim the next action that can run now, or return None.

        It is one of the oldest. Candidates of the last query are tried first,
        because the query is slow when many actions wait.
        """
        run = self._claim_first()
        if run is None:
            self._query_candidates()
            run = self._claim_first()
        return run

    def _query_candidates(self) -> None:
        now = time.monotonic()
        self._unreadable = {
            id_: until
            for id_, until in self._unreadable.items()
            if until > now
        }
        with self.runtime.database.reader() as session:
            self._candidates.extend(
                actions.candidates(
                    session, CANDIDATES_PER_QUERY, self._unreadable
                )
            )

    def _claim_first(self) -> action_run.ActionRun | None:
        """Claim the first candidate that another engine has not claimed."""
        while self._candidates:
            run = self._try_claim(self._candidates.popleft())
            if run is not None:
                return run
        return None

    def give_back(self, *, lost_only: bool = True) -> None:
        """Release this engine's claims, so that other engines can run them.

        :param lost_only: release only actions that no worker here runs: their
            worker could not reach the database when it was done
        """
        with self._claiming, self.runtime.database.reader() as session:
            claims = actions.claims_of(session, self.owner)
            with self._running_lock:
                running = set(self._running)
        for claim in claims:
            if lost_only and claim in running:
                continue

            def body(
                session: orm.Session, claim: actions.Claim = claim
            ) -> bool:
                return actions.release_claim(session, claim)

            if self.runtime.database.write(body):
                LOG.warning('Left action %s to others', claim.action_id)
                self.runtime.wake()

    def _try_claim(self, action_id: str) -> action_run.ActionRun | None:
        try:
            with self._claiming:
                run, is_any_ready = self.runtime.database.write(
                    lambda session: self._claim(session, action_id)
                )
                if run is not None:
                    with self._running_lock:
                        self._running.add(run.claim)
        except _UnreadableError as error:
            LOG.info('Left action %s to newer engines: %s', action_id, error)
            self._unreadable[action_id] = (
                time.monotonic() + self._unreadable_retry
            )
            return None
        if is_any_ready:
            self.runtime.wake()
        return run

    def _claim(
        self, session: orm.Session, action_id: str
    ) -> tuple[action_run.ActionRun | None, bool]:
        """Claim an action with its locks, or leave it unchanged.

        :returns: the claimed work, or None; and whether another action became
            ready
        """
        claimed = actions.claim(session, action_id, self.owner)
        if claimed is None:
            return None, False
        claim, action, now = claimed
        action_type = action_types.ACTION_TYPES.get(action.action)
        if action_type is None:
            raise _UnreadableError(f'{action.action} is unknown here')
        try:
            request = action_factory.read(self.runtime, action)
        except UNREADABLE_ERRORS as error:
            raise _UnreadableError(str(error)) from error
        is_any_ready = False
        if action_types.is_forced(request):
            is_any_ready = cancellation.supersede(
                self.runtime, session, actions.blockers(session, action)
            )
        blocked_on = locks.acquire(
            session, action.id, action_type.lock_requests(action, request)
        )
        if blocked_on is not None:
            actions.release_claim(
                session,
                claim,
                after=self._lock_retry,
                blocked_on=blocked_on,
            )
            self.runtime.metrics.blocked(session)
            return None, is_any_ready
        if actions.start(session, claim, action, now):
            self.runtime.events.started(session, action, now)
            self.runtime.metrics.started(session, action)
        run = action_run.ActionRun(
            self.runtime, action_type, claim, action, request
        )
        return run, is_any_ready

    def _dispatch(self) -> None:
        while True:
            self._idle.acquire()
            if self._stopping.is_set():
                return
            self._notified.clear()
            run = None
            try:
                run = self.claim()
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, 'Could not look for work')
            if run is None:
                self._idle.release()
                self._notified.wait(self._poll_interval)
            else:
                self._runs.put(run)

    def _work(self) -> None:
        while True:
            run = self._runs.get()
            if run is None:
                return
            try:
                run.perform()
            finally:
                self.finish(run)
                self._idle.release()

    def finish(self, run: action_run.ActionRun) -> None:
        """Remove the claim of a finished run from the running ones."""
        with self._running_lock:
            self._running.discard(run.claim)
