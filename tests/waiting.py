# SPDX-License-Identifier: Apache-2.0
"""Waiting for what other threads do."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent import futures
from typing import TypeVar

from tests import machine_speed

Value = TypeVar('Value')
Result = TypeVar('Result')

#: Seconds between two looks.
PERIOD = 0.002


def eventually(condition: Callable[[], object], timeout: float = 120) -> None:
    """Wait until a condition is true.

    :param timeout: seconds on the reference machine
    :raises AssertionError: the timeout expired
    """
    end = time.monotonic() + timeout * machine_speed.scale()
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        time.sleep(PERIOD)


def in_threads(
    call: Callable[[Value], Result], values: Iterable[Value]
) -> list[Result]:
    """Call a function for all values at the same time; return the results."""
    every = list(values)
    with futures.ThreadPoolExecutor(len(every)) as threads:
        return list(threads.map(call, every))


def is_waiting(thread: threading.Thread) -> bool:
    """Return whether a thread waits for a condition or an event."""
    frame = sys._current_frames().get(thread.ident or 0)
    return (
        frame is not None
        and frame.f_code.co_filename == threading.__file__
        and frame.f_code.co_name == 'wait'
    )
