# SPDX-License-Identifier: Apache-2.0
"""Threads in which an event loop calls blocking functions.

A call costs half of one by ``loop.run_in_executor``, which creates two
futures, a condition and a chain of callbacks.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, NamedTuple


class _Call(NamedTuple):
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class RequestThreads:
    """Calls functions in threads, which it starts as they are needed.

    The methods may be called in one event loop only. The threads end with the
    process, which must wait for its calls.

    :param limit: maximum number of threads; further calls wait
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        # Both change in the event loop only.
        self._started = self._busy = 0

    def call(
        self, function: Callable[..., Any], *arguments: Any
    ) -> asyncio.Future[Any]:
        """Call a function; the future receives its result or its error."""
        loop = asyncio.get_running_loop()
        call = _Call(loop, loop.create_future(), function, arguments)
        self._busy += 1
        if self._started < min(self._busy, self._limit):
            self._started += 1
            threading.Thread(
                target=self._work, name=f'request-{self._started}', daemon=True
            ).start()
        self._calls.put(call)
        return call.future

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            result: Any = None
            error: BaseException | None = None
            try:
                result = call.function(*call.arguments)
            except BaseException as raised:  # noqa: BLE001 - the caller's
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed
                call.loop.call_soon_threadsafe(
                    self._finish, call.future, result, error
                )
            # An idle thread must not keep the last request in memory.
            del call, result, error

    def _finish(
        self,
        future: asyncio.Future[Any],
        result: Any,
        error: BaseException | None,
    ) -> None:
        self._busy -= 1
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
