# SPDX-License-Identifier: Apache-2.0
"""Dispatch of messages in a server."""

from __future__ import annotations

import concurrent.futures
import threading
import types
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest

from tests.unit.vobjects.rpc.fake_bus import TIMEOUT, TOPIC, FakeBus
from vobjects import exceptions
from vobjects.rpc import concurrency_limit


class Worker:
    """An endpoint with quick methods and a slow one."""

    target = oslo_messaging.Target(version='1.2')

    def __init__(self) -> None:
        self.called = threading.Semaphore(0)
        self.cloud_responds = threading.Event()

    def quick(self, context: Any, name: str) -> str:
        return f'{context["user"]} {name}'

    def slow(self, context: Any) -> str:
        with concurrency_limit.released():
            self.called.release()
            assert self.cloud_responds.wait(TIMEOUT)
        return 'slow'

    def _private(self, context: Any) -> None:
        raise AssertionError


class OtherNamespace:
    target = oslo_messaging.Target(namespace='other', version='1.0')

    def quick(self, context: Any, name: str) -> str:
        return f'other {name}'


class Bus(FakeBus):
    def __init__(self, slots: int) -> None:
        super().__init__()
        self.worker = Worker()
        self.server = self.start(self.worker, OtherNamespace(), slots=slots)

    def call(self, method: str, version: str = '1.0', **arguments: Any) -> Any:
        client = oslo_messaging.get_rpc_client(
            self.transport,
            oslo_messaging.Target(topic=TOPIC, version=version),
            timeout=TIMEOUT,
        )
        return client.call({'user': 'ann'}, method, **arguments)

    def close(self) -> None:
        self.worker.cloud_responds.set()
        super().close()


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    """A server that handles one message at a time, with a long timeout."""
    monkeypatch.setattr(concurrency_limit, 'QUEUE_TIMEOUT', TIMEOUT)
    bus = Bus(1)
    yield bus
    bus.close()


@pytest.mark.parametrize('version', ['1.2', '1.1', '1.0'])
def test_call_when_version_is_older_is_dispatched(
    bus: Bus, version: str
) -> None:
    assert bus.call('quick', version, name='x') == 'ann x'


def test_call_when_namespace_differs_calls_its_endpoint(bus: Bus) -> None:
    client = oslo_messaging.get_rpc_client(
        bus.transport,
        oslo_messaging.Target(topic=TOPIC, namespace='other', version='1.0'),
        timeout=TIMEOUT,
    )
    assert client.call({}, 'quick', name='x') == 'other x'


@pytest.mark.parametrize('method', ['_private', 'no_such'])
@pytest.mark.parametrize('version', ['1.2', '1.0'])
def test_call_when_method_is_unknown_is_rejected(
    bus: Bus, method: str, version: str
) -> None:
    with pytest.raises(oslo_messaging.NoSuchMethod):
        bus.call(method, version)


def test_call_when_version_is_newer_is_rejected(bus: Bus) -> None:
    with pytest.raises(oslo_messaging.UnsupportedVersion):
        bus.call('quick', '1.3', name='x')


CALL = {'method': 'quick', 'version': '1.2', 'args': {'name': 'x'}}


@pytest.mark.parametrize(
    'part',
    [
        {'method': []},
        {'method': None},
        {'method': 5},
        {'version': {}},
        {'version': None},
        {'version': 'x'},
        {'namespace': []},
        {'args': None},
        {'args': 'name'},
        {'args': ['name']},
        {'args': {'nam': 'x'}},
        {'args': {}},
        {'args': {'context': {}, 'name': 'x'}},
    ],
    ids=repr,
)
def test_message_when_malformed_is_rejected_without_a_traceback(
    bus: Bus, part: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    incoming = types.SimpleNamespace(
        message={**CALL, **part},
        ctxt={'user': 'ann'},
        client_timeout=None,
    )
    with pytest.raises(oslo_messaging.ExpectedException) as caught:
        bus.server.dispatcher.dispatch(incoming)
    kind, error, _traceback = caught.value.exc_info
    assert kind is exceptions.VobjectsError
    (record,) = caplog.records
    assert record.levelname == 'WARNING'
    assert record.exc_info is None
    assert str(error).removeprefix('malformed message: ') in record.message


def test_type_error_of_a_method_is_raised(bus: Bus) -> None:
    incoming = types.SimpleNamespace(message=CALL, ctxt=None)
    with pytest.raises(TypeError, match='subscriptable'):
        bus.server.dispatcher.dispatch(incoming)


def test_call_when_others_wait_for_the_cloud_is_not_delayed(bus: Bus) -> None:
    slow = 5
    with concurrent.futures.ThreadPoolExecutor(slow) as pool:
        waiting = [pool.submit(bus.call, 'slow', '1.2') for _ in range(slow)]
        for _ in waiting:
            assert bus.worker.called.acquire(timeout=TIMEOUT)
        assert bus.call('quick', '1.2', name='x') == 'ann x'
        assert not any(call.done() for call in waiting)
        bus.worker.cloud_responds.set()
        assert [call.result(TIMEOUT) for call in waiting] == ['slow'] * slow


def test_stop_when_calls_are_in_progress_completes_them(bus: Bus) -> None:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(bus.call, 'slow', '1.2') for _ in range(2)]
        for _ in waiting:
            assert bus.worker.called.acquire(timeout=TIMEOUT)
        bus.server.stop()
        bus.worker.cloud_responds.set()
        bus.server.wait()
        assert [call.result(TIMEOUT) for call in waiting] == ['slow', 'slow']
