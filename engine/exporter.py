# SPDX-License-Identifier: Apache-2.0
"""Serve an engine's metrics to Prometheus.

The page has the counters of this process, and gauges for all engines together.
The gauges are read from the database on request, and cached for ``[engine]
metrics_cache`` seconds.
"""

from __future__ import annotations

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
                backlog = list(_backlog_gauges(session))
                view = ledger.STATEMENTS.exact_view(session)
                members = ledger.STATEMENTS.members(session, LISTED_MEMBERS)
        except Exception as error:  # noqa: BLE001 - reported
            database.log_failure(LOG, error, 'Could not measure')
            is_up.add_metric([], 0)
            yield is_up
            return
        is_up.add_metric([], 1)
        yield is_up
        yield from backlog
        yield from _fleet_gauges(view, members)


def _backlog_gauges(session: orm.Session) -> Iterator[core.Metric]:
    """Yield the numbers of unfinished actions, and of locks."""
    action = models.Action
    count = sqlalchemy.func.count()
    numbers = dict.fromkeys(actions.UNFINISHED, 0)
    for status, number in session.execute(
        sqlalchemy.select(action.status, count)
        .where(action.status.in_(actions.UNFINISHED))
        .group_by(action.status)
    ):
        numbers[status] = number
    by_status = _Gauge(
        'vobjects_actions',
        'Actions that have not ended, by status.',
        labels=['status'],
    )
    for status, number in numbers.items():
        by_status.add_metric([status], number)
    yield by_status
    blocked = sqlalchemy.select(count).where(action.blocked_on.is_not(None))
    locks = sqlalchemy.select(count).select_from(models.Lock)
    oldest = session.scalar(
        sqlalchemy.select(sqlalchemy.func.min(action.created_at)).where(
            action.status == 'READY', action.not_before.is_(None)
        )
    )
    now = clock.now(session)
    age = max(0.0, (now - (oldest or now)).total_seconds())
    for name, text, value in (
        (
            'actions_blocked',
            'Actions that wait for a lock',
            session.scalar(blocked),
        ),
        (
            'actions_ready_age_seconds',
            'Age of the oldest action that could be claimed',
            age,
        ),
        ('locks', 'Locks of clusters and nodes', session.scalar(locks)),
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
