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
