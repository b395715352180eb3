# SPDX-License-Identifier: Apache-2.0
"""Dispatch messages to endpoint methods, a limited number at a time.

For each message, oslo.messaging's own dispatcher searches the endpoints and
creates a thread and an event for heartbeats. This dispatcher looks methods up
in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import oslo_messaging

from vobjects.rpc.concurrency_limit import ConcurrencyLimit

_RouteKey = tuple[str | None, str, str]


class Dispatcher(oslo_messaging.RPCDispatcher):  # type: ignore[misc]
    """The dispatcher of an RPC server.

    :param endpoints: objects with a versioned ``target``; their public methods
        can be called
    :param slots: number of messages handled concurrently
    """

    def __init__(self, endpoints: Iterable[Any], slots: int) -> None:
        super().__init__(list(endpoints), None)
        self._limit = ConcurrencyLimit(slots)
        self._routes = dict(_routes(self.endpoints))

    def dispatch(self, incoming: Any) -> Any:
        """Call the method that a message names, and return its result.

        :param incoming: an ``oslo_messaging`` RPC message
        :raises oslo_messaging.NoSuchMethod: no endpoint has such a method
        :raises oslo_messaging.UnsupportedVersion: no endpoint has that version
        :raises Exception: any error of the method
        """
        message = incoming.message
        method = self._routes.get(
            (
                message.get('namespace'),
                message.get('version'),
                message.get('method'),
            )
        )
        with self._limit.slot():
            if method is None:
                # Another version, or unknown: the base class raises the
                # matching error.
                return super().dispatch(incoming)
            return method(incoming.ctxt, **message.get('args', {}))


def _routes(
    endpoints: Iterable[Any],
) -> Iterable[tuple[_RouteKey, Callable[..., Any]]]:
    for endpoint in endpoints:
        target = endpoint.target
        for name in dir(endpoint):
            method = getattr(endpoint, name)
            if not name.startswith('_') and callable(method):
                yield (target.namespace, target.version, name), method
