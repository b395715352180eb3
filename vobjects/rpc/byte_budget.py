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

import contextlib
import contextvars
import threading
from collections.abc import Iterator

from vobjects.rpc import concurrency_limit

#: Maximum time that a request waits for bytes, in seconds.
WAIT_SECONDS = 5.0


class ByteBudget:
    """A semaphore of bytes.

    :param size: bytes that may be reserved at a time
    :param timeout: maximum seconds to wait for bytes
    """

    def __init__(self, size: int, timeout: float = WAIT_SECONDS) -> None:
        self._size = self._free = size
        self._timeout = timeout
        self._changed = threading.Condition()

    @property
    def reserved(self) -> int:
        """The bytes that are reserved now."""
        return self._size - self._free

    def reserve(self, size: int) -> Reservation | None:
        """Reserve bytes, and wait for them if necessary.

        :param size: maximum bytes of a response; if it exceeds the budget, the
            response needs the whole budget
        :returns: None if the timeout has expired
        """
        size = min(size, self._size)
        if not self._take(size, 0):
            # Other requests must run in order to release their bytes.
            with concurrency_limit.released():
                if not self._take(size, self._timeout):
                    return None
        return Reservation(self, size)

    def _take(self, size: int, timeout: float) -> bool:
        with self._changed:
            if not self._changed.wait_for(lambda: self._free >= size, timeout):
                return False
            self._free -= size
            return True

    def give_back(self, size: int) -> None:
        """Return reserved bytes; see :class:`Reservation`."""
        with self._changed:
            self._free += size
            self._changed.notify_all()


class Reservation:
    """Reserved bytes; garbage collection releases them at the latest."""

    def __init__(self, budget: ByteBudget, size: int) -> None:
        self._budget = budget
        self._size = size

    def shrink(self, size: int) -> None:
        """Give back all but ``size`` bytes."""
        if size < self._size:
            self._budget.give_back(self._size - size)
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
