# SPDX-License-Identifier: Apache-2.0
"""Hands messages to endpoints, some at a time.

oslo.messaging's own dispatcher looks through the endpoints, and makes a
thread and an event to send heartbeats with, for each message. Here methods
are found in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import oslo_messaging

from vobjects.rpc.gate import Gate

_Route = tuple[str | None, str, str]


class Dispatcher(oslo_messaging.RPCDispatcher):  # type: ignore[misc]
    """The dispatcher of an RPC server.

    :param endpoints: objects with a ``target`` that has a version; what of
        their methods is public can be called
    :param places: how many messages are handled at a time
    """

    def __init__(self, endpoints: Iterable[Any], places: int) -> None:
        super().__init__(list(endpoints), None)
        self._gate = Gate(places)
        self._routes = dict(_routes(self.endpoints))

    def dispatch(self, incoming: Any) -> Any:
        """Call the method that a message names, and return its answer.

        :param incoming: an ``oslo_messaging`` RPC message
        :raises oslo_messaging.NoSuchMethod: there is no such method
        :raises oslo_messaging.UnsupportedVersion: none of that version
        :raises Exception: what the method raises
        """
        message = incoming.message
        method = self._routes.get(
            (
                message.get('namespace'),
                message.get('version'),
                message.get('method'),
            )
        )
        with self._gate.place():
            if method is None:
                # Of another version, or unknown: it knows what to answer.
                return super().dispatch(incoming)
            return method(incoming.ctxt, **message.get('args', {}))


def _routes(
    endpoints: Iterable[Any],
) -> Iterable[tuple[_Route, Callable[..., Any]]]:
    for endpoint in endpoints:
        target = endpoint.target
        for name in dir(endpoint):
            method = getattr(endpoint, name)
            if not name.startswith('_') and callable(method):
                yield (target.namespace, target.version, name), method
