# SPDX-License-Identifier: Apache-2.0
"""Limit how long callers wait, and how many wait at the same time.

:class:`TimeoutExecutor` adds a timeout to calls that have none;
:class:`CallLimit` keeps threads free for requests that need no server.
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
        self._guard = threading.Lock()
        self._threads = 0
        self._idle = 0  # negative: number of jobs waiting for a thread

    def run(self, call: Callable[[], Any], within: float) -> Any:
        """Run a call and return its result.

        :param call: function without arguments
        :param within: timeout in seconds
        :raises oslo_messaging.MessagingTimeout: the timeout expired; a later
            result is discarded
        :raises oslo_messaging.MessageDeliveryFailure: the broker's client
            library raised an error
        :raises Exception: any other error of the call
        """
        job = _Job(call)
        with self._guard:
            self._idle -= 1
            starts = self._idle < 0 and self._threads < self._limit
            if starts:
                self._threads += 1
                self._idle += 1
        self._jobs.put(job)
        if starts:
            threading.Thread(
                target=self._work, name='bounded-call', daemon=True
            ).start()
        try:
            return job.result(within)
        except Exception as error:
            if not _is_broker_error(type(error)):
                raise
            raise oslo_messaging.MessageDeliveryFailure(
                f'the message bus: {error}'
            ) from error

    def _work(self) -> None:
        while True:
            self._jobs.get().run()
            with self._guard:
                self._idle += 1


class _Job:
    """A call and its result or error."""

    __slots__ = ('_call', '_done', '_error', '_result', '_was_given_up')

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._done = threading.Lock()
        self._done.acquire()
        self._result: Any = None
        self._error: BaseException | None = None
        self._was_given_up = False

    def run(self) -> None:
        if self._was_given_up:
            return
        try:
            self._result = self._call()
        except BaseException as error:  # noqa: BLE001 - raised at the caller
            self._error = error
        self._done.release()

    def result(self, within: float) -> Any:
        if not self._done.acquire(timeout=max(within, 0)):
            self._was_given_up = True
            raise oslo_messaging.MessagingTimeout(
                f'no answer within {within:.1f} s; the message bus may be'
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

    Further callers wait for a place as long as other calls finish. When no
    call has finished for :data:`STALLED_AFTER` seconds, they get an error at
    once.

    :param calls: maximum number of waiting callers
    """

    def __init__(self, calls: int) -> None:
        self._places = threading.Semaphore(calls)
        self._progress = time.monotonic()

    @contextlib.contextmanager
    def place(self, within: float) -> Iterator[None]:
        """Hold a place while the block runs.

        :param within: seconds to wait for a place
        :raises oslo_messaging.MessageDeliveryFailure: no place became free
        """
        if self._places.acquire(blocking=False):
            self._progress = time.monotonic()
        else:
            self._wait(within)
        try:
            yield
            self._progress = time.monotonic()
        except (oslo_messaging.MessagingException, exceptions.FleetError):
            raise  # no server answered, so this is no progress
        except BaseException:
            self._progress = time.monotonic()
            raise
        finally:
            self._places.release()

    def _wait(self, within: float) -> None:
        until = time.monotonic() + within
        while not self._places.acquire(timeout=_CHECK_INTERVAL):
            now = time.monotonic()
            if now > until or now - self._progress > STALLED_AFTER:
                raise oslo_messaging.MessageDeliveryFailure(
                    'too many calls wait for servers that do not answer'
                )


def _is_broker_error(error: type[BaseException]) -> bool:
    """Return whether an error is about the connection to the broker.

    An error that a server raised has another module here, although its class
    has the same name.
    """
    library = error.__module__.partition('.')[0]
    return library in _BROKER_LIBRARIES or (
        issubclass(error, OSError) and not library.endswith('_Remote')
    )
