# SPDX-License-Identifier: Apache-2.0
"""Low-overhead HTTP load generator with persistent connections.

On a small machine, the client and the server compete for the CPU. This client
therefore runs in one thread, builds each request as bytes, and parses only the
status and the length of a response.
"""

from __future__ import annotations

import dataclasses
import selectors
import socket
import time
from collections.abc import Callable, Collection, Mapping

#: Timeout in seconds if no response arrives.
TIMEOUT = 60.0

#: Function from the number of a request to its bytes.
Make = Callable[[int], bytes]


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """Results of a run.

    :ivar seconds: time from the first request to the last response
    :ivar times: latencies of all requests in milliseconds, ascending
    """

    seconds: float
    times: list[float]

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.times) / self.seconds

    def percentile(self, percent: int) -> float:
        """Return a percentile of the latencies in milliseconds."""
        last = len(self.times) - 1
        return self.times[min(last, len(self.times) * percent // 100)]


class _Connection:
    """A connection with one request in flight at a time."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.began = 0.0
        self._received = b''

    def send(self, content: bytes) -> None:
        """Send a request."""
        self._received = b''
        self.began = time.perf_counter()
        self.socket.sendall(content)

    def receive(self) -> tuple[int, bytes] | None:
        """Read data; return status and body of a complete response."""
        part = self.socket.recv(262144)
        if not part:
            raise ConnectionError('the server closed a connection')
        self._received += part
        head, gap, body = self._received.partition(b'\r\n\r\n')
        if not gap:
            return None
        lines = head.lower().split(b'\r\n')
        length = next(
            int(line[15:]) for line in lines if line[:15] == b'content-length:'
        )
        if len(body) < length:
            return None
        return int(head[9:12]), body


def request(
    verb: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
) -> bytes:
    """Return the bytes of an HTTP/1.1 request with keep-alive."""
    head = [
        f'{verb} {path} HTTP/1.1',
        'Host: 127.0.0.1',
        *(f'{name}: {value}' for name, value in headers.items()),
    ]
    if body is not None:
        head += [
            'Content-Type: application/json',
            f'Content-Length: {len(body)}',
        ]
    return '\r\n'.join([*head, '', '']).encode() + (body or b'')


def run(
    address: tuple[str, int],
    make: Make,
    expected: Collection[int],
    concurrency: int,
    seconds: float,
) -> Outcome:
    """Send concurrent requests for some time.

    :param make: returns the bytes of a request, given its number
    :param expected: expected statuses
    :param concurrency: number of connections
    :param seconds: time after which no more requests are sent
    :raises RuntimeError: if a response has another status or none arrives
    """
    connections = [_Connection(address) for _ in range(concurrency)]
    times: list[float] = []
    sent_count = 0
    with selectors.DefaultSelector() as selector:
        began = time.perf_counter()
        until = began + seconds
        for connection in connections:
            selector.register(
                connection.socket, selectors.EVENT_READ, connection
            )
            connection.send(make(sent_count))
            sent_count += 1
        waiting = concurrency
        while waiting:
            ready = selector.select(TIMEOUT)
            if not ready:
                raise RuntimeError(f'no answer within {TIMEOUT} s')
            for key, _events in ready:
                connection = key.data
                response = connection.receive()
                if response is None:
                    continue
                now = time.perf_counter()
                times.append((now - connection.began) * 1000)
                if response[0] not in expected:
                    raise RuntimeError(f'{response[0]}: {response[1][:300]!r}')
                if now < until:
                    connection.send(make(sent_count))
                    sent_count += 1
                else:
                    waiting -= 1
        took = time.perf_counter() - began
    for connection in connections:
        connection.socket.close()
    return Outcome(took, sorted(times))
