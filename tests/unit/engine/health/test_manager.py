# SPDX-License-Identifier: Apache-2.0
"""Health checks of clusters and recovery of unhealthy nodes."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from engine.db import health, models
from engine.health import manager
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    enable,
)
from tests.unit.engine.policies.test_health import spec
from vobjects.clustering.requests import clusters, nodes
from vobjects_simulated import tables

HOURS = datetime.timedelta(hours=2)


def run_due_checks(engine: Engine) -> int:
    """Run all due checks; return their number."""
    health_manager = manager.Manager(engine.runtime, engine.member.id)
    checks = 0
    while health_manager.step():
        checks += 1
    return checks


def create_monitored_cluster(
    engine: Engine, *modes: Any, size: int = 2, **recovery: Any
) -> None:
    """Create cluster c with a health policy."""
    request_helpers.create_cluster(engine, size)
    create_policy(engine, 'health', version='1.2', **spec(*modes, **recovery))
    assert attach(engine).status == 'SUCCEEDED'


def make_all_due(harness: Harness) -> None:
    """Make all checks due that are due in the next hours."""

    def body(session: Any) -> None:
        for row in session.query(models.HealthRegistration):
            row.due -= HOURS
        for node in session.query(models.Node):
            node.updated_at -= HOURS

    harness.database.write(body)


def break_first_server(harness: Harness, status: str = 'SHUTOFF') -> str:
    """Set the status of the first node's server; return its ID."""
    node = min(harness.rows(models.Node), key=lambda row: row.index)
    harness.change(tables.SimulatedServer, node.physical_id, status=status)
    server_id: str = node.physical_id
    return server_id


def recoveries(harness: Harness) -> list[Any]:
    return [
        row
        for row in harness.rows(models.Action)
        if row.action == 'NODE_RECOVER'
    ]


def test_unhealthy_node_is_recovered_when_cluster_is_due(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    create_monitored_cluster(
        engine, 'NODE_STATUS_POLLING', actions=[{'name': 'REBOOT'}]
    )
    server = break_first_server(any_harness)
    assert run_due_checks(engine) == 0
    make_all_due(any_harness)
    assert run_due_checks(engine) == 1
    (action,) = recoveries(any_harness)
    assert action.status_reason == (
        f"Health policy 'pol': its server {server} is SHUTOFF"
    )
    assert action.project == 'ours'
    make_all_due(any_harness)
    run_due_checks(engine)
    assert len(recoveries(any_harness)) == 1
    engine.run_actions()
    assert any_harness.row(tables.SimulatedServer, server).status == 'ACTIVE'
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'
    make_all_due(any_harness)
    run_due_checks(engine)
    assert len(recoveries(any_harness)) == 1
    any_harness.assert_idle()


@pytest.mark.parametrize('status', ['PAUSED', 'RESCUE', 'REBOOT'])
def test_intentionally_stopped_server_is_not_recovered(
    harness: Harness, engine: Engine, status: str
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    break_first_server(harness, status)
    make_all_due(harness)
    run_due_checks(engine)
    assert recoveries(harness) == []


def test_recently_changed_node_is_skipped(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    break_first_server(harness)

    def due(session: Any) -> None:
        session.query(models.HealthRegistration).one().due -= HOURS

    harness.database.write(due)
    assert run_due_checks(engine) == 1
    assert recoveries(harness) == []


def test_node_with_missing_server_is_recreated(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(
        engine,
        'NODE_STATUS_POLLING',
        actions=[{'name': 'RECREATE'}],
        fencing=['COMPUTE'],
        node_delete_timeout=7,
        node_force_recreate=True,
    )
    server = break_first_server(harness)
    make_all_due(harness)
    run_due_checks(engine)
    (action,) = recoveries(harness)
    request = action.inputs.read()
    assert request.operation == 'RECREATE'
    assert request.operation_params == {'fence_compute': True}
    assert (request.delete_timeout, request.force_recreate) == (7, True)
    engine.run_actions()
    assert harness.row(tables.SimulatedServer, server) is None
    assert harness.count(tables.SimulatedServer) == 2
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'


def test_node_on_failed_hypervisor_is_recovered(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'HYPERVISOR_STATUS_POLLING')
    node = harness.rows(models.Node)[0]
    server = harness.row(tables.SimulatedServer, node.physical_id)
    harness.conf.set_override('failed_hosts', [server.host], 'simulated')
    make_all_due(harness)
    run_due_checks(engine)
    assert recoveries(harness)[0].status_reason.endswith(
        f'its host {server.host} is down'
    )
    engine.run_actions()
    for row in harness.rows(tables.SimulatedServer):
        assert row.host != server.host


@pytest.mark.parametrize(
    ('conditional', 'expected'), [('ANY_FAILED', 1), ('ALL_FAILED', 0)]
)
def test_recovery_conditional_any_or_all_modes(
    harness: Harness, engine: Engine, conditional: str, expected: int
) -> None:
    request_helpers.create_cluster(engine, 2)
    properties = spec('NODE_STATUS_POLLING', 'HYPERVISOR_STATUS_POLLING')
    properties['detection']['recovery_conditional'] = conditional
    create_policy(engine, 'health', version='1.2', **properties)
    attach(engine)
    break_first_server(harness)
    make_all_due(harness)
    run_due_checks(engine)
    assert len(recoveries(harness)) == expected


def test_lifecycle_event_is_processed_once(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(
        engine, 'LIFECYCLE_EVENTS', actions=[{'name': 'REBOOT'}]
    )
    first, _ = request_helpers.get_cluster(engine, 'c').nodes
    for operation in ('stop', 'start', 'stop'):
        engine.call(
            nodes.NodeOperationRequest(identity=first, operation=operation)
        )
        make_all_due(harness)
        run_due_checks(engine)  # an action works on the node: nothing happens
        engine.run_actions()
    assert recoveries(harness) == []
    make_all_due(harness)
    run_due_checks(engine)
    (action,) = recoveries(harness)
    assert 'compute.instance.power_off.end' in action.status_reason
    engine.run_actions()
    make_all_due(harness)
    run_due_checks(engine)
    make_all_due(harness)
    run_due_checks(engine)
    assert len(recoveries(harness)) <= 2  # the second event: it is well again
    assert harness.rows(tables.SimulatedEvent) == []
    (server, _) = harness.rows(tables.SimulatedServer)
    assert server.status == 'ACTIVE'


def test_cluster_with_running_action_is_skipped(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    break_first_server(harness)
    make_all_due(harness)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    engine.run_actions(1)
    assert run_due_checks(engine) == 1
    assert recoveries(harness) == []
    engine.run_actions()
    make_all_due(harness)
    run_due_checks(engine)
    assert len(recoveries(harness)) == 1


def test_disabled_policy_checks_no_nodes(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    enable(engine, on=False)
    break_first_server(harness)
    make_all_due(harness)
    assert run_due_checks(engine) == 0
    enable(engine, on=True)
    make_all_due(harness)
    assert run_due_checks(engine) == 1
    assert len(recoveries(harness)) == 1


def test_cluster_is_claimed_by_one_engine_until_it_dies(
    any_harness: Harness,
) -> None:
    dying, other = any_harness.engine(name='dying'), any_harness.engine()
    create_monitored_cluster(dying, 'NODE_STATUS_POLLING')
    (row,) = any_harness.rows(models.HealthRegistration)
    make_all_due(any_harness)
    owner = dying.member.id
    claim = health.claim
    cluster = row.cluster_id
    assert any_harness.database.write(lambda s: claim(s, cluster, owner))
    make_all_due(any_harness)
    assert run_due_checks(other) == 0
    any_harness.detect_death(dying)
    assert run_due_checks(other) == 1
    make_all_due(any_harness)
    assert not any_harness.database.write(lambda s: claim(s, cluster, owner))
    assert run_due_checks(other) == 1


def test_unreachable_cloud_does_not_cause_recovery(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    servers: Any = engine.runtime.provider.servers

    def fail(server_id: str) -> Any:
        raise manager.probes.providers.ProviderError('out of order')

    servers.get = fail
    make_all_due(harness)
    run_due_checks(engine)
    assert recoveries(harness) == []


def test_manager_runs_in_threads_and_stops(
    harness: Harness, engine: Engine
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING', size=20)
    break_first_server(harness)
    make_all_due(harness)
    health_manager = manager.Manager(engine.runtime, engine.member.id)
    health_manager.start()
    for _ in range(600):
        if recoveries(harness):
            break
        health_manager._stopping.wait(0.1)
    health_manager.stop(60)
    assert len(recoveries(harness)) == 1
    assert harness.rows(models.HealthRegistration)[0].owner is None


def register(engine: Engine, project: str, name: str) -> str:
    """Create an empty cluster that is due for a check; return its ID."""
    owner = engine_harness.request_context(project)
    id_ = request_helpers.create_cluster(
        engine,
        0,
        name=name,
        profile_id=request_helpers.create_profile(engine, name, context=owner),
        context=owner,
    )
    engine.runtime.database.write(
        lambda session: health.register(
            session, id_, 'policy', interval=0, enabled=True
        )
    )
    return id_


def test_slow_checks_of_one_project_leave_a_worker_to_others(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    slow = [register(engine, 'slow', f's{number}') for number in range(4)]
    other = register(engine, 'other', 'o')
    member = engine.member.id

    def claim() -> str | None:
        with any_harness.database.reader() as session:
            id_ = health.due(session, member, 3)
        if id_ is not None:
            assert any_harness.database.write(
                lambda session: health.claim(session, id_, member)
            )
        return id_

    first, second = claim(), claim()
    assert first in slow
    assert second == other  # although it is due later
    assert {claim(), claim()} < set(slow)
    assert claim() is None


@pytest.mark.parametrize(
    'value', ["'abc'", "x'ff00'", "''", "CAST(x'61ff' AS TEXT)", '-1.5']
)
def test_check_with_an_unreadable_interval_delays_no_other_check(
    harness: Harness, engine: Engine, value: str
) -> None:
    create_monitored_cluster(engine, 'NODE_STATUS_POLLING')
    make_all_due(harness)
    with harness.database.engine.begin() as connection:
        connection.exec_driver_sql(
            f'UPDATE health_registry SET interval = {value}'
        )
    health_manager = manager.Manager(engine.runtime, engine.member.id)
    assert health_manager.step()
    (row,) = harness.rows(models.HealthRegistration)
    assert row.owner is None
