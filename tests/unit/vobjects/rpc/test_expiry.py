# SPDX-License-Identifier: Apache-2.0
"""Which members count as dead, and when."""

from __future__ import annotations

import dataclasses

import pytest

from vobjects.objects.manifest import Manifest
from vobjects.rpc.expiry import Expiry
from vobjects.rpc.fleet import (
    BEATS_PER_PERIOD,
    DEAD_AFTER_PERIODS,
    Member,
    View,
)
from vobjects.rpc.membership import Membership
from vobjects.rpc.memory_ledger import MemoryLedger

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

    def expire(self, older_than: float) -> list[Member]:
        self.expiries += 1
        return super().expire(older_than)


class Sweeper:
    """A process that sweeps, and a ledger with a quiet member."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.ledger = CountingLedger(self.clock)
        self.membership = SlowMembership(
            dataclasses.replace(QUIET, id='sweeper'),
            self.ledger,
            period=PERIOD,
        )
        self.events: list[object] = []
        self.expiry = Expiry(
            self.ledger,
            self.membership,
            announce=lambda: self.events.append('announced'),
            on_expired=lambda dead: self.events.append([m.id for m in dead]),
        )
        self.ledger.report(QUIET)

    def sweep_after(self, seconds: float) -> list[str]:
        """Sweep after a time in which only the sweeper has reported."""
        self.clock.now += seconds
        self.membership.refresh()
        return [member.id for member in self.expiry.sweep()]


def test_death_is_detected_within_two_periods() -> None:
    # A sweep just before the limit is followed by another after an interval.
    assert DEAD_AFTER_PERIODS + 1 / BEATS_PER_PERIOD <= 2


@pytest.mark.parametrize(
    ('periods', 'dies'),
    [(DEAD_AFTER_PERIODS - 0.1, False), (DEAD_AFTER_PERIODS + 0.01, True)],
)
def test_member_expires_after_periods_without_heartbeat(
    periods: float, dies: bool
) -> None:
    sweeper = Sweeper()
    assert sweeper.sweep_after(periods * PERIOD) == [QUIET.id] * dies
    assert sweeper.events == (['announced', [QUIET.id]] if dies else [])


def test_sweep_of_a_healthy_fleet_does_not_call_the_ledger() -> None:
    sweeper = Sweeper()
    sweeper.sweep_after(PERIOD)
    assert sweeper.ledger.expiries == 0


def test_sweep_with_an_old_view_asks_the_ledger() -> None:
    sweeper = Sweeper()
    sweeper.sweep_after(PERIOD)
    sweeper.clock.now += PERIOD * 0.9
    # It has not reported since; its view shows no member as dead.
    sweeper.membership.silence = PERIOD * 0.9
    assert [m.id for m in sweeper.expiry.sweep()] == [QUIET.id]


def test_sweep_before_the_first_view_does_nothing() -> None:
    sweeper = Sweeper()
    assert sweeper.expiry.sweep() == []
    assert isinstance(sweeper.ledger.get(), View)


def test_suspended_process_tolerates_silence_of_others() -> None:
    sweeper = Sweeper()
    sweeper.membership.silence = 4 * PERIOD
    assert sweeper.sweep_after(5 * PERIOD) == []
    sweeper.membership.silence = 0.0
    # It has resumed just now; others need time to report, too.
    assert sweeper.sweep_after(0) == []
    assert sweeper.sweep_after(PERIOD) == [QUIET.id]
