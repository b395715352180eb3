# SPDX-License-Identifier: Apache-2.0
"""Send responses to clients that may read them slowly, or not at all.

A server that sends a body at once keeps it until the client has read it.
:class:`Outbox` sends it in parts, limits the time that a client may take for
a part, and limits the bytes of all responses that wait for their clients.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

LOG = logging.getLogger(__name__)

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: Bytes that are sent at a time. A shorter body is sent at once.
PART_BYTES = 1 << 16


class Outbox:
    """The long responses that a process is sending.

    :param max_bytes: bytes that may wait for their clients; if there are more,
        the responses without progress for the longest time are cut off
    :param timeout: seconds within which a client must read a part
    """

    def __init__(self, max_bytes: int, timeout: float) -> None:
        self._max_bytes = max_bytes
        self._timeout = timeout
        # In the order of the last progress.
        self._waiting: collections.OrderedDict[
            object, tuple[int, asyncio.Timeout]
        ] = collections.OrderedDict()

    async def send(self, send: Send, content: bytes, client: str) -> None:
        """Send a body, or its beginning.

        The server closes the connection if the body is not complete.

        :param send: sends an ASGI message
        :param client: address of the client, for the log
        """
        size = len(content)
        if size <= PART_BYTES:
            await send({'type': 'http.response.body', 'body': content})
            return
        with contextlib.suppress(TimeoutError):
            await self._send_parts(send, content)
            return
        LOG.warning(
            'Cut off a response of %s bytes, because %s does not read it',
            size,
            client,
        )

    async def _send_parts(self, send: Send, content: bytes) -> None:
        size = len(content)
        key = object()
        clock = asyncio.get_running_loop().time
        async with asyncio.timeout(self._timeout) as deadline:
            self._make_room(size)
            self._waiting[key] = size, deadline
            try:
                for start in range(0, size, PART_BYTES):
                    end = start + PART_BYTES
                    await send(
                        {
                            'type': 'http.response.body',
                            'body': content[start:end],
                            'more_body': end < size,
                        }
                    )
                    if key in self._waiting and not deadline.expired():
                        self._waiting.move_to_end(key)
                        deadline.reschedule(clock() + self._timeout)
            finally:
                self._waiting.pop(key, None)

    def _make_room(self, size: int) -> None:
        excess = sum(other for other, _ in self._waiting.values()) + size
        excess -= self._max_bytes
        while excess > 0 and self._waiting:
            _, (other, deadline) = self._waiting.popitem(last=False)
            excess -= other
            if not deadline.expired():
                deadline.reschedule(0)
