# SPDX-License-Identifier: Apache-2.0
"""Limit how long callers wait, and how many wait at the same time.

:class:`TimeoutExecutor` runs calls with a timeout; :class:`CallLimit` keeps
threads free for requests that need no server.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging

from vobjects import exceptions

#: Packages whose errors oslo.messaging's RabbitMQ driver lets through.
_BROKER_LIBRARIES = {'amqp', 'kombu'}

#: Seconds without any finished call after which new callers get an error.
STALLED_AFTER = 2.0

#: Seconds between checks for progress.
_CHECK_INTERVAL = 0.25

#: Maximum number of threads that may be blocked in abandoned calls.
MAX_THREADS = 256


class TimeoutExecutor:
    """Runs calls in daemon threads and stops waiting after a timeout.

    oslo.messaging counts the timeout of a call from the moment the broker has
    the message. Before that it reconnects, in some places without any limit.

    :param limit: maximum number of threads. While all of them are blocked,
        further calls wait for a thread; a call whose timeout expires meanwhile
        is never sent.
    """

    def __init__(self, limit: int = MAX_THREADS) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0  # negative: number of jobs waiting for a thread

    def run(self, call: Callable[[], Any], timeout: float) -> Any:
        """Run a call and return its result.

        :param call: function without arguments
        :param timeout: timeout in seconds
        :raises oslo_messaging.MessagingTimeout: the timeout expired; a later
            result is discarded
        :raises oslo_messaging.MessageDeliveryFailure: the broker's client
            library raised an error
        :raises Exception: any other error of the call
        """
        job = _Job(call)
        with self._lock:
            self._idle -= 1
            needs_thread = self._idle < 0 and self._threads < self._limit
            if needs_thread:
                self._threads += 1
                self._idle += 1
        self._jobs.put(job)
        if needs_thread:
            threading.Thread(
                target=self._work, name='bounded-call', daemon=True
            ).start()
        try:
            return job.result(timeout)
        except Exception as error:
            if not _is_broker_error(type(error)):
                raise
            raise oslo_messaging.MessageDeliveryFailure(
                f'the message bus failed: {error}'
            ) from error

    def _work(self) -> None:
        while True:
            self._jobs.get().run()
            with self._lock:
                self._idle += 1


class _Job:
    """A call and its result or error."""

    __slots__ = ('_call', '_done', '_error', '_is_abandoned', '_result')

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._done = threading.Lock()
        self._done.acquire()
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_abandoned = False

    def run(self) -> None:
        if self._is_abandoned:
            return
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - raised at the caller
            self._error = error
        self._done.release()

    def result(self, timeout: float) -> Any:
        if not self._done.acquire(timeout=max(timeout, 0)):
            self._is_abandoned = True
            raise oslo_messaging.MessagingTimeout(
                f'no response within {timeout:.1f} s; the message bus may be'
                ' out of reach'
            )
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            self._error = None  # its traceback refers to this frame


class CallLimit:
    """Limits the number of callers that wait at the same time.

    Further callers wait for a slot as long as other calls finish. When no
    call has finished for :data:`STALLED_AFTER` seconds, they get an error at
    once.

    :param calls: maximum number of waiting callers
    """

    def __init__(self, calls: int) -> None:
        self._slots = threading.Semaphore(calls)
        self._progress = time.monotonic()

    @contextlib.contextmanager
    def slot(self, timeout: float) -> Iterator[None]:
        """Hold a slot while the block runs.

        :param timeout: seconds to wait for a slot
        :raises oslo_messaging.MessageDeliveryFailure: no slot became free
        """
        if self._slots.acquire(blocking=False):
            self._progress = time.monotonic()
        else:
            self._wait(timeout)
        try:
            yield
            self._progress = time.monotonic()
        except (oslo_messaging.MessagingException, exceptions.FleetError):
            raise  # no server responded, so this is no progress
        except BaseException:
            self._progress = time.monotonic()
            raise
        finally:
            self._slots.release()

    def _wait(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not self._slots.acquire(timeout=_CHECK_INTERVAL):
            now = time.monotonic()
            if now > deadline or now - self._progress > STALLED_AFTER:
                raise oslo_messaging.MessageDeliveryFailure(
                    'too many calls wait for servers that do not respond'
                )


def _is_broker_error(error_class: type[BaseException]) -> bool:
    """Return whether an error is about the connection to the broker.

    An error that a server raised has another module here, although its class
    has the same name.
    """
    library = error_class.__module__.partition('.')[0]
    return library in _BROKER_LIBRARIES or (
        issubclass(error_class, OSError) and not library.endswith('_Remote')
    )
