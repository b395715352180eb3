# SPDX-License-Identifier: Apache-2.0
"""Calls that need more than all servers support."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest

from tests.unit.vobjects.rpc.fake_bus import TIMEOUT, TOPIC, FakeBus
from tests.waiting import eventually
from vobjects import exceptions, fields, objects
from vobjects.microversions import application_errors
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, at_microversion, local
from vobjects.rpc import fleet, routing, server
from vobjects.rpc.client import Client
from vobjects.versions import Version

V11, V12 = Version(1, 1), Version(1, 2)


@objects.register
class Crate(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    ROUTE = 'capable'
    fields = {
        'server': fields.StringField(),
        'weight': added('1.1', fields.IntegerField(nullable=True)),
    }


@objects.register
class PackRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    ROUTE = 'capable'
    fields = {
        'fragile': added('1.1', fields.BooleanField(default=False)),
    }


@objects.register
class WaitRequest(PackRequest):
    ROUTE = 'capable-wait'


@objects.register
class EarlyRequest(PackRequest):
    EARLY_VERSION_MAP = {'1.0': '1.1'}


@objects.register
class LaterRequest(EarlyRequest):
    VERSION = '1.2'
    VERSION_MAP = {'1.2': '1.1', '1.3': '1.2'}
    fields = {
        **EarlyRequest.fields,
        'note': added('1.2', fields.StringField(nullable=True)),
    }


@objects.register
class PlainRequest(PackRequest):
    ROUTE = 'any'


ROUTED = (Crate, PackRequest, WaitRequest, EarlyRequest, LaterRequest)


def manifest(version: str, **others: str) -> Manifest:
    """Return the manifest of a server."""
    names = [cls.obj_name() for cls in (*ROUTED, PlainRequest)]
    return Manifest({**local(), **dict.fromkeys(names, version), **others})


OLD, NEW = manifest('1.0'), manifest('1.1')
#: Of servers that support the types, too, and differ in another one.
NEWER = manifest('1.1', Spare='1.0')


class Packers:
    """Handlers of a server, which count its requests."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.errors: list[Exception] = []
        self.requests: collections.Counter[str] = collections.Counter()

    @server.handles(PackRequest)
    def pack(self, context: Any, request: Any) -> Any:
        self.requests[request.obj_name()] += 1
        if self.errors:
            raise self.errors.pop()
        return Crate(server=self.name, weight=7)

    @server.handles(WaitRequest)
    def wait(self, context: Any, request: Any) -> Any:
        return self.pack(context, request)

    @server.handles(EarlyRequest)
    def early(self, context: Any, request: Any) -> Any:
        return self.pack(context, request)

    @server.handles(LaterRequest)
    def later(self, context: Any, request: Any) -> Any:
        return self.pack(context, request)

    @server.handles(PlainRequest)
    def plain(self, context: Any, request: Any) -> Any:
        return self.pack(context, request)


class Fleet(FakeBus):
    """Servers of several releases, and a client."""

    def __init__(self) -> None:
        super().__init__(__name__)
        self.members: list[fleet.Member] = []
        self.packers: dict[str, Packers] = {}
        self.quorum = 1
        self.held: Manifest | None = None
        self.awaited: Callable[[], None] = lambda: None
        #: Whether the last view satisfied a waiting call.
        self.is_ready = False
        self.client = Client(
            self.transport,
            TOPIC,
            get_view=self.view,
            refresh_view=self.view,
            timeout=TIMEOUT,
            await_view=self._await_view,
        )

    def view(self) -> fleet.View:
        groups = fleet.group_members(self.members)
        return fleet.View(1, groups, self.held, quorum=self.quorum)

    def _await_view(
        self, is_ready: Callable[[fleet.View], bool], timeout: float
    ) -> fleet.View:
        assert not is_ready(self.view())
        assert 0 < timeout <= TIMEOUT
        self.awaited()
        self.is_ready = is_ready(self.view())
        return self.view()

    def serve(self, name: str, versions: Manifest) -> None:
        packers = self.packers[name] = Packers(name)
        endpoint = server.Endpoint(
            [packers], manifest=versions, find_manifest=lambda _: local()
        )
        self.start(endpoint, name=versions.digest)
        self.list(name, versions)

    def list(self, name: str, versions: Manifest, state: Any = 'up') -> None:
        """List a server in the ledger."""
        self.members.append(
            fleet.Member(name, 'b', 'h', TOPIC, '1', versions, state)
        )

    def call(self, request: Any, version: Version = V12) -> str:
        """Return the name of the server that responds."""
        versions = at_microversion(version)
        return str(self.client.call({}, request, versions).server)


@pytest.fixture
def servers(service_types: None) -> Iterator[Fleet]:
    """No server yet. Types of other tests limit no microversion."""
    for cls in (*ROUTED, PlainRequest):
        objects.register(cls)
    servers = Fleet()
    yield servers
    servers.close()


@pytest.fixture
def mixed(servers: Fleet) -> Fleet:
    """Two old servers and a new one."""
    for name, versions in (('old-1', OLD), ('new', NEW), ('old-2', OLD)):
        servers.serve(name, versions)
    return servers


def test_call_that_needs_a_new_version_goes_to_a_server_with_it(
    mixed: Fleet,
) -> None:
    for fragile in (False, True):
        assert mixed.call(PackRequest(fragile=fragile)) == 'new'


def reach_all(call: Callable[[], str]) -> None:
    """Call until each server has responded: the bus chooses one."""
    names: set[str] = set()

    def is_complete() -> bool:
        names.add(call())
        return names == {'old-1', 'old-2', 'new'}

    eventually(is_complete)


def test_call_at_a_microversion_of_all_servers_goes_to_any(
    mixed: Fleet,
) -> None:
    reach_all(lambda: mixed.call(PackRequest(), V11))


def test_call_whose_type_has_not_opted_in_goes_to_any(mixed: Fleet) -> None:
    reach_all(lambda: mixed.call(PlainRequest()))
    with pytest.raises(exceptions.LossyDowngrade):
        mixed.call(PlainRequest(fragile=True))


@pytest.mark.parametrize('shown', [None, Manifest({'Crate': '1.1'})])
def test_call_whose_response_needs_a_new_version_goes_to_a_server_with_it(
    mixed: Fleet, shown: Manifest | None
) -> None:
    versions = at_microversion(V12)
    text = mixed.client.call_for_text(
        {}, PlainRequest(), versions, shown=shown
    )
    assert text.body == b'{"server":"new","weight":7}'


def test_call_whose_response_needs_nothing_new_goes_to_any(
    mixed: Fleet,
) -> None:
    def all_have_served() -> bool:
        mixed.client.call_for_text(
            {},
            PlainRequest(),
            at_microversion(V12),
            shown=Manifest({'Crate': '1.0'}),
        )
        return all(packers.requests for packers in mixed.packers.values())

    # A server whose thread gets no processor serves nothing.
    eventually(all_have_served)


@pytest.mark.parametrize('cls', [PackRequest, EarlyRequest])
def test_call_with_a_value_of_a_new_version_goes_to_a_server_with_it(
    mixed: Fleet, cls: Any
) -> None:
    """Also without a microversion, and before the one of the field."""
    assert mixed.client.call({}, cls(fragile=True)).server == 'new'
    early = at_microversion(Version(1, 0), early=True)
    if cls is EarlyRequest:
        result = mixed.client.call({}, cls(fragile=True), early)
        assert result.server == 'new'


def test_call_with_an_early_type_but_no_early_value_goes_to_any(
    mixed: Fleet,
) -> None:
    early = at_microversion(Version(1, 0), early=True)
    names: set[str] = set()

    def all_have_served() -> bool:
        names.add(mixed.client.call({}, EarlyRequest(), early).server)
        return names == {'old-1', 'old-2', 'new'}

    eventually(all_have_served)


def test_call_with_an_early_value_stays_in_the_version_of_its_microversion(
    mixed: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed.serve('newest', manifest('1.1', LaterRequest='1.2'))
    mixed.members = [m for m in mixed.members if m.id != 'new']
    exchange, sent = Client._exchange, []

    def record(*arguments: Any) -> Any:
        sent.append(json.loads(arguments[2])['versioned_object.version'])
        return exchange(*arguments)

    monkeypatch.setattr(Client, '_exchange', record)
    early = at_microversion(Version(1, 0), early=True)
    mixed.client.call({}, LaterRequest(fragile=True), early)
    assert sent == ['1.1']


def test_calls_are_spread_evenly_over_the_servers_of_all_manifests(
    servers: Fleet,
) -> None:
    for name, versions in (('a', NEW), ('b', NEW), ('c', NEW), ('d', NEWER)):
        servers.list(name, versions)
    servers.list('old', OLD)
    needs = Manifest({'PackRequest': '1.1'})
    chosen = collections.Counter(
        routing.choose(servers.view(), TOPIC, needs) for _ in range(10_000)
    )
    assert chosen.keys() == {NEW, NEWER}
    assert 7200 < chosen[NEW] < 7800


@pytest.mark.parametrize(
    ('versions', 'state'),
    [
        (None, 'up'),
        (OLD, 'up'),
        (NEW, 'joining'),
        # A server of a release that does not name it after its manifest.
        (
            Manifest({n: v for n, v in NEW.items() if n != fleet.DIRECT}),
            'up',
        ),
        (Manifest({**NEW, 'PackRequest': '2.0'}), 'up'),
    ],
    ids=['none', 'old', 'joining', 'unnamed', 'another major version'],
)
def test_call_without_a_capable_server_names_the_version(
    servers: Fleet, versions: Manifest | None, state: str
) -> None:
    servers.serve('old', OLD)
    if versions is not None:
        servers.list('other', versions, state)
    error = r'^no live server supports PackRequest 1\.1$'
    with pytest.raises(exceptions.NoCapablePeer, match=error) as caught:
        servers.call(PackRequest())
    response = application_errors.as_api_error(caught.value, V12, (V11, V12))
    assert response.status == 503
    assert 'PackRequest 1.1' in response.detail
    assert not servers.packers['old'].requests


def test_call_with_a_value_but_no_capable_server_names_the_old_one(
    servers: Fleet,
) -> None:
    servers.serve('old', OLD)
    with pytest.raises(exceptions.LossyDowngrade, match='release 1'):
        servers.client.call({}, PackRequest(fragile=True))


def test_call_that_may_wait_is_sent_when_a_capable_server_joins(
    servers: Fleet,
) -> None:
    servers.serve('old', OLD)
    servers.awaited = lambda: servers.serve('new', NEW)
    assert servers.call(WaitRequest()) == 'new'
    assert servers.is_ready


def test_call_that_may_wait_uses_its_last_second(
    servers: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers.serve('old', OLD)
    servers.awaited = lambda: servers.serve('new', NEW)
    monkeypatch.setattr('vobjects.rpc.client._Call.remaining', 1.0)
    assert servers.call(WaitRequest()) == 'new'


def test_call_that_may_wait_ends_at_its_timeout(
    servers: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers.serve('old', OLD)
    servers.awaited = lambda: monkeypatch.setattr(
        'vobjects.rpc.client._Call.remaining', 0.0
    )
    with pytest.raises(exceptions.NoCapablePeer):
        servers.call(WaitRequest())


class AnswerLost(oslo_messaging.MessagingTimeout):
    """The error of a driver that notices the loss of a response."""

    answer_lost = True


def test_call_whose_response_and_server_are_lost_raises_the_loss(
    mixed: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call may have been performed, so it must not seem rejected."""

    def lose(*_: Any, **__: Any) -> Any:
        mixed.members = [m for m in mixed.members if m.id != 'new']
        raise AnswerLost('lost')

    monkeypatch.setattr(Client, '_exchange', lose)
    with pytest.raises(AnswerLost):
        mixed.call(PackRequest())


def test_hold_keeps_calls_from_capable_servers(mixed: Fleet) -> None:
    mixed.held = OLD
    with pytest.raises(exceptions.NoCapablePeer):
        mixed.call(PackRequest())
    assert mixed.view().maximum(TOPIC, V12).version == V11


def test_hold_limits_the_versions_that_capable_servers_receive(
    mixed: Fleet,
) -> None:
    mixed.held = Manifest({**NEW, 'PlainRequest': '1.0'})

    def call(**values: Any) -> bytes:
        """Return the response, whose type only the new server supports."""
        return mixed.client.call_for_text(
            {},
            PlainRequest(**values),
            at_microversion(V12),
            shown=Manifest({'Crate': '1.1'}),
        ).body

    assert call() == b'{"server":"new","weight":7}'
    with pytest.raises(exceptions.LossyDowngrade):
        call(fragile=True)


def test_loss_because_of_a_hold_names_it(servers: Fleet) -> None:
    servers.serve('new', NEW)
    servers.held = OLD
    with pytest.raises(
        exceptions.LossyDowngrade, match=r'PlainRequest is held at 1\.0'
    ):
        servers.client.call({}, PlainRequest(fragile=True))


def maximum(servers: Fleet) -> Version:
    """Return the highest microversion if PlainRequest has no new version."""
    servers.members = [
        dataclasses.replace(
            member,
            manifest=Manifest({**member.manifest, 'PlainRequest': '1.1'}),
        )
        for member in servers.members
    ]
    return servers.view().maximum(TOPIC, V12).version


@pytest.mark.parametrize(
    ('new', 'quorum', 'expected'),
    [(0, 1, V11), (1, 1, V12), (1, 2, V11), (2, 2, V12), (3, 2, V12)],
)
def test_maximum_needs_a_quorum_of_capable_servers(
    servers: Fleet, new: int, quorum: int, expected: Version
) -> None:
    servers.quorum = quorum
    servers.list('old', OLD)
    for number in range(new):
        servers.list(f'new-{number}', NEW)
    assert maximum(servers) == expected


def test_maximum_needs_servers_that_support_all_types_together(
    servers: Fleet,
) -> None:
    servers.quorum = 1
    servers.list('a', manifest('1.1', Crate='1.0'))
    servers.list('b', manifest('1.0', Crate='1.1'))
    assert maximum(servers) == V11
    servers.list('c', NEW)
    assert maximum(servers) == V12


def test_maximum_needs_all_servers_for_a_type_that_has_not_opted_in(
    mixed: Fleet,
) -> None:
    reason = mixed.view().maximum(TOPIC, V12).reason
    assert 'PlainRequest 1.1 is needed, but a server' in reason
    assert maximum(mixed) == V12


def test_route_must_be_known(registry: None) -> None:
    with pytest.raises(
        exceptions.DeclarationError,
        match=r"Lid\.ROUTE: must be one of 'any', 'capable', 'capable-wait',"
        r" not 'capabel'; did you mean 'capable'\?",
    ):

        @objects.register
        class Lid(objects.Request):
            ROUTE = 'capabel'  # type: ignore[assignment]


def test_is_used_tells_whether_a_type_has_opted_in(registry: None) -> None:
    assert not routing.is_used()

    @objects.register
    class Lid(objects.Request):
        ROUTE = 'capable'

    assert routing.is_used()
