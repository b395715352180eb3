# SPDX-License-Identifier: Apache-2.0
"""Nova's notifications over RabbitMQ, which trigger node recovery."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_messaging import opts

from tests import cloud as fake
from tests.functional import brokers, deployments
from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, unique

pytestmark = pytest.mark.rabbit

TOPIC = 'versioned_notifications'


class Nova:
    """Send notifications with oslo.messaging, like nova-compute."""

    def __init__(self, url: str) -> None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        for group, options in opts.list_opts():
            conf.register_opts(options, group)
        conf.set_override('control_exchange', 'nova')
        self._transport = oslo_messaging.get_notification_transport(conf, url)
        self._notifier = oslo_messaging.Notifier(
            self._transport,
            publisher_id='nova-compute:host-1',
            driver='messagingv2',
            topics=[TOPIC],
        )

    def notify(self, event: str, server: Any) -> None:
        """Send a notification about an action on a server."""
        self.send(
            event,
            {
                'nova_object.name': 'InstanceActionPayload',
                'nova_object.namespace': 'nova',
                'nova_object.version': '1.8',
                'nova_object.data': {
                    'uuid': server,
                    'tenant_id': 'p',
                    'state': 'stopped',
                    'task_state': None,
                    'host': 'host-1',
                    'fault': None,
                },
            },
        )

    def send(self, event: str, payload: Any) -> None:
        """Send a notification with any payload."""
        kind = 'error' if event.endswith('.error') else 'info'
        getattr(self._notifier, kind)({}, event, payload)

    def close(self) -> None:
        """Close the connections."""
        self._transport.cleanup()


@pytest.fixture(scope='module')
def cloud() -> Iterator[fake.Cloud]:
    with fake.serving() as served:
        yield served


@pytest.fixture(scope='module')
def bus() -> Iterator[str]:
    """The URL of Nova's message bus."""
    with brokers.temporary('rabbit') as url:
        yield url


@pytest.fixture(scope='module')
def service(
    cloud: fake.Cloud, bus: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """The service, with another transport than Nova's."""
    settings = {
        'engine': {'provider': 'openstack'},
        'health_manager': {'events_interval': 0.2},
        'provider_openstack': {
            **fake.credentials(cloud),
            'region_name': 'RegionOne',
            'poll_interval': 0.1,
            'notification_url': bus.replace('rabbit', 'pyamqp', 1),
        },
    }
    directory = tmp_path_factory.mktemp('service')
    platform = deployments.Platform('embedded', 'sqlite')
    with deployments.deployed(platform, directory, settings) as deployment:
        deployment.start_engines(2)
        deployment.start_api()

        def listen() -> bool:
            logs = [path.read_text() for _, path in deployment.group.logs()]
            return sum('Listens to notif' in log for log in logs) == 2

        wait_for('both engines listen', listen)
        yield deployment


@pytest.fixture
def nova(service: Deployment, bus: str) -> Iterator[Nova]:
    listener = Nova(bus)
    yield listener
    listener.close()


def health_policy(rest: RestClient) -> str:
    spec = {
        'type': 'senlin.policy.health',
        'version': '1.2',
        'properties': {
            'detection': {
                'interval': 60,
                'detection_modes': [{'type': 'LIFECYCLE_EVENTS'}],
            },
            'recovery': {
                'actions': [{'name': 'REBOOT', 'params': {'type': 'HARD'}}]
            },
        },
    }
    body = {'policy': {'name': unique('policy'), 'spec': spec}}
    response = rest.expect(201, 'POST', '/v1/policies', body)
    return str(response.json()['policy']['id'])


def servers_of(rest: RestClient, cluster: str) -> dict[str, str]:
    """Return the nodes of a cluster by their servers."""
    nodes = rest.get(f'/v1/nodes?cluster_id={cluster}')
    return {node['physical_id']: node['id'] for node in nodes}


def test_node_is_recovered_after_a_notification_about_its_server(
    service: Deployment, cloud: fake.Cloud, nova: Nova
) -> None:
    with service.rest() as rest:
        profile = rest.create_profile()
        ours, others = (rest.create_cluster(profile, 2) for _ in range(2))
        rest.wait_for_success(
            rest.start_action(
                ours, 'policy_attach', policy_id=health_policy(rest)
            )
        )
        server, well = servers_of(rest, ours)
        with cloud.lock:
            for id_ in (server, *servers_of(rest, others)):
                cloud.servers[id_]['status'] = 'SHUTOFF'

        nova.send('instance.power_off.end', 'nonsense')
        nova.send('instance.power_off.end', {'nova_object.data': {}})
        nova.notify('instance.power_off.end', None)
        for id_ in (str(uuid.uuid4()), *servers_of(rest, others), well):
            nova.notify('instance.power_off.end', id_)
        nova.notify('instance.create.end', server)
        nova.notify('instance.power_off.end', server)

        def is_recovered() -> bool:
            return bool(cloud.servers[server]['status'] == 'ACTIVE')

        wait_for('the node is recovered', is_recovered)

        def is_idle() -> bool:
            rows = service.rows('SELECT id FROM lifecycle_events')
            running = service.rows(
                "SELECT id FROM actions WHERE status IN ('READY', 'RUNNING')"
            )
            return not rows and not running

        wait_for('all notifications are processed', is_idle)
        reasons = {
            row.target: row.status_reason
            for row in service.rows(
                "SELECT * FROM actions WHERE action = 'NODE_RECOVER'"
            )
        }
        # The other node of the cluster was checked only.
        assert set(reasons) == set(servers_of(rest, ours).values())
        operations = [
            line for line in cloud.requests if line.endswith('/action')
        ]
        assert operations == [f'POST /compute/v2.1/servers/{server}/action']
        for id_ in servers_of(rest, others):
            assert cloud.servers[id_]['status'] == 'SHUTOFF'
        logs = [path.read_text() for _, path in service.group.logs()]
        assert sum(log.count('that names no server') for log in logs) == 3

        # A deleted server is an error, unless the service deletes it.
        with cloud.lock:
            del cloud.servers[well]
        nova.notify('instance.delete.end', well)
        (node,) = (
            id_
            for server_id, id_ in servers_of(rest, ours).items()
            if server_id == well
        )
        wait_for(
            'the node is in ERROR',
            lambda: rest.get(f'/v1/nodes/{node}')['status'] == 'ERROR',
        )
        for cluster in (ours, others):
            rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))
        assert cloud.leftovers() == {}
