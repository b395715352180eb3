# SPDX-License-Identifier: Apache-2.0
"""Killed and frozen engines, and a service without engines."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import sqlalchemy

from api import health
from tests import machine_speed
from tests.functional.deployments import (
    DATABASE_SERVERS,
    Deployment,
    Engine,
    deployed,
)
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import RestClient, unique

#: [fleet] heartbeat_interval in seconds; tests wait for detected deaths.
HEARTBEAT = 3 * machine_speed.scale()

#: [fleet] call_timeout in seconds: long enough for slow engines; the API waits
#: this long for requests that a killed engine has received.
CALL_TIMEOUT = 20

SLOW = {'simulated': {'latency': 60}, 'engine': {'workers': 32}}

#: Errors that processes may log when others die.
ALLOWED_ERRORS = (
    r'The fleet is out of reach|AMQP|amqp|Connection|connection|rabbit'
)


@pytest.fixture(scope='module', params=DATABASE_SERVERS)
def fleet(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """An API without engines; tests start engines."""
    directory = tmp_path_factory.mktemp('crash')
    settings = {
        'fleet': {
            'heartbeat_interval': HEARTBEAT,
            'call_timeout': CALL_TIMEOUT,
        },
        'engine': {'stop_timeout': 1, 'max_clusters_per_project': 1_000_000},
    }
    with deployed(
        request.param, directory, settings, allowed_errors=ALLOWED_ERRORS
    ) as deployment:
        first = deployment.start_engine('first')
        deployment.start_api()
        first.process.stop()
        deployment.group.remove(first.process)
        yield deployment


class Engines:
    """Start and stop engines with unique names."""

    def __init__(self, fleet: Deployment) -> None:
        self.fleet = fleet

    def start(self, settings: Any = None) -> Engine:
        """Start an engine and wait until the API reaches an engine."""
        engine = self.fleet.start_engine(unique('engine'), settings=settings)
        with self.fleet.rest() as rest:
            wait_for(
                'the API reaches an engine',
                lambda: rest.request('GET', '/v1/clusters').status_code == 200,
            )
        return engine

    def kill(self, *engines: Engine) -> None:
        """Kill all engines, then wait for them."""
        for engine in engines:
            engine.process.send_signal(signal.SIGKILL)
        for engine in engines:
            engine.process.wait()
            self.fleet.group.remove(engine.process)

    def stop(self, *engines: Engine) -> None:
        for engine in engines:
            engine.process.send_signal(signal.SIGTERM)
        for engine in engines:
            assert engine.process.wait() == 0
            self.fleet.group.remove(engine.process)


@pytest.fixture
def engines(fleet: Deployment) -> Iterator[Engines]:
    """Engines that are stopped after the test."""
    before = list(fleet.group.processes)
    yield Engines(fleet)
    for process in list(fleet.group.processes):
        if process not in before:
            assert process.stop() == 0
            fleet.group.remove(process)
    wait_for('all engines have left', lambda: not fleet.engine_ids())


@pytest.fixture
def rest(fleet: Deployment) -> Iterator[RestClient]:
    with fleet.rest() as client:
        yield client


def wait_until_death_is_detected(fleet: Deployment, engine: Engine) -> None:
    """Wait until the ledger no longer has a dead engine.

    ``tests/unit/engine/test_reaper.py`` checks how long this may take.
    """
    wait_for(
        'the death is detected', lambda: engine.id not in fleet.engine_ids()
    )


@pytest.mark.every_platform
def test_killed_engines_work_is_finished_by_another(
    fleet: Deployment, engines: Engines, rest: RestClient
) -> None:
    # Interrupt a different action on each of seven clusters.
    quick = engines.start()
    profile = rest.create_profile()
    clusters = {
        name: rest.create_cluster(profile, 2)
        for name in ('scale_out', 'scale_in', 'resize', 'check', 'delete')
    }
    broken = rest.create_cluster(profile, 2)
    _lose_servers(fleet, broken)
    rest.wait_for_end(rest.start_action(broken, 'check'))
    slow = engines.start(SLOW)
    engines.stop(quick)

    actions = {
        'scale_out': rest.start_action(
            clusters['scale_out'], 'scale_out', count=2
        ),
        'scale_in': rest.start_action(
            clusters['scale_in'], 'scale_in', count=1
        ),
        'resize': rest.start_action(
            clusters['resize'],
            'resize',
            adjustment_type='EXACT_CAPACITY',
            number=3,
        ),
        'check': rest.start_action(clusters['check'], 'check'),
        'delete': rest.delete(f'/v1/clusters/{clusters["delete"]}'),
        'recover': rest.start_action(broken, 'recover'),
    }
    clusters['create'], actions['create'] = rest.start_cluster(profile, 3)
    clusters['recover'] = broken
    sizes = {
        'scale_out': 4,
        'scale_in': 1,
        'resize': 3,
        'check': 2,
        'recover': 2,
        'create': 3,
    }
    # Checks take no time; all other actions have started node actions.
    wait_for(
        'all actions run',
        lambda: len(fleet.running_actions(slow.id)) >= 2 + 1 + 1 + 2 + 2 + 3,
    )
    engines.start()
    assert fleet.locks()

    engines.kill(slow)

    wait_until_death_is_detected(fleet, slow)
    for action in actions.values():
        rest.wait_for_success(action)
    for name, size in sizes.items():
        shown = rest.get(f'/v1/clusters/{clusters[name]}')
        assert (shown['status'], len(shown['nodes'])) == ('ACTIVE', size), name
        assert shown['desired_capacity'] == size
        nodes = rest.get(f'/v1/nodes?cluster_id={clusters[name]}')
        assert {node['status'] for node in nodes} == {'ACTIVE'}
        assert len({node['physical_id'] for node in nodes}) == size
    rest.assert_missing(f'/v1/clusters/{clusters["delete"]}')
    fleet.assert_tidy()
    assert len(fleet.rows('SELECT id FROM simulated_servers')) == len(
        fleet.rows('SELECT id FROM nodes')
    )
    for name in sizes:
        rest.remove(clusters[name])


def _lose_servers(fleet: Deployment, cluster: str) -> None:
    """Delete the servers of a cluster in the cloud."""
    fleet.execute(
        'DELETE FROM simulated_servers WHERE node_id IN'
        ' (SELECT id FROM nodes WHERE cluster_id = :cluster)',
        cluster=cluster,
    )


def freeze(fleet: Deployment, engine: Engine) -> None:
    """Suspend an engine while it holds no database lock.

    Suspended in a transaction, it would keep its locks: PostgreSQL and MariaDB
    end such a transaction after ten seconds, SQLite never does.
    """
    while True:
        engine.process.send_signal(signal.SIGSTOP)
        try:
            fleet.execute('UPDATE ledger_state SET generation = generation')
            fleet.execute(
                'UPDATE services SET heartbeat = heartbeat WHERE id = :id',
                id=engine.id,
            )
        except sqlalchemy.exc.DBAPIError:
            engine.process.send_signal(signal.SIGCONT)
            time.sleep(0.05)
        else:
            return


def test_frozen_engine_does_no_harm_when_it_resumes(
    fleet: Deployment, engines: Engines, rest: RestClient
) -> None:
    frozen = engines.start(
        {
            'simulated': {'latency': 2},
            'engine': {'stop_timeout': TIMEOUT},
        }
    )
    profile = rest.create_profile()
    cluster, action = rest.start_cluster(profile, 3)
    wait_for(
        'the nodes are created',
        lambda: len(fleet.running_actions(frozen.id)) == 3,
    )
    engines.start()

    freeze(fleet, frozen)
    try:
        wait_until_death_is_detected(fleet, frozen)
        # Read the database: the API may wait for the frozen engine.
        wait_for(
            'another engine completes the action',
            lambda: _succeeded(fleet, action),
        )
    finally:
        frozen.process.send_signal(signal.SIGCONT)

    wait_for('the engine is back', lambda: frozen.id in fleet.engine_ids())
    # Its workers continue; it stops when they have finished.
    engines.stop(frozen)
    nodes = rest.nodes(cluster)
    servers = fleet.rows('SELECT id FROM simulated_servers')
    assert {n['physical_id'] for n in nodes} == {row.id for row in servers}
    assert len(servers) == 3
    rest.remove(cluster)
    fleet.assert_tidy()


def _succeeded(fleet: Deployment, action: str) -> bool:
    (row,) = fleet.rows('SELECT status FROM actions WHERE id = :id', id=action)
    return bool(row.status == 'SUCCEEDED')


def health_check(fleet: Deployment) -> requests.Response:
    return requests.get(f'{fleet.url}{health.PATH}', timeout=TIMEOUT)


def test_api_without_engines_responds_and_recovers(
    fleet: Deployment, engines: Engines, rest: RestClient
) -> None:
    two = [engines.start(SLOW), engines.start(SLOW)]
    profile = rest.create_profile()
    cluster, action = rest.start_cluster(profile, 2)
    wait_for(
        'the nodes are created',
        lambda: (
            sum(len(fleet.running_actions(engine.id)) for engine in two) == 2
        ),
    )

    engines.kill(*two)

    # Before and after the lease of the API expires. No engine is left to
    # detect the deaths.
    until = time.monotonic() + 3 * HEARTBEAT
    while time.monotonic() < until:
        for path in ('/v1/clusters', '/', '/v1', '/v1/pony'):
            response = rest.request('GET', path)
            if path == '/v1/clusters':
                assert response.status_code == 503
                assert int(response.headers['Retry-After']) > 0
            elif path == '/v1/pony':
                assert response.status_code == 404
            else:
                assert response.status_code in (200, 300, 503)
    response = health_check(fleet)
    assert response.status_code == 503
    assert int(response.headers['Retry-After']) > 0

    engines.start()

    wait_for(
        'the API serves again',
        lambda: rest.request('GET', '/v1/clusters').status_code == 200,
    )
    assert health_check(fleet).status_code == 200
    rest.wait_for_success(action)
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'
    fleet.assert_tidy()
    rest.remove(cluster)


def test_state_survives_a_restart_of_all_engines(
    fleet: Deployment, engines: Engines, rest: RestClient
) -> None:
    first = engines.start()
    profile = rest.create_profile()
    cluster = rest.create_cluster(profile, 2)
    slow = engines.start(SLOW)
    engines.stop(first)
    action = rest.start_action(cluster, 'scale_out', count=2)
    wait_for(
        'the nodes are created',
        lambda: len(fleet.running_actions(slow.id)) == 2,
    )

    # A graceful stop releases the actions, which no engine can take yet.
    engines.stop(slow)
    assert not fleet.engine_ids()
    engines.start()

    wait_for(
        'the API serves again',
        lambda: rest.request('GET', '/v1/clusters').status_code == 200,
    )
    rest.wait_for_success(action)
    shown = rest.get(f'/v1/clusters/{cluster}')
    assert (shown['status'], len(shown['nodes'])) == ('ACTIVE', 4)
    fleet.assert_tidy()
    rest.remove(cluster)


def test_requests_around_a_death_get_responses(
    fleet: Deployment, engines: Engines, rest: RestClient
) -> None:
    doomed = engines.start()
    engines.start()
    profile = rest.create_profile()
    accepted: list[str] = []
    refused = 0

    def ask(times: int) -> None:
        nonlocal refused
        for _ in range(times):
            content = {'name': unique('c'), 'profile_id': profile}
            response = rest.request(
                'POST', '/v1/clusters', {'cluster': content}
            )
            if response.status_code == 202:
                accepted.append(response.json()['cluster']['id'])
            else:
                assert response.status_code == 503, response.text
                refused += 1

    def noticed() -> bool:
        ask(1)
        return doomed.id not in fleet.engine_ids()

    ask(10)
    engines.kill(doomed)
    wait_for('the death is detected', noticed)
    ask(10)

    assert refused <= 2, 'more failed than the dead engine had received'
    for cluster in accepted:
        wait_for(
            'the cluster is active',
            lambda c=cluster: (
                rest.get(f'/v1/clusters/{c}')['status'] == 'ACTIVE'
            ),
        )
    fleet.assert_tidy()
