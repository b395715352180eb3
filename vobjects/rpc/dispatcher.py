# SPDX-License-Identifier: Apache-2.0
"""Dispatch messages to endpoint methods, a limited number at a time.

For each message, oslo.messaging's own dispatcher searches the endpoints and
creates a thread and an event for heartbeats. This dispatcher looks methods up
in a table.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import oslo_messaging

from vobjects import exceptions
from vobjects.rpc.concurrency_limit import ConcurrencyLimit

LOG = logging.getLogger(__name__)

_RouteKey = tuple[str | None, str, str]

#: The parts of a message; oslo.messaging does not check their types.
_PARTS: tuple[tuple[str, Any, Any], ...] = (
    ('namespace', None, str | None),
    ('version', '1.0', str),
    ('method', None, str),
    ('args', {}, dict),
)

_VERSION = re.compile(r'[0-9]{1,9}(\.[0-9]{1,9})*')


def error_for(ending: BaseException) -> RuntimeError:
    """Return the error to raise for what ends a thread, such as SystemExit.

    oslo.messaging would send no response, and the caller would wait for it.
    """
    return RuntimeError(f'{type(ending).__name__} was raised')


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
        :raises oslo_messaging.ExpectedException: the message is malformed
        :raises Exception: any error of the method
        """
        message = incoming.message
        arguments = message.get('args', {})
        method = self._method(message)
        if method is None:
            _check(message)
        with self._limit.slot():
            if method is None:
                # Another version, or unknown: the base class raises the
                # matching error.
                return super().dispatch(incoming)
            try:
                return method(incoming.ctxt, **arguments)
            except TypeError:
                # This check is too slow for each message.
                if not _accepts(method, arguments):
                    _reject('args are not those of the method')
                raise

    def _method(self, message: Mapping[str, Any]) -> Callable[..., Any] | None:
        get: Callable[[str], Any] = message.get
        try:
            return self._routes.get(
                (get('namespace'), get('version'), get('method'))
            )
        except TypeError:  # a part is an array or an object
            return None


def _check(message: Mapping[str, Any]) -> None:
    """Reject a message that the base class cannot read.

    :raises oslo_messaging.ExpectedException: it is malformed
    """
    for name, default, kind in _PARTS:
        if not isinstance(message.get(name, default), kind):
            _reject(f'{name} has the wrong type')
    if not _VERSION.fullmatch(message.get('version', '1.0')):
        _reject('version is not a version')


def _accepts(method: Callable[..., Any], arguments: dict[str, Any]) -> bool:
    try:
        inspect.signature(method).bind(None, **arguments)
    except TypeError:
        return False
    return True


def _reject(problem: str) -> None:
    """Reject a message without the traceback that oslo.messaging would log.

    :raises oslo_messaging.ExpectedException: the caller gets the error
    """
    LOG.warning('Rejected a malformed message: %s', problem)
    try:
        raise exceptions.VobjectsError(f'malformed message: {problem}')
    except exceptions.VobjectsError:
        raise oslo_messaging.ExpectedException from None


def _routes(
    endpoints: Iterable[Any],
) -> Iterable[tuple[_RouteKey, Callable[..., Any]]]:
    for endpoint in endpoints:
        target = endpoint.target
        for name in dir(endpoint):
            method = getattr(endpoint, name)
            if not name.startswith('_') and callable(method):
                yield (target.namespace, target.version, name), method
