# SPDX-License-Identifier: Apache-2.0
"""Servers in separate processes."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent import futures
from typing import Any

from tests.functional.processes import TIMEOUT
from tests.functional.transports import serve

ROOT = pathlib.Path(__file__).parents[3]


class Processes:
    """Server and client processes of one message bus.

    :param url: ``transport_url`` of the bus
    :param root: directory of the sockets of an embedded bus
    """

    def __init__(self, url: str, root: pathlib.Path) -> None:
        self.url = url
        self.root = root
        self._running: list[subprocess.Popen[str]] = []
        self._transports: list[Any] = []

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, '-m', serve.__name__, self.url, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._running.append(process)
        return process

    def server(self, name: str) -> subprocess.Popen[str]:
        process = self.start(name)
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
        return process

    def client(self, timeout: float = TIMEOUT) -> Any:
        transport = serve.make_transport(self.url)
        self._transports.append(transport)
        return serve.make_client(transport, timeout)

    def sockets(self) -> list[pathlib.Path]:
        return sorted(self.root.glob('*/*'))

    def end_clients(self) -> None:
        while self._transports:
            self._transports.pop().cleanup()

    def close(self) -> None:
        self.end_clients()
        for process in self._running:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def in_background(
    call: Callable[[], Any],
) -> tuple[futures.ThreadPoolExecutor, futures.Future[Any]]:
    pool = futures.ThreadPoolExecutor(1)
    return pool, pool.submit(call)
