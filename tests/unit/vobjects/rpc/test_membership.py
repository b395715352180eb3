# SPDX-License-Identifier: Apache-2.0
"""Views, leases and the join barrier, on a ledger in memory."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.waiting import eventually, is_waiting
from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    CLOCK_DRIFT,
    DEAD_AFTER_PERIODS,
    EXACT_COUNT,
    LEASE_PERIODS,
    LONGEST_LEASE_PERIODS,
    Member,
    Report,
    Unaware,
    View,
)
from vobjects.rpc.membership import Membership
from vobjects.rpc.memory_ledger import MemoryLedger

OLD = Manifest({'Thing': '1.0'})
NEW = Manifest({'Thing': '1.1'})
PERIOD = 0.2

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


class TestLedger(MemoryLedger):
    """A ledger in memory that counts reports, and can fail or wait."""

    __test__ = False

    def __init__(self) -> None:
        super().__init__()
        self.reports = 0
        self.known: View | None = None
        self.reporters: set[threading.Thread] = set()
        self.broken = False
        self.time: float | None = None
        self.lock = threading.Lock()

    @property
    def generation(self) -> int:
        return self.get().generation

    def report(self, member: Member, known: View | None = None) -> Report:
        with self.lock:
            self.reports += 1
            self.known = known
            self.reporters.add(threading.current_thread())
            if self.broken:
                raise exceptions.NoLivePeer('the ledger is broken')
            report = super().report(member, known)
            return dataclasses.replace(report, now=self.time)


@pytest.fixture
def ledger() -> TestLedger:
    return TestLedger()


class Fleet:
    """Memberships that wake each other after changes."""

    def __init__(self, ledger: TestLedger) -> None:
        self.ledger = ledger
        self.memberships: list[Membership] = []
        self.numbers = itertools.count()

    def add(
        self,
        manifest: Manifest,
        topic: str = 'workers',
        period: float = PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> Membership:
        member = Member(
            id=f'{topic}-{next(self.numbers)}',
            binary='worker',
            host='host',
            topic=topic,
            release='0.1.0',
            manifest=manifest,
        )
        membership = Membership(
            member,
            self.ledger,
            period=period,
            announce=self.announce,
            clock=clock,
        )
        self.memberships.append(membership)
        return membership

    def announce(self) -> None:
        for membership in self.memberships:
            membership.wake()

    def stop(self) -> None:
        for membership in self.memberships:
            membership.stop()


@pytest.fixture
def fleet(ledger: TestLedger) -> Iterator[Fleet]:
    fleet = Fleet(ledger)
    yield fleet
    fleet.stop()


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


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


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


def test_join_at_the_cap_does_not_wait(fleet: Fleet) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError('join() waits')

    for membership in (fleet.add(NEW), fleet.add(NEW)):
        membership.start()
        membership.join(wait)
        assert membership.member.state == 'up'


def test_join_below_the_cap_waits_until_senders_know(
    fleet: Fleet, ledger: TestLedger
) -> None:
    sender = fleet.add(NEW, topic='api')
    sender.start()
    first = fleet.add(NEW)
    first.start()
    first.join()
    assert dict(sender.refresh().cap('workers')) == {'Thing': '1.1'}

    old = fleet.add(OLD)
    old.start()
    old.join()
    view = sender.view
    assert view is not None
    assert dict(view.cap('workers')) == {'Thing': '1.0'}
    assert sender.member.seen <= ledger.generation


class FailingLedger(MemoryLedger):
    """A ledger whose database fails between two times."""

    outage = (0.0, 0.0)

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.before_report: Callable[[Member], None] = lambda member: None

    def unaware(self, generation: int, member_id: str) -> Unaware:
        self._check()
        return super().unaware(generation, member_id)

    def report(self, member: Member, known: View | None = None) -> Report:
        self._check()
        self.before_report(member)
        return super().report(member, known)

    def _check(self) -> None:
        if self.outage[0] <= self.now() < self.outage[1]:
            raise exceptions.Unreachable('the database fails')


class Barrier:
    """A fleet whose clock moves while a server waits at the barrier."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.ledger = FailingLedger(self.clock)
        self.waits = 0

    def add(self, manifest: Manifest, topic: str = 'workers') -> Membership:
        member = Member(
            f'{topic}-{len(self.ledger.members(99))}',
            'worker',
            'host',
            topic,
            '0.1.0',
            manifest,
        )
        membership = Membership(
            member, self.ledger, period=1.0, clock=self.clock
        )
        membership.refresh()
        return membership

    def join(self, membership: Membership) -> int:
        """Join, and return how often the server has waited."""
        before = self.waits

        def wait(seconds: float) -> None:
            self.waits += 1
            self.clock.now += seconds
            with contextlib.suppress(exceptions.Unreachable):
                membership.refresh()  # as its heartbeats do

        membership.join(wait)
        return self.waits - before


def test_join_does_not_wait_for_members_that_know_the_new_server() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    for membership in (sender, first):
        membership.refresh()  # they see the generation
        membership.refresh()  # and report that
    assert barrier.join(old) == 0
    assert old.member.state == 'up'


def test_join_waits_while_one_of_two_members_does_not_know() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    for _ in range(2):
        first.refresh()
    start = barrier.clock.now
    assert barrier.join(old) > 0
    assert barrier.clock.now - start >= LONGEST_LEASE_PERIODS
    assert sender.age >= LONGEST_LEASE_PERIODS


def test_join_when_the_ledger_fails_for_a_while_waits_a_lease_more() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 1, start + 2)
    barrier.join(old)
    assert old.member.state == 'up'
    assert barrier.clock.now >= start + 2 + LONGEST_LEASE_PERIODS
    assert sender.age >= LONGEST_LEASE_PERIODS


def test_join_with_a_heartbeat_per_period_waits_for_one_lease() -> None:
    barrier = Barrier()
    barrier.add(NEW, 'api')
    barrier.join(barrier.add(NEW))
    old = barrier.add(OLD)
    start = barrier.clock.now

    def wait(seconds: float) -> None:
        barrier.clock.now += seconds
        if old.age >= 1.0:
            old.refresh()
        assert barrier.clock.now < start + 2 * LONGEST_LEASE_PERIODS

    old.join(wait)
    assert old.member.state == 'up'


def test_join_when_the_ledger_removed_the_server_waits_again() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 0.05, start + 1)

    def wait(seconds: float) -> None:
        barrier.clock.now += seconds
        if barrier.clock.now < start + 1:
            barrier.ledger.leave(old.member.id)
        elif barrier.clock.now > start + 1.5:
            for membership in (sender, first):
                membership.refresh()

    old.join(wait)
    assert old.member.state == 'up'
    view = sender.view
    assert view is not None
    assert view.cap('workers') == OLD


def test_join_when_removed_during_each_pause_waits_again() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    waits = 0

    def wait(seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits <= 2:
            barrier.clock.now += LONGEST_LEASE_PERIODS
            barrier.ledger.leave(old.member.id)
        for membership in (sender, first):
            membership.refresh()

    def check_senders(member: Member) -> None:
        # Servers that join next skip the barrier if this one is up.
        if member.id == old.member.id and member.state == 'up':
            view = sender.view
            assert view is not None
            assert view.cap('workers') == OLD

    barrier.ledger.before_report = check_senders
    old.join(wait)
    assert waits > 2
    assert old.member.state == 'up'


def test_join_when_removed_before_its_last_report_waits_again() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    old = barrier.add(OLD)
    for _ in range(2):
        sender.refresh()
        first.refresh()
    waits = 0

    def wait(seconds: float) -> None:
        nonlocal waits
        waits += 1
        barrier.clock.now += seconds
        assert old.member.state == 'joining'
        for membership in (sender, first):
            membership.refresh()

    def remove_once(member: Member) -> None:
        if member.id == old.member.id and member.state == 'up':
            barrier.ledger.before_report = lambda member: None
            barrier.clock.now += LONGEST_LEASE_PERIODS
            barrier.ledger.leave(member.id)
            for membership in (sender, first):
                membership.refresh()

    barrier.ledger.before_report = remove_once
    old.join(wait)
    assert waits > 0
    assert old.member.state == 'up'
    view = sender.view
    assert view is not None
    assert view.cap('workers') == OLD


def test_join_when_the_ledger_fails_for_a_lease_raises() -> None:
    barrier = Barrier()
    barrier.add(NEW, 'api')
    barrier.join(barrier.add(NEW))
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 0.5, start + 100)
    with pytest.raises(exceptions.Unreachable):
        barrier.join(old)
    assert old.member.state == 'joining'
    assert barrier.clock.now < start + 2 * LONGEST_LEASE_PERIODS


def test_join_below_a_new_hold_waits_until_senders_know_it() -> None:
    barrier = Barrier()
    sender, first = barrier.add(NEW, 'api'), barrier.add(NEW)
    barrier.join(first)
    sender.refresh()
    old = barrier.add(OLD)
    barrier.ledger.hold('workers')  # at the version of the new server
    assert barrier.join(old) > 0
    assert sender.age >= LEASE_PERIODS


def test_join_waits_if_a_server_with_its_manifest_still_waits() -> None:
    barrier = Barrier()
    barrier.add(NEW, 'api')
    barrier.join(barrier.add(NEW))
    barrier.add(OLD)  # it has not passed its barrier
    assert barrier.join(barrier.add(OLD)) > 0


def test_join_after_a_server_with_its_manifest_does_not_wait() -> None:
    barrier = Barrier()
    barrier.add(NEW, 'api')
    barrier.join(barrier.add(NEW))
    assert barrier.join(barrier.add(OLD)) > 0
    assert barrier.join(barrier.add(OLD)) == 0


def test_join_of_a_server_with_a_pin_waits_for_senders_without() -> None:
    barrier = Barrier()
    barrier.add(NEW, 'api')
    barrier.join(barrier.add(NEW))
    member = Member('old', 'worker', 'host', 'workers', '0.1.0', OLD)
    emulating = Membership(
        member, barrier.ledger, period=1.0, pinned=OLD, clock=barrier.clock
    )
    emulating.refresh()
    assert barrier.join(emulating) > 0


def test_join_of_a_large_group_wakes_nobody(ledger: TestLedger) -> None:
    announced: list[int] = []

    def add(number: int) -> None:
        membership = Membership(
            Member(str(number), 'worker', 'host', 'workers', '0.1.0', NEW),
            ledger,
            period=PERIOD,
            announce=lambda: announced.append(number),
        )
        membership.join()

    for number in range(2 * EXACT_COUNT):
        add(number)
    assert set(announced) == set(range(EXACT_COUNT))


def test_join_below_the_cap_waits_for_the_lease_of_a_silent_sender(
    fleet: Fleet, ledger: TestLedger
) -> None:
    first = fleet.add(NEW)
    first.start()
    first.join()
    silent = fleet.add(NEW, topic='api')
    silent.refresh()  # in the ledger, but it sends no further heartbeat

    old = fleet.add(OLD)
    old.start()
    began = time.monotonic()
    old.join()
    lease = PERIOD * LEASE_PERIODS
    assert time.monotonic() - began >= lease
    # Now the lease of the silent sender is over.
    assert silent.age > lease


def test_join_below_the_cap_next_to_a_joining_server_waits(
    fleet: Fleet, ledger: TestLedger
) -> None:
    sender = fleet.add(NEW, topic='api', period=LONG)
    server = fleet.add(NEW, period=LONG)
    server.refresh()
    server.join()
    sender.refresh()
    joining, second = (fleet.add(OLD, period=LONG) for _ in range(2))
    joining.refresh()
    server.refresh()

    def wait(seconds: float) -> None:
        assert second.member.state == 'joining'
        sender.refresh()
        sender.refresh()
        server.refresh()
        joining.refresh()
        joining.refresh()

    second.join(wait)
    assert second.member.state == 'up'
    view = sender.view
    assert view is not None
    assert dict(view.cap('workers')) == {'Thing': '1.0'}


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
    membership.join()
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


def test_join_after_two_reports_announces_both_of_its_states() -> None:
    announced = []
    ledger = MemoryLedger()
    membership = Membership(
        Member('a', 'worker', 'host', 'workers', '0.1.0', NEW),
        ledger,
        period=LONG,
        announce=lambda: announced.append(membership.member.state),
    )
    membership.refresh()
    membership.refresh()
    membership.join()
    assert announced == ['joining', 'up']


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
