# SPDX-License-Identifier: Apache-2.0
"""Claim ready actions, and run them in a pool of threads.

A dispatcher thread looks for work when it is notified, and at least every
``[engine] poll_interval`` seconds. It passes no more actions to the workers
than there are idle ones, and leaves the rest to other engines.

A worker claims an action in a transaction. If the next stage is a step (see
:mod:`engine.actions.action_run`), it runs in the same transaction, which other
engines see completely or not at all. Otherwise, or if the step fails, the
worker commits the claim and then runs the stage.
"""

from __future__ import annotations

import collections
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from sqlalchemy import orm

from engine.actions import (
    action_factory,
    action_run,
    action_types,
    cancellation,
)
from engine.actions.runtime import Runtime
from engine.db import actions, database, locks, statements, work_queue
from vobjects import exceptions
from vobjects_sql import stored

LOG = logging.getLogger(__name__)

#: Maximum number of candidates per query; other engines may claim some first.
CANDIDATES_PER_QUERY = 16

#: Maximum seconds after which candidates are queried again. Actions of other
#: projects may have arrived, and need not wait until workers have tried all
#: candidates. Each stage of an action waits so long at most, so the time is
#: shorter while queries are fast: this times the duration of the last one.
CANDIDATES_LIFETIME = 0.1
_QUERY_INTERVAL = 9

#: Maximum number of projects whose last turn is remembered.
MAX_TURNS = 1024

#: Errors from inputs that an engine of another release may have stored.
UNREADABLE_ERRORS = (stored.StoredTooNew, exceptions.ConversionError)


class _UnreadableError(Exception):
    """The action's inputs are too new for this engine."""


class _Candidates:
    """IDs of actions that may be claimable; thread-safe.

    Other engines may claim some of them first. New actions of this process
    need no query, unless other ones are waiting.

    :param clock: returns monotonic seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._clock = clock
        #: The time at which the queued candidates become old.
        self._expires = self._query_began = clock()
        self._queued: collections.deque[str] = collections.deque()
        #: IDs that workers try now.
        self._tried: set[str] = set()
        #: Whether the database may have candidates that are not queued.
        self._is_stale = True

    def announce(self, action_id: str = '') -> None:
        """Note that there may be candidates.

        :param action_id: the ID of a new action; empty: unknown
        """
        with self._lock:
            if (
                not action_id
                or self._is_stale
                or len(self._queued) >= CANDIDATES_PER_QUERY
            ):
                self._is_stale = True
            else:
                # Only a query knows whether it comes before the others.
                self._is_stale = bool(self._queued)
                self._queued.append(action_id)

    def needs_query(self) -> bool:
        """Tell whether to query the database for candidates."""
        with self._lock:
            return self._is_stale and (
                not self._queued or self._clock() >= self._expires
            )

    def begin_query(self) -> set[str]:
        """Note that a query begins; later announcements need another one.

        :returns: IDs to exclude, because workers try them
        """
        with self._lock:
            self._is_stale = False
            self._query_began = self._clock()
            self._queued.clear()
            return set(self._tried)

    def end_query(self, action_ids: Sequence[str]) -> None:
        """Queue the result of a query, in the order to try them."""
        with self._lock:
            now = self._clock()
            self._expires = now + min(
                CANDIDATES_LIFETIME,
                _QUERY_INTERVAL * (now - self._query_began),
            )
            if len(action_ids) == CANDIDATES_PER_QUERY:
                self._is_stale = True
            newer = (id_ for id_ in self._queued if id_ not in action_ids)
            self._queued = collections.deque([*action_ids, *newer])

    def next(self) -> str | None:
        """Return the next ID to try; :meth:`finish` must be called for it."""
        with self._lock:
            if not self._queued:
                return None
            action_id = self._queued.popleft()
            self._tried.add(action_id)
            return action_id

    def finish(self, action_id: str, *, may_be_ready: bool) -> None:
        """Note that a worker has tried an action.

        :param may_be_ready: whether the worker has changed the action so that
            it may be ready again, which queries have not seen meanwhile
        """
        with self._lock:
            self._tried.discard(action_id)
            self._is_stale |= may_be_ready


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
        self._tasks: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        #: Claims that a worker of this process runs. A claim is added before
        #: the database has it, so that none seems to be without a worker.
        self._running: set[actions.Claim] = set()
        self._running_lock = threading.Lock()
        self._unreadable: dict[str, float] = {}
        #: Project -> number of the last action that this engine has claimed.
        self._turns: dict[str | None, int] = {}
        self._turn = itertools.count(1)
        self._queue = _Candidates()
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

    def notify(self, action_id: str = '') -> None:
        """Look for work now.

        :param action_id: the ID of a new action; empty: any action may have
            become ready
        """
        self._queue.announce(action_id)
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
            self._tasks.put(None)
        for thread in self._workers:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))
        self.give_back(lost_only=False)

    def step(self) -> bool:
        """Claim one action and run its stage in the calling thread.

        :returns: whether there was an action
        """
        self._queue.announce()
        while (action_id := self._next()) is not None:
            if self._run(action_id):
                return True
        return False

    def claim(self) -> action_run.ActionRun | None:
        """Claim the next action that can run now, or return None.

        The caller calls :meth:`finish` after the run.
        """
        self._queue.announce()
        while (action_id := self._next()) is not None:
            try:
                run = self._try_claim(action_id, with_step=False)
            finally:
                self._queue.finish(action_id, may_be_ready=False)
            if run is not None:
                return run
        return None

    def _next(self) -> str | None:
        """Return the ID of an action to try next, or None.

        Candidates of the last query come first, because the query is slow when
        many actions wait.
        """
        if self._queue.needs_query():
            self._query_candidates()
        return self._queue.next()

    def _query_candidates(self) -> None:
        now = time.monotonic()
        self._unreadable = {
            id_: until
            for id_, until in self._unreadable.copy().items()
            if until > now
        }
        excluded = self._queue.begin_query().union(self._unreadable)
        with self._running_lock:
            turns = self._turns.copy()
        with self.runtime.database.reader() as session:
            ids = work_queue.candidates(
                session, CANDIDATES_PER_QUERY, excluded, turns
            )
        self._queue.end_query(ids)

    def give_back(self, *, lost_only: bool = True) -> None:
        """Release this engine's claims, so that other engines can run them.

        The database is read first: a claim that appears in it later has been
        among the running ones before.

        :param lost_only: release only actions that no worker here runs: their
            worker could not reach the database when it was done
        """
        with self.runtime.database.reader() as session:
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

    def _run(self, action_id: str) -> bool:
        """Claim an action and run its next stage.

        :returns: whether this engine claimed the action
        """
        run: action_run.ActionRun | None = None
        try:
            run = self._claim_and_step(action_id)
            if run is not None and not run.stage_ended:
                try:
                    run.perform()
                finally:
                    self.finish(run)
        except action_run.TRANSIENT_ERRORS as error:
            # Some engine finds the action when it looks for work again.
            message = f'Could not run action {action_id}'
            database.log_failure(LOG, error, message)
            if run is None and isinstance(error, exceptions.Unreachable):
                # Otherwise, this worker would try again at once.
                self._stopping.wait(self._poll_interval)
        finally:
            self._queue.finish(
                action_id,
                may_be_ready=run is not None and not run.has_ended,
            )
        return run is not None

    def _claim_and_step(self, action_id: str) -> action_run.ActionRun | None:
        try:
            return self._try_claim(action_id, with_step=True)
        except action_run.TRANSIENT_ERRORS:
            raise
        except Exception:
            # If it happens again, the run reports it.
            LOG.debug('A step of %s failed', action_id, exc_info=True)
        return self._try_claim(action_id, with_step=False)

    def _try_claim(
        self, action_id: str, *, with_step: bool
    ) -> action_run.ActionRun | None:
        """Claim an action, unless another engine does or it is blocked.

        :param with_step: whether to run the next stage, too, if it is a step
        """
        claimed: action_run.ActionRun | None = None

        def attempt(
            session: orm.Session,
        ) -> tuple[action_run.ActionRun | None, bool]:
            nonlocal claimed
            run, is_any_ready = self._claim(
                session, action_id, with_step=with_step
            )
            if run is not None and not run.stage_ended:
                claimed = run
                with self._running_lock:
                    self._running.add(run.claim)
            return run, is_any_ready

        try:
            run, is_any_ready = self.runtime.database.write(attempt)
        except _UnreadableError as error:
            LOG.info('Left action %s to newer engines: %s', action_id, error)
            self._unreadable[action_id] = (
                time.monotonic() + self._unreadable_retry
            )
            return None
        except BaseException:
            if claimed is not None:
                self.finish(claimed)
            raise
        if is_any_ready:
            self.runtime.wake()
        if run is not None:
            run.announce()
            self._take_turn(run.action.project)
        return run

    def _take_turn(self, project: str | None) -> None:
        """Note that an action of a project was claimed last."""
        with self._running_lock:
            self._turns.pop(project, None)
            self._turns[project] = next(self._turn)
            if len(self._turns) > MAX_TURNS:
                del self._turns[next(iter(self._turns))]

    def _claim(
        self, session: orm.Session, action_id: str, *, with_step: bool
    ) -> tuple[action_run.ActionRun | None, bool]:
        """Claim an action with its locks, or leave it unchanged.

        :returns: the claimed work, or None; and whether another action became
            ready
        """
        locked = work_queue.lock_claimable(session, action_id, self.owner)
        if locked is None:
            return None, False
        action, now = locked
        action_type = action_types.ACTION_TYPES.get(action.action)
        if action_type is None:
            raise _UnreadableError(f'{action.action} is unknown here')
        try:
            request = action_factory.read(self.runtime, action)
        except UNREADABLE_ERRORS as error:
            raise _UnreadableError(str(error)) from error
        is_any_ready = False
        if action_run.is_forced(request):
            for blocker in actions.blockers(session, action):
                is_any_ready |= cancellation.end_tree(
                    self.runtime, session, blocker.id, 'SUPERSEDE'
                )
        decision = locks.decide(
            session, action.id, action_type.lock_requests(action, request)
        )
        if decision.blocked_on is not None:
            retry_at = actions.later(now, self._lock_retry)
            work_queue.block(session, action.id, decision.blocked_on, retry_at)
            # From the commit on, the holder may make the action ready.
            database.at_commit(
                session,
                lambda: self._queue.finish(action_id, may_be_ready=True),
            )
            self.runtime.metrics.blocked(session)
            return None, is_any_ready
        is_first = action.start_time is None
        claim = work_queue.claim(session, action, self.owner, now)
        if is_first:
            self.runtime.events.started(session, action, now)
            self.runtime.metrics.started(session, action)
        run = action_run.ActionRun(
            self.runtime, action_type, claim, action, request
        )
        step = action_types.step_of(run) if with_step else None
        if step is None:
            statements.insert(session, decision.missing)
        else:
            # An action takes its locks when it starts.
            run.run_step(
                session, step, now, decision.missing, has_locks=not is_first
            )
        return run, is_any_ready

    def _dispatch(self) -> None:
        while True:
            self._idle.acquire()
            if self._stopping.is_set():
                return
            self._notified.clear()
            action_id = None
            try:
                action_id = self._next()
            except Exception as error:  # noqa: BLE001 - reported
                database.log_failure(LOG, error, 'Could not look for work')
            if action_id is not None:
                self._tasks.put(action_id)
                continue
            self._idle.release()
            if not self._notified.wait(self._poll_interval):
                self._queue.announce()

    def _work(self) -> None:
        while True:
            action_id = self._tasks.get()
            if action_id is None:
                return
            try:
                if not self._stopping.is_set():
                    self._run(action_id)
            except Exception as error:  # noqa: BLE001 - reported
                message = f'Could not run action {action_id}'
                database.log_failure(LOG, error, message)
            finally:
                self._idle.release()
                if self._queue.needs_query():
                    self._notified.set()

    def finish(self, run: action_run.ActionRun) -> None:
        """Remove the claim of a finished run from the running ones."""
        with self._running_lock:
            self._running.discard(run.claim)
