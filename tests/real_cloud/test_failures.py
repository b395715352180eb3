# SPDX-License-Identifier: Apache-2.0
"""Failures of the cloud and of engines while actions run."""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.functional.deployments import Deployment, Platform
from tests.functional.processes import wait_for
from tests.real_cloud import clustering, services
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant

#: Seconds for which services are stopped. Engines and services repeat requests
#: for fewer seconds. Nova regards hosts as down after 60 seconds.
OUTAGE, OUTAGE_OF_NOVA = 20.0, 65.0

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
def stopped(cloud: Cloud, *names: str) -> Iterator[None]:
    """Stop processes of the cloud, and start them again."""
    cloud.processes.stop(*names)
    try:
        yield
    finally:
        for name in names:
            cloud.processes.start(name)
        for name in names:
            cloud.processes.wait_until_ready(name)


def assert_clear(action: dict[str, Any]) -> None:
    """Assert that a failed action has a reason that users understand."""
    assert action['status'] == 'FAILED', action
    for word in ('internal error', 'unexpected response', 'http://'):
        assert word not in action['status_reason']
    assert 'could not' in action['status_reason']


def assert_recovers(
    rest: Client, cluster: str, resources: Callable[[], Iterable[str]]
) -> None:
    """Check and recover a cluster; all its nodes must become ACTIVE.

    :param resources: returns the IDs of what the project has in the cloud
    """
    rest.run(cluster, 'check')
    rest.run(cluster, 'recover')
    nodes = rest.nodes(cluster)
    assert {node['status'] for node in nodes} == {'ACTIVE'}
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'
    assert set(resources()) >= {node['physical_id'] for node in nodes}


@pytest.mark.core
@pytest.mark.exclusive
def test_action_fails_clearly_while_nova_is_stopped(
    rest: Client, tenant: Tenant, cloud: Cloud
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    with stopped(cloud, 'nova-api'):
        action = rest.start_action(cluster, 'scale_out')
        assert_clear(rest.wait_for_end(action))
    assert_recovers(rest, cluster, tenant.servers)
    assert set(tenant.servers()) == set(rest.physical_ids(cluster))
    rest.remove(cluster)
    assert tenant.leftovers() == {}


@contextlib.contextmanager
def outage(cloud: Cloud, *names: str) -> Iterator[None]:
    """Stop all processes of services for some time."""
    default = OUTAGE_OF_NOVA if 'nova' in names else OUTAGE
    seconds = float(os.environ.get('VOBJECTS_TEST_OUTAGE', default))
    processes = [
        process.name
        for name in names
        for process in services.BY_NAME[name].processes
    ]
    with stopped(cloud, *processes):
        end = time.monotonic() + seconds
        yield
        time.sleep(max(end - time.monotonic(), 0))
    cloud.wait_for_hosts()


@pytest.mark.exclusive
@pytest.mark.parametrize(
    'name', ['keystone', 'placement', 'glance', 'nova', 'neutron']
)
def test_servers_survive_the_outage_of_a_service(
    rest: Client, tenant: Tenant, cloud: Cloud, name: str
) -> None:
    growing = rest.create_cluster(rest.server_profile(), 1)
    small = rest.create_cluster(rest.server_profile(), 1)
    action = rest.start_action(growing, 'scale_out', count=4)
    wait_for('a new server exists', lambda: len(tenant.servers()) > 2)
    with outage(cloud, name):
        if name == 'keystone':
            # The API cannot validate the token either.
            path = f'/v1/clusters/{small}/actions'
            response = rest.request('POST', path, {'scale_out': {}})
            assert response.status_code == 503
        else:
            failed = rest.start_action(small, 'scale_out')
            assert_clear(rest.wait_for_end(failed))
    ended = rest.wait_for_end(action)
    assert 'internal error' not in ended['status_reason']
    ids = []
    for cluster in (growing, small):
        assert_recovers(rest, cluster, tenant.servers)
        ids += rest.physical_ids(cluster)
    assert set(tenant.servers()) == set(ids)
    assert len(tenant.ports()) == len(ids) == 6 + (name != 'keystone')
    for cluster in (growing, small):
        rest.remove(cluster)
    assert tenant.leftovers() == {}


@pytest.mark.parametrize(
    'platform',
    [
        pytest.param(
            Platform('embedded', 'sqlite'),
            id='embedded-sqlite',
            marks=pytest.mark.core,
        ),
        Platform('pyamqp', 'postgresql').parameter(),
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
