# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from engine.providers import base
from tests.cloud import docker as fake
from tests.unit.engine.conftest import make_conf
from vobjects import exceptions
from vobjects.cli import main
from vobjects_docker import local, provider


@pytest.fixture
def daemon() -> Iterator[fake.Daemon]:
    with fake.serving() as served:
        yield served


configuration = functools.partial(make_conf, 'provider_docker')


def configured(
    daemon: fake.Daemon, **options: object
) -> local.LocalContainers:
    url = f'tcp://127.0.0.1:{daemon.port}'
    return local.LocalContainers(configuration(url=url, **options))


def create(containers: local.LocalContainers, **properties: Any) -> str:
    return containers.create(
        base.NO_HOST, 'key', 'web', {'image': 'nginx', **properties}
    ).id


def test_container_is_limited_and_labelled(daemon: fake.Daemon) -> None:
    box = create(
        configured(daemon, network='tenants'),
        environment={'A': 'b'},
        labels={'tier': 'web'},
        cluster='c1',
        project='p1',
    )
    row = daemon.containers[box]
    assert row['Config']['Labels'] == {
        'tier': 'web',
        'vobjects.cluster': 'c1',
        'vobjects.project': 'p1',
        'vobjects.node': 'key',
    }
    assert row['Config']['Env'] == ['A=b']
    assert row['HostConfig'] == {
        'NetworkMode': 'tenants',
        'Memory': 512 * 2**20,
        'MemorySwap': 512 * 2**20,
        'NanoCpus': 10**9,
        'PidsLimit': 256,
        'SecurityOpt': ['no-new-privileges'],
        'CapDrop': ['NET_RAW'],
        'LogConfig': {
            'Type': 'json-file',
            'Config': {'max-size': '10m', 'max-file': '2'},
        },
    }


def test_limits_of_a_profile_apply_up_to_those_of_the_operator(
    daemon: fake.Daemon,
) -> None:
    containers = configured(daemon, max_memory=100, max_cpus=0.5)
    for properties, message in (
        ({'memory': 101}, r'memory must be at most 100, not 101'),
        ({'cpus': 0.6}, r'cpus must be at most 0\.5, not 0\.6'),
    ):
        with pytest.raises(base.ProviderError, match=message):
            create(containers, **properties)
    assert daemon.containers == {}
    box = create(containers, memory=50, cpus=0.25)
    host_config = daemon.containers[box]['HostConfig']
    assert host_config['Memory'] == 50 * 2**20
    assert host_config['NanoCpus'] == 25 * 10**7


def test_image_that_is_not_allowed_is_neither_pulled_nor_run(
    daemon: fake.Daemon,
) -> None:
    containers = configured(daemon, images=['nginx', 'example/*'])
    with pytest.raises(base.ProviderError, match=r"'redis:7' is not allowed"):
        create(containers, image='redis:7')
    assert daemon.images == {'nginx'}
    create(containers)


def test_containers_of_others_are_not_touched(daemon: fake.Daemon) -> None:
    containers = configured(daemon)
    box = create(containers)
    daemon.containers[box]['Config']['Labels'] = {'tier': 'web'}
    with pytest.raises(base.ContainerNotFound, match='was not created by'):
        containers.get(base.NO_HOST, box)
    with pytest.raises(base.ContainerNotFound):
        containers.operate(base.NO_HOST, box, 'pause', {})
    with pytest.raises(base.ContainerNotFound):
        containers.rename(base.NO_HOST, box, 'other')
    containers.delete(base.NO_HOST, box)
    assert daemon.containers[box]['State']['Status'] == 'running'
    assert daemon.containers[box]['Name'] == '/web'


def test_host_is_rejected(daemon: fake.Daemon) -> None:
    with pytest.raises(base.ProviderError, match='no containers on hosts'):
        configured(daemon).get('tcp://192.0.2.1:2375', 'a1')


@pytest.mark.parametrize(
    'url',
    [
        '',
        'unix://',
        'unix://docker.sock',
        'tcp://h',
        'tcp://h:x',
        'http://h:1',
    ],
)
def test_invalid_url_is_rejected_at_start(url: str) -> None:
    with pytest.raises(local.UrlError, match=r'\[provider_docker\] url: must'):
        provider.DockerProvider(configuration(url=url))


def test_daemon_that_does_not_answer_is_unreachable() -> None:
    containers = local.LocalContainers(configuration(url='unix:///none/sock'))
    with pytest.raises(
        exceptions.Unreachable,
        match=r'could not connect to unix:///none/sock: the Docker daemon does'
        r' not answer: No such file or directory; start the daemon, or set',
    ):
        containers.check_connection()


def test_config_check_connects_to_the_daemon(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'docker.conf'
    file.write_text('[provider_docker]\nurl = unix:///none/sock\n')
    words = ['config', 'check', '--connect=docker', f'--config-file={file}']
    assert main.main(words) == 3
    assert 'unix:///none/sock' in capsys.readouterr().out


def test_provider_has_only_containers() -> None:
    cloud = provider.DockerProvider(configuration())
    for call in (
        lambda: cloud.servers.create('key', 'n', {}),
        lambda: cloud.stacks.get('id'),
    ):
        with pytest.raises(base.ProviderError, match='docker has no s'):
            call()
    assert cloud.servers.find('key') is None
    with pytest.raises(base.RegionNotFound, match='no region elsewhere'):
        cloud.in_region('elsewhere')
