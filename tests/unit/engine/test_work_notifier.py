# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

from engine import work_notifier


class Told:
    """Counts notices; each waits until it may go."""

    def __init__(self) -> None:
        self.count = 0
        self.begun = threading.Semaphore(0)
        self.may_go = threading.Semaphore(0)

    def __call__(self) -> None:
        self.count += 1
        self.begun.release()
        assert self.may_go.acquire(timeout=240)


def test_requests_during_notice_are_combined() -> None:
    told = Told()
    sender = work_notifier.WorkNotifier(told)
    sender.start()
    sender.notify()
    assert told.begun.acquire(timeout=240)
    for _ in range(10):
        sender.notify()
    told.may_go.release()
    assert told.begun.acquire(timeout=240)
    told.may_go.release(2)
    sender.stop()
    assert told.count == 3  # with the last


def test_stop_sends_pending_notice() -> None:
    told = Told()
    told.may_go.release(10)
    sender = work_notifier.WorkNotifier(told)
    sender.notify()
    sender.start()
    sender.stop()
    assert told.count >= 1
