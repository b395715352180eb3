# SPDX-License-Identifier: Apache-2.0
"""The ledger of a process without a database."""

from __future__ import annotations

import dataclasses
from typing import Any

import oslo_messaging
import pytest
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import EXACT_COUNT, Member, Roster, Unaware
from vobjects.rpc.ledger import (
    CLOCK_INTERVAL,
    LedgerEndpoint,
    RemoteLedger,
)
from vobjects.rpc.memory_ledger import MemoryLedger
from vobjects.rpc.server import collect_handlers

NEW = Manifest({'Thing': '1.1', 'FleetHeartbeat': '1.0'})
OLD = Manifest({'Thing': '1.0'})

ME = Member('me', 'api', 'h', 'api', '1', OLD, 'up')


class Engines:
    """The engines of a ledger in memory, which record their requests.

    :ivar old: whether they are of a release with the whole ledger in each
        response
    """

    topic = 'workers'

    def __init__(self, *, old: bool = False) -> None:
        self.old = old
        self.ledger = MemoryLedger()
        self.announced = 0
        self.requests: list[Any] = []
        self._handlers = collect_handlers(
            [LedgerEndpoint(self.ledger, self._announce)]
        )
        self.add('engine')

    def _announce(self) -> None:
        self.announced += 1

    def add(self, name: str, seen: int = 0) -> None:
        """Add an engine."""
        manifest = OLD if self.old else NEW
        self.ledger.report(
            Member(name, 'w', 'h', self.topic, '1', manifest, 'up', seen)
        )

    def call_ledger(
        self, request: Any, timeout: float, server: str = ''
    ) -> Any:
        self.requests.append(request)
        base = {cls.obj_name() for cls in fleet_types.BASE_TYPES}
        if self.old and request.obj_name() not in base:
            raise ovo_exception.UnsupportedObjectError(
                objtype=request.obj_name()
            )
        return self._handlers[request.obj_name()]({}, request)

    def take_requests(self) -> list[str]:
        """Return the types of the requests since the last call."""
        requests, self.requests = self.requests, []
        return [request.obj_name() for request in requests]


@pytest.mark.parametrize('old', [False, True])
def test_remote_ledger_shows_what_the_store_of_any_release_has(
    old: bool,
) -> None:
    engines = Engines(old=old)
    remote = RemoteLedger(engines, timeout=6)
    report = remote.report(ME)
    assert report.view == engines.ledger.get() == remote.get()
    assert engines.ledger.get().count('api') == 1
    for each in remote.members(1), engines.ledger.members(1):
        assert [dataclasses.replace(m, age=0.0).id for m in each] == ['engine']
    assert remote.hold('workers') == engines.ledger.get()
    assert remote.hold('workers').held == (OLD if old else NEW)
    assert remote.finalize() == engines.ledger.get()
    assert remote.unaware(1, 'me') == engines.ledger.unaware(1, 'me')
    assert remote.unaware(1, 'me').count == 1
    # The engine announces the change.
    assert not remote.leave('me')
    assert engines.ledger.get().count('api') == 0
    assert engines.announced == 4


def test_heartbeat_with_the_current_view_returns_nothing_else() -> None:
    engines = Engines()
    remote = RemoteLedger(engines, timeout=6)
    view = remote.report(ME).view
    assert engines.take_requests() == [
        'FleetHeartbeat',
        *['FleetManifestGet'] * 2,  # the engine's and its own
    ]
    report = remote.report(ME, view)
    assert report.view is None
    assert report.now is not None
    assert engines.requests[0].manifest is None
    engines.add('another')
    assert remote.report(ME, view).view == engines.ledger.get()
    assert engines.take_requests() == ['FleetHeartbeat'] * 2


def test_heartbeat_of_a_member_that_is_gone_records_it_again() -> None:
    engines = Engines()
    remote = RemoteLedger(engines, timeout=6)
    view = remote.report(ME).view
    engines.ledger.leave(ME.id)
    again = remote.report(ME, view).view
    assert again == engines.ledger.get()
    assert again is not None
    assert again.count('api') == 1


def test_report_to_old_engines_after_new_ones_uses_the_older_requests() -> (
    None
):
    engines = Engines()
    remote = RemoteLedger(engines, timeout=6)
    view = remote.report(ME).view
    engines.old = True
    engines.add('engine')
    engines.take_requests()
    older = remote.report(ME, view).view
    assert older == engines.ledger.get()
    assert engines.take_requests() == ['FleetHeartbeat', 'FleetReport']
    remote.report(ME, older)
    assert engines.take_requests() == ['FleetReport']

    engines.old = False
    engines.add('engine')
    newer = remote.report(ME, older).view
    assert newer == engines.ledger.get()
    engines.take_requests()
    assert remote.report(ME, newer).view is None
    assert engines.take_requests() == ['FleetHeartbeat']


def test_heartbeat_has_the_same_size_in_a_fleet_of_any_size() -> None:
    engines = Engines()
    for number in range(EXACT_COUNT + 1):
        engines.add(f'engine-{number}')
    remote = RemoteLedger(engines, timeout=6)
    view = remote.report(ME).view
    assert view is not None
    engines.add('one more')
    assert remote.report(ME, view).view is None
    assert len(view.groups) == 2
    assert all(len(group.examples) <= 3 for group in view.groups)


def test_unaware_over_rpc_names_no_member_that_knows() -> None:
    engines = Engines()
    engines.add('engine', seen=5)
    remote = RemoteLedger(engines, timeout=6)
    assert remote.unaware(5, 'me') == Unaware(0)


def test_remote_ledger_when_an_engine_hangs_calls_others() -> None:
    calls: list[tuple[str, float]] = []
    hanging = {''}

    class HangingEngines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            calls.append((server, timeout))
            if server in hanging:
                raise oslo_messaging.MessagingTimeout('no response')
            if isinstance(request, fleet_types.FleetManifestGet):
                return fleet_types.FleetManifest(versions=dict(NEW))
            up = [
                dataclasses.replace(
                    Member(n, 'w', 'h', 'workers', '1', NEW), state=state
                )
                for n, state in (('a', 'up'), ('b', 'up'), ('c', 'joining'))
            ]
            return fleet_types.to_state(Roster(7, tuple(up)).view, None)

    remote = RemoteLedger(HangingEngines(), timeout=6)
    with pytest.raises(exceptions.NoLivePeer):
        remote.get()
    assert calls == [('', 6)]

    hanging.clear()
    assert remote.get().count('workers') == 3
    hanging |= {'', 'a'}
    calls.clear()
    assert remote.get().generation == 7
    assert calls[0] == ('', 2)
    assert {name for name, _ in calls[1:]} <= {'a', 'b'}
    assert sum(seconds for _, seconds in calls) <= 6

    hanging.add('b')
    error = r'\(MessagingTimeout: no response\); start one'
    with pytest.raises(exceptions.NoLivePeer, match=error):
        remote.get()

    # A report, too, tells the names of the engines.
    hanging.clear()
    remote = RemoteLedger(HangingEngines(), timeout=6)
    remote.report(ME)
    hanging |= {'', 'a'}
    assert remote.get().generation == 7


@pytest.mark.parametrize('supported', [True, False])
def test_report_returns_the_time_if_engines_support_it(
    supported: bool,
) -> None:
    manifest = Manifest({'FleetTime': '1.0'}) if supported else NEW
    requests: list[str] = []

    class OldEngines:
        topic = 'workers'

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            requests.append(request.obj_name())
            if isinstance(request, fleet_types.FleetHeartbeat):
                raise ovo_exception.UnsupportedObjectError(objtype='new')
            if isinstance(request, fleet_types.FleetClock):
                return fleet_types.FleetTime(now=5e9)
            engine = Member('a', 'w', 'h', 'workers', '1', manifest, 'up')
            return fleet_types.roster_to_resource(Roster(7, (engine,)))

    remote = RemoteLedger(OldEngines(), timeout=6)
    member = Member('me', 'api', 'h', 'api', '1', NEW)
    reports = [remote.report(member) for _ in range(3)]

    assert requests.count('FleetClock') == supported
    assert [each.now is not None for each in reports] == [supported] * 3
    for each in reports:
        assert not supported or 5e9 <= (each.now or 0) < 6e9


def test_time_of_the_ledger_is_read_once_per_interval() -> None:
    class ClockEngines(Engines):
        """Engines of the first release with a clock."""

        now: float | None = 5e9
        timeouts: list[float] = []

        def call_ledger(
            self, request: Any, timeout: float, server: str = ''
        ) -> Any:
            if isinstance(request, fleet_types.FleetHeartbeat):
                raise ovo_exception.UnsupportedObjectError(objtype='new')
            if isinstance(request, fleet_types.FleetClock):
                self.timeouts.append(timeout)
                return fleet_types.FleetTime(now=self.now)
            return super().call_ledger(request, timeout, server)

    local = 100.0
    engines = ClockEngines()
    engines.ledger.report(
        dataclasses.replace(
            ME,
            id='engine',
            topic='workers',
            manifest=Manifest({'FleetTime': '1.0'}),
        )
    )
    remote = RemoteLedger(engines, timeout=8, clock=lambda: local)
    assert remote.report(ME).now == 5e9
    local += CLOCK_INTERVAL
    assert remote.report(ME).now == 5e9 + CLOCK_INTERVAL
    assert engines.timeouts == [2]
    local += 1
    engines.now = 6e9
    assert remote.report(ME).now == 6e9
    local += 2 * CLOCK_INTERVAL
    engines.now = None
    assert remote.report(ME).now is None
    assert engines.timeouts == [2] * 3
