# SPDX-License-Identifier: Apache-2.0
"""Bounds on waiting; nothing here waits for the clock but by events."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import oslo_messaging
import pytest

from vobjects.rpc import call_limits

#: Seconds, where nothing may run out however slow the machine.
LONG = 1000.0


def test_call_returns_what_it_returns_or_raises_what_it_raises() -> None:
    calls = call_limits.TimeoutExecutor()
    assert calls.run(lambda: 'answer', LONG) == 'answer'
    with pytest.raises(ZeroDivisionError):
        calls.run(lambda: 1 // 0, LONG)


def test_call_that_does_not_end_is_given_up() -> None:
    calls, release = call_limits.TimeoutExecutor(), threading.Event()
    with pytest.raises(oslo_messaging.MessagingTimeout, match='no answer'):
        calls.run(release.wait, 0.01)
    assert calls.run(lambda: 'next', LONG) == 'next'
    release.set()


def test_call_given_up_before_it_began_is_never_made() -> None:
    calls, release = call_limits.TimeoutExecutor(limit=1), threading.Event()
    made: list[str] = []
    for call in (release.wait, lambda: made.append('late')):
        with pytest.raises(oslo_messaging.MessagingTimeout):
            calls.run(call, 0.01)
    release.set()
    calls.run(lambda: made.append('later'), LONG)
    assert made == ['later']


def test_error_of_the_connection_is_one_of_messaging() -> None:
    def refuse() -> None:
        raise ConnectionRefusedError('no broker')

    with pytest.raises(
        oslo_messaging.MessageDeliveryFailure, match='no broker'
    ):
        call_limits.TimeoutExecutor().run(refuse, LONG)


@contextlib.contextmanager
def held(limit: call_limits.CallLimit) -> Iterator[threading.Event]:
    """Hold a place in another thread until the event is set."""
    inside, release = threading.Event(), threading.Event()

    def hold() -> None:
        with limit.place(LONG):
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


def test_place_when_all_are_taken_is_waited_for() -> None:
    limit = call_limits.CallLimit(1)
    with held(limit) as release:
        threading.Timer(0.05, release.set).start()
        with limit.place(LONG):
            assert release.is_set()


def test_place_when_nothing_is_answered_any_more_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_limits, 'STALLED_AFTER', 0)
    limit = call_limits.CallLimit(1)
    with (
        held(limit),
        pytest.raises(oslo_messaging.MessageDeliveryFailure),
        limit.place(LONG),
    ):
        raise AssertionError
    # The place is free again, and others can have it.
    with limit.place(LONG):
        pass
