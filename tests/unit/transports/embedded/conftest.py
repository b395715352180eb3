# SPDX-License-Identifier: Apache-2.0
"""A message bus: clients and servers of oslo.messaging in one directory."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from tests import machine_speed
from vobjects.rpc import transport

EXCHANGE = 'tests'
TOPIC = 'work'

#: Timeout of calls in seconds, which no call reaches.
TIMEOUT = 60 * machine_speed.scale()


class Worker:
    """An endpoint that counts, waits and fails on demand."""

    target = oslo_messaging.Target(version='1.0')

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[Any] = []
        self.started = threading.Semaphore(0)
        self.proceed = threading.Event()

    def get_name(self, context: dict[str, Any]) -> str:
        return self.name

    def echo(self, context: dict[str, Any], value: Any) -> Any:
        return [context, value]

    def store(self, context: dict[str, Any], value: Any) -> None:
        self.values.append(value)

    def wait(self, context: dict[str, Any], value: Any = None) -> str:
        self.started.release()
        assert self.proceed.wait(240)
        self.values.append(value)
        return self.name

    def fail(self, context: dict[str, Any], kind: str) -> None:
        raise {'value': ValueError, 'target': BadThing}[kind]('too bad')

    def secret(self, context: dict[str, Any]) -> object:
        return {('a', 'tuple'): 'is no key of JSON'}

    def many(self, context: dict[str, Any], size: int) -> str:
        return 'x' * size


class BadThing(Exception):
    """An exception that is defined here."""


class Bus:
    """Creates transports, servers and clients, and closes them all."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self._closing: list[Callable[[], Any]] = []

    def transport(self, exmods: tuple[str, ...] = (), **options: Any) -> Any:
        query = '&'.join(f'{name}={value}' for name, value in options.items())
        conf = cfg.ConfigOpts()
        conf([])
        opened = transport.open_transport(
            conf, EXCHANGE, exmods, f'embedded://{self.root}?{query}'
        )
        self._closing.append(opened.cleanup)
        return opened

    def server(
        self,
        name: str = 'one',
        topic: str = TOPIC,
        threads: int | None = None,
        **options: Any,
    ) -> tuple[Any, Worker]:
        worker = Worker(name)
        target = oslo_messaging.Target(topic=topic, server=name)
        server = oslo_messaging.get_rpc_server(
            self.transport(**options), target, [worker]
        )
        server.start(override_pool_size=threads)
        self._closing.append(lambda: stop(server, worker))
        return server, worker

    def client(
        self,
        topic: str = TOPIC,
        timeout: float = TIMEOUT,
        over: Any = None,
        **prepared: Any,
    ) -> Any:
        client = oslo_messaging.get_rpc_client(
            over or self.transport(),
            oslo_messaging.Target(topic=topic),
            timeout=timeout,
        )
        return client.prepare(**prepared) if prepared else client

    def sockets(self) -> list[pathlib.Path]:
        return sorted(path for path in self.root.glob('*/*'))

    def close(self) -> None:
        for close in reversed(self._closing):
            close()


def stop(server: Any, worker: Worker) -> None:
    """Stop a server, and let its pending calls finish."""
    worker.proceed.set()
    server.stop()
    server.wait()


@pytest.fixture
def bus(tmp_path: pathlib.Path) -> Iterator[Bus]:
    bus = Bus(tmp_path / 'bus')
    yield bus
    bus.close()
