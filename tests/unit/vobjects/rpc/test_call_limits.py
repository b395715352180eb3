# SPDX-License-Identifier: Apache-2.0
"""Limits on waiting callers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import oslo_messaging
import pytest

from vobjects.rpc import call_limits

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


def test_run_returns_the_result_or_raises_the_error() -> None:
    executor = call_limits.TimeoutExecutor()
    assert executor.run(lambda: 'answer', LONG) == 'answer'
    with pytest.raises(ZeroDivisionError):
        executor.run(lambda: 1 // 0, LONG)


def test_run_when_the_timeout_expires_raises() -> None:
    executor, release = call_limits.TimeoutExecutor(), threading.Event()
    with pytest.raises(oslo_messaging.MessagingTimeout, match='no response'):
        executor.run(release.wait, 0.01)
    assert executor.run(lambda: 'next', LONG) == 'next'
    release.set()


def test_run_when_it_times_out_before_a_thread_is_free_never_calls() -> None:
    executor, release = call_limits.TimeoutExecutor(limit=1), threading.Event()
    finished: list[str] = []
    for call in (release.wait, lambda: finished.append('late')):
        with pytest.raises(oslo_messaging.MessagingTimeout):
            executor.run(call, 0.01)
    release.set()
    executor.run(lambda: finished.append('later'), LONG)
    assert finished == ['later']


def test_run_when_the_connection_fails_raises_a_messaging_error() -> None:
    def refuse() -> None:
        raise ConnectionRefusedError('no broker')

    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='no broker'
    ):
        call_limits.TimeoutExecutor().run(refuse, LONG)


@contextlib.contextmanager
def occupied_slot(limit: call_limits.CallLimit) -> Iterator[threading.Event]:
    """Hold a slot in another thread until the event is set."""
    inside, release = threading.Event(), threading.Event()

    def hold() -> None:
        with limit.slot(LONG):
            inside.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    try:
        yield release
    finally:
        release.set()
        thread.join()


def test_slot_when_all_are_taken_waits() -> None:
    limit = call_limits.CallLimit(1)
    with occupied_slot(limit) as release:
        threading.Timer(0.05, release.set).start()
        with limit.slot(LONG):
            assert release.is_set()


def test_slot_when_no_call_finishes_raises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_limits, 'STALLED_AFTER', 0)
    limit = call_limits.CallLimit(1)
    with (
        occupied_slot(limit),
        pytest.raises(oslo_messaging.MessageDeliveryFailure),
        limit.slot(LONG),
    ):
        raise AssertionError
    # The slot is free again.
    with limit.slot(LONG):
        pass
