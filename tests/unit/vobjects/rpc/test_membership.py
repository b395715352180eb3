# SPDX-License-Identifier: Apache-2.0
"""Views and leases, on a ledger in memory."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time

import pytest

from tests.unit.vobjects.rpc.memberships import (
    LONG,
    NEW,
    OLD,
    PERIOD,
    Clock,
    Fleet,
    TestLedger,
    fleet,
    ledger,
)
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from tests.waiting import eventually, is_waiting
from vobjects import exceptions
from vobjects.rpc.fleet import (
    CLOCK_DRIFT,
    DEAD_AFTER_PERIODS,
    LEASE_PERIODS,
    Member,
    Report,
    View,
)
from vobjects.rpc.membership import Membership

__all__ = ['fleet', 'ledger']


def test_current_within_the_lease_sends_no_report(
    fleet: Fleet, ledger: TestLedger
) -> None:
    sender = fleet.add(NEW, period=LONG)
    first = sender.current()
    ledger.broken = True
    assert sender.current() is first
    assert ledger.reports == 1


def test_report_names_the_known_view(fleet: Fleet, ledger: TestLedger) -> None:
    sender = fleet.add(NEW)
    first = sender.refresh()
    assert ledger.known is None
    sender.refresh()
    assert ledger.known is first


def test_current_after_the_lease_renews_or_raises(
    fleet: Fleet, ledger: TestLedger
) -> None:
    clock = Clock()
    sender = fleet.add(NEW, clock=clock)
    sender.current()
    clock.now += PERIOD * LEASE_PERIODS + 0.01
    sender.current()
    assert ledger.reports == 2
    ledger.broken = True
    clock.now += PERIOD * LEASE_PERIODS + 0.01
    with pytest.raises(exceptions.NoLivePeer):
        sender.current()
    ledger.broken = False


def test_current_when_a_report_takes_longer_than_a_lease_raises() -> None:
    clock = Clock()

    class SlowLedger(MemoryLedger):
        def report(self, member: Member, known: View | None = None) -> Report:
            report = super().report(member, known)
            clock.now += LEASE_PERIODS + 0.01
            return report

    member = Member('api', 'api', 'host', 'api', '0.1.0', NEW)
    sender = Membership(member, SlowLedger(clock), period=1.0, clock=clock)
    with pytest.raises(exceptions.NoLivePeer, match='longer than a lease'):
        sender.current()
    assert sender.view is not None


def test_lease_of_a_dead_member_has_expired() -> None:
    slow, fast = 1 - CLOCK_DRIFT / 2, 1 + CLOCK_DRIFT / 2
    assert LEASE_PERIODS / slow < DEAD_AFTER_PERIODS / fast


def test_current_when_the_ledger_fails_shares_the_failure(
    fleet: Fleet, ledger: TestLedger
) -> None:
    readings = itertools.count(1)
    read = 0

    def clock() -> float:
        nonlocal read
        now = time.monotonic()
        read = next(readings)
        return now

    sender = fleet.add(NEW, clock=clock)
    ledger.broken = True
    ledger.lock.acquire()
    failures: list[str] = []
    barrier = threading.Barrier(9)

    def call() -> None:
        barrier.wait()
        try:
            sender.current()
        except exceptions.NoLivePeer as error:
            failures.append(error.message)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    barrier.wait()
    # Each thread reads the clock twice before it waits, and one reports.
    eventually(lambda: read > 2 * len(threads))
    ledger.lock.release()
    for thread in threads:
        thread.join()
    assert failures == ['the ledger is broken'] * 8
    assert ledger.reports <= 2
    ledger.broken = False


@pytest.mark.parametrize('is_over', [False, True])
def test_lease_begins_with_the_report_and_not_with_its_response(
    ledger: TestLedger, is_over: bool
) -> None:
    clock = Clock()

    class SlowLedger(TestLedger):
        """A ledger whose response takes a period."""

        def report(self, member: Member, known: View | None = None) -> Report:
            report = super().report(member, known)
            clock.now += 1.0
            return report

    ledger = SlowLedger()
    sender = Membership(
        Member('a', 'api', 'host', 'api', '0.1.0', NEW),
        ledger,
        period=1.0,
        clock=clock,
    )
    sender.current()
    clock.now = 100.0 + LEASE_PERIODS + (0.1 if is_over else -0.1)
    sender.current()
    assert ledger.reports == 1 + is_over


def test_stop_leaves_the_ledger(fleet: Fleet, ledger: TestLedger) -> None:
    membership = fleet.add(NEW)
    membership.start()
    membership.join()
    generation = ledger.generation
    membership.stop()
    assert ledger.members(1) == []
    assert ledger.generation == generation + 1


def test_stop_ends_the_heartbeats_and_announces_each_change_once(
    ledger: TestLedger,
) -> None:
    announcements = 0

    def announce() -> None:
        nonlocal announcements
        announcements += 1

    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(me, ledger, period=LONG, announce=announce)
    before = set(threading.enumerate())
    membership.start()
    (thread,) = set(threading.enumerate()) - before
    assert thread.daemon
    assert thread.name == 'fleet-heartbeat'
    membership.refresh()
    announcements = 0
    membership.stop()
    assert not thread.is_alive()
    assert announcements == 1


def test_stop_announces_a_report_although_the_member_is_gone(
    ledger: TestLedger,
) -> None:
    announced = threading.Event()
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(me, ledger, period=LONG, announce=announced.set)
    membership.refresh()
    ledger.leave('a')
    membership.stop()
    assert announced.is_set()


def test_heartbeat_when_the_ledger_fails_continues(
    fleet: Fleet, ledger: TestLedger
) -> None:
    membership = fleet.add(NEW)
    membership.start()
    ledger.broken = True
    wait_for_reports(ledger, ledger.reports + 2)
    ledger.broken = False
    wait_for_reports(ledger, ledger.reports + 2)


@pytest.mark.parametrize(
    'error', [exceptions.NoLivePeer('out'), RuntimeError('bug')]
)
def test_heartbeat_logs_the_beginning_and_the_end_of_an_outage(
    caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    class Outage(TestLedger):
        """A ledger that fails from the second to the fourth report."""

        def report(self, member: Member, known: View | None = None) -> Report:
            report = super().report(member, known)
            if self.reports == 7:
                stopping.set()
            if 2 <= self.reports <= 4:
                raise error
            return report

    stopping = threading.Event()
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(me, Outage(), period=0.01)
    with caplog.at_level('INFO', 'vobjects'):
        membership.start()
        assert stopping.wait(120)
        membership.stop()
    assert [record.message for record in caplog.records] == (
        ['The heartbeat failed'] * 3
        if isinstance(error, RuntimeError)
        else ['The fleet is out of reach: out']
    ) + ['The fleet is reachable again']


def test_wakeup_sends_one_heartbeat(fleet: Fleet, ledger: TestLedger) -> None:
    membership = fleet.add(NEW, period=LONG)
    membership.start()
    # The second reports the generation of the first.
    wait_for_reports(ledger, 2)
    membership.wake()
    wait_for_reports(ledger, 3)
    eventually(lambda: is_waiting(membership._thread))
    assert ledger.reports == 3


def test_heartbeat_with_the_known_view_causes_no_further_one(
    ledger: TestLedger,
) -> None:
    class Recorded(Membership):
        """A membership whose first two pauses end at once."""

        def heartbeat_pause(self) -> float:
            calls.append('pause')
            if len(calls) < 3:
                return 0.0
            has_paused.set()
            return LONG

        def wakeup_delay(self) -> float:
            calls.append('wakeup')
            return 0.0

    calls: list[str] = []
    has_paused = threading.Event()
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Recorded(me, ledger, period=LONG)
    membership.refresh()
    membership.start()
    assert has_paused.wait(120)
    membership.stop()
    assert calls[:3] == ['pause'] * 3


@pytest.mark.parametrize(
    ('jitter', 'pause', 'delay'),
    [(0.0, 5.0, 0.0), (0.5, 4.5, 0.003), (1.0, 4.0, 0.006)],
)
def test_pause_and_delay_of_heartbeats_vary_at_random(
    ledger: TestLedger, jitter: float, pause: float, delay: float
) -> None:
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    for name in 'bc':
        ledger.report(dataclasses.replace(me, id=name))
    membership = Membership(me, ledger, period=10.0, jitter=lambda: jitter)
    assert membership.wakeup_delay() == 0
    membership.refresh()
    assert membership.heartbeat_pause() == pytest.approx(pause)
    assert membership.wakeup_delay() == pytest.approx(delay)


def test_heartbeat_after_a_wakeup_is_delayed_until_a_stop(
    ledger: TestLedger,
) -> None:
    class Delayed(Membership):
        def wakeup_delay(self) -> float:
            delayed.set()
            return LONG

    delayed = threading.Event()
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Delayed(me, ledger, period=LONG)
    membership.start()
    membership.wake()
    wait_for_reports(ledger, 1)
    assert delayed.wait(120)
    eventually(lambda: is_waiting(membership._thread))
    assert ledger.reports == 1
    membership.stop()


def wait_for_reports(ledger: TestLedger, count: int) -> None:
    eventually(lambda: ledger.reports >= count)


def test_on_view_is_called_once_per_generation(ledger: TestLedger) -> None:
    generations: list[int] = []
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(
        me,
        ledger,
        period=PERIOD,
        on_view=lambda view: generations.append(view.generation),
    )
    membership.refresh()
    membership.refresh()
    ledger.report(dataclasses.replace(me, id='b'))
    membership.refresh()
    assert generations == [1, 2]


def test_on_view_hears_a_view_before_others_see_it(
    ledger: TestLedger,
) -> None:
    published: list[int] = []

    def on_view(view: View) -> None:
        known = membership.view
        published.append(0 if known is None else known.generation)

    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(me, ledger, period=PERIOD, on_view=on_view)
    membership.refresh()
    ledger.report(dataclasses.replace(me, id='b'))
    membership.refresh()
    assert published == [0, 1]


def test_view_without_report_after_the_lease_reads_the_ledger(
    fleet: Fleet, ledger: TestLedger
) -> None:
    membership, old = fleet.add(NEW), fleet.add(OLD)
    membership.refresh()
    membership.period = 0.0  # a lease that is over at once
    old.refresh()
    reports = ledger.reports

    assert membership.view_without_report().cap('workers') == OLD
    assert ledger.reports == reports

    membership.period = LONG
    ledger.leave(old.member.id)
    assert membership.view_without_report().cap('workers') == NEW
    assert membership.view_without_report() is membership.view


def test_views_contain_the_pin(ledger: TestLedger) -> None:
    server = Member('s', 'worker', 'host', 'workers', '0.1.0', NEW, 'up')
    ledger.report(server)
    sender = dataclasses.replace(server, id='a', topic='api')
    membership = Membership(sender, ledger, period=LONG, pinned=OLD)
    assert membership.view_without_report().cap('workers') == OLD
    assert membership.renew().cap('workers') == OLD


def test_current_while_the_heartbeat_fails_sends_no_report(
    ledger: TestLedger,
) -> None:
    membership = Fleet(ledger).add(NEW)
    ledger.broken = True
    membership.start()
    try:
        wait_for_reports(ledger, 2)  # then the first has failed
        ledger.reporters.clear()
        with pytest.raises(exceptions.NoLivePeer, match='is broken'):
            membership.current()

        membership.period = LONG  # of the wait for a heartbeat
        ledger.broken = False
        assert membership.current().servers('workers')
        assert threading.current_thread() not in ledger.reporters
    finally:
        membership.stop()


def test_deadline_uses_the_clock_of_the_ledger(ledger: TestLedger) -> None:
    membership = Fleet(ledger).add(NEW)
    membership.refresh()
    assert (
        membership.deadline(30) is None
    )  # an old ledger does not report its time
    assert not membership.has_expired(0.0)

    ledger.time = 5e9
    membership.refresh()
    deadline = membership.deadline(LONG)
    assert deadline is not None
    assert 5e9 <= deadline - LONG < 5e9 + LONG
    assert not membership.has_expired(deadline)
    assert membership.has_expired(5e9 - 1)


def test_current_after_a_failure_without_heartbeats_reports_again(
    fleet: Fleet, ledger: TestLedger
) -> None:
    sender = fleet.add(NEW)
    ledger.broken = True
    with pytest.raises(exceptions.NoLivePeer):
        sender.refresh()
    ledger.broken = False
    assert sender.current().count() == 1


def test_refresh_of_threads_that_wait_for_a_report_shares_the_next() -> None:
    ticks = itertools.count()
    has_asked = threading.Semaphore(0)
    is_reporting, may_answer = threading.Event(), threading.Event()

    class SlowLedger(TestLedger):
        def report(self, member: Member, known: View | None = None) -> Report:
            is_reporting.set()
            assert may_answer.wait(60)
            return super().report(member, known)

    def clock() -> float:
        now = float(next(ticks))
        has_asked.release()
        return now

    ledger = SlowLedger()
    membership = Membership(
        Member('a', 'worker', 'host', 'workers', '0.1.0', NEW),
        ledger,
        period=LONG,
        clock=clock,
    )
    views: list[View] = []
    threads = [
        threading.Thread(target=lambda: views.append(membership.refresh()))
        for _ in range(3)
    ]
    threads[0].start()
    assert is_reporting.wait(60)
    for _ in range(2):  # the clock was read before the lock and after
        assert has_asked.acquire(timeout=60)
    for thread in threads[1:]:
        thread.start()
        assert has_asked.acquire(timeout=60)
    may_answer.set()
    for thread in threads:
        thread.join(60)
    assert ledger.reports == 2
    assert [view.generation for view in views] == [1, 1, 1]


def test_deadline_when_a_report_takes_time_is_never_early() -> None:
    clock = Clock()

    class SlowLedger(MemoryLedger):
        def report(self, member: Member, known: View | None = None) -> Report:
            clock.now += 1.0
            report = super().report(member, known)
            clock.now += 2.0
            return dataclasses.replace(report, now=5000.0)

    membership = Membership(
        Member('a', 'worker', 'host', 'workers', '0.1.0', NEW),
        SlowLedger(clock),
        period=LONG,
        clock=clock,
    )
    start = clock.now
    membership.refresh()
    # Now it is between 5,000 and 5,003 on the ledger's clock.
    assert clock.now == start + 3.0
    assert membership.deadline(10.0) == 5013.0
    assert not membership.has_expired(5000.0)
    assert membership.has_expired(4999.0)


#: Reports of a sender and of a server, in order, and the seconds by which the
#: ledger's clock is set before each. Then the server receives a call.
STEPS = {
    'forward before the server reports': [('sender', 0.0), ('server', 60.0)],
    'back before the sender reports': [('server', 0.0), ('sender', -60.0)],
    'back and forward': [
        ('server', 0.0),
        ('sender', 0.0),
        ('sender', -60.0),
        ('server', 60.0),
    ],
    'forward and back': [
        ('server', 0.0),
        ('sender', 60.0),
        ('server', -60.0),
    ],
}


@pytest.mark.parametrize('steps', STEPS.values(), ids=STEPS)
def test_step_of_the_ledger_clock_makes_no_deadline_pass(
    steps: list[tuple[str, float]],
) -> None:
    clock, ahead = Clock(), 0.0
    ledger = MemoryLedger(lambda: clock.now + ahead)
    processes = {
        name: Membership(
            Member(name, 'worker', 'host', name, '0.1.0', NEW),
            ledger,
            period=LONG,
            clock=clock,
        )
        for name in ('sender', 'server')
    }
    for each in processes.values():
        each.refresh()
    for name, seconds in steps:
        ahead += seconds
        clock.now += LONG / 2
        processes[name].refresh()
    deadline = processes['sender'].deadline(1.0)
    assert deadline is not None
    assert not processes['server'].has_expired(deadline)
    # Both know the new time when the old readings no longer count.
    clock.now += 4 * LONG
    for each in processes.values():
        each.refresh()
    deadline = processes['sender'].deadline(1.0)
    assert deadline is not None
    clock.now += 2.0
    assert processes['server'].has_expired(deadline)


def test_await_view_returns_when_a_view_satisfies_the_condition(
    fleet: Fleet, ledger: TestLedger
) -> None:
    sender = fleet.add(NEW, topic='api', period=LONG)
    sender.start()
    sender.refresh()
    server = fleet.add(NEW, period=LONG)

    def is_ready(view: View) -> bool:
        if not view.count('workers'):
            server.refresh()
            sender.wake()
            return False
        return True

    assert sender.await_view(is_ready, LONG).count('workers') == 1


def test_await_view_after_its_timeout_returns_the_current_view(
    fleet: Fleet,
) -> None:
    sender = fleet.add(NEW, topic='api', period=LONG)
    assert sender.await_view(lambda view: False, 0.01).count() == 1
