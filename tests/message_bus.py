# SPDX-License-Identifier: Apache-2.0
"""Clients and servers of plain oslo.messaging, with any of its drivers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tests import machine_speed
from vobjects.rpc import transport

EXCHANGE = 'tests'
TOPIC = 'work'

#: Drivers for RabbitMQ: that of this repository, and that of oslo.messaging.
OURS, OSLO = 'pyamqp', 'rabbit'

#: Timeout of calls in seconds, which no call reaches.
TIMEOUT = 120 * machine_speed.scale()


class BadThing(Exception):
    """An exception that callers may rebuild."""


#: The errors of :meth:`Worker.fail`; the driver raises some of these classes
#: itself.
ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (
        BadThing,
        ConnectionResetError,
        LookupError,
        TimeoutError,
    )
}


class Worker:
    """An endpoint that records, waits and fails on demand."""

    target = oslo_messaging.Target(version='1.0')

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[Any] = []
        self.stored = threading.Semaphore(0)
        self.started = threading.Semaphore(0)
        self.proceed = threading.Event()

    def identify(self, context: dict[str, Any]) -> str:
        return self.name

    def echo(self, context: dict[str, Any], value: Any) -> Any:
        return [context.get('user'), value]

    def store(self, context: dict[str, Any], value: Any) -> None:
        self.values.append(value)
        self.stored.release()

    def hold(self, context: dict[str, Any], value: Any = None) -> str:
        """Wait for :attr:`proceed`."""
        self.values.append(value)
        self.started.release()
        assert self.proceed.wait(TIMEOUT)
        return self.name

    def fail(self, context: dict[str, Any], kind: str) -> None:
        raise ERRORS[kind]('too bad')

    def unsendable(self, context: dict[str, Any]) -> object:
        return {('a', 'tuple'): 'is no key of JSON'}

    def many(self, context: dict[str, Any], size: int) -> str:
        return 'x' * size


class Bus:
    """Creates transports, servers and clients, and closes them all.

    :param url: URL of the bus
    :param servers: driver of the servers; empty: that of the URL
    :param clients: driver of the clients
    :param options: options of the drivers
    """

    def __init__(
        self, url: str, servers: str = '', clients: str = '', **options: Any
    ) -> None:
        self.url = url
        self._servers, self._clients = servers, clients
        self._options = options
        self._closing = contextlib.ExitStack()

    def transport(
        self,
        driver: str = '',
        allowed: tuple[str, ...] = (__name__,),
        **options: Any,
    ) -> Any:
        """Open a transport; the options are those of the driver."""
        query = '&'.join(
            f'{name}={value}'
            for name, value in {**self._options, **options}.items()
        )
        scheme, _, rest = self.url.partition('://')
        conf = cfg.ConfigOpts()
        conf([])
        transport.register_global_groups(conf)
        opened = oslo_messaging.get_rpc_transport(
            conf,
            f'{driver or scheme}://{rest}?{query}',
            allowed_remote_exmods=[*transport.ERROR_MODULES, *allowed],
        )
        self._closing.callback(opened.cleanup)
        return opened

    def server(
        self,
        name: str = 'one',
        driver: str = '',
        topic: str = TOPIC,
        threads: int | None = None,
        **options: Any,
    ) -> tuple[Any, Worker]:
        """Start a server."""
        worker = Worker(name)
        server = oslo_messaging.get_rpc_server(
            self.transport(driver or self._servers, **options),
            oslo_messaging.Target(exchange=EXCHANGE, topic=topic, server=name),
            [worker],
        )
        # The default executor, of futurist, takes a second to stop.
        server._executor_cls = futures.ThreadPoolExecutor
        server.start(override_pool_size=threads)
        self._closing.callback(stop, server, worker)
        return server, worker

    def client(
        self,
        driver: str = '',
        timeout: float = TIMEOUT,
        over: Any = None,
        at_least_once: bool = False,
        topic: str = TOPIC,
        retry: int | None = None,
        **options: Any,
    ) -> Any:
        """Return a client of the servers."""
        return oslo_messaging.get_rpc_client(
            over or self.transport(driver or self._clients, **options),
            oslo_messaging.Target(exchange=EXCHANGE, topic=topic),
            timeout=timeout,
            retry=retry,
            transport_options=oslo_messaging.TransportOptions(
                at_least_once=at_least_once
            ),
        )

    def close(self) -> None:
        """Close everything, the newest first."""
        self._closing.close()


def rabbit_bus(url: str, servers: str = OURS, clients: str = OURS) -> Bus:
    """Return a bus on RabbitMQ, whose reply and fanout queues soon expire."""
    options = {
        'rabbit_quorum_queue': 'true',
        'rabbit_transient_queues_ttl': 30,
    }
    return Bus(url, servers, clients, **options)


def stop(server: Any, worker: Worker) -> None:
    """Stop a server, and let its pending calls finish."""
    worker.proceed.set()
    server.stop()
    server.wait()


@contextlib.contextmanager
def in_background(
    call: Callable[..., Any], *args: Any, **kwargs: Any
) -> Iterator[futures.Future[Any]]:
    """Run a call in another thread."""
    with futures.ThreadPoolExecutor(1) as pool:
        yield pool.submit(call, *args, **kwargs)
