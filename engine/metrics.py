# SPDX-License-Identifier: Apache-2.0
"""Prometheus counters of an engine process.

Events in a transaction are counted when it commits, so that retries are not
counted.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import prometheus_client
from sqlalchemy import orm

from engine.db import database, models
from vobjects.metric_series import OTHER, BoundedSeries

_REQUEST_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30)
_ACTION_BUCKETS = (0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600)


class Metrics:
    """The counters of one process, in a separate registry."""

    def __init__(self) -> None:
        self.registry = registry = prometheus_client.CollectorRegistry()
        counter = functools.partial(
            prometheus_client.Counter, registry=registry
        )
        histogram = functools.partial(
            prometheus_client.Histogram, registry=registry
        )
        gauge = functools.partial(prometheus_client.Gauge, registry=registry)
        self._requests = BoundedSeries(
            counter(
                'vobjects_engine_requests',
                'Requests by type and result: "ok", or the class of the'
                ' error.',
                ('request', 'result'),
            )
        )
        self._request_seconds = BoundedSeries(
            histogram(
                'vobjects_engine_request_duration_seconds',
                'Seconds to handle a request.',
                ('request',),
                buckets=_REQUEST_BUCKETS,
            )
        )
        self._downgrades = BoundedSeries(
            counter(
                'vobjects_engine_downgrades',
                'Responses downgraded for an older caller, by type of the'
                ' request.',
                ('request',),
            )
        )
        self._ended = BoundedSeries(
            counter(
                'vobjects_engine_actions_ended',
                'Actions that this engine ended, by name and status.',
                ('action', 'status'),
            )
        )
        self._action_seconds = BoundedSeries(
            histogram(
                'vobjects_engine_action_duration_seconds',
                'Seconds from the first start of an action to its end.',
                ('action',),
                buckets=_ACTION_BUCKETS,
            )
        )
        self._delay = histogram(
            'vobjects_engine_action_delay_seconds',
            'Seconds from the creation of an action to its first start.',
            buckets=_ACTION_BUCKETS,
        )
        self._lock_waits = counter(
            'vobjects_engine_lock_waits',
            'Claims delayed by the lock of another action.',
        )
        self._rescues = counter(
            'vobjects_engine_rescues',
            'Actions taken over from engines that died.',
        )
        self._workers = gauge(
            'vobjects_engine_workers',
            'Maximum number of actions that run at a time.',
        )
        self._busy = gauge(
            'vobjects_engine_workers_busy', 'Number of actions that run now.'
        )

    def request_finished(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        """Count a request that was answered or rejected.

        :param request: its type; None if unknown
        :param seconds: duration of the request
        """
        name = request or OTHER
        result = 'ok' if error is None else type(error).__name__
        self._requests[name, result].inc()
        self._request_seconds[name,].observe(seconds)

    def response_downgraded(self, request: str) -> None:
        """Count a response that was downgraded for an older caller."""
        self._downgrades[request,].inc()

    def started(self, session: orm.Session, action: models.Action) -> None:
        """Count an action's first start."""
        created, start_time = action.created_at, action.start_time
        if start_time is not None:
            delay = max(0.0, start_time - created.timestamp())
            database.at_commit(session, lambda: self._delay.observe(delay))

    def ended(
        self, session: orm.Session, action: models.Action, status: str
    ) -> None:
        """Count the end of an action."""
        action_name, start_time = action.action, action.start_time

        def count() -> None:
            self._ended[action_name, status].inc()
            if start_time is not None:
                seconds = max(0.0, time.time() - start_time)
                self._action_seconds[action_name,].observe(seconds)

        database.at_commit(session, count)

    def blocked(self, session: orm.Session) -> None:
        """Count an action that waits for a lock."""
        database.at_commit(session, self._lock_waits.inc)

    def rescued(self, session: orm.Session) -> None:
        """Count an action taken over from a dead engine."""
        database.at_commit(session, self._rescues.inc)

    def watch(self, workers: int, busy: Callable[[], float]) -> None:
        """Export the number of workers, and of busy workers."""
        self._workers.set(workers)
        self._busy.set_function(busy)
