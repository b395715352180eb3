# SPDX-License-Identifier: Apache-2.0
"""Bound the total size of the large responses of a process.

One response is bounded by the service, but many of them at a time are not. A
:class:`ByteBudget` is a semaphore of bytes: reserve the maximum size of a
response before you create it, shrink the reservation when you know the size,
and release it when the response has been sent.

In a handler of an RPC server, :func:`reserve` does this for the current call;
the server releases what a call has reserved when the call ends.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import threading
from collections.abc import Iterator

from vobjects.rpc import concurrency_limit

#: Maximum time that a request waits for bytes, in seconds.
WAIT_SECONDS = 5.0


class ByteBudget:
    """A semaphore of bytes.

    While several owners wait, none gets more than half of the bytes.

    :param size: bytes that may be reserved at a time
    :param timeout: maximum seconds to wait for bytes
    """

    def __init__(self, size: int, timeout: float = WAIT_SECONDS) -> None:
        self._size = self._free = size
        self._timeout = timeout
        self._changed = threading.Condition()
        self._held: collections.Counter[str] = collections.Counter()
        self._waiting: collections.Counter[str] = collections.Counter()

    @property
    def reserved(self) -> int:
        """The bytes that are reserved now."""
        return self._size - self._free

    @property
    def waiting(self) -> int:
        """The number of responses that wait for bytes."""
        return self._waiting.total()

    def reserve(self, size: int, owner: str = '') -> Reservation | None:
        """Reserve bytes, and wait for them if necessary.

        :param size: maximum bytes of a response; if it exceeds the budget, the
            response needs the whole budget
        :param owner: ID of the project of the caller
        :returns: None if the timeout has expired
        """
        size = min(size, self._size)
        if not self._take(size, owner, 0):
            # Other requests must run in order to release their bytes.
            with concurrency_limit.released():
                if not self._take(size, owner, self._timeout):
                    return None
        return Reservation(self, size, owner)

    def _take(self, size: int, owner: str, timeout: float) -> bool:
        def is_free() -> bool:
            held = self._held[owner]
            exceeds_share = held and held + size > self._size // 2
            must_yield = exceeds_share and self._waiting.keys() - {owner}
            return self._free >= size and not must_yield

        with self._changed:
            self._waiting[owner] += 1
            try:
                if not self._changed.wait_for(is_free, timeout):
                    return False
            finally:
                _subtract(self._waiting, owner, 1)
                self._changed.notify_all()
            self._free -= size
            self._held[owner] += size
            return True

    def give_back(self, size: int, owner: str) -> None:
        """Return reserved bytes; see :class:`Reservation`."""
        with self._changed:
            self._free += size
            _subtract(self._held, owner, size)
            self._changed.notify_all()


def _subtract(
    counter: collections.Counter[str], owner: str, count: int
) -> None:
    counter[owner] -= count
    if not counter[owner]:
        del counter[owner]


class Reservation:
    """Reserved bytes; garbage collection releases them at the latest."""

    def __init__(self, budget: ByteBudget, size: int, owner: str) -> None:
        self._budget = budget
        self._size = size
        self._owner = owner

    def shrink(self, size: int) -> None:
        """Give back all but ``size`` bytes."""
        if size < self._size:
            self._budget.give_back(self._size - size, self._owner)
            self._size = size

    def release(self) -> None:
        """Give back all bytes; repeated calls are harmless."""
        self.shrink(0)

    def __del__(self) -> None:
        self.release()


class _Call:
    """The reservations of the call that a thread handles."""

    def __init__(self, budget: ByteBudget) -> None:
        self.budget = budget
        self.reservations: list[Reservation] = []


_current: contextvars.ContextVar[_Call | None] = contextvars.ContextVar(
    'vobjects_byte_budget', default=None
)


@contextlib.contextmanager
def call_scope(budget: ByteBudget) -> Iterator[None]:
    """Release what the block reserves when it ends."""
    call = _Call(budget)
    token = _current.set(call)
    try:
        yield
    finally:
        _current.reset(token)
        for reservation in call.reservations:
            reservation.release()


def reserve(size: int) -> bool:
    """Reserve bytes for the response of the current call.

    Outside of a call, there is no limit.

    :param size: maximum bytes of the response
    :returns: False if no bytes became free in time; ask the caller to try
        again later
    """
    call = _current.get()
    if call is None:
        return True
    reservation = call.budget.reserve(size)
    if reservation is None:
        return False
    call.reservations.append(reservation)
    return True
