# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from engine import vigil


class Watcher:
    """A vigil whose clock is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.vigil = vigil.Vigil(2.0, 1.5, clock=lambda: self.now)

    def believes(self, after: float, silence: float = 0.0) -> bool:
        self.now += after
        return self.vigil.look(silence)


def test_watcher_that_looks_in_time_believes_from_its_first_look_on() -> None:
    watcher = Watcher()
    assert all(watcher.believes(after=1.9) for _ in range(5))


def test_watcher_that_looked_late_believes_after_a_grace() -> None:
    watcher = Watcher()
    assert watcher.believes(after=1.0)
    assert not watcher.believes(after=2.1)
    assert not watcher.believes(after=1.0)
    assert watcher.believes(after=0.5)


def test_watcher_that_is_not_heard_itself_believes_after_a_grace() -> None:
    watcher = Watcher()
    assert watcher.believes(after=1.0, silence=2.0)
    assert not watcher.believes(after=1.0, silence=2.1)
    assert not watcher.believes(after=1.0, silence=3.1)
    assert not watcher.believes(after=1.0, silence=0.1)
    assert watcher.believes(after=0.5, silence=0.6)
