# SPDX-License-Identifier: Apache-2.0
"""Failures of the cloud and of engines while actions run."""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from collections.abc import Iterator

import pytest

from tests.functional.deployments import Deployment, Platform
from tests.functional.processes import wait_for
from tests.real_cloud import clustering, services
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant
from tests.real_cloud.test_load_balancing import properties
from tests.real_cloud.test_stacks import SERVER, stack_profile

#: Seconds for which a service is stopped.
OUTAGE = float(os.environ.get('VOBJECTS_TEST_OUTAGE', '60'))

#: Errors that processes may log when others die.
ALLOWED_ERRORS = r'AMQP|amqp|onnection|Keystone|keystone'


@pytest.fixture(scope='module')
def service(
    cloud: Cloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The service, which may log that the cloud does not respond."""
    directory = tmp_path_factory.mktemp('service')
    with clustering.deployed(
        cloud.settings, directory, allowed_errors=ALLOWED_ERRORS
    ) as deployment:
        yield deployment


@contextlib.contextmanager
def stopped(cloud: Cloud, process: str) -> Iterator[None]:
    """Stop a process of the cloud, and start it again."""
    cloud.processes.stop(process)
    try:
        yield
    finally:
        cloud.processes.start(process)
        cloud.processes.wait_until_ready(process)


@pytest.mark.parametrize(
    'name',
    [pytest.param('nova', marks=pytest.mark.core), 'neutron', 'keystone'],
)
def test_action_fails_clearly_while_a_service_is_stopped(
    rest: Client, tenant: Tenant, cloud: Cloud, name: str
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    with stopped(cloud, f'{name}-api'):
        if name == 'keystone':
            # The API cannot validate the token either.
            path = f'/v1/clusters/{cluster}/actions'
            response = rest.request('POST', path, {'scale_out': {}})
            assert response.status_code == 503
        else:
            action = rest.fail(cluster, 'scale_out')
            for word in ('internal error', 'unexpected response', 'http://'):
                assert word not in action['status_reason']
            assert 'could not' in action['status_reason']
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover')
    nodes = rest.nodes(cluster)
    assert {node['status'] for node in nodes} == {'ACTIVE'}
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@contextlib.contextmanager
def outage(cloud: Cloud, service: str) -> Iterator[None]:
    """Stop all processes of a service for :data:`OUTAGE` seconds."""
    names = [p.name for p in services.BY_NAME[service].processes]
    end = time.monotonic() + OUTAGE
    cloud.processes.stop(*names)
    try:
        yield
        time.sleep(max(end - time.monotonic(), 0))
    finally:
        for name in names:
            cloud.processes.start(name)
        for name in names:
            cloud.processes.wait_until_ready(name)


@pytest.mark.parametrize(
    'name', ['keystone', 'placement', 'glance', 'nova', 'neutron', 'octavia']
)
def test_servers_survive_the_outage_of_a_service(
    rest: Client, tenant: Tenant, cloud: Cloud, name: str
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 2)
    if name == 'octavia':
        rest.attach(cluster, 'loadbalance', '1.3', **properties(tenant))
    action = rest.start_action(cluster, 'scale_out', count=6)
    wait_for('a new server exists', lambda: len(tenant.servers()) > 2)
    with outage(cloud, name):
        pass
    ended = rest.wait_for_end(action)
    assert 'internal error' not in ended['status_reason']
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover')
    nodes = rest.nodes(cluster)
    assert [node['status'] for node in nodes] == ['ACTIVE'] * 8
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    assert len(tenant.servers()) == len(tenant.ports()) == 8
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_stacks_survive_the_outage_of_heat(
    rest: Client, tenant: Tenant, cloud: Cloud
) -> None:
    profile = stack_profile(rest, 8, server=SERVER)
    cluster = rest.create_cluster(profile, 1)
    action = rest.start_action(cluster, 'scale_out', count=2)
    wait_for('a new stack exists', lambda: len(tenant.stacks()) > 1)
    with outage(cloud, 'heat'):
        pass
    ended = rest.wait_for_end(action)
    assert 'internal error' not in ended['status_reason']
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover')
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'
    assert set(tenant.stacks()) == set(rest.physical_ids(cluster))
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_receivers_survive_the_outage_of_zaqar(
    rest: Client, cloud: Cloud
) -> None:
    body = {'receiver': {'name': 'queue', 'type': 'message'}}
    path = '/v1/receivers'
    receiver = rest.expect(201, 'POST', path, body).json()['receiver']['id']
    with outage(cloud, 'zaqar'):
        response = rest.request('POST', path, body)
        assert response.status_code >= 400
        assert 'Traceback' not in response.text
        assert [r['id'] for r in rest.get(path)] == [receiver]
    rest.expect(204, 'POST', f'{path}/{receiver}/notify')
    rest.expect(204, 'DELETE', f'{path}/{receiver}')


@pytest.mark.parametrize(
    'platform',
    [
        pytest.param(
            Platform('embedded', 'sqlite'),
            id='embedded-sqlite',
            marks=pytest.mark.core,
        ),
        Platform('rabbit', 'postgresql').parameter(),
    ],
)
def test_servers_of_killed_engines_are_found_by_another(
    cloud: Cloud, tenant: Tenant, platform: Platform, tmp_path: pathlib.Path
) -> None:
    size = 20
    with clustering.deployed(
        cloud.settings,
        tmp_path,
        platform=platform,
        engines=0,
        allowed_errors=ALLOWED_ERRORS,
        changes={'fleet': {'heartbeat_interval': 3}},
    ) as deployment:
        engines = [deployment.start_engine(name) for name in ('one', 'two')]
        deployment.start_api()
        with clustering.client(deployment, tenant) as rest:
            cluster, action = rest.start_cluster(rest.server_profile(), size)
            for number, engine in enumerate(engines):
                more = 3 + 5 * number
                wait_for(
                    f'{more} servers exist',
                    lambda more=more: len(tenant.servers()) >= more,
                )
                engine.process.kill()
                deployment.group.remove(engine.process)
            deployment.start_engine('three')
            rest.wait_for_success(action)
            assert set(tenant.servers()) == set(rest.physical_ids(cluster))
            assert len(tenant.servers()) == len(tenant.ports()) == size
            rest.remove(cluster)
    assert tenant.leftovers() == {}
