# SPDX-License-Identifier: Apache-2.0
"""The join barrier, on a ledger in memory."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

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
from tests.waiting import eventually
from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    EXACT_COUNT,
    LEASE_PERIODS,
    LONGEST_LEASE_PERIODS,
    Member,
    Report,
    Unaware,
    View,
)
from vobjects.rpc.join_barrier import ServerMembership

__all__ = ['fleet', 'ledger']


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
    """A fleet whose clock moves while a server waits at the barrier.

    :ivar sender: a client of the servers
    :ivar first: a server that has joined
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self.ledger = FailingLedger(self.clock)
        self.waits = 0
        self.sender, self.first = self.add(NEW, 'api'), self.add(NEW)
        self.join(self.first)

    def add(
        self, manifest: Manifest, topic: str = 'workers'
    ) -> ServerMembership:
        member = Member(
            f'{topic}-{len(self.ledger.members(99))}',
            'worker',
            'host',
            topic,
            '0.1.0',
            manifest,
        )
        membership = ServerMembership(
            member, self.ledger, period=1.0, clock=self.clock
        )
        membership.refresh()
        return membership

    def join(self, membership: ServerMembership) -> int:
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
    old = barrier.add(OLD)
    for membership in (barrier.sender, barrier.first):
        membership.refresh()  # they see the generation
        membership.refresh()  # and report that
    assert barrier.join(old) == 0
    assert old.member.state == 'up'


def test_join_waits_while_one_of_two_members_does_not_know() -> None:
    barrier = Barrier()
    old = barrier.add(OLD)
    for _ in range(2):
        barrier.first.refresh()
    start = barrier.clock.now
    assert barrier.join(old) > 0
    assert barrier.clock.now - start >= LONGEST_LEASE_PERIODS
    assert barrier.sender.age >= LONGEST_LEASE_PERIODS


def test_join_when_the_ledger_fails_for_a_while_waits_a_lease_more() -> None:
    barrier = Barrier()
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 1, start + 2)
    barrier.join(old)
    assert old.member.state == 'up'
    assert barrier.clock.now >= start + 2 + LONGEST_LEASE_PERIODS
    assert barrier.sender.age >= LONGEST_LEASE_PERIODS


def test_join_with_a_heartbeat_per_period_waits_for_one_lease() -> None:
    barrier = Barrier()
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
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 0.05, start + 1)

    def wait(seconds: float) -> None:
        barrier.clock.now += seconds
        if barrier.clock.now < start + 1:
            barrier.ledger.leave(old.member.id)
        elif barrier.clock.now > start + 1.5:
            for membership in (barrier.sender, barrier.first):
                membership.refresh()

    old.join(wait)
    assert old.member.state == 'up'
    view = barrier.sender.view
    assert view is not None
    assert view.cap('workers') == OLD


def test_join_when_removed_during_each_pause_waits_again() -> None:
    barrier = Barrier()
    old = barrier.add(OLD)
    waits = 0

    def wait(seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits <= 2:
            barrier.clock.now += LONGEST_LEASE_PERIODS
            barrier.ledger.leave(old.member.id)
        for membership in (barrier.sender, barrier.first):
            membership.refresh()

    def check_senders(member: Member) -> None:
        # Servers that join next skip the barrier if this one is up.
        if member.id == old.member.id and member.state == 'up':
            view = barrier.sender.view
            assert view is not None
            assert view.cap('workers') == OLD

    barrier.ledger.before_report = check_senders
    old.join(wait)
    assert waits > 2
    assert old.member.state == 'up'


def test_join_when_removed_before_its_last_report_waits_again() -> None:
    barrier = Barrier()
    old = barrier.add(OLD)
    for _ in range(2):
        barrier.sender.refresh()
        barrier.first.refresh()
    waits = 0

    def wait(seconds: float) -> None:
        nonlocal waits
        waits += 1
        barrier.clock.now += seconds
        assert old.member.state == 'joining'
        for membership in (barrier.sender, barrier.first):
            membership.refresh()

    def remove_once(member: Member) -> None:
        if member.id == old.member.id and member.state == 'up':
            barrier.ledger.before_report = lambda member: None
            barrier.clock.now += LONGEST_LEASE_PERIODS
            barrier.ledger.leave(member.id)
            for membership in (barrier.sender, barrier.first):
                membership.refresh()

    barrier.ledger.before_report = remove_once
    starts: list[None] = []
    old.join(wait, consume=lambda: starts.append(None))
    assert waits > 0
    assert len(starts) == 1
    assert old.member.state == 'up'
    view = barrier.sender.view
    assert view is not None
    assert view.cap('workers') == OLD


def test_join_when_the_ledger_fails_for_a_lease_raises() -> None:
    barrier = Barrier()
    old = barrier.add(OLD)
    start = barrier.clock.now
    barrier.ledger.outage = (start + 0.5, start + 100)
    with pytest.raises(exceptions.Unreachable):
        barrier.join(old)
    assert old.member.state == 'joining'
    assert barrier.clock.now < start + 2 * LONGEST_LEASE_PERIODS


def test_join_below_a_new_hold_waits_until_senders_know_it() -> None:
    barrier = Barrier()
    barrier.sender.refresh()
    old = barrier.add(OLD)
    barrier.ledger.hold('workers')  # at the version of the new server
    assert barrier.join(old) > 0
    assert barrier.sender.age >= LEASE_PERIODS


def test_join_waits_if_a_server_with_its_manifest_still_waits() -> None:
    barrier = Barrier()
    barrier.add(OLD)  # it has not passed its barrier
    assert barrier.join(barrier.add(OLD)) > 0


def test_join_after_a_server_with_its_manifest_does_not_wait() -> None:
    barrier = Barrier()
    assert barrier.join(barrier.add(OLD)) > 0
    assert barrier.join(barrier.add(OLD)) == 0


def test_join_of_a_server_with_a_pin_waits_for_senders_without() -> None:
    barrier = Barrier()
    member = Member('old', 'worker', 'host', 'workers', '0.1.0', OLD)
    emulating = ServerMembership(
        member, barrier.ledger, period=1.0, pinned=OLD, clock=barrier.clock
    )
    emulating.refresh()
    assert barrier.join(emulating) > 0


def test_join_of_a_large_group_wakes_nobody(ledger: TestLedger) -> None:
    announced: list[int] = []

    def add(number: int) -> None:
        membership = ServerMembership(
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


def test_join_after_two_reports_announces_both_of_its_states() -> None:
    announced = []
    ledger = MemoryLedger()
    membership = ServerMembership(
        Member('a', 'worker', 'host', 'workers', '0.1.0', NEW),
        ledger,
        period=LONG,
        announce=lambda: announced.append(membership.member.state),
    )
    membership.refresh()
    membership.refresh()
    membership.join()
    assert announced == ['joining', 'up']


def test_join_consumes_after_the_barrier_and_before_it_is_up(
    fleet: Fleet, ledger: TestLedger
) -> None:
    membership = fleet.add(NEW, period=LONG)
    states: list[str] = []

    def consume() -> None:
        (member,) = ledger.members(9)
        states.append(member.state)

    membership.join(consume=consume)
    assert states == ['joining']
    assert ledger.members(9)[0].state == 'up'


def test_withdraw_of_the_last_server_of_a_manifest_waits_for_senders(
    fleet: Fleet, ledger: TestLedger
) -> None:
    """Of two that stop at the same time, only one waits."""
    sender = fleet.add(NEW, topic='api', period=LONG)
    servers = [fleet.add(NEW, period=LONG) for _ in range(2)]
    old = fleet.add(OLD, period=LONG)
    for server in (*servers, old):
        server.refresh()
        server.join(lambda seconds: sender.refresh())
    waits: list[int] = []
    for number, server in enumerate(servers):

        def wait(seconds: float, number: int = number) -> None:
            waits.append(number)
            for each in (sender, *servers, old):
                each.refresh()

        server.withdraw(wait)
        server.withdraw(wait)  # has no effect
    assert set(waits) == {1}
    view = sender.current()
    groups = [(g.manifest, g.state, g.count) for g in view.servers('workers')]
    assert sorted(groups, key=str) == sorted(
        [(NEW, 'joining', 2), (OLD, 'up', 1)], key=str
    )


@pytest.mark.parametrize(
    ('peer', 'expected'),
    [
        pytest.param({'FleetGroup': '1.1'}, 'draining', id='new'),
        pytest.param({'FleetGroup': '1.0'}, 'joining', id='old'),
        pytest.param({}, 'joining', id='without the type'),
    ],
)
def test_withdraw_reports_a_state_that_all_processes_can_read(
    fleet: Fleet, ledger: TestLedger, peer: dict[str, str], expected: str
) -> None:
    server = fleet.add(Manifest({'FleetGroup': '1.1'}), period=LONG)
    other = fleet.add(Manifest(peer), topic='others', period=LONG)
    other.refresh()
    server.join()

    states = []

    def wait(seconds: float) -> None:
        states.extend(m.state for m in ledger.members(9) if m.id == own)
        other.refresh()

    own = server.member.id
    server.withdraw(wait)
    assert set(states) == {expected}


def test_draining_server_reports_another_state_when_an_old_process_starts(
    fleet: Fleet, ledger: TestLedger
) -> None:
    server = fleet.add(Manifest({'FleetGroup': '1.1'}))
    server.start()
    server.join()
    server.withdraw()
    assert ledger.members(1)[0].state == 'draining'

    fleet.add(OLD, topic='others', period=LONG).refresh()

    eventually(lambda: {m.state for m in ledger.members(9)} == {'joining'})


def test_withdraw_without_the_ledger_does_not_wait(
    fleet: Fleet, ledger: TestLedger
) -> None:
    server = fleet.add(NEW, period=LONG)
    server.join()
    ledger.broken = True
    server.withdraw(lambda seconds: pytest.fail('it waits'))
    ledger.broken = False
    assert server.refresh().servers('workers')[0].state == 'joining'
