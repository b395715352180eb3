# SPDX-License-Identifier: Apache-2.0
"""Views, leases and the join barrier, on a ledger in memory."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Iterator

import pytest

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.membership import Membership

OLD = Manifest({'Thing': '1.0'})
NEW = Manifest({'Thing': '1.1'})
PERIOD = 0.2

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


class MemoryLedger:
    """A ledger in memory, for the threads of one test."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.generation = 0
        self.reports = 0
        self.reporters: set[threading.Thread] = set()
        self.broken = False
        self.now: float | None = None
        self.lock = threading.Lock()

    def report(self, member: Member) -> View:
        with self.lock:
            self.reports += 1
            self.reporters.add(threading.current_thread())
            if self.broken:
                raise exceptions.NoLivePeer('the ledger is broken')
            known = self.members.get(member.id)
            if known is None or (known.state, known.manifest) != (
                member.state,
                member.manifest,
            ):
                self.generation += 1
            self.members[member.id] = member
            return View(
                self.generation, tuple(self.members.values()), now=self.now
            )

    def get(self) -> View:
        with self.lock:
            return View(self.generation, tuple(self.members.values()))

    def leave(self, member_id: str) -> None:
        with self.lock:
            if self.members.pop(member_id, None):
                self.generation += 1


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


class Fleet:
    """Memberships that wake each other after changes."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.ledger = ledger
        self.memberships: list[Membership] = []
        self.numbers = itertools.count()

    def add(
        self,
        manifest: Manifest,
        topic: str = 'workers',
        period: float = PERIOD,
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
            member, self.ledger, period=period, announce=self.announce
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
def fleet(ledger: MemoryLedger) -> Iterator[Fleet]:
    fleet = Fleet(ledger)
    yield fleet
    fleet.stop()


def test_current_within_the_lease_sends_no_report(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    sender = fleet.add(NEW, period=LONG)
    first = sender.current()
    ledger.broken = True
    assert sender.current() is first
    assert ledger.reports == 1


def test_current_after_the_lease_renews_or_raises(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    sender = fleet.add(NEW)
    sender.current()
    time.sleep(PERIOD * 2)
    sender.current()
    assert ledger.reports == 2
    ledger.broken = True
    time.sleep(PERIOD * 2)
    with pytest.raises(exceptions.NoLivePeer):
        sender.current()
    ledger.broken = False


def test_current_when_the_ledger_fails_shares_the_failure(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    sender = fleet.add(NEW)
    ledger.broken = True
    ledger.lock.acquire()
    failures: list[str] = []
    barrier = threading.Barrier(9)

    def call() -> None:
        barrier.wait()
        try:
            sender.current()
        except exceptions.NoLivePeer as error:
            failures.append(str(error))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    barrier.wait()
    time.sleep(0.5)  # all threads have called by now
    ledger.lock.release()
    for thread in threads:
        thread.join()
    assert len(failures) == 8
    assert ledger.reports <= 2
    ledger.broken = False


def test_join_at_the_cap_does_not_wait(fleet: Fleet) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError('join() waits')

    for membership in (fleet.add(NEW), fleet.add(NEW)):
        membership.start()
        membership.join(wait)
        assert membership.member.state == 'up'


def test_join_below_the_cap_waits_until_senders_know(
    fleet: Fleet, ledger: MemoryLedger
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


def test_join_below_the_cap_waits_for_the_lease_of_a_silent_sender(
    fleet: Fleet, ledger: MemoryLedger
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
    assert time.monotonic() - began >= PERIOD * 2
    # Now the lease of the silent sender is over.
    assert silent.age > PERIOD * 2


def test_stop_leaves_the_ledger(fleet: Fleet, ledger: MemoryLedger) -> None:
    membership = fleet.add(NEW)
    membership.start()
    membership.join()
    generation = ledger.generation
    membership.stop()
    assert membership.member.id not in ledger.members
    assert ledger.generation == generation + 1


def test_heartbeat_when_the_ledger_fails_continues(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    membership = fleet.add(NEW)
    membership.start()
    ledger.broken = True
    time.sleep(PERIOD * 2)
    ledger.broken = False
    reports = ledger.reports
    deadline = time.monotonic() + 120
    while ledger.reports < reports + 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ledger.reports >= reports + 2


def test_on_view_is_called_once_per_generation(ledger: MemoryLedger) -> None:
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
    ledger: MemoryLedger,
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
    fleet: Fleet, ledger: MemoryLedger
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


def test_current_while_the_heartbeat_fails_sends_no_report(
    ledger: MemoryLedger,
) -> None:
    membership = Fleet(ledger).add(NEW)
    ledger.broken = True
    membership.start()
    try:
        while ledger.reports < 2:  # then the first has failed
            time.sleep(0.01)
        ledger.reporters.clear()
        with pytest.raises(exceptions.NoLivePeer, match='is broken'):
            membership.current()

        membership.period = LONG  # of the wait for a heartbeat
        ledger.broken = False
        assert membership.current().servers('workers')
        assert threading.current_thread() not in ledger.reporters
    finally:
        membership.stop()


def test_deadline_uses_the_clock_of_the_ledger(ledger: MemoryLedger) -> None:
    membership = Fleet(ledger).add(NEW)
    membership.refresh()
    assert (
        membership.deadline(30) is None
    )  # an old ledger does not report its time
    assert not membership.has_expired(0.0)

    ledger.now = 5e9
    membership.refresh()
    deadline = membership.deadline(LONG)
    assert deadline is not None
    assert 5e9 <= deadline - LONG < 5e9 + LONG
    assert not membership.has_expired(deadline)
    assert membership.has_expired(5e9 - 1)
