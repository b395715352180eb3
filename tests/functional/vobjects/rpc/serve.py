# SPDX-License-Identifier: Apache-2.0
"""A server, or a caller, in a process of its own; told what to do by argv.

::

    python -m tests.functional.vobjects.rpc.serve URL NAME
    python -m tests.functional.vobjects.rpc.serve URL NAME calls COUNT

The server stops when its standard input ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

# First: it has oslo.service choose threads before anything is imported that
# would choose eventlet.
import vobjects.objects  # noqa: F401  # isort: skip
import oslo_messaging
from oslo_config import cfg

from vobjects.rpc import transport

EXCHANGE = 'tests'
TOPIC = 'work'


class Worker:
    """Does the work, and writes it down first."""

    target = oslo_messaging.Target(version='1.0')

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client
        self._lingering = 0

    def who(self, context: dict[str, Any]) -> list[Any]:
        return [self._name, os.getpid()]

    def work(self, context: dict[str, Any], log: str, item: str) -> str:
        with open(log, 'a') as written:
            written.write(f'{item}\n')
        return item

    def linger(self, context: dict[str, Any], seconds: float) -> str:
        self._lingering += 1
        time.sleep(seconds)
        return self._name

    def hold(self, context: dict[str, Any], log: str, until: str) -> str:
        """Write down who does it, and wait until there is a file."""
        with open(log, 'a') as written:
            written.write(f'{self._name}\n')
        while not os.path.exists(until):
            time.sleep(0.02)
        return self._name

    def lingering(self, context: dict[str, Any]) -> int:
        """Return how many calls have begun to linger."""
        return self._lingering

    def fork(self, context: dict[str, Any]) -> list[Any]:
        """Call from a forked child, then leave it running for a while."""
        self._client.call({}, 'who')
        inside, outside = os.pipe()
        child = os.fork()
        if not child:
            answer = self._client.call({}, 'who')
            os.write(outside, str(answer[1]).encode())
            time.sleep(600)
            os._exit(0)
        os.close(outside)
        with os.fdopen(inside, 'rb', buffering=0) as told:
            return [child, int(told.read(20))]


def make_transport(url: str) -> Any:
    conf = cfg.ConfigOpts()
    conf([])
    return transport.open_transport(conf, EXCHANGE, (), url)


def make_client(over: Any, timeout: float = 240) -> Any:
    return oslo_messaging.get_rpc_client(
        over, oslo_messaging.Target(topic=TOPIC), timeout=timeout
    )


def serve(url: str, name: str) -> None:
    over = make_transport(url)
    worker = Worker(name, make_client(over))
    server = transport.build_server(over, TOPIC, name, [worker], 64)
    server.start()
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    sys.stdin.read()
    server.stop()
    server.wait()
    over.cleanup()


def call(url: str, log: str, count: int) -> None:
    """Call from four threads, and print the items that were answered."""
    client = make_client(make_transport(url), timeout=240)

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


if __name__ == '__main__':
    if sys.argv[3:]:
        call(sys.argv[1], sys.argv[2], int(sys.argv[4]))
    else:
        serve(sys.argv[1], sys.argv[2])
