# SPDX-License-Identifier: Apache-2.0
"""Servers on a message bus in the memory of this process."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from tests import machine_speed
from vobjects.rpc import transport

TOPIC = 'workers'

#: Timeout of calls in seconds, which no call reaches.
TIMEOUT = 60 * machine_speed.scale()


class FakeBus:
    """A transport and its servers.

    :param exceptions: modules whose exceptions clients may rebuild
    """

    def __init__(self, *exceptions: str) -> None:
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        self.transport = transport.open_transport(
            conf, 'test', exceptions, url='fake://'
        )
        self._servers: list[Any] = []

    def start(
        self, *endpoints: object, name: str = 'one', slots: int = 4
    ) -> Any:
        """Start a server, which :meth:`close` stops, and return it.

        :param slots: messages that it handles at the same time
        """
        server = transport.build_server(
            self.transport, TOPIC, name, list(endpoints), slots
        )
        server.start()
        self._servers.append(server)
        return server

    def close(self) -> None:
        for server in self._servers:
            server.stop()
            server.wait()
        self.transport.cleanup()
