# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

from engine import periodic


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


def new_sender(recorder: NoticeRecorder) -> periodic.Periodic:
    return periodic.Periodic(
        'sender', recorder, None, 'Could not send', calls_last=True
    )


def test_requests_during_notice_are_combined() -> None:
    recorder = NoticeRecorder()
    sender = new_sender(recorder)
    sender.start()
    sender.wake()
    assert recorder.begun.acquire(timeout=240)
    for _ in range(10):
        sender.wake()
    recorder.may_go.release()
    assert recorder.begun.acquire(timeout=240)
    recorder.may_go.release(2)
    sender.stop()
    assert recorder.count == 3  # with the last


def test_stop_sends_pending_notice() -> None:
    recorder = NoticeRecorder()
    recorder.may_go.release(10)
    sender = new_sender(recorder)
    sender.wake()
    sender.start()
    sender.stop()
    assert recorder.count >= 1
