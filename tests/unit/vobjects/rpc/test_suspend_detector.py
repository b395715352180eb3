# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from vobjects.rpc import suspend_detector


class Watcher:
    """A vigil whose clock is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.detector = suspend_detector.SuspendDetector(
            2.0, 1.5, clock=lambda: self.now
        )

    def allows(self, after: float, silence: float = 0.0) -> float:
        self.now += after
        return self.detector.allowed_silence(silence)


def test_regular_calls_allow_no_silence() -> None:
    watcher = Watcher()
    assert [watcher.allows(after=2.0) for _ in range(5)] == [0.0] * 5


def test_late_call_allows_as_much_silence() -> None:
    watcher = Watcher()
    assert watcher.allows(after=1.0) == 0.0
    assert watcher.allows(after=64.0) == 64.0
    assert watcher.allows(after=1.0) == 64.0
    assert watcher.allows(after=0.5) == 0.0


def test_missed_heartbeat_allows_as_much_silence() -> None:
    watcher = Watcher()
    assert watcher.allows(after=1.0, silence=2.0) == 0.0
    assert watcher.allows(after=1.0, silence=3.0) == 3.0
    assert watcher.allows(after=1.0, silence=4.0) == 4.0
    assert watcher.allows(after=1.0, silence=0.1) == 4.0
    assert watcher.allows(after=0.5, silence=0.6) == 0.0


def test_slow_process_allows_bounded_silence() -> None:
    watcher = Watcher()
    watcher.allows(after=1.0)
    assert {watcher.allows(after=3.0) for _ in range(9)} == {3.0}


def test_first_call_allows_no_silence() -> None:
    detector = suspend_detector.SuspendDetector(0.1, 1.0)
    assert detector.allowed_silence(0.0) == 0.0
