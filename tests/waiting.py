# SPDX-License-Identifier: Apache-2.0
"""Waiting for what other threads do."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from tests import machine_speed

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


def is_waiting(thread: threading.Thread) -> bool:
    """Return whether a thread waits for a condition or an event."""
    frame = sys._current_frames().get(thread.ident or 0)
    return (
        frame is not None
        and frame.f_code.co_filename == threading.__file__
        and frame.f_code.co_name == 'wait'
    )
