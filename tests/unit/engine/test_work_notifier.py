# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

from engine import work_notifier


class NoticeRecorder:
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
    recorder = NoticeRecorder()
    sender = work_notifier.WorkNotifier(recorder)
    sender.start()
    sender.notify()
    assert recorder.begun.acquire(timeout=240)
    for _ in range(10):
        sender.notify()
    recorder.may_go.release()
    assert recorder.begun.acquire(timeout=240)
    recorder.may_go.release(2)
    sender.stop()
    assert recorder.count == 3  # with the last


def test_stop_sends_pending_notice() -> None:
    recorder = NoticeRecorder()
    recorder.may_go.release(10)
    sender = work_notifier.WorkNotifier(recorder)
    sender.notify()
    sender.start()
    sender.stop()
    assert recorder.count >= 1
