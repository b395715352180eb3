# SPDX-License-Identifier: Apache-2.0
"""Views, leases and the join barrier, on a ledger in memory."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.ledger import RemoteLedger
from vobjects.rpc.membership import Membership

OLD = Manifest({'Thing': '1.0'})
NEW = Manifest({'Thing': '1.1'})
PERIOD = 0.2

#: Seconds, where nothing may run out however slow the machine.
LONG = 1000.0


class MemoryLedger:
    """The protocol of vobjects.rpc.ledger, for the threads of one test."""

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
    """Memberships that tell one another of changes, as notices do."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.ledger = ledger
        self.all: list[Membership] = []
        self.numbers = itertools.count()

    def add(
        self,
        speaks: Manifest,
        topic: str = 'workers',
        period: float = PERIOD,
    ) -> Membership:
        me = Member(
            id=f'{topic}-{next(self.numbers)}',
            binary='worker',
            host='host',
            topic=topic,
            release='0.1.0',
            manifest=speaks,
        )
        membership = Membership(
            me, self.ledger, period=period, announce=self.announce
        )
        self.all.append(membership)
        return membership

    def announce(self) -> None:
        for membership in self.all:
            membership.wake()

    def stop(self) -> None:
        for membership in self.all:
            membership.stop()


@pytest.fixture
def fleet(ledger: MemoryLedger) -> Iterator[Fleet]:
    fleet = Fleet(ledger)
    yield fleet
    fleet.stop()


def test_current_within_the_lease_asks_nobody(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    sender = fleet.add(NEW, period=LONG)
    first = sender.current()
    ledger.broken = True
    assert sender.current() is first
    assert ledger.reports == 1


def test_current_after_the_lease_renews_or_refuses(
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


def test_those_who_wait_for_a_failing_ledger_share_one_failure(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    sender = fleet.add(NEW)
    ledger.broken = True
    ledger.lock.acquire()
    failed: list[str] = []
    together = threading.Barrier(9)

    def ask() -> None:
        together.wait()
        try:
            sender.current()
        except exceptions.NoLivePeer as error:
            failed.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    together.wait()
    time.sleep(0.5)  # all of them have asked by now
    ledger.lock.release()
    for thread in threads:
        thread.join()
    assert len(failed) == 8
    assert ledger.reports <= 2
    ledger.broken = False


def test_joining_at_the_cap_does_not_wait(fleet: Fleet) -> None:
    def wait(seconds: float) -> None:
        raise AssertionError('it waits')

    for membership in (fleet.add(NEW), fleet.add(NEW)):
        membership.start()
        membership.join(wait)
        assert membership.member.state == 'up'


def test_an_old_server_consumes_only_when_senders_know_of_it(
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


def test_an_old_server_waits_out_the_lease_of_a_silent_sender(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    first = fleet.add(NEW)
    first.start()
    first.join()
    silent = fleet.add(NEW, topic='api')
    silent.refresh()  # in the ledger, but it never beats again

    old = fleet.add(OLD)
    old.start()
    began = time.monotonic()
    old.join()
    assert time.monotonic() - began >= PERIOD * 2
    # By now the silent sender may not use its view any more.
    assert silent.age > PERIOD * 2


def test_stop_leaves_the_ledger(fleet: Fleet, ledger: MemoryLedger) -> None:
    membership = fleet.add(NEW)
    membership.start()
    membership.join()
    generation = ledger.generation
    membership.stop()
    assert membership.member.id not in ledger.members
    assert ledger.generation == generation + 1


def test_the_heartbeat_outlives_a_broken_ledger(
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


def test_on_view_hears_each_generation_once(ledger: MemoryLedger) -> None:
    heard: list[int] = []
    me = Member('a', 'worker', 'host', 'workers', '0.1.0', NEW)
    membership = Membership(
        me,
        ledger,
        period=PERIOD,
        on_view=lambda view: heard.append(view.generation),
    )
    membership.refresh()
    membership.refresh()
    ledger.report(dataclasses.replace(me, id='b'))
    membership.refresh()
    assert heard == [1, 2]


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


def test_known_view_is_read_without_a_report_when_the_lease_is_over(
    fleet: Fleet, ledger: MemoryLedger
) -> None:
    one, other = fleet.add(NEW), fleet.add(OLD)
    one.refresh()
    one.period = 0.0  # a lease that is over at once
    other.refresh()
    reports = ledger.reports

    assert one.view_without_report().cap('workers') == OLD
    assert ledger.reports == reports

    one.period = LONG
    ledger.leave(other.member.id)
    assert one.view_without_report().cap('workers') == NEW
    assert one.view_without_report() is one.view


def test_engine_that_hangs_is_not_the_only_one_asked_for_the_ledger() -> None:
    asked: list[tuple[str, float]] = []
    hanging = {''}

    class Engines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            asked.append((server, timeout))
            if server in hanging:
                raise oslo_messaging.MessagingTimeout('no answer')
            up = [
                dataclasses.replace(
                    Member(n, 'w', 'h', 'workers', '1', NEW), state=state
                )
                for n, state in (('a', 'up'), ('b', 'up'), ('c', 'joining'))
            ]
            return fleet_types.to_resource(View(7, tuple(up)))

    remote = RemoteLedger(Engines(), timeout=6)
    with pytest.raises(exceptions.NoLivePeer):
        remote.get()
    assert asked == [('', 6)]

    hanging.clear()
    remote.get()
    hanging |= {'', 'a'}
    asked.clear()
    assert remote.get().generation == 7
    assert asked[0] == ('', 2)
    assert {name for name, _ in asked[1:]} <= {'a', 'b'}
    assert sum(seconds for _, seconds in asked) <= 6

    hanging.add('b')
    with pytest.raises(exceptions.NoLivePeer, match='start one'):
        remote.get()


def test_current_while_the_heartbeat_fails_does_not_ask_again(
    ledger: MemoryLedger,
) -> None:
    one = Fleet(ledger).add(NEW)
    ledger.broken = True
    one.start()
    try:
        while ledger.reports < 2:  # then the first has failed
            time.sleep(0.01)
        ledger.reporters.clear()
        with pytest.raises(exceptions.NoLivePeer, match='is broken'):
            one.current()

        one.period = LONG  # of the wait for a heartbeat
        ledger.broken = False
        assert one.current().servers('workers')
        assert threading.current_thread() not in ledger.reporters
    finally:
        one.stop()


def test_deadline_is_by_the_clock_of_the_ledger(ledger: MemoryLedger) -> None:
    one = Fleet(ledger).add(NEW)
    one.refresh()
    assert one.deadline(30) is None  # an old ledger does not tell the time
    assert not one.has_expired(0.0)

    ledger.now = 5e9
    one.refresh()
    soon = one.deadline(LONG)
    assert soon is not None
    assert 5e9 <= soon - LONG < 5e9 + LONG
    assert not one.has_expired(soon)
    assert one.has_expired(5e9 - 1)


@pytest.mark.parametrize('knows', [True, False])
def test_remote_ledger_asks_for_the_time_where_engines_tell_it(
    knows: bool,
) -> None:
    speaks = Manifest({'FleetTime': '1.0'}) if knows else NEW
    asked: list[str] = []

    class Engines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            asked.append(request.obj_name())
            if isinstance(request, fleet_types.FleetClock):
                return fleet_types.FleetTime(now=5e9)
            engine = Member('a', 'w', 'h', 'workers', '1', speaks, 'up')
            return fleet_types.to_resource(View(7, (engine,)))

    remote = RemoteLedger(Engines(), timeout=6)
    me = Member('me', 'api', 'h', 'api', '1', NEW)
    views = [remote.report(me) for _ in range(3)]

    assert asked.count('FleetClock') == knows
    assert [view.now is not None for view in views] == [knows] * 3
    assert not knows or all(5e9 <= (view.now or 0) < 6e9 for view in views)
