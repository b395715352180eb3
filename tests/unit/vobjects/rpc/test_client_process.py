# SPDX-License-Identifier: Apache-2.0
"""Client processes, on the sockets of the embedded driver."""

from __future__ import annotations

import dataclasses
import json
import logging
import pathlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

import vobjects
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from tests.waiting import eventually, is_waiting
from vobjects import Service, exceptions, fields, objects
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, at_microversion, local
from vobjects.rpc import client_process, server, transport
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc.client_process import (
    LISTED_MEMBERS,
    ClientProcess,
    connect_to_ledger,
)
from vobjects.rpc.fleet import Member, View
from vobjects.rpc.fleet_types import FleetStateGet
from vobjects.rpc.ledger import LedgerEndpoint
from vobjects.rpc.server_process import ServerProcess
from vobjects.versions import Version

SERVICE = Service(
    name='shelf',
    types=(),
    history={'1.0': ['Shelves.'], '1.1': ['Depth.']},
    error_modules=(__name__,),
    distribution='vobjects',
)

#: Heartbeat period in seconds, longer than any test.
LONG = 1000.0


class Full(exceptions.ServiceError):
    """Raised by a handler."""


@objects.register
class ShelfRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = {
        'name': fields.StringField(),
        'depth': added('1.1', fields.IntegerField(default=0)),
    }


@objects.register
class WaitingShelfRequest(ShelfRequest):
    """Waits for a server that supports it."""

    ROUTE = 'capable-wait'


class Shelves:
    """Handlers that record the requests."""

    def __init__(self) -> None:
        self.names: list[str] = []

    @server.handles(ShelfRequest)
    def shelf(self, context: Any, request: Any) -> None:
        self.names.append(request.name)
        if request.name == 'full':
            raise Full('No shelf is free.')

    @server.handles(WaitingShelfRequest)
    def waiting_shelf(self, context: Any, request: Any) -> None:
        self.shelf(context, request)


def manifest_at(version: str) -> Manifest:
    names = [cls.obj_name() for cls in (ShelfRequest, WaitingShelfRequest)]
    return Manifest({**local(), **dict.fromkeys(names, version)})


class Fleet:
    """A server with a ledger in memory, and the processes of a test."""

    def __init__(self, directory: pathlib.Path) -> None:
        self._file = directory / 'shelf.conf'
        self._file.write_text(
            f'[DEFAULT]\ntransport_url = embedded://{directory}/bus\n'
        )
        self._closing: list[Callable[[], Any]] = []
        self.ledger = MemoryLedger()
        self.shelves = Shelves()

    def conf(self, **fleet_options: float) -> cfg.ConfigOpts:
        conf = cfg.ConfigOpts()
        conf(['--config-file', str(self._file)])
        rpc_conf.register(conf)
        options = {'heartbeat_interval': LONG, **fleet_options}
        for name, value in options.items():
            conf.set_override(name, value, 'fleet')
        return conf

    def serve(self, version: str = '1.1') -> ServerProcess:
        process = ServerProcess(
            self.conf(),
            SERVICE,
            ledger=self.ledger,
            handlers=[self.shelves],
            manifest=manifest_at(version),
        )
        process.start()
        self._closing += [process.stop, process.stop_consuming]
        return process

    def serve_without_membership(
        self, version: str = '1.1', name: str = 'ledger', **options: Any
    ) -> None:
        bus = transport.open_transport(self.conf(), SERVICE.exchange)
        endpoint = server.Endpoint(
            [LedgerEndpoint(self.ledger, lambda: None), self.shelves],
            manifest=manifest_at(version),
            **options,
        )
        running = transport.build_server(
            bus, SERVICE.topic, name, [endpoint], 2
        )
        running.start()
        self._closing += [bus.cleanup, running.wait, running.stop]

    def report_server(self, name: str, version: str) -> None:
        """Add a server to the ledger that does not consume."""
        manifest = manifest_at(version)
        self.report(Member(name, 'e', 'h', SERVICE.topic, '0', manifest, 'up'))

    def report(self, member: Member) -> None:
        """Add a process to the ledger, of which there is nothing else."""
        self.ledger.report(member)
        # A server that stops would wait for it.
        self._closing.append(lambda: self.ledger.leave(member.id))

    def client(
        self, conf: cfg.ConfigOpts | None = None, **options: Any
    ) -> ClientProcess:
        client = ClientProcess(conf or self.conf(), SERVICE, **options)
        client.start()
        self._closing.append(client.stop)
        return client

    def close(self) -> None:
        while self._closing:
            self._closing.pop()()


@pytest.fixture
def fleet(tmp_path: pathlib.Path) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path)
    yield fleet
    fleet.close()


def configuration(directory: pathlib.Path, url: str) -> cfg.ConfigOpts:
    """Return the configuration of a process, as a program reads it."""
    file = directory / 'shelf.conf'
    file.write_text(
        f'[DEFAULT]\ntransport_url = {url}\n'
        '[fleet]\nheartbeat_interval = 0.2\n'
    )
    conf = cfg.ConfigOpts()
    conf(['--config-file', str(file)])
    return conf


@pytest.fixture
def without_broker(tmp_path: pathlib.Path) -> Iterator[cfg.ConfigOpts]:
    """The configuration of a process whose broker does not run."""
    with socket.socket() as unused:
        unused.bind(('127.0.0.1', 0))
        port = unused.getsockname()[1]
        yield configuration(tmp_path, f'pyamqp://a:b@127.0.0.1:{port}//')


def client_members(fleet: Fleet) -> list[Member]:
    return [
        member
        for member in fleet.ledger.members(100)
        if member.topic == SERVICE.client_topic
    ]


def test_member_has_the_defaults_of_the_service(fleet: Fleet) -> None:
    fleet.serve()
    client = fleet.client()
    client.membership.current()
    (member,) = client_members(fleet)
    assert member.id == client.membership.member.id
    assert (member.binary, member.host, member.release, member.state) == (
        'shelf-api',
        socket.gethostname(),
        vobjects.__version__,
        'up',
    )
    assert member.manifest == local()


def test_member_has_the_names_that_it_is_given(fleet: Fleet) -> None:
    fleet.serve()
    fleet.client(binary='b', host='h', release='9.9').membership.current()
    (member,) = client_members(fleet)
    assert (member.binary, member.host, member.release) == ('b', 'h', '9.9')


def test_members_have_different_ids(fleet: Fleet) -> None:
    fleet.serve()
    for _ in range(2):
        fleet.client().membership.current()
    assert len(client_members(fleet)) == 2


@pytest.mark.parametrize(
    ('version', 'maximum'), [('1.1', '1.1'), ('1.0', '1.0')]
)
def test_maximum_is_that_of_the_servers(
    fleet: Fleet, version: str, maximum: str
) -> None:
    fleet.serve()
    fleet.serve(version)
    client = fleet.client()
    assert client.maximum().version == Version.parse(maximum)
    assert client.server_count() == 2


def test_maximum_before_the_first_server_raises(fleet: Fleet) -> None:
    fleet.serve_without_membership()
    client = fleet.client()
    with pytest.raises(exceptions.NoLivePeer, match="of 'shelf-engine' is"):
        client.maximum()
    assert client.server_count() == 0


def test_known_servers_without_a_lease_are_none(fleet: Fleet) -> None:
    fleet.serve()
    client = fleet.client()
    assert client.server_count() == 1
    client.membership.period = 0.0  # any lease is over
    assert client.known_server_count() == 0


def test_maximum_after_the_last_server_left_is_the_last_known(
    fleet: Fleet,
) -> None:
    fleet.serve_without_membership()
    engine = fleet.serve()
    client = fleet.client()
    assert client.maximum().version == Version.parse('1.1')
    assert client.known_server_count() == 1
    engine.membership.stop()
    client.membership.renew()
    assert client.server_count() == client.known_server_count() == 0
    assert client.maximum().version == Version.parse('1.1')


def test_maximum_is_limited_by_the_pin(
    fleet: Fleet, tmp_path: pathlib.Path
) -> None:
    fleet.serve()
    file = tmp_path / 'pin.json'
    file.write_text(json.dumps(dict(manifest_at('1.0'))))
    conf = fleet.conf()
    conf.set_override('engine', str(file), 'upgrade_levels')
    assert fleet.client(conf).maximum().version == Version.parse('1.0')


def test_pin_to_a_release_is_one_of_the_service(fleet: Fleet) -> None:
    conf = fleet.conf()
    conf.set_override('engine', '0.0.1', 'upgrade_levels')
    with pytest.raises(exceptions.VobjectsError, match='shelf'):
        ClientProcess(conf, SERVICE)


def test_views_have_the_quorum_of_the_configuration(fleet: Fleet) -> None:
    fleet.serve()
    conf = fleet.conf(capable_servers=3)
    client = fleet.client(conf)
    ledger, close = connect_to_ledger(conf, SERVICE)
    for view in client.membership.current(), client.ledger.get(), ledger.get():
        assert view.quorum == 3
    close()


def test_process_imports_the_types_of_its_service(fleet: Fleet) -> None:
    service = dataclasses.replace(SERVICE, types=('no_such_types',))
    with pytest.raises(ModuleNotFoundError, match='no_such_types'):
        ClientProcess(fleet.conf(), service)


def test_on_view_is_called_after_the_maximum_is_known(fleet: Fleet) -> None:
    fleet.serve()
    views: list[tuple[View, str]] = []
    client = ClientProcess(
        fleet.conf(),
        SERVICE,
        on_view=lambda view: views.append(
            (view, str(client.maximum().version))
        ),
    )
    with client:
        client.membership.current()
    assert views[0] == (client.membership.view, '1.1')


def test_call_reaches_a_handler_whose_errors_arrive(fleet: Fleet) -> None:
    fleet.serve()
    client = fleet.client().client
    assert client.call({}, ShelfRequest(name='a')) is None
    with pytest.raises(Full, match=r'^No shelf is free\.$'):
        client.call({}, ShelfRequest(name='full'))
    assert fleet.shelves.names == ['a', 'full']


def test_call_has_the_deadline_of_its_timeout_by_the_clock_of_the_ledger(
    fleet: Fleet,
) -> None:
    now, timeout = 5000.0, 2000
    deadlines: list[float] = []
    fleet.ledger = MemoryLedger(lambda: now)
    fleet.report_server('a', '1.1')
    fleet.serve_without_membership(has_expired=deadlines.append)
    client = fleet.client(fleet.conf(call_timeout=timeout))
    client.membership.current()
    client.client.call({}, ShelfRequest(name='a'))
    (deadline,) = deadlines
    # A deadline is never early, and late by the duration of a report.
    assert now + timeout <= deadline < now + timeout + LONG


def test_call_waits_for_a_server_that_supports_it(fleet: Fleet) -> None:
    fleet.serve('1.0')
    client = fleet.client()
    client.membership.current()
    versions = at_microversion(Version.parse('1.1'))
    thread = threading.Thread(
        target=client.client.call,
        args=({}, WaitingShelfRequest(name='a'), versions),
    )
    thread.start()
    eventually(lambda: is_waiting(thread))
    fleet.serve('1.1')
    thread.join()
    assert fleet.shelves.names == ['a']


def test_call_above_a_server_that_has_just_joined_is_sent_again(
    fleet: Fleet,
) -> None:
    fleet.report_server('new', '1.1')
    fleet.serve_without_membership('1.0')
    client = fleet.client()
    client.membership.current()
    fleet.report_server('old', '1.0')
    client.client.call({}, ShelfRequest(name='a'))
    assert fleet.shelves.names == ['a']


def test_wakeup_of_a_server_renews_the_view(fleet: Fleet) -> None:
    engine = fleet.serve()
    client = fleet.client()
    generation = client.membership.current().generation
    # It reports each new view once more; no further heartbeat is due.
    eventually(
        lambda: (
            not fleet.ledger.unaware(
                generation, engine.membership.member.id
            ).count
        )
    )
    fleet.ledger.hold(SERVICE.topic)
    engine.announce_fleet()

    def has_new_view() -> bool:
        view = client.membership.view
        return view is not None and view.generation > generation

    eventually(has_new_view)


def test_fleet_data_lists_processes_and_limits(fleet: Fleet) -> None:
    fleet.serve('1.0')
    for number in range(LISTED_MEMBERS):
        fleet.report(Member(f'm{number}', 'm', 'h', 'others', '0', local()))
    data = fleet.client().fleet_data()
    assert data['max_microversion'] == '1.0'
    assert len(data['members']) == LISTED_MEMBERS
    assert sum(group['count'] for group in data['groups']) > LISTED_MEMBERS


def test_process_in_a_with_statement_leaves_the_fleet_at_its_end(
    fleet: Fleet,
) -> None:
    fleet.serve()
    with ClientProcess(fleet.conf(), SERVICE):
        eventually(lambda: len(client_members(fleet)) == 1)
    assert client_members(fleet) == []


def stop_when(
    proceed: threading.Event, client: ClientProcess, events: list[str]
) -> None:
    """Stop a client, and set the event when that waits for a thread."""

    def stop() -> None:
        client.stop()
        events.append('stopped')

    thread = threading.Thread(target=stop)
    thread.start()
    thread.join(0.05)
    assert not events
    proceed.set()
    thread.join()


def test_stop_waits_for_a_wakeup(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = fleet.serve()
    client = ClientProcess(fleet.conf(), SERVICE)
    events: list[str] = []
    has_begun, proceed = threading.Event(), threading.Event()

    def wake() -> None:
        has_begun.set()
        assert proceed.wait(120)
        events.append('woken')

    monkeypatch.setattr(client.membership, 'wake', wake)
    client.start()
    engine.announce_fleet()
    assert has_begun.wait(120)
    stop_when(proceed, client, events)
    assert events == ['woken', 'stopped']


def listening_when(
    proceed: threading.Event,
    events: list[str],
    conf: cfg.ConfigOpts,
    monkeypatch: pytest.MonkeyPatch,
) -> ClientProcess:
    """Start a client whose broker responds when the event is set."""

    def build_server(*_: Any) -> Any:
        assert proceed.wait(120)
        events.append('responded')
        raise oslo_messaging.MessageDeliveryFailure('no such user')

    monkeypatch.setattr(transport, 'build_server', build_server)
    client = ClientProcess(conf, SERVICE)
    # The membership waits for the broker, too.
    monkeypatch.setattr(client.membership, 'start', lambda: None)
    monkeypatch.setattr(client.membership, 'stop', lambda: None)
    client.start()
    return client


def test_stop_waits_for_the_broker_to_respond(
    without_broker: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    proceed = threading.Event()
    client = listening_when(proceed, events, without_broker, monkeypatch)
    stop_when(proceed, client, events)
    assert events == ['responded', 'stopped']


def test_stop_when_the_broker_does_not_respond_returns(
    without_broker: cfg.ConfigOpts, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    proceed = threading.Event()
    monkeypatch.setattr(client_process, '_STOP_TIMEOUT', 0.0)
    before = set(threading.enumerate())
    client = listening_when(proceed, events, without_broker, monkeypatch)
    (thread,) = set(threading.enumerate()) - before
    assert thread.name == 'wakeups'
    assert thread.daemon
    client.stop()
    assert events == []
    proceed.set()
    thread.join()


def test_stop_before_start_returns(fleet: Fleet) -> None:
    fleet.serve()
    ClientProcess(fleet.conf(), SERVICE).stop()


def test_start_without_a_broker_returns(
    without_broker: cfg.ConfigOpts, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, 'vobjects'):
        client = ClientProcess(without_broker, SERVICE)
        client.start()
        client.stop()
    assert 'Does not listen for wakeups: ' in caplog.text


def test_ledger_requests_go_to_the_servers_in_turn(fleet: Fleet) -> None:
    for now in (1.0, 2.0):
        fleet.ledger = MemoryLedger(lambda now=now: now)
        fleet.serve_without_membership()
    client = fleet.client().client
    # Its heartbeats take turns, too.
    times = {client.call_ledger(FleetStateGet(), 60).now for _ in range(50)}
    assert times == {1.0, 2.0}


def test_connect_to_ledger_changes_the_ledger(fleet: Fleet) -> None:
    fleet.serve()
    ledger, close = connect_to_ledger(fleet.conf(), SERVICE)
    assert ledger.hold(SERVICE.topic).held == manifest_at('1.1')
    assert ledger.get().count() == 1
    close()
    assert fleet.ledger.get().held is not None


def test_ledger_of_a_service_may_raise_errors_of_the_service(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hold(*args: str) -> Any:
        raise Full('No hold is free.')

    monkeypatch.setattr(fleet.ledger, 'hold', hold)
    fleet.serve()
    ledger, close = connect_to_ledger(fleet.conf(), SERVICE)
    with pytest.raises(Full, match=r'^No hold is free\.$'):
        ledger.hold(SERVICE.topic)
    close()


def test_connect_to_ledger_without_a_broker_raises(
    without_broker: cfg.ConfigOpts,
) -> None:
    with pytest.raises(exceptions.Unreachable):
        connect_to_ledger(without_broker, SERVICE)


def test_ledger_of_a_command_waits_for_a_lease(tmp_path: pathlib.Path) -> None:
    conf = configuration(tmp_path, f'embedded://{tmp_path}/bus')
    ledger, close = connect_to_ledger(conf, SERVICE)
    with pytest.raises(exceptions.NoLivePeer, match=r'waited 0\.'):
        ledger.get()
    close()
