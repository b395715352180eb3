# SPDX-License-Identifier: Apache-2.0
"""`vobjects up --provider docker` with a real Docker daemon."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.functional import docker_daemon, fork_server
from tests.functional.docker_daemon import IMAGE, Daemon
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import NEWEST, RestClient
from tests.functional.test_up import VOBJECTS, Up, running, state_directory

pytestmark = [
    pytest.mark.docker,
    pytest.mark.usefixtures('clean_daemon'),
]


@pytest.fixture(scope='module')
def config(
    daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    path = tmp_path_factory.mktemp('docker') / 'docker.conf'
    return write(path, daemon.url)


def write(path: pathlib.Path, url: str, network: str = 'none') -> pathlib.Path:
    path.write_text(
        f'[provider_docker]\nurl = {url}\nnetwork = {network}\n'
        'max_memory = 64\nimages = busybox:*\n'
        '[health_manager]\ninterval_min = 1\n'
    )
    return path


@dataclasses.dataclass
class Service:
    """`vobjects up` with the provider ``docker``."""

    up: Up
    rest: RestClient

    def cluster(self, size: int, **properties: Any) -> str:
        return self.rest.create_cluster(self.profile(**properties), size)

    def profile(self, **properties: Any) -> str:
        spec = {
            'type': 'container.docker.local',
            'version': '1.0',
            'properties': {'image': IMAGE, **properties},
        }
        return self.rest.create_profile(spec)

    def statuses(self, cluster: str) -> list[str]:
        return [node['status'] for node in self.rest.nodes(cluster)]


@pytest.fixture(scope='module')
def service(config: pathlib.Path) -> Iterator[Service]:
    options = ('--provider=docker', f'--config-file={config}')
    with (
        running('--engines=2', *options) as up,
        RestClient(up.url, NEWEST, TIMEOUT) as rest,
    ):
        yield Service(up, rest)


def test_cluster_lifecycle(service: Service, daemon: Daemon) -> None:
    cluster = service.cluster(
        3,
        labels={'tier': 'web'},
        environment={'GREETING': 'hello world'},
        memory=32,
        cpus=0.5,
    )
    assert service.statuses(cluster) == ['ACTIVE'] * 3
    nodes = service.rest.nodes(cluster)
    boxes = {box['Id']: box for box in daemon.containers()}
    assert set(boxes) == {node['physical_id'] for node in nodes}
    for node in nodes:
        box = boxes[node['physical_id']]
        assert box['State']['Status'] == 'running'
        assert box['Config']['Labels'] == {
            'tier': 'web',
            'vobjects.cluster': cluster,
            'vobjects.node': node['id'],
            'vobjects.project': node['project'],
        }
        assert 'GREETING=hello world' in box['Config']['Env']

    service.rest.run(
        cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=5
    )
    assert daemon.statuses() == ['running'] * 5
    service.rest.run(cluster, 'scale_in', count=1)
    assert daemon.statuses() == ['running'] * 4

    first, second, third, fourth = service.rest.nodes(cluster)
    daemon.client.kill(first['physical_id'])
    daemon.remove(second['physical_id'])
    service.rest.run(cluster, 'check')
    assert service.statuses(cluster) == ['ERROR', 'ERROR', 'ACTIVE', 'ACTIVE']
    reasons = [node['status_reason'] for node in service.rest.nodes(cluster)]
    assert 'is exited' in reasons[0]
    assert 'is gone' in reasons[1]
    service.rest.run(cluster, 'recover')
    assert service.statuses(cluster) == ['ACTIVE'] * 4
    assert daemon.statuses() == ['running'] * 4
    after = {node['physical_id'] for node in service.rest.nodes(cluster)}
    assert {third['physical_id'], fourth['physical_id']} < after
    assert after.isdisjoint({first['physical_id'], second['physical_id']})
    shown = service.rest.get(f'/v1/nodes/{third["id"]}?show_details=true')
    assert shown['details']['status'] == 'running'
    service.rest.remove(cluster)


def test_container_has_limits_and_no_privileges(
    service: Service, daemon: Daemon
) -> None:
    script = 'cat /proc/self/status > /data/status; sleep 3600'
    cluster = service.cluster(1, command=f"sh -c '{script}'")
    (box,) = daemon.containers()
    host_config = box['HostConfig']
    assert host_config['Memory'] == host_config['MemorySwap'] == 64 * 2**20
    assert host_config['NanoCpus'] == 10**9
    assert host_config['PidsLimit'] == 256
    assert host_config['NetworkMode'] == 'none'
    assert host_config['Privileged'] is False
    assert not host_config['Binds']
    assert not host_config['Devices']
    status = _file(daemon, box['Id'], '/data/status')
    assert 'NoNewPrivs:\t1' in status
    service.rest.remove(cluster)


def _file(daemon: Daemon, container_id: str, path: str) -> str:
    process = daemon.client.exec_create(container_id, ['cat', path])
    return str(daemon.client.exec_start(process['Id']).decode())


def test_limits_and_images_of_the_operator_apply(
    service: Service, daemon: Daemon
) -> None:
    for properties, message in (
        ({'memory': 65}, 'memory must be at most 64, not 65'),
        ({'image': 'nginx'}, "image 'nginx' is not allowed"),
    ):
        profile = service.profile(**properties)
        cluster, action = service.rest.start_cluster(profile, 1)
        assert service.rest.wait_for_end(action)['status'] == 'FAILED'
        (node,) = service.rest.nodes(cluster)
        assert message in node['status_reason']
        assert daemon.containers() == []
        service.rest.remove(cluster)


def test_containers_of_others_remain(service: Service, daemon: Daemon) -> None:
    other = daemon.client.create_container(
        image=IMAGE, name='other', labels={'vobjects.node': 'other'}
    )['Id']
    daemon.client.start(other)
    cluster = service.cluster(2)
    service.rest.run(cluster, 'scale_in', count=1)
    service.rest.remove(cluster)
    (box,) = daemon.containers()
    assert (box['Id'], box['State']['Status']) == (other, 'running')
    daemon.remove(other)


def test_server_profile_is_an_error_of_the_node(service: Service) -> None:
    profile = service.rest.create_profile()
    cluster, action = service.rest.start_cluster(profile, 1)
    assert service.rest.wait_for_end(action)['status'] == 'FAILED'
    (node,) = service.rest.nodes(cluster)
    assert 'the provider docker has no servers' in node['status_reason']
    service.rest.remove(cluster)


def test_cluster_when_an_engine_dies_has_no_further_containers(
    service: Service, daemon: Daemon
) -> None:
    profile = service.profile()
    cluster, action = service.rest.start_cluster(profile, 8)
    # A daemon lists a container a moment before it can describe it.
    wait_for('the first container', lambda: daemon.client.containers(all=True))
    engine = service.up.pid_of('engine')
    psutil.Process(engine).kill()
    service.rest.wait_for_success(action)
    assert service.statuses(cluster) == ['ACTIVE'] * 8
    assert {node['physical_id'] for node in service.rest.nodes(cluster)} == {
        box['Id'] for box in daemon.containers()
    }
    assert daemon.statuses() == ['running'] * 8
    service.rest.remove(cluster)


def monitor(rest: RestClient, cluster: str) -> None:
    """Attach a health policy that recreates nodes which do not run."""
    policy = rest.create_policy(
        'health',
        '1.1',
        detection={
            'interval': 1,
            'node_update_timeout': 1,
            'detection_modes': [{'type': 'NODE_STATUS_POLLING'}],
        },
        recovery={'actions': [{'name': 'RECREATE'}]},
    )
    rest.run(cluster, 'policy_attach', policy_id=policy)


def test_killed_container_is_replaced_by_a_health_policy(
    service: Service, daemon: Daemon
) -> None:
    cluster = service.cluster(2)
    monitor(service.rest, cluster)
    node, paused = service.rest.nodes(cluster)
    daemon.client.pause(paused['physical_id'])
    daemon.client.kill(node['physical_id'])
    recovered = f'target={node["id"]}&action=NODE_RECOVER&status=SUCCEEDED'
    wait_for(
        'the node is recovered',
        lambda: service.rest.get(f'/v1/actions?{recovered}'),
    )
    daemon.client.unpause(paused['physical_id'])
    wait_for(
        'both containers run',
        lambda: daemon.statuses() == ['running'] * 2,
    )
    service.rest.remove(cluster)


def test_containers_reach_each_other_in_the_network_of_the_operator(
    tmp_path: pathlib.Path,
) -> None:
    with docker_daemon.running(has_network=True) as daemon:
        daemon.client.create_network('tenants', driver='bridge')
        file = write(tmp_path / 'docker.conf', daemon.url, 'tenants')
        with (
            running('--provider=docker', f'--config-file={file}') as up,
            RestClient(up.url, NEWEST, TIMEOUT) as rest,
        ):
            service = Service(up, rest)
            script = (
                "trap 'exit 0' TERM; busybox httpd -p 8080 -h /bin;"
                ' sleep 3600 & wait'
            )
            cluster = service.cluster(2, command=f'sh -c "{script}"')
            boxes = daemon.containers()
            addresses = [
                box['NetworkSettings']['Networks']['tenants']['IPAddress']
                for box in boxes
            ]
            assert len(set(addresses)) == 2
            for box, address in zip(boxes, reversed(addresses), strict=True):
                command = f'busybox wget -O /dev/null {address}:8080/busybox'
                process = daemon.client.exec_create(box['Id'], command.split())
                output = daemon.client.exec_start(process['Id'])
                result = daemon.client.exec_inspect(process['Id'])
                assert result['ExitCode'] == 0, output
            service.rest.remove(cluster)
            assert daemon.containers() == []


def test_up_when_no_daemon_answers_then_fails(tmp_path: pathlib.Path) -> None:
    url = f'unix://{tmp_path}/none.sock'
    file = write(tmp_path / 'docker.conf', url)
    with state_directory() as directory:
        up = Up(directory, '--provider=docker', f'--config-file={file}')
        try:
            assert up.process.wait(TIMEOUT) == 1
        finally:
            up.stop()
        assert (
            f'could not connect to {url}: the Docker daemon does not answer:'
            ' No such file or directory'
        ) in up.text
        assert 'Traceback' not in up.text
        assert len(up.lines) == 2


def test_config_check_connects_to_the_daemon(
    config: pathlib.Path, daemon: Daemon, tmp_path: pathlib.Path
) -> None:
    missing = write(tmp_path / 'none.conf', f'unix://{tmp_path}/none.sock')
    secured = write(tmp_path / 'tls.conf', daemon.tls_url)
    with secured.open('a') as lines:
        lines.write('[provider_docker]\n')
        for name, value in daemon.tls_options().items():
            lines.write(f'{name} = {value}\n')
    plain = write(tmp_path / 'plain.conf', daemon.tls_url)
    invalid = write(tmp_path / 'invalid.conf', 'http://h')
    for file, code, text in (
        (config, 0, 'OK'),
        (secured, 0, 'OK'),
        (plain, 3, 'Client sent an HTTP request to an HTTPS server'),
        (missing, 3, 'the Docker daemon does not answer'),
        (invalid, 2, '[provider_docker] url: must be'),
    ):
        words = ('config', 'check', '--connect=docker')
        completed = fork_server.run(
            [*VOBJECTS, *words, f'--config-file={file}'],
            dict(os.environ),
            TIMEOUT,
        )
        assert completed.returncode == code
        assert text in completed.stdout + completed.stderr
