# SPDX-License-Identifier: Apache-2.0
"""Which members count as dead, and when."""

from __future__ import annotations

import dataclasses
import queue
import threading
import types
from typing import Any

import pytest

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects.objects.manifest import Manifest
from vobjects.rpc.expiry import SWEEP_PERIODS, Expiry
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    DEAD_AFTER_PERIODS,
    Member,
)
from vobjects.rpc.membership import JITTER, Membership

#: Longer than any test, so only the fake clock passes it.
PERIOD = 1000.0

QUIET = Member(
    id='quiet',
    binary='worker',
    host='host',
    topic='workers',
    release='0.1.0',
    manifest=Manifest({'Thing': '1.0'}),
)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class SlowMembership(Membership):
    """A membership whose last heartbeat has the age that a test sets."""

    silence = 0.0

    @property
    def age(self) -> float:
        return self.silence


class CountingLedger(MemoryLedger):
    """A ledger that counts the calls of ``expire``."""

    expiries = 0

    def expire(self, *args: Any) -> list[Member]:
        self.expiries += 1
        return super().expire(*args)


class Sweeper:
    """A process that sweeps, and a ledger with a quiet member."""

    def __init__(self, peer: Sweeper | None = None) -> None:
        self.clock = peer.clock if peer else Clock()
        self.ledger = (
            peer.ledger if peer else CountingLedger(self.clock, self.clock)
        )
        self.membership = SlowMembership(
            dataclasses.replace(QUIET, id=f'sweeper of {peer}'),
            self.ledger,
            period=PERIOD,
            on_report=lambda report: self.expiry.note_report(report),
        )
        self.events: list[object] = []
        self.expiry = Expiry(
            self.ledger,
            self.membership,
            announce=lambda: self.events.append('announced'),
            on_expired=lambda dead: self.events.append([m.id for m in dead]),
            clock=self.clock,
        )
        # Too early to judge others.
        self.membership.refresh()
        assert self.expiry.sweep() == []
        self.ledger.report(QUIET)

    def sweep_after(self, seconds: float) -> list[str]:
        """Sweep after a time in which only the sweeper has reported."""
        self.clock.now += seconds
        self.membership.refresh()
        return [member.id for member in self.expiry.sweep()]


def test_death_is_detected_within_two_periods() -> None:
    # The heartbeat that follows a sweep just before the limit starts another.
    assert SWEEP_PERIODS < 1 / BEATS_PER_PERIOD * (1 - JITTER)
    assert DEAD_AFTER_PERIODS + 1 / BEATS_PER_PERIOD <= 2


@pytest.mark.parametrize(
    ('periods', 'dies'),
    [(DEAD_AFTER_PERIODS - 0.1, False), (DEAD_AFTER_PERIODS + 0.01, True)],
)
def test_member_expires_after_periods_without_heartbeat(
    periods: float, dies: bool
) -> None:
    sweeper = Sweeper()
    assert sweeper.sweep_after(periods / 2 * PERIOD) == []
    assert sweeper.sweep_after(periods / 2 * PERIOD) == [QUIET.id] * dies
    assert sweeper.events == (['announced', [QUIET.id]] if dies else [])


def test_sweeps_of_a_fleet_happen_once_per_interval() -> None:
    sweeper = Sweeper()
    other = Sweeper(sweeper)
    sweeper.clock.now += 2 * PERIOD
    for _ in range(8):
        other.sweep_after(0.0)
        sweeper.sweep_after(PERIOD * SWEEP_PERIODS / 4)
    # The first, and one for each interval that is over.
    assert sweeper.ledger.expiries == 3


def test_sweep_without_a_heartbeat_does_nothing() -> None:
    sweeper = Sweeper()
    sweeper.clock.now += 10 * PERIOD
    assert sweeper.expiry.sweep() == []
    assert sweeper.ledger.expiries == 0


def test_process_does_not_sweep_before_live_members_have_reported() -> None:
    sweeper = Sweeper()
    # Perhaps something kept all members from reporting until now.
    sweeper.clock.now += 10 * PERIOD
    other = Sweeper(sweeper)
    assert other.sweep_after(1.4 * PERIOD) == []
    assert sweeper.ledger.expiries == 0


def test_process_sweeps_as_soon_as_live_members_have_reported() -> None:
    sweeper = Sweeper()
    sweeper.sweep_after(DEAD_AFTER_PERIODS * PERIOD - 1)
    assert sweeper.ledger.expiries == 0
    sweeper.sweep_after(1)
    assert sweeper.ledger.expiries == 1


def test_suspended_process_tolerates_silence_of_others() -> None:
    sweeper = Sweeper()
    sweeper.membership.silence = 2 * PERIOD
    assert sweeper.sweep_after(2 * PERIOD) == []
    sweeper.membership.silence = 0.0
    # It has resumed just now; others need time to report, too.
    assert sweeper.sweep_after(0) == []
    assert sweeper.sweep_after(PERIOD) == [QUIET.id]


def test_sweep_just_after_that_of_another_process_does_nothing() -> None:
    sweeper = Sweeper()
    other = Sweeper(sweeper)
    sweeper.clock.now += 0.2 * PERIOD
    sweeper.ledger.report(QUIET)
    assert sweeper.sweep_after(0.7 * PERIOD) == []
    sweeper.clock.now += 0.7 * PERIOD
    sweeper.membership.refresh()
    assert other.sweep_after(0) == []
    sweeper.clock.now += 0.2 * PERIOD
    assert sweeper.expiry.sweep() == []
    assert sweeper.sweep_after(0.1 * PERIOD) == [QUIET.id]


def test_thread_sweeps_after_a_due_report_until_it_is_stopped() -> None:
    sweeper = Sweeper()
    has_expired = threading.Event()
    expiry = Expiry(
        sweeper.ledger,
        sweeper.membership,
        on_expired=lambda dead: has_expired.set(),
        clock=sweeper.clock,
    )
    expiry.note_report(sweeper.ledger.report(sweeper.membership.member))
    sweeper.clock.now += 2 * PERIOD
    before = set(threading.enumerate())
    expiry.start()
    (thread,) = set(threading.enumerate()) - before
    assert thread.daemon
    assert thread.name == 'fleet-expiry'
    expiry.note_report(sweeper.ledger.report(sweeper.membership.member))
    assert has_expired.wait(60)
    expiry.stop()
    assert not thread.is_alive()
    assert sweeper.ledger.expiries <= 2


def test_thread_measures_suspensions_once_per_heartbeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timeouts: queue.Queue[float | None] = queue.Queue()

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            timeouts.put(timeout)
            return super().wait(timeout)

    monkeypatch.setattr(
        'vobjects.rpc.expiry.threading',
        types.SimpleNamespace(Event=Event, Thread=threading.Thread),
    )
    sweeper = Sweeper()
    sweeper.expiry.start()
    assert timeouts.get(timeout=60) == PERIOD / BEATS_PER_PERIOD
    sweeper.expiry.stop()


def test_stop_before_start_returns() -> None:
    sweeper = Sweeper()
    sweeper.expiry.stop()
    assert sweeper.ledger.expiries == 0
