# SPDX-License-Identifier: Apache-2.0
"""Log a line for each request, without delaying requests.

A handler of :mod:`logging` keeps its lock while it writes. The threads of
concurrent requests would wait for each other, which costs more than the line.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import multiprocessing.util
import threading
import time
from typing import TYPE_CHECKING

from oslo_context import context

from vobjects.microversions.version_policy import MICROVERSION

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

LOG = logging.getLogger(__name__)

#: Value of X-Requested-With in requests of the console at ``/ui``.
_UI_CLIENT = 'vobjects-ui'

#: Seconds that a line may wait for others, so that the thread wakes rarely.
PERIOD = 0.02

#: If more lines wait, the thread of a request writes them itself.
MAX_WAITING = 1_000

#: Maximum characters of a method or path in the log.
_MAX_LOGGED = 200


class RequestLog:
    """Writes lines in a thread of its own, which the first line starts.

    The end of the process writes the lines that wait.
    """

    def __init__(self) -> None:
        self._waiting: collections.deque[logging.LogRecord] = (
            collections.deque()
        )
        self._is_waiting = threading.Event()
        self._start = threading.Lock()

    def add(
        self, environ: WSGIEnvironment, status: str, seconds: float
    ) -> None:
        """Log a response.

        :param status: status line, such as ``200 OK``
        :param seconds: duration of the request
        """
        level = logging.DEBUG if _is_poll(environ, status) else logging.INFO
        if not LOG.isEnabledFor(level):
            return
        # ascii(): line ends in a path could forge log lines.
        values = (
            environ.get('REMOTE_ADDR', '-'),
            ascii(environ.get('REQUEST_METHOD', ''))[1:-1][:_MAX_LOGGED],
            ascii(environ.get('PATH_INFO', ''))[1:-1][:_MAX_LOGGED],
            environ.get(MICROVERSION, '-'),
            status[:3],
            seconds * 1000,
        )
        record = LOG.makeRecord(
            *(LOG.name, level, __file__, 0),
            *('%s %s %s %s %s %.1f ms', values, None),
            # The writing thread has no context.
            extra={'context': context.get_current()},
        )
        self._waiting.append(record)
        if not self._is_waiting.is_set():
            self._is_waiting.set()
            if self._start.acquire(blocking=False):
                self._start_writing()
        elif len(self._waiting) > MAX_WAITING:
            self._write()

    def _start_writing(self) -> None:
        # Unlike atexit, this also ends child processes of multiprocessing.
        multiprocessing.util.Finalize(None, self._write, exitpriority=0)
        threading.Thread(
            target=self._run, name='request-log', daemon=True
        ).start()

    def _run(self) -> None:
        while self._is_waiting.wait():
            time.sleep(PERIOD)
            self._is_waiting.clear()
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                LOG.handle(self._waiting.popleft())


def _is_poll(environ: WSGIEnvironment, status: str) -> bool:
    """Return whether the console at ``/ui`` polled successfully.

    The header can be forged, but that hides only successful reads.
    """
    return (
        environ.get('HTTP_X_REQUESTED_WITH') == _UI_CLIENT
        and environ.get('REQUEST_METHOD') == 'GET'
        and status.startswith(('2', '304'))
    )
