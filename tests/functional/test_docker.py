# SPDX-License-Identifier: Apache-2.0
"""Containers on a real Docker daemon."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import pathlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg

from engine import conf as engine_conf
from engine.providers import base
from engine.providers.docker.containers import Containers
from tests import cloud as fake
from tests.functional import deployments, docker_daemon, docker_registry
from tests.functional.docker_daemon import IMAGE, Daemon
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, unique

pytestmark = pytest.mark.docker

PLATFORM = deployments.Platform('embedded', 'sqlite')


@pytest.fixture(scope='module')
def daemon() -> Iterator[Daemon]:
    with docker_daemon.running() as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_is_left(daemon: Daemon) -> Iterator[None]:
    yield
    left = daemon.left()
    daemon.clear()
    assert left == []


@dataclasses.dataclass
class Access:
    """Containers of a daemon, reached in one way."""

    containers: Containers
    url: str

    def create(self, key: str = 'key', **properties: Any) -> base.Container:
        return self.containers.create(
            self.url, key, f'name-{key}', {'image': IMAGE, **properties}
        )

    def get(self, container_id: str) -> base.Container:
        return self.containers.get(self.url, container_id)

    def operate(self, box: base.Container, name: str, **values: int) -> str:
        return self.containers.operate(self.url, box.id, name, values).status

    def delete(self, box: base.Container) -> None:
        self.containers.delete(self.url, box.id)


def access(daemon: Daemon, url: str, **options: object) -> Access:
    conf = cfg.ConfigOpts()
    engine_conf.register(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    for name, value in {'forbidden_networks': [], **options}.items():
        conf.set_override(name, value, 'provider_docker')
    return Access(Containers(conf), url)


@pytest.fixture
def local(daemon: Daemon) -> Access:
    return access(daemon, daemon.url)


@pytest.fixture(params=['unix', 'tls'])
def boxes(request: pytest.FixtureRequest, daemon: Daemon) -> Access:
    if request.param == 'unix':
        return access(daemon, daemon.url)
    return access(daemon, daemon.tls_url, **daemon.tls_options())


def test_container_lifecycle(boxes: Access, daemon: Daemon) -> None:
    box = boxes.create()
    assert (box.name, box.status) == ('name-key', 'running')
    assert boxes.create().id == box.id
    found = boxes.containers.find(boxes.url, 'key')
    assert found is not None
    assert found.details == boxes.get(box.id).details
    assert boxes.containers.find(boxes.url, 'other') is None
    assert boxes.operate(box, 'pause') == 'paused'
    assert boxes.operate(box, 'pause') == 'paused'
    assert boxes.operate(box, 'unpause') == 'running'
    assert boxes.operate(box, 'unpause') == 'running'
    renamed = boxes.containers.rename(boxes.url, box.id, 'other-name')
    assert renamed.name == 'other-name'
    again = boxes.containers.rename(boxes.url, box.id, 'other-name')
    assert again.name == 'other-name'
    before = daemon.client.inspect_container(box.id)['State']['StartedAt']
    assert boxes.operate(box, 'restart', wait_time=1) == 'running'
    after = daemon.client.inspect_container(box.id)['State']['StartedAt']
    assert before < after
    boxes.operate(box, 'pause')
    assert boxes.operate(box, 'restart') == 'running'
    boxes.operate(box, 'pause')
    boxes.delete(box)
    boxes.delete(box)
    with pytest.raises(base.ContainerNotFound, match='404: No such container'):
        boxes.get(box.id)
    with pytest.raises(base.ContainerNotFound, match='404: No such container'):
        boxes.operate(box, 'restart')


def test_stopped_container_cannot_be_paused(
    local: Access, daemon: Daemon
) -> None:
    box = local.create()
    daemon.client.stop(box.id)
    with pytest.raises(base.ProviderError, match=r'409: .* is not running'):
        local.operate(box, 'pause')
    with pytest.raises(base.ProviderError, match=r'500: .* is not paused'):
        local.operate(box, 'unpause')
    assert local.get(box.id).status == 'exited'
    assert local.operate(box, 'restart') == 'running'
    local.delete(box)


def test_missing_network_is_not_taken_for_a_missing_container(
    local: Access, daemon: Daemon
) -> None:
    box = local.create()
    local.operate(box, 'restart')
    # Without a bridge, Docker 20.10 no longer finds the network of a
    # container that was restarted.
    with contextlib.ExitStack() as stack:
        if daemon.client.version()['Version'].startswith('20.10'):
            stack.enter_context(
                pytest.raises(base.ProviderError, match='404: sandbox')
            )
        local.containers.rename(local.url, box.id, 'other-name')
    local.delete(box)


def test_used_and_invalid_names_are_reported(local: Access) -> None:
    first, second = local.create(), local.create('b')
    with pytest.raises(base.ProviderError, match=r'409: .*already in use'):
        local.containers.rename(local.url, first.id, second.name)
    with pytest.raises(base.ProviderError, match='409: Conflict'):
        local.containers.create(local.url, 'c', first.name, {'image': IMAGE})
    with pytest.raises(base.ProviderError, match='400: Invalid container'):
        local.containers.create(local.url, 'c', 'a b', {'image': IMAGE})
    with pytest.raises(base.ProviderError, match=r'400: .*Invalid container'):
        local.containers.rename(local.url, first.id, 'a b')
    local.delete(first)
    local.delete(second)


@pytest.mark.parametrize(
    ('properties', 'message'),
    [
        ({'image': 'No Image'}, '400: .*invalid reference format'),
        ({'command': 'none'}, '400: .*executable file not found'),
        ({'command': 'sh -c "'}, 'No closing quotation'),
        # The registry of the image refuses connections.
        ({'image': '127.0.0.1:1/none'}, '500: .*connection refused'),
    ],
)
def test_container_that_cannot_start_is_reported(
    local: Access, properties: dict[str, str], message: str
) -> None:
    for _ in range(2):
        with pytest.raises(base.ProviderError, match=message) as caught:
            local.create(**properties)
        assert not isinstance(caught.value, base.NotFound)
    # The daemon may have created it before it failed to start it.
    box = local.containers.find(local.url, 'key')
    if box is not None:
        assert box.status == 'created'
        local.delete(box)


def test_long_command_is_run(local: Access) -> None:
    script = f'sleep 3600 # {"x" * 9000}'
    box = local.create(command=f"sh -c '{script}' {'x ' * 500}")
    assert box.status == 'running'
    assert box.details['command'][:3] == ['sh', '-c', script[:4096]]
    assert len(box.details['command']) == 256
    local.delete(box)


def test_container_that_ends_shows_its_exit_code(
    local: Access, daemon: Daemon
) -> None:
    box = local.create(command='sh -c "exit 7"')
    daemon.client.wait(box.id)
    shown = local.get(box.id)
    assert (shown.status, shown.details['exit_code']) == ('exited', 7)
    local.delete(box)


def test_container_that_is_created_several_times_at_once_is_one(
    local: Access, daemon: Daemon
) -> None:
    """As if an engine took over from one that died in the middle."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(lambda _: local.create().id, range(4)))
    (box,) = daemon.containers()
    assert ids == {box['Id']}
    assert box['State']['Status'] == 'running'
    daemon.remove(box['Id'])


def test_container_that_is_deleted_twice_at_once(local: Access) -> None:
    box = local.create()
    errors: list[Exception] = []

    def delete() -> None:
        try:
            local.delete(box)
        except Exception as error:  # noqa: BLE001 - asserted below
            errors.append(error)

    threads = [threading.Thread(target=delete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_image_is_pulled_from_its_registry(
    local: Access, daemon: Daemon, tmp_path: pathlib.Path
) -> None:
    archive = docker_daemon.root_file_system(tmp_path / 'image.tar')
    with docker_registry.serving(archive.read_bytes()) as registry:
        for image, message in (
            ('none', 'manifest unknown'),
            # The daemon reports it after it has sent the status 200.
            ('broken', r'could not pull the image .*/broken: '),
        ):
            with pytest.raises(base.ProviderError, match=message) as caught:
                local.create(image=f'{registry}/{image}')
            assert not isinstance(caught.value, base.NotFound)
        box = local.create(image=f'{registry}/box:1', command='sleep 3600')
        assert box.status == 'running'
        local.delete(box)
    daemon.client.remove_image(f'{registry}/box:1')


def test_client_without_a_trusted_certificate_is_rejected(
    daemon: Daemon,
) -> None:
    options = daemon.tls_options()
    del options['tls_cert_file'], options['tls_key_file']
    with pytest.raises(base.ProviderError, match='no TLS with the Docker'):
        access(daemon, daemon.tls_url, **options).create()
    with pytest.raises(
        base.ProviderError, match='400: Client sent an HTTP request to an'
    ):
        access(daemon, daemon.tls_url).create()


def test_daemon_that_is_gone_and_returns(
    boxes: Access, daemon: Daemon
) -> None:
    box = boxes.create()
    daemon.stop()
    with pytest.raises(
        base.ProviderError,
        match=r'could not show container .*: the Docker daemon of its host'
        r' does not answer: (Connection refused|No such file or directory)$',
    ) as caught:
        boxes.get(box.id)
    assert not isinstance(caught.value, base.NotFound)
    daemon.start()
    assert boxes.get(box.id).status == 'exited'
    assert boxes.create().status == 'running'
    boxes.delete(box)


# Through the service


@dataclasses.dataclass
class Service:
    """A service with a node that hosts containers on the daemon."""

    rest: RestClient
    host: str
    port: int

    def profile(self, **properties: Any) -> str:
        spec = {
            'type': 'container.dockerinc.docker',
            'version': '1.0',
            'properties': {
                'image': IMAGE,
                'port': self.port,
                'host_node': self.host,
                **properties,
            },
        }
        return create_profile(self.rest, spec)

    def wait_for_success(self, cluster: str, action: str, **v: Any) -> None:
        self.rest.wait_for_success(
            self.rest.start_action(cluster, action, **v)
        )

    def nodes(self, cluster: str) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = self.rest.get(
            f'/v1/nodes?cluster_id={cluster}&sort=index'
        )
        return nodes

    def delete(self, cluster: str) -> None:
        self.rest.wait_for_success(self.rest.delete(f'/v1/clusters/{cluster}'))


def create_profile(rest: RestClient, spec: dict[str, Any]) -> str:
    body = {'profile': {'name': unique('profile'), 'spec': spec}}
    response = rest.expect(201, 'POST', '/v1/profiles', body)
    return str(response.json()['profile']['id'])


@pytest.fixture(scope='module')
def service(
    daemon: Daemon, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp('docker')
    with fake.serving() as cloud:
        settings = {
            'engine': {'provider': 'openstack'},
            'provider_openstack': {
                **fake.credentials(cloud),
                'region_name': 'RegionOne',
                'poll_interval': 0.1,
                'retry_delay': 0.1,
            },
            'provider_docker': {
                'forbidden_networks': '',
                **daemon.tls_options(),
            },
        }
        with deployments.deployed(PLATFORM, directory, settings) as deployment:
            deployment.start_engines(1)
            deployment.start_api()
            with deployment.rest() as rest:
                yield Service(rest, _host(rest), daemon.port)


def _host(rest: RestClient) -> str:
    """Create a node with the address of the daemon, and return its ID."""
    template = {
        'heat_template_version': '2018-08-31',
        'outputs': {'fixed_ip': {'value': '127.0.0.1'}},
    }
    spec = {
        'type': 'os.heat.stack',
        'version': '1.0',
        'properties': {'template': template},
    }
    body = {
        'node': {
            'name': unique('host'),
            'profile_id': create_profile(rest, spec),
        }
    }
    response = rest.expect(202, 'POST', '/v1/nodes', body)
    rest.wait_for_success(response.headers['Location'].rpartition('/')[2])
    return str(response.json()['node']['id'])


def test_lost_containers_of_a_cluster_are_recovered(
    service: Service, daemon: Daemon
) -> None:
    cluster = service.rest.create_cluster(service.profile(), 3)
    nodes = service.nodes(cluster)
    ids = [node['physical_id'] for node in nodes]
    assert {box['Id'] for box in daemon.containers()} == set(ids)
    daemon.remove(ids[0])
    daemon.client.kill(ids[1])
    service.wait_for_success(cluster, 'check')
    first, second, third = service.nodes(cluster)
    assert (first['status'], second['status']) == ('ERROR', 'ERROR')
    assert f'container {ids[0]} is gone' in first['status_reason']
    assert f'container {ids[1]} is exited' in second['status_reason']
    assert third['status'] == 'ACTIVE'
    service.wait_for_success(cluster, 'recover')
    assert [node['status'] for node in service.nodes(cluster)] == (
        ['ACTIVE'] * 3
    )
    assert daemon.statuses() == ['running'] * 3
    shown = service.rest.get(f'/v1/nodes/{third["id"]}?show_details=true')
    assert shown['details']['image'] == IMAGE
    service.delete(cluster)


def test_cluster_survives_a_restart_of_its_daemon(
    service: Service, daemon: Daemon
) -> None:
    cluster = service.rest.create_cluster(service.profile(), 2)
    daemon.stop()
    check = service.rest.wait_for_end(
        service.rest.start_action(cluster, 'check')
    )
    assert check['status'] == 'FAILED'
    assert (
        'the Docker daemon of its host does not answer: Connection refused'
    ) in check['status_reason']
    daemon.start()
    service.wait_for_success(cluster, 'check')
    for node in service.nodes(cluster):
        assert 'is exited' in node['status_reason']
    before = {node['physical_id'] for node in service.nodes(cluster)}
    service.wait_for_success(
        cluster, 'recover', operation='REBOOT', check=False
    )
    after = {node['physical_id'] for node in service.nodes(cluster)}
    assert before == after
    assert daemon.statuses() == ['running'] * 2
    service.delete(cluster)


@pytest.mark.parametrize(
    'way', [pytest.param('stop', marks=pytest.mark.long), 'kill']
)
def test_daemon_that_is_lost_in_the_middle_of_an_action(
    service: Service, daemon: Daemon, way: str
) -> None:
    size = 12
    cluster, action = service.rest.start_cluster(service.profile(), size)
    wait_for('some containers', lambda: len(daemon.client.containers()) > 1)
    getattr(daemon, way)()
    ended = service.rest.wait_for_end(action)
    assert ended['status'] == 'FAILED'
    assert 'internal error' not in ended['status_reason']
    daemon.start()
    if way == 'kill':
        # The daemon has lost the container of a volume that it had created.
        daemon.client.prune_volumes()
    service.wait_for_success(cluster, 'check')
    service.wait_for_success(cluster, 'recover')
    nodes = service.nodes(cluster)
    assert [node['status'] for node in nodes] == ['ACTIVE'] * size
    assert daemon.statuses() == ['running'] * size
    assert {box['Id'] for box in daemon.containers()} == {
        node['physical_id'] for node in nodes
    }
    service.delete(cluster)


def test_failed_containers_are_deleted_with_their_cluster(
    service: Service, daemon: Daemon
) -> None:
    profile = service.profile(command='none')
    cluster, action = service.rest.start_cluster(profile, 2)
    assert service.rest.wait_for_end(action)['status'] == 'FAILED'
    for node in service.nodes(cluster):
        assert node['status'] == 'ERROR'
        assert 'executable file not found' in node['status_reason']
    assert daemon.statuses() == ['created'] * 2
    service.delete(cluster)
