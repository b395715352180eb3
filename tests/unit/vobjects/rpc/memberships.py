# SPDX-License-Identifier: Apache-2.0
"""Memberships on a ledger in memory."""

from __future__ import annotations

import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, Report, View
from vobjects.rpc.join_barrier import ServerMembership

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
    """ServerMemberships that wake each other after changes."""

    def __init__(self, ledger: TestLedger) -> None:
        self.ledger = ledger
        self.memberships: list[ServerMembership] = []
        self.numbers = itertools.count()

    def add(
        self,
        manifest: Manifest,
        topic: str = 'workers',
        period: float = PERIOD,
        clock: Callable[[], float] = time.monotonic,
    ) -> ServerMembership:
        member = Member(
            id=f'{topic}-{next(self.numbers)}',
            binary='worker',
            host='host',
            topic=topic,
            release='0.1.0',
            manifest=manifest,
        )
        membership = ServerMembership(
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


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now
