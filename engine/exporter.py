# SPDX-License-Identifier: Apache-2.0
"""Serve an engine's metrics to Prometheus.

The page has the counters of this process, and gauges for all engines together.
The gauges are read from the database on request, and cached for ``[engine]
metrics_cache`` seconds.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import prometheus_client
import sqlalchemy
from oslo_config import cfg
from prometheus_client import core, registry
from sqlalchemy import orm

from engine import metrics
from engine.db import actions, clock, database, ledger, models
from vobjects.clustering import history, topics
from vobjects.rpc import fleet

LOG = logging.getLogger(__name__)

#: Maximum number of processes with a series of their own.
LISTED_MEMBERS = 100

_Gauge = core.GaugeMetricFamily


class Exporter:
    """Serve the metrics at ``[engine] metrics_port``, if it is set."""

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        counters: metrics.Metrics,
        target: database.Database,
    ) -> None:
        self._host: str = conf.engine.metrics_host
        self._port: int | None = conf.engine.metrics_port
        self._registry = counters.registry
        self._registry.register(
            DatabaseCollector(target, conf.engine.metrics_cache)
        )
        self._server: Any = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the server.

        :raises OSError: cannot listen on the port
        """
        if self._port is None:
            return
        try:
            self._server, self._thread = prometheus_client.start_http_server(
                self._port, self._host, self._registry
            )
        except OSError as error:
            raise OSError(
                f'cannot serve metrics on {self._host} port {self._port}:'
                f' {error.strerror or error}; set [engine] metrics_host and'
                ' metrics_port'
            ) from None
        LOG.info('Serving metrics at %s', self.url)

    @property
    def url(self) -> str | None:
        """URL of the metrics; None if they are not served."""
        if self._server is None:
            return None
        host = f'[{self._host}]' if ':' in self._host else self._host
        return f'http://{host}:{self._server.server_port}/metrics'

    def stop(self) -> None:
        """Stop the server."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()


class DatabaseCollector(registry.Collector):
    """Collect gauges from the database.

    :param lifetime: seconds for which the result is cached
    """

    def __init__(self, target: database.Database, lifetime: float) -> None:
        self._database = target
        self._lifetime = lifetime
        self._lock = threading.Lock()
        self._cached: list[core.Metric] = []
        self._cached_until = float('-inf')

    def describe(self) -> Iterable[core.Metric]:
        """Return nothing, so that registering does not query the database."""
        return []

    def collect(self) -> Iterable[core.Metric]:
        """Return the gauges."""
        with self._lock:
            if time.monotonic() >= self._cached_until:
                self._cached = list(self._read())
                self._cached_until = time.monotonic() + self._lifetime
            return self._cached

    def _read(self) -> Iterator[core.Metric]:
        is_up = _Gauge(
            'vobjects_engine_database_up', 'Whether the database answers.'
        )
        try:
            with self._database.reader() as session:
                backlog = measure_backlog(session)
                view = ledger.STATEMENTS.exact_view(session)
                members = ledger.STATEMENTS.members(session, LISTED_MEMBERS)
        except Exception as error:  # noqa: BLE001 - reported
            database.log_failure(LOG, error, 'Could not measure')
            is_up.add_metric([], 0)
            yield is_up
            return
        is_up.add_metric([], 1)
        yield is_up
        yield from _backlog_gauges(backlog)
        yield from _fleet_gauges(view, members)


@dataclasses.dataclass(frozen=True, slots=True)
class Backlog:
    """Counts of unfinished actions and of locks.

    :ivar by_status: number of unfinished actions by status
    :ivar blocked: number of actions waiting for a lock of another action
    :ivar oldest: age in seconds of the oldest READY action that has no delay
    :ivar locks: number of locks on clusters and nodes; several actions can
        share a cluster
    """

    by_status: dict[str, int]
    blocked: int
    oldest: float
    locks: int


def measure_backlog(session: orm.Session) -> Backlog:
    """Return the current backlog."""
    action = models.Action
    count = sqlalchemy.func.count()
    by_status = dict.fromkeys(actions.UNFINISHED, 0)
    for status, number in session.execute(
        sqlalchemy.select(action.status, count)
        .where(action.status.in_(actions.UNFINISHED))
        .group_by(action.status)
    ):
        by_status[status] = number
    blocked = session.scalar(
        sqlalchemy.select(count).where(action.blocked_on.is_not(None))
    )
    created = session.scalar(
        sqlalchemy.select(sqlalchemy.func.min(action.created_at)).where(
            action.status == 'READY', action.not_before.is_(None)
        )
    )
    now = clock.now(session)
    return Backlog(
        by_status,
        blocked or 0,
        0.0 if created is None else max(0.0, (now - created).total_seconds()),
        session.scalar(sqlalchemy.select(count).select_from(models.Lock)) or 0,
    )


def _backlog_gauges(backlog: Backlog) -> Iterator[core.Metric]:
    by_status = _Gauge(
        'vobjects_actions',
        'Actions that have not ended, by status.',
        labels=['status'],
    )
    for status, number in backlog.by_status.items():
        by_status.add_metric([status], number)
    yield by_status
    for name, text, value in (
        ('actions_blocked', 'Actions that wait for a lock', backlog.blocked),
        (
            'actions_ready_age_seconds',
            'Age of the oldest action that could be claimed',
            backlog.oldest,
        ),
        ('locks', 'Locks of clusters and nodes', backlog.locks),
    ):
        yield _Gauge(f'vobjects_{name}', f'{text}.', value=value)


def _fleet_gauges(
    view: fleet.View, members: list[fleet.Member]
) -> Iterator[core.Metric]:
    counts = _Gauge(
        'vobjects_fleet_processes',
        'Live processes, by topic, manifest and state.',
        labels=['topic', 'manifest', 'state'],
    )
    for group in view.groups:
        counts.add_metric(
            (group.topic, group.manifest.digest, group.state), group.count
        )
    yield counts
    ages = _Gauge(
        'vobjects_fleet_heartbeat_age_seconds',
        'Seconds since the last heartbeat, for the processes with the oldest'
        ' ones.',
        labels=['id', 'binary', 'host', 'release', 'state'],
    )
    for member in members:
        labels = (
            member.id,
            member.binary,
            member.host,
            member.release,
            member.state,
        )
        ages.add_metric(labels, member.age)
    yield ages
    maximum = view.maximum(topics.ENGINE, history.MAXIMUM)
    for name, text, value in (
        (
            'served_maximum_minor',
            'Minor of the highest version that all live engines can serve',
            maximum.version.minor,
        ),
        ('held', 'Whether it is held', int(view.held is not None)),
        ('generation', 'Number of changes of the fleet', view.generation),
    ):
        yield _Gauge(f'vobjects_fleet_{name}', f'{text}.', value=value)
