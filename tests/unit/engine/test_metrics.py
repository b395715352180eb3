# SPDX-License-Identifier: Apache-2.0
"""Metrics of an engine and their page."""

from __future__ import annotations

import pathlib
import shutil
import socket
from collections.abc import Iterator

import pytest
import requests
from sqlalchemy import orm

from engine import exporter, metrics
from engine.db import database, models
from tests.unit.engine import request_helpers
from tests.unit.engine.conftest import configuration
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import history
from vobjects.clustering.requests import clusters, nodes


def value(engine: Engine, name: str, **labels: str) -> float:
    """Return a number of the registry; 0 for a series without any."""
    sample = engine.runtime.metrics.registry.get_sample_value(name, labels)
    return sample or 0.0


def ended(engine: Engine, action: str, status: str) -> float:
    """Return how many actions have ended so."""
    return value(
        engine,
        'vobjects_engine_actions_ended_total',
        action=action,
        status=status,
    )


def test_actions_are_counted_by_kind_and_end(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    any_harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine.run(clusters.ClusterScaleOutRequest(identity=cluster, count=1))
    assert ended(engine, 'CLUSTER_CREATE', 'SUCCEEDED') == 1
    assert ended(engine, 'NODE_CREATE', 'SUCCEEDED') == 2
    assert ended(engine, 'NODE_CREATE', 'FAILED') == 1
    seconds = 'vobjects_engine_action_duration_seconds_count'
    assert value(engine, seconds, action='NODE_CREATE') == 3
    assert value(engine, 'vobjects_engine_action_delay_seconds_count') == 5


def test_actions_that_others_end_are_counted(harness: Harness) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 1, run=False)
    assert engine.scheduler.claim() is not None
    engine.run(clusters.ClusterDeleteRequest(identity=cluster, force=True))
    assert ended(engine, 'CLUSTER_CREATE', 'CANCELLED') == 1


def test_rolled_back_transaction_is_not_counted(
    sqlite_database: database.Database,
) -> None:
    counters = metrics.Metrics()
    action = models.Action(action='NODE_CHECK', start_time=0.0)

    def end_and_fail(session: orm.Session) -> None:
        with session.begin_nested():
            counters.ended(session, action, 'FAILED')
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sqlite_database.write(end_and_fail)
    labels = {'action': 'NODE_CHECK', 'status': 'FAILED'}
    name = 'vobjects_engine_actions_ended_total'
    assert counters.registry.get_sample_value(name, labels) is None
    with sqlite_database.writer() as session, session.begin_nested():
        counters.ended(session, action, 'FAILED')
    assert counters.registry.get_sample_value(name, labels) == 1


def test_wait_for_lock_is_counted(harness: Harness) -> None:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 1)
    (node,) = harness.rows(models.Node)
    # Both before the first is claimed: a locked cluster accepts no action.
    engine.call(nodes.NodeCheckRequest(identity=node.id))
    engine.call(clusters.ClusterCheckRequest(identity=cluster))
    assert engine.scheduler.claim() is not None
    assert engine.scheduler.claim() is None
    assert value(engine, 'vobjects_engine_lock_waits_total') == 1


def test_action_of_an_engine_that_died_is_counted(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0, run=False)
    assert engine.scheduler.claim() is not None
    other = harness.detect_death(engine)
    assert value(other, 'vobjects_engine_rescues_total') == 1


@pytest.fixture
def engine(any_harness: Harness) -> Engine:
    any_harness.conf.set_override('metrics_port', 0, 'engine')
    any_harness.conf.set_override('metrics_cache', 0.0, 'engine')
    return any_harness.engine()


@pytest.fixture
def page(engine: Engine, any_harness: Harness) -> Iterator[exporter.Exporter]:
    """Its page, served."""
    served = exporter.Exporter(
        any_harness.conf, engine.runtime.metrics, any_harness.database
    )
    served.start()
    yield served
    served.stop()


def read_metrics(page: exporter.Exporter) -> dict[str, float]:
    """Return what Prometheus would read: a series and its value."""
    response = requests.get(page.url or '', timeout=60)
    assert response.status_code == 200
    return {
        series: float(number)
        for series, _, number in (
            line.rpartition(' ')
            for line in response.text.splitlines()
            if not line.startswith('#')
        )
    }


def test_metrics_contain_the_backlog(
    any_harness: Harness, engine: Engine, page: exporter.Exporter
) -> None:
    assert read_metrics(page)['vobjects_actions{status="READY"}'] == 0
    request_helpers.create_cluster(engine, 2, run=False)
    samples = read_metrics(page)
    assert samples['vobjects_actions{status="READY"}'] == 1
    assert samples['vobjects_actions{status="WAITING"}'] == 0
    assert samples['vobjects_actions_ready_age_seconds'] >= 0
    engine.run_actions(1)
    samples = read_metrics(page)
    assert samples['vobjects_actions{status="READY"}'] == 2
    assert samples['vobjects_actions{status="WAITING"}'] == 1
    assert samples['vobjects_locks'] == 1
    engine.run_actions()
    samples = read_metrics(page)
    assert samples['vobjects_actions{status="READY"}'] == 0
    assert samples['vobjects_actions_blocked'] == 0
    assert samples['vobjects_locks'] == 0
    assert samples['vobjects_engine_database_up'] == 1


def test_metrics_contain_the_fleet(
    any_harness: Harness, engine: Engine, page: exporter.Exporter
) -> None:
    samples = read_metrics(page)
    assert samples['vobjects_fleet_served_maximum_minor'] == (
        history.MAXIMUM.minor
    )
    assert samples['vobjects_fleet_held'] == 0
    (age,) = (
        number
        for series, number in samples.items()
        if series.startswith('vobjects_fleet_heartbeat_age_seconds{')
        and engine.member.id in series
        and 'release="0.1.0"' in series
    )
    assert age >= 0


def test_metrics_are_cached(
    harness: Harness, sqlite_database: database.Database
) -> None:
    collector = exporter.DatabaseCollector(sqlite_database, lifetime=3600)
    before = list(collector.collect())
    request_helpers.create_cluster(harness.engine(), 1, run=False)
    assert list(collector.collect()) == before


def test_metrics_without_database_report_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / 'a' / 'engine.sqlite'
    target = database.Database(configuration(f'sqlite:///{path}'))
    target.close()
    shutil.rmtree(path.parent)
    (up,) = exporter.DatabaseCollector(target, lifetime=0).collect()
    assert [sample.value for sample in up.samples] == [0]


def test_metrics_on_used_port_raise(harness: Harness) -> None:
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = listener.getsockname()[1]
        harness.conf.set_override('metrics_port', port, 'engine')
        page = exporter.Exporter(
            harness.conf, metrics.Metrics(), harness.database
        )
        with pytest.raises(OSError, match=f'port {port}'):
            page.start()
        page.stop()


def test_metrics_are_not_served_by_default(harness: Harness) -> None:
    page = exporter.Exporter(harness.conf, metrics.Metrics(), harness.database)
    page.start()
    assert page.url is None
    page.stop()
