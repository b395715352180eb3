# SPDX-License-Identifier: Apache-2.0
"""Servers in separate processes."""

from __future__ import annotations

import os
import pathlib
import signal
from typing import Any

from tests.functional import fork_server
from tests.functional.processes import TIMEOUT
from tests.functional.transports import serve

ROOT = pathlib.Path(__file__).parents[3]


class Process:
    """A server or a client in a fork.

    It has methods of :class:`tests.functional.fork_server.ForkedProcess`.

    :ivar stdin: a server stops when it is closed
    :ivar stdout: what it prints
    """

    def __init__(self, *arguments: str) -> None:
        input_end, writing = os.pipe()
        reading, output_end = os.pipe()
        self.stdin = os.fdopen(writing, 'w')
        self.stdout = os.fdopen(reading)
        fork = fork_server.server_with(serve.__name__).start(
            serve.__name__,
            arguments,
            dict(os.environ),
            [input_end, output_end, 2],
        )
        os.close(input_end)
        os.close(output_end)
        self.pid, self.wait = fork.pid, fork.wait
        self.send_signal = fork.send_signal

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
        self.wait()

    def close(self) -> None:
        self.kill()
        self.stdin.close()
        self.stdout.close()


class Processes:
    """Server and client processes of one message bus.

    :param url: ``transport_url`` of the bus
    :param root: directory of the sockets of an embedded bus
    """

    def __init__(self, url: str, root: pathlib.Path) -> None:
        self.url = url
        self.root = root
        self._running: list[Process] = []
        self._transports: list[Any] = []

    def start(self, *arguments: str) -> Process:
        process = Process(self.url, *arguments)
        self._running.append(process)
        return process

    def server(self, name: str) -> Process:
        process = self.start(name)
        assert process.stdout.readline() == 'ready\n'
        return process

    def client(self, timeout: float = TIMEOUT) -> Any:
        transport = serve.make_transport(self.url)
        self._transports.append(transport)
        return serve.make_client(transport, timeout)

    def sockets(self) -> list[pathlib.Path]:
        return sorted(self.root.glob('*/*'))

    def close(self) -> None:
        for transport in self._transports:
            transport.cleanup()
        for process in self._running:
            process.close()
