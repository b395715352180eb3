# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from oslo_config import cfg

from engine import conf as engine_conf
from engine import outgoing
from engine.providers import base, docker
from tests.cloud import docker as fake


@pytest.fixture
def daemon() -> Iterator[fake.Daemon]:
    with fake.serving() as served:
        yield served


@pytest.fixture
def host(daemon: fake.Daemon) -> str:
    return f'tcp://127.0.0.1:{daemon.port}'


def configured(*forbidden: str) -> docker.Containers:
    conf = cfg.ConfigOpts()
    engine_conf.register(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    conf.set_override('forbidden_networks', forbidden, 'provider_docker')
    return docker.Containers(conf)


@pytest.fixture
def containers() -> docker.Containers:
    return configured()


def test_host_in_a_forbidden_network_is_not_spoken_to(
    daemon: fake.Daemon, host: str
) -> None:
    containers = configured('127.0.0.0/8', '::1/128')
    for url in (host, f'tcp://[::1]:{daemon.port}'):
        with pytest.raises(base.ProviderError, match='forbidden network'):
            containers.create(url, 'key', 'web', {'image': 'nginx'})
    assert daemon.containers == {}
    with pytest.raises(outgoing.ConfigError, match='nonsense'):
        configured('nonsense')


def test_container_is_run_found_and_removed(
    containers: docker.Containers, daemon: fake.Daemon, host: str
) -> None:
    properties = {'image': 'nginx', 'command': 'nginx -g x'}
    box = containers.create(host, 'key', 'web', properties)
    assert (box.name, box.status) == ('web', 'running')
    assert box.details['command'] == ['nginx', '-g', 'x']
    assert containers.create(host, 'key', 'web', properties).id == box.id
    assert containers.find(host, 'key') == box
    assert containers.find(host, 'other') is None
    containers.delete(host, box.id)
    containers.delete(host, box.id)
    assert daemon.containers == {}
    with pytest.raises(base.ContainerNotFound, match='404: No such container'):
        containers.get(host, box.id)


def test_container_that_was_made_and_not_started_is_started(
    containers: docker.Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})
    daemon.containers[box.id]['State']['Status'] = 'created'
    again = containers.create(host, 'key', 'web', {'image': 'nginx'})
    assert (again.id, again.status) == (box.id, 'running')


def test_image_is_fetched_if_the_host_lacks_it(
    containers: docker.Containers, daemon: fake.Daemon, host: str
) -> None:
    containers.create(host, 'key', 'db', {'image': 'redis:7'})
    assert 'redis:7' in daemon.images


def test_image_that_there_is_not_is_named(
    containers: docker.Containers, daemon: fake.Daemon, host: str
) -> None:
    with pytest.raises(base.ProviderError, match='denied for none'):
        containers.create(host, 'key', 'db', {'image': 'none'})
    assert daemon.containers == {}


def test_operations_lead_to_their_statuses(
    containers: docker.Containers, daemon: fake.Daemon, host: str
) -> None:
    box = containers.create(host, 'key', 'web', {'image': 'nginx'})

    def after(operation: str, **parameters: int) -> str:
        return containers.operate(host, box.id, operation, parameters).status

    assert after('pause') == after('pause') == 'paused'
    assert after('unpause') == after('unpause') == 'running'
    assert after('restart', wait_time=3) == 'running'
    assert daemon.waits[-1] == '3'
    assert containers.rename(host, box.id, 'other').name == 'other'
    daemon.containers[box.id]['State']['Status'] = 'exited'
    with pytest.raises(base.ProviderError, match=r'409: .* is not running'):
        after('pause')


def test_name_that_is_taken_is_told(
    containers: docker.Containers, host: str
) -> None:
    containers.create(host, 'one', 'web', {'image': 'nginx'})
    with pytest.raises(base.ProviderError, match='409: Conflict'):
        containers.create(host, 'two', 'web', {'image': 'nginx'})


def test_host_that_does_not_answer_is_an_error(
    containers: docker.Containers,
) -> None:
    # Port 1 of this machine: nobody listens there.
    with pytest.raises(base.ProviderError, match='does not answer'):
        containers.find('tcp://127.0.0.1:1', 'key')


def test_engine_without_the_library_says_what_to_install(
    containers: docker.Containers,
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, 'docker', None)
    with pytest.raises(base.ProviderError, match=r'vobjects\[docker\]'):
        containers.find(host, 'key')
