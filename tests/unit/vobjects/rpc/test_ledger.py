# SPDX-License-Identifier: Apache-2.0
"""The ledger of a process without a database."""

from __future__ import annotations

import dataclasses
from typing import Any

import oslo_messaging
import pytest

from vobjects import exceptions
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types
from vobjects.rpc.fleet import EXACT_COUNT, Member, View, group_members
from vobjects.rpc.ledger import LedgerEndpoint, RemoteLedger
from vobjects.rpc.memory_ledger import MemoryLedger
from vobjects.rpc.server import collect_handlers

NEW = Manifest({'Thing': '1.1'})
OLD = Manifest({'Thing': '1.0'})

ME = Member('me', 'api', 'h', 'api', '1', OLD, 'up')


class Engines:
    """The engines of a ledger in memory, which record their requests."""

    topic = 'workers'

    def __init__(self) -> None:
        self.ledger = MemoryLedger()
        self.announced = 0
        self.requests: list[Any] = []
        self._handlers = collect_handlers(
            [LedgerEndpoint(self.ledger, self._announce)]
        )
        self.add('engine')

    def _announce(self) -> None:
        self.announced += 1

    def add(self, name: str) -> None:
        """Add an engine."""
        self.ledger.report(Member(name, 'w', 'h', self.topic, '1', NEW, 'up'))

    def call_ledger(
        self, request: Any, timeout: float, server: str = ''
    ) -> Any:
        self.requests.append(request)
        return self._handlers[request.obj_name()]({}, request)

    def take_requests(self) -> list[str]:
        """Return the types of the requests since the last call."""
        requests, self.requests = self.requests, []
        return [request.obj_name() for request in requests]


def test_remote_ledger_shows_what_the_store_has() -> None:
    engines = Engines()
    remote = RemoteLedger(engines, timeout=6)
    report = remote.report(ME)
    assert report.view == engines.ledger.get() == remote.get()
    assert engines.ledger.get().count('api') == 1
    for each in remote.members(1), engines.ledger.members(1):
        assert [dataclasses.replace(m, age=0.0).id for m in each] == ['engine']
    assert remote.hold('workers') == engines.ledger.get()
    assert remote.hold('workers').held == NEW
    assert remote.finalize() == engines.ledger.get()
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
            return fleet_types.to_state(View(7, group_members(up)), None)

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
