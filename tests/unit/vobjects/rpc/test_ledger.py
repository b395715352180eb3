# SPDX-License-Identifier: Apache-2.0
"""The ledger of a process without a database."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import oslo_messaging
import pytest
from oslo_versionedobjects import exception as ovo_exception

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import exceptions
from vobjects.objects import manifest
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet_types, serializer
from vobjects.rpc.fleet import EXACT_COUNT, Member, View, group_members
from vobjects.rpc.ledger import LedgerEndpoint, RemoteLedger
from vobjects.rpc.server import Endpoint, collect_handlers

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
        self.unsupported: set[str] = set()
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
        if request.obj_name() in self.unsupported:
            raise ovo_exception.UnsupportedObjectError(
                objtype=request.obj_name()
            )
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
    (member,), (stored,) = remote.members(1), engines.ledger.members(1)
    assert stored.id == 'engine'
    assert dataclasses.replace(member, age=stored.age) == stored
    assert remote.hold('workers') == engines.ledger.get()
    assert remote.hold('workers').held == NEW
    origin = remote.hold('workers', 'alice', '2.0 is new').hold_origin
    assert origin == engines.ledger.get().hold_origin
    assert origin is not None
    assert (origin.owner, origin.reason) == ('alice', '2.0 is new')
    assert remote.finalize() == engines.ledger.get()
    # The engine announces the change.
    assert not remote.leave('me')
    assert engines.ledger.get().count('api') == 0
    assert engines.announced == 5


def test_view_of_a_remote_ledger_has_the_quorum_of_its_process() -> None:
    assert RemoteLedger(Engines(), timeout=6, quorum=3).get().quorum == 3


def test_members_with_one_manifest_read_it_once() -> None:
    engines = Engines()
    engines.add('another')
    remote = RemoteLedger(engines, timeout=6)
    assert [member.manifest for member in remote.members(2)] == [NEW, NEW]
    assert engines.take_requests() == ['FleetProcessList', 'FleetManifestGet']


def test_malformed_manifest_is_named_by_its_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engines = Engines()
    monkeypatch.setattr(
        engines.ledger, 'manifest', lambda digest: {'Thing': 'x'}
    )
    with pytest.raises(
        exceptions.VobjectsError, match=f'the manifest {NEW.digest}'
    ):
        RemoteLedger(engines, timeout=6).get()


def test_hold_when_an_engine_does_not_record_its_origin_begins() -> None:
    engines = Engines()
    engines.unsupported = {'FleetHoldBegin'}
    view = RemoteLedger(engines, timeout=6).hold('workers', 'alice', '')
    assert view.held == NEW
    assert view.hold_origin is not None
    assert view.hold_origin.owner == ''


def test_process_in_a_state_of_a_later_release_counts_for_the_cap() -> None:
    engines = Engines()
    leaving = cast(Any, 'leaving')
    engines.ledger.report(
        dataclasses.replace(ME, topic='workers', state=leaving)
    )
    remote = RemoteLedger(engines, timeout=6)
    assert remote.get().cap('workers') == OLD
    assert {m.id: m.state for m in remote.members(9)} == {
        'engine': 'up',
        'me': 'joining',
    }


@pytest.mark.parametrize(
    ('release', 'expected'), [('1.0', 'joining'), ('1.1', 'draining')]
)
def test_draining_process_is_joining_for_readers_of_1_0(
    release: str, expected: str
) -> None:
    engines = Engines()
    draining = dataclasses.replace(ME, topic='workers', state='draining')
    engines.ledger.report(draining)
    endpoint = Endpoint(
        [LedgerEndpoint(engines.ledger, lambda: None)],
        manifest=manifest.local(),
    )
    reader = Manifest(
        {
            **manifest.local(),
            'FleetGroup': release,
            'FleetProcess': release,
        }
    )

    class Client:
        topic = 'workers'

        def call_ledger(self, request: Any, timeout: float) -> Any:
            response = endpoint.perform(
                {},
                serializer.to_bytes(request, reader).decode(),
                {'digest': reader.digest, 'manifest': dict(reader)},
            )
            return serializer.from_bytes(response)

    remote = RemoteLedger(Client(), timeout=6)
    states = {member.id: member.state for member in remote.members(9)}
    assert states == {'engine': 'up', 'me': expected}
    view = remote.get()
    assert {(g.state, g.count) for g in view.servers('workers')} == {
        ('up', 1),
        (expected, 1),
    }
    # It still has to read what is sent to it.
    assert view.cap('workers') == OLD


def test_state_for_a_reader_of_1_0_has_no_origin() -> None:
    engines = Engines()
    view = engines.ledger.hold('workers', 'alice', '')
    state = fleet_types.to_state(view, 0.0)
    primitive = state.obj_to_primitive(
        version_manifest={**manifest.local(), 'FleetState': '1.0'}
    )
    assert primitive['versioned_object.version'] == '1.0'
    assert 'hold_origin' not in primitive['versioned_object.data']
    read = fleet_types.FleetState.obj_from_primitive(primitive)
    manifests = {NEW.digest: NEW}
    found = fleet_types.from_state(read, manifests.get)
    assert found is not None
    assert found.held == NEW
    assert found.hold_origin is None


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
    calls: list[float] = []
    hanging = 1

    class HangingEngines:
        topic = 'workers'

        def call_ledger(self, request: Any, timeout: float) -> Any:
            calls.append(timeout)
            if len(calls) <= hanging:
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
    assert calls == [6]

    assert remote.get().count('workers') == 3
    hanging = 2
    calls.clear()
    assert remote.get().generation == 7
    assert calls == [2] * 3

    hanging = 3
    calls.clear()
    error = r'\(MessagingTimeout: no response\); start one'
    with pytest.raises(exceptions.NoLivePeer, match=error):
        remote.get()

    # A report, too, tells the number of the engines.
    hanging = 0
    remote = RemoteLedger(HangingEngines(), timeout=6)
    remote.report(ME)
    hanging = 1
    calls.clear()
    assert remote.get().generation == 7
