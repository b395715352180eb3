# SPDX-License-Identifier: Apache-2.0
"""A server or a client in a separate process, controlled by its arguments.

::

    python -m tests.functional.transports.serve URL NAME
    python -m tests.functional.transports.serve URL LOG calls COUNT

The server stops when its standard input ends.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from typing import Any

import oslo_messaging
from oslo_config import cfg

from tests.functional.processes import TIMEOUT
from vobjects.rpc import transport

EXCHANGE = 'tests'
TOPIC = 'work'


class Worker:
    """An endpoint that logs its work."""

    target = oslo_messaging.Target(version='1.0')

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client
        self._waiting = 0

    def identify(self, context: dict[str, Any]) -> list[Any]:
        return [self._name, os.getpid()]

    def work(self, context: dict[str, Any], log: str, item: str) -> str:
        with open(log, 'a') as file:
            file.write(f'{item}\n')
        return item

    def wait(self, context: dict[str, Any], seconds: float) -> str:
        self._waiting += 1
        time.sleep(seconds)
        return self._name

    def count_waiting(self, context: dict[str, Any]) -> int:
        """Return how many calls of :meth:`wait` have started."""
        return self._waiting

    def fork(self, context: dict[str, Any]) -> list[Any]:
        """Call from a forked child, which then continues to run."""
        self._client.call({}, 'identify')
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            response = self._client.call({}, 'identify')
            os.write(writing, str(response[1]).encode())
            time.sleep(600)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, 'rb', buffering=0) as pipe:
            return [child, int(pipe.read(20))]


def make_transport(url: str) -> Any:
    conf = cfg.ConfigOpts()
    conf([])
    return transport.open_transport(conf, EXCHANGE, (), url)


def make_client(bus: Any, timeout: float = 240) -> Any:
    return oslo_messaging.get_rpc_client(
        bus, oslo_messaging.Target(topic=TOPIC), timeout=timeout
    )


def serve(url: str, name: str) -> None:
    bus = make_transport(url)
    worker = Worker(name, make_client(bus))
    if transport.has_broker(bus.conf, url):
        name = transport.SHARED_NAME
    server = transport.build_server(bus, TOPIC, name, [worker], 64)
    server.start()
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()
    server.wait()
    bus.cleanup()


def call(url: str, log: str, count: int) -> None:
    """Call from four threads, and print the completed items."""
    client = make_client(make_transport(url), timeout=TIMEOUT)

    def run(thread: int) -> None:
        for turn in range(count):
            item = f'{os.getpid()}.{thread}.{turn}'
            client.call({}, 'work', log=log, item=item)
            sys.stdout.write(f'{item}\n')

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    logging.basicConfig()
    if sys.argv[3:]:
        call(sys.argv[1], sys.argv[2], int(sys.argv[4]))
    else:
        serve(sys.argv[1], sys.argv[2])
    return 0


if __name__ == '__main__':
    main()
