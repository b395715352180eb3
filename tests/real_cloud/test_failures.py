# SPDX-License-Identifier: Apache-2.0
"""Failures of the cloud and of engines while actions run."""

from __future__ import annotations

import contextlib
import pathlib
import signal
from collections.abc import Iterator

import pytest

from tests.functional.deployments import Deployment, Platform
from tests.functional.processes import wait_for
from tests.real_cloud import clustering
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import Tenant

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


@pytest.mark.parametrize('name', ['nova', 'neutron', 'keystone'])
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


@pytest.mark.parametrize(
    'platform',
    [
        Platform('embedded', 'sqlite').parameter(),
        Platform('rabbit', 'postgresql').parameter(),
    ],
)
def test_servers_of_a_killed_engine_are_found_by_another(
    cloud: Cloud, tenant: Tenant, platform: Platform, tmp_path: pathlib.Path
) -> None:
    size = 12
    with clustering.deployed(
        cloud.settings,
        tmp_path,
        platform=platform,
        engines=0,
        allowed_errors=ALLOWED_ERRORS,
        changes={'fleet': {'heartbeat_interval': 3}},
    ) as deployment:
        first = deployment.start_engine('first')
        deployment.start_api()
        with clustering.client(deployment, tenant) as rest:
            cluster, action = rest.start_cluster(rest.server_profile(), size)
            wait_for('some servers exist', lambda: len(tenant.servers()) > 2)
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
            deployment.group.remove(first.process)
            deployment.start_engine('second')
            rest.wait_for_success(action)
            assert set(tenant.servers()) == set(rest.physical_ids(cluster))
            assert len(tenant.servers()) == len(tenant.ports()) == size
            rest.remove(cluster)
    assert tenant.leftovers() == {}
