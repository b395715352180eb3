# SPDX-License-Identifier: Apache-2.0
"""What becomes of a message in a server."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from vobjects.rpc import concurrency_limit, transport

TOPIC = 'workers'
PATIENCE = 60


class Worker:
    """Has quick methods, and one that asks a slow cloud."""

    target = oslo_messaging.Target(version='1.2')

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.cloud_answers = threading.Event()

    def quick(self, context: Any, name: str) -> str:
        return f'{context["user"]} {name}'

    def slow(self, context: Any) -> str:
        with concurrency_limit.released():
            self.asked.release()
            assert self.cloud_answers.wait(PATIENCE)
        return 'slow'

    def _private(self, context: Any) -> None:
        raise AssertionError


class Notices:
    target = oslo_messaging.Target(namespace='notices', version='1.0')

    def quick(self, context: Any, name: str) -> str:
        return f'notice {name}'


class Bus:
    def __init__(self, places: int) -> None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self.transport = transport.open_transport(conf, 'test', (), 'fake://')
        self.worker = Worker()
        self.server = transport.build_server(
            self.transport, TOPIC, 'one', [self.worker, Notices()], places
        )
        self.server.start()

    def call(self, method: str, version: str = '1.0', **arguments: Any) -> Any:
        client = oslo_messaging.get_rpc_client(
            self.transport,
            oslo_messaging.Target(topic=TOPIC, version=version),
            timeout=PATIENCE,
        )
        return client.call({'user': 'ann'}, method, **arguments)

    def close(self) -> None:
        self.worker.cloud_answers.set()
        self.server.stop()
        self.server.wait()
        self.transport.cleanup()


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    """A server that handles one message at a time, and has all the time."""
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', PATIENCE)
    bus = Bus(1)
    yield bus
    bus.close()


@pytest.mark.parametrize('version', ['1.2', '1.1', '1.0'])
def test_methods_of_older_versions_are_found(bus: Bus, version: str) -> None:
    assert bus.call('quick', version, name='x') == 'ann x'


def test_namespaces_are_told_apart(bus: Bus) -> None:
    client = oslo_messaging.get_rpc_client(
        bus.transport,
        oslo_messaging.Target(topic=TOPIC, namespace='notices', version='1.0'),
        timeout=PATIENCE,
    )
    assert client.call({}, 'quick', name='x') == 'notice x'


@pytest.mark.parametrize('method', ['_private', 'no_such'])
@pytest.mark.parametrize('version', ['1.2', '1.0'])
def test_what_is_no_method_is_refused(
    bus: Bus, method: str, version: str
) -> None:
    with pytest.raises(oslo_messaging.NoSuchMethod):
        bus.call(method, version)


def test_newer_versions_are_refused(bus: Bus) -> None:
    with pytest.raises(oslo_messaging.UnsupportedVersion):
        bus.call('quick', '1.3', name='x')


def test_slow_cloud_delays_nobody_else(bus: Bus) -> None:
    slow = 5
    with concurrent.futures.ThreadPoolExecutor(slow) as pool:
        waiting = [pool.submit(bus.call, 'slow', '1.2') for _ in range(slow)]
        for _ in waiting:
            assert bus.worker.asked.acquire(timeout=PATIENCE)
        assert bus.call('quick', '1.2', name='x') == 'ann x'
        assert not any(one.done() for one in waiting)
        bus.worker.cloud_answers.set()
        assert [one.result(PATIENCE) for one in waiting] == ['slow'] * slow


def test_server_that_stops_ends_what_it_has_begun(bus: Bus) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(bus.call, 'slow', '1.2') for _ in range(2)]
        for _ in waiting:
            assert bus.worker.asked.acquire(timeout=PATIENCE)
        bus.server.stop()
        bus.worker.cloud_answers.set()
        bus.server.wait()
        assert [one.result(PATIENCE) for one in waiting] == ['slow', 'slow']
