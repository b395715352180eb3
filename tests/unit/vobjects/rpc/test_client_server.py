# SPDX-License-Identifier: Apache-2.0
"""Requests between clients and servers of different releases."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_versionedobjects import exception as ovo_exception

from tests.unit.vobjects.rpc.fake_bus import TIMEOUT, TOPIC, FakeBus
from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import exceptions, fields, objects
from vobjects.objects.history import added, changed
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import (
    call_state,
    fleet,
    fleet_types,
    serializer,
    server,
)
from vobjects.rpc.client import Client
from vobjects.rpc.ledger import LedgerEndpoint, RemoteLedger

OLD = {'WorkRequest': '1.0', 'Result': '1.0', 'Deep': '1.0'}


@objects.register
class Deep(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'name': fields.StringField(),
        'since': added('1.1', fields.StringField(nullable=True)),
    }


@objects.register
class Result(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'values': fields.JsonField(),
        'deep': fields.ListOfObjectsField('Deep', default=[]),
        'tainted': added('1.1', fields.BooleanField(default=False)),
    }


@objects.register
class WorkRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    fields = {
        'name': fields.StringField(),
        'force': added('1.1', fields.BooleanField(default=False)),
    }


@objects.register
class NobodyHandlesThis(objects.Request):
    fields = {'name': fields.StringField()}


class RejectionError(exceptions.ServiceError):
    """Raised by a handler of a service that derives its errors."""


class Worker:
    """Handlers that return the values of the request."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        if request.name == 'reject':
            raise RejectionError('There is no such thing.', 'detail')
        if request.name == 'nothing':
            return None
        if request.name == 'given up':
            # As reading a request of an older client does.
            raise exceptions.LossyDowngrade(
                'WorkRequest', 'mode', "'a'", '1.0', '1.1'
            )
        result = Result(
            values={'name': request.name, 'force': request.force},
            deep=[Deep(name='d', since='s')],
            tainted=True,
        )
        return [result, result] if request.name == 'two' else result


class ResponseLost(oslo_messaging.MessagingTimeout):
    """The error of a driver that notices the loss of a response."""

    answer_lost = True


class Bus(FakeBus):
    """A transport, a client, and the client's view of the fleet."""

    def __init__(self) -> None:
        super().__init__(__name__)
        self.now: float | None = None
        self.members: tuple[fleet.Member, ...] = ()
        self.refreshed: Callable[[], tuple[fleet.Member, ...]] = lambda: (
            self.members
        )
        self.client = Client(
            self.transport,
            TOPIC,
            get_view=lambda: fleet.View(1, fleet.group_members(self.members)),
            refresh_view=self._refresh,
            timeout=TIMEOUT,
            ledger_deadline=lambda seconds: (
                None if self.now is None else self.now + seconds
            ),
        )

    def _refresh(self) -> fleet.View:
        self.members = self.refreshed()
        return fleet.View(2, fleet.group_members(self.members))

    def client_with_timeout(self, seconds: float) -> Client:
        """Return another client, which always has the latest view."""
        return Client(
            self.transport,
            TOPIC,
            get_view=self._refresh,
            refresh_view=self._refresh,
            timeout=seconds,
        )

    def member(self, name: str, manifest: Manifest) -> fleet.Member:
        return fleet.Member(name, 'worker', 'host', TOPIC, '0.1.0', manifest)

    def serve(
        self,
        name: str,
        manifest: Manifest,
        observer: server.Observer | None = None,
        now: float = 0.0,
    ) -> fleet.Member:
        endpoint = server.Endpoint(
            [Worker()],
            manifest=manifest,
            observer=observer,
            has_expired=lambda deadline: now > deadline,
        )
        self.start(endpoint, name=name)
        return self.member(name, manifest)

    def serve_handlers(
        self, name: str, handlers: Any, manifest: Manifest | None = None
    ) -> None:
        endpoint_class = getattr(handlers, 'endpoint_class', server.Endpoint)
        endpoint = endpoint_class([handlers], manifest=manifest or local())
        self.start(endpoint, name=name)


@pytest.fixture
def bus() -> Iterator[Bus]:
    bus = Bus()
    yield bus
    bus.close()


class RecordingObserver:
    """Records the events of an endpoint."""

    def __init__(self) -> None:
        self.requests: list[tuple[str | None, str]] = []
        self.downgrades: list[str] = []

    def request_finished(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        assert seconds >= 0
        self.requests.append(
            (request, type(error).__name__ if error else 'ok')
        )

    def response_downgraded(self, request: str) -> None:
        self.downgrades.append(request)


def old() -> Manifest:
    return server.emulated_manifest(Manifest({**local(), **OLD}))


def test_call_between_new_peers_carries_all_fields(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    context = {'user': 'me'}
    result = bus.client.call(context, WorkRequest(name='a', force=True))
    assert result.values == {'name': 'a', 'force': True}
    assert result._context == context
    assert result.tainted is True
    assert result.deep[0].since == 's'


class Context:
    """A context as in oslo.context."""

    def to_dict(self) -> dict[str, Any]:
        return {'user': 'me'}


def test_context_arrives_as_a_dict(bus: Bus) -> None:
    contexts: list[Any] = []

    class ContextWorker:
        @server.handles(WorkRequest)
        def work(self, context: Any, request: Any) -> None:
            contexts.append(context)

    bus.serve_handlers('one', ContextWorker())
    bus.members = (bus.member('one', local()),)
    for context in (Context(), {'user': 'me'}):
        bus.client.call(context, WorkRequest(name='a', force=False))
    assert contexts == [{'user': 'me'}] * 2


def test_error_of_a_handler_arrives_without_the_servers_traceback(
    bus: Bus,
) -> None:
    bus.members = (bus.serve('new', local()),)
    with pytest.raises(RejectionError) as raised:
        bus.client.call({}, WorkRequest(name='reject', force=False))
    assert type(raised.value) is RejectionError
    assert str(raised.value) == 'There is no such thing.'
    assert raised.value.args == ('There is no such thing.', 'detail')


def test_call_returns_lists_and_none(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    results = bus.client.call({}, WorkRequest(name='two', force=False))
    assert [result.tainted for result in results] == [True, True]
    assert bus.client.call({}, WorkRequest(name='nothing')) is None


def test_call_returns_objects_without_changes(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    result = bus.client.call({}, WorkRequest(name='a', force=False))
    assert result.obj_what_changed() == set()
    assert result.deep[0].obj_what_changed() == set()


def test_observer_gets_each_request(bus: Bus) -> None:
    observer = RecordingObserver()
    bus.members = (bus.serve('new', local(), observer),)
    bus.client.call({}, WorkRequest(name='a', force=False))
    with pytest.raises(RejectionError):
        bus.client.call({}, WorkRequest(name='reject', force=False))
    with pytest.raises(exceptions.UnsupportedType):
        bus.client.call({}, NobodyHandlesThis(name='a'))
    assert observer.requests == [
        ('WorkRequest', 'ok'),
        ('WorkRequest', 'RejectionError'),
        # Sent again with a new view of the fleet.
        (None, 'UnsupportedObjectError'),
        (None, 'UnsupportedObjectError'),
    ]
    assert observer.downgrades == []


def test_observer_gets_downgraded_responses(bus: Bus) -> None:
    observer = RecordingObserver()
    endpoint = server.Endpoint([Worker()], manifest=local(), observer=observer)
    reader = {'digest': old().digest, 'manifest': dict(old())}
    request = serializer.to_bytes(WorkRequest(name='a', force=False), old())
    result = endpoint.perform({}, request.decode(), reader)
    assert serializer.from_bytes(result).values['name'] == 'a'
    assert observer.downgrades == ['WorkRequest']


def test_call_of_an_old_server_uses_old_versions(bus: Bus) -> None:
    bus.members = (bus.serve('old', old()),)
    result = bus.client.call({}, WorkRequest(name='a', force=False))
    assert result.values == {'name': 'a', 'force': False}
    assert result.tainted is False  # the default: the old server sent no value
    assert 'since' not in result.deep[0]


def test_call_of_an_old_server_rejects_loss_before_sending(bus: Bus) -> None:
    bus.members = (bus.serve('old', old()),)
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        bus.client.call({}, WorkRequest(name='a', force=True))
    assert str(caught.value) == (
        'WorkRequest.force=True needs WorkRequest 1.1, but the peer supports'
        ' only 1.0'
        ' because WorkRequest 1.1 is needed, but a server (release 0.1.0)'
        ' supports only WorkRequest 1.0'
    )


def test_call_with_a_value_that_was_given_up_does_not_blame_old_servers(
    bus: Bus,
) -> None:
    bus.members = (bus.serve('new', local()), bus.member('old', old()))
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        bus.client.call({}, WorkRequest(name='given up', force=False))
    assert caught.value.message == (
        "WorkRequest 1.1 cannot hold mode='a' of WorkRequest 1.0"
    )


def test_call_when_an_old_server_has_joined_is_sent_again(
    bus: Bus,
) -> None:
    joined = bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    bus.refreshed = lambda: (joined,)
    result = bus.client.call({}, WorkRequest(name='a', force=False))
    assert result.values == {'name': 'a', 'force': False}


def test_call_when_the_server_asks_for_versions_uses_a_valid_view(
    bus: Bus,
) -> None:
    """The lease may expire between the two messages."""
    newest = bus.serve('new', Manifest({**local(), 'Added': '1.0'}))
    views = iter(
        fleet.View(number, fleet.group_members(members))
        for number, members in (
            (1, [newest]),
            (2, [newest, bus.member('old', old())]),
        )
    )
    client = Client(
        bus.transport,
        TOPIC,
        get_view=lambda: next(views),
        refresh_view=bus._refresh,
        timeout=TIMEOUT,
    )
    with pytest.raises(
        exceptions.LossyDowngrade, match=r'a server \(release 0'
    ):
        client.call({}, WorkRequest(name='a', force=True))


def test_call_with_a_renewed_view_still_rejects_loss(bus: Bus) -> None:
    joined = bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    bus.refreshed = lambda: (joined,)
    with pytest.raises(
        exceptions.LossyDowngrade, match=r'a server \(release 0'
    ):
        bus.client.call({}, WorkRequest(name='a', force=True))


def test_call_when_a_server_is_not_in_the_ledger_raises(bus: Bus) -> None:
    bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    with pytest.raises(exceptions.UnsupportedType) as caught:
        bus.client.call({}, WorkRequest(name='a', force=True))
    assert str(caught.value) == (
        'a peer does not support WorkRequest: a server that is not in the'
        ' ledger answered "Version 1.1 of WorkRequest is not supported,'
        ' supported version is 1.0"'
    )


class UnknowingEndpoint(server.Endpoint):
    """An endpoint that never knows the manifest of its client."""

    calls = 0

    def perform(
        self, context: dict[str, Any], request: Any, reader: Any
    ) -> Any:
        UnknowingEndpoint.calls += 1
        raise exceptions.UnknownManifest('digest')


class UnknowingWorker(Worker):
    endpoint_class = UnknowingEndpoint


def test_call_when_the_server_asks_for_versions_twice_raises(bus: Bus) -> None:
    bus.serve_handlers('one', UnknowingWorker())
    bus.members = (bus.member('one', local()),)
    with pytest.raises(exceptions.UnknownManifest):
        bus.client.call({}, WorkRequest(name='a', force=False))
    assert UnknowingEndpoint.calls == 2


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise KeyError('text')


class UnprintableResponse(exceptions.Unreachable):
    def __init__(self) -> None:
        super().__init__('the database')

    def __str__(self) -> str:
        raise KeyError('text')


class Unsendable:
    """JSON cannot represent it."""

    def __iter__(self) -> Any:
        raise ZeroDivisionError

    def items(self) -> Any:
        raise ZeroDivisionError


class UnsendableError(Exception):
    def __init__(self, *args: Any, kwargs: Any = None) -> None:
        super().__init__(*args)
        self.kwargs = kwargs or {}

    def __str__(self) -> str:
        return 'text'


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


class RaisingWorker:
    """A handler that raises an error of this package or of its libraries."""

    def __init__(self, error: BaseException) -> None:
        self.calls = 0
        self._error = error

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        self.calls += 1
        raise self._error


#: Errors that mean something else to a client, or cannot be sent.
MISLEADING = [
    ovo_exception.IncompatibleObjectVersion(
        objname='Stored', objver='1.2', supported='1.1'
    ),
    ovo_exception.UnsupportedObjectError(objtype='Stored'),
    exceptions.UnknownManifest('digest'),
    exceptions.DeadlinePassed('late'),
    exceptions.FieldsMissing('Stored', ['name']),
    exceptions.UnknownField('Stored', 'name', '1.0'),
    exceptions.NoSuchField('Stored', 'name', []),
    ResponseLost('the server of a nested call died'),
    oslo_messaging.MessagingTimeout('a nested call'),
    oslo_messaging.UnsupportedVersion('1.7'),
    oslo_messaging.NoSuchMethod('perform'),
    oslo_messaging.ExpectedException(),
    oslo_messaging.RemoteError('IncompatibleObjectVersion', 'nested'),
    ExceptionGroup('two', [exceptions.UnknownManifest('digest')]),
    BaseExceptionGroup('two', [SystemExit(1)]),
    SystemExit(1),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError(),
    UnprintableError(),
    UnprintableResponse(),
    UnsendableError(Unsendable()),
    UnsendableError(CYCLE),
    UnsendableError(kwargs=CYCLE),
    UnsendableError('x' * server.MAX_ERROR),
    ValueError('x' * server.MAX_ERROR),
]


@pytest.mark.parametrize(
    'error', MISLEADING, ids=lambda error: type(error).__name__
)
def test_error_of_a_handler_is_no_rejection_by_the_server(
    bus: Bus, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    worker = RaisingWorker(error)
    bus.serve_handlers('one', worker)
    bus.members = (bus.member('one', local()),)

    with pytest.raises(RuntimeError, match=type(error).__name__):
        bus.client.call({}, WorkRequest(name='a', force=False))

    assert worker.calls == 1
    logged = [record for record in caplog.records if record.exc_info]
    assert logged
    assert 'test_client_server.py' in caplog.text


@pytest.mark.parametrize(
    'error', MISLEADING, ids=lambda error: type(error).__name__
)
def test_error_of_the_context_is_no_rejection_by_the_server(
    bus: Bus, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    worker = RaisingWorker(error)
    endpoint = server.Endpoint(
        [Worker()],
        manifest=local(),
        context_from=lambda context: worker.work(context, None),
    )
    bus.start(endpoint, name='one')
    bus.members = (bus.member('one', local()),)

    with pytest.raises(RuntimeError, match=type(error).__name__):
        bus.client.call({}, WorkRequest(name='a', force=False))

    assert worker.calls == 1
    assert [record for record in caplog.records if record.exc_info]


class Conversion:
    """The functions of a changed field, of which one may raise an error."""

    error: BaseException | None = None
    failing = ''
    calls = 0

    @classmethod
    def convert(cls, name: str, value: Any) -> Any:
        if name != cls.failing:
            return value
        assert cls.error is not None
        cls.calls += 1
        raise cls.error


@objects.register
class ConvertedRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    fields = {
        'name': changed(
            '1.1',
            fields.StringField(),
            fields.StringField(),
            up=lambda value: Conversion.convert('up', value),
            down=lambda value: Conversion.convert('down', value),
        )
    }


class ConvertedWorker:
    @server.handles(ConvertedRequest)
    def work(self, context: Any, request: Any) -> None:
        return None


@pytest.mark.parametrize('failing', ['up', 'down'])
@pytest.mark.parametrize(
    'error',
    [
        *(
            error
            for error in MISLEADING
            if not isinstance(error, ValueError)  # a loss
        ),
        exceptions.LossyDowngrade('Stored', 'name', "'a'", '1.1', '1.0'),
        exceptions.UnsupportedType('Stored'),
        exceptions.NoCapablePeer('Stored 1.1'),
        exceptions.Unreachable('the database'),
        RejectionError('There is no such thing.'),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_of_a_conversion_is_no_rejection_by_a_server(
    bus: Bus,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    failing: str,
) -> None:
    if failing == 'down' and not isinstance(error, Exception):
        pytest.skip('a client may end')
    monkeypatch.setattr(Conversion, 'error', error)
    monkeypatch.setattr(Conversion, 'failing', failing)
    monkeypatch.setattr(Conversion, 'calls', 0)
    bus.serve_handlers('one', ConvertedWorker())
    older = Manifest({**local(), 'ConvertedRequest': '1.0'})
    bus.members = (bus.member('one', older),)

    with pytest.raises(Exception, match=type(error).__name__) as raised:
        bus.client.call({}, ConvertedRequest(name='a'))

    assert type(raised.value) in (RuntimeError, type(error))
    assert Conversion.calls == 1


class ReturningWorker(RaisingWorker):
    """A handler whose response cannot be sent."""

    def __init__(self, response: Any) -> None:
        self.calls = 0
        self._response = response

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        self.calls += 1
        return self._response


class UnreadableDeep(Deep):
    def obj_to_primitive(self, *args: Any, **options: Any) -> Any:
        raise ovo_exception.IncompatibleObjectVersion(
            objname='Stored', objver='1.2', supported='1.1'
        )


@pytest.mark.parametrize(
    ('response', 'error'),
    [
        (Result(), RuntimeError),
        ([Result(values={}, deep=[Deep()], tainted=True)], RuntimeError),
        ({'deep': UnreadableDeep(name='d')}, RuntimeError),
        (object(), TypeError),
    ],
)
def test_error_of_a_response_is_no_rejection_by_the_server(
    bus: Bus,
    caplog: pytest.LogCaptureFixture,
    response: Any,
    error: type[Exception],
) -> None:
    worker = ReturningWorker(response)
    bus.serve_handlers('one', worker)
    bus.members = (bus.member('one', local()),)

    with pytest.raises(error):
        bus.client.call({}, WorkRequest(name='a', force=False))

    assert worker.calls == 1
    assert [record for record in caplog.records if record.exc_info]


@pytest.mark.parametrize(
    ('changed', 'error'),
    [
        (('"1.1"', '"9.9"'), ovo_exception.IncompatibleObjectVersion),
        (('"Result"', '"Later"'), ovo_exception.UnsupportedObjectError),
    ],
)
def test_response_that_cannot_be_read_is_no_rejection_by_the_server(
    bus: Bus, changed: tuple[str, str], error: type[Exception]
) -> None:
    worker = Worker()

    class NewerEndpoint(server.Endpoint):
        calls = 0

        def perform(self, *arguments: Any, **options: Any) -> str:
            NewerEndpoint.calls += 1
            response = super().perform(*arguments, **options)
            assert changed[0] in response
            return response.replace(*changed)

    bus.start(NewerEndpoint([worker], manifest=local()), name='one')
    bus.members = (bus.member('one', local()),)

    with pytest.raises(error):
        bus.client.call({}, WorkRequest(name='a', force=False))

    assert NewerEndpoint.calls == 1


@pytest.mark.parametrize(
    'error',
    [
        exceptions.LossyDowngrade('Stored', 'name', "'a'", '1.1', '1.0'),
        exceptions.UnsupportedType('Stored'),
        exceptions.NoLivePeer('no server of a nested call'),
        exceptions.NoCapablePeer('Stored 1.1'),
        exceptions.Unreachable('the database'),
    ],
    ids=lambda error: type(error).__name__,
)
def test_error_of_a_handler_about_live_servers_is_its_response(
    bus: Bus, error: Exception
) -> None:
    worker = RaisingWorker(error)
    bus.serve_handlers('one', worker)
    bus.members = (bus.member('one', local()),)

    with pytest.raises(type(error)):
        bus.client.call({}, WorkRequest(name='a', force=False))

    assert worker.calls == 1


def test_call_at_a_microversion_sends_no_newer_version(
    bus: Bus,
) -> None:
    bus.members = (bus.serve('new', local()),)
    versions = Manifest({**local(), 'WorkRequest': '1.0'})
    result = bus.client.call({}, WorkRequest(name='a', force=False), versions)
    assert result.values == {'name': 'a', 'force': False}
    with pytest.raises(exceptions.LossyDowngrade):
        bus.client.call({}, WorkRequest(name='a', force=True), versions)


def test_on_downgrade_is_called_when_a_server_forces_it(bus: Bus) -> None:
    downgrades: list[str] = []
    bus.client.on_downgrade = downgrades.append
    request = WorkRequest(name='a', force=False)

    bus.members = (bus.serve('new', local()),)
    bus.client.call({}, request)
    versions = Manifest({**local(), 'WorkRequest': '1.0'})
    bus.client.call(
        {}, request, versions
    )  # limited by the client, not by a server
    assert downgrades == []

    bus.members = (*bus.members, bus.serve('old', old()))
    bus.client.call({}, request)
    # Again if the old server gets it, which does not know the manifest yet.
    assert {*downgrades} == {'WorkRequest'}


def test_call_without_live_servers_raises(bus: Bus) -> None:
    with pytest.raises(exceptions.NoLivePeer, match=TOPIC):
        bus.client.call({}, WorkRequest(name='a'))


def test_call_when_no_handler_exists_raises(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    with pytest.raises(exceptions.UnsupportedType, match='NobodyHandlesThis'):
        bus.client.call({}, NobodyHandlesThis(name='a'))


def test_call_when_an_old_server_lacks_the_type_raises(bus: Bus) -> None:
    known = {n: v for n, v in local().items() if n != 'NobodyHandlesThis'}
    member = bus.serve('old', server.emulated_manifest(Manifest(known)))
    bus.members = (member,)
    with pytest.raises(exceptions.UnsupportedType) as caught:
        bus.client.call({}, NobodyHandlesThis(name='a'))
    assert caught.value.type_name == 'NobodyHandlesThis'
    assert 'supports no Nobody' in caught.value.peer


def test_call_ledger_works_without_a_view(bus: Bus) -> None:
    ledger = MemoryLedger()
    bus.serve_handlers('ledger', LedgerEndpoint(ledger, lambda: None))
    remote = RemoteLedger(bus.client, timeout=TIMEOUT)
    member = dataclasses.replace(bus.member('me', old()), seen=3)
    view = remote.report(member).view
    assert view == fleet.View(1, fleet.group_members([member]))
    assert [m.seen for m in ledger.members(10)] == [3]


class SlowLedger:
    """A handler that takes longer than the timeout of its client."""

    @server.handles(fleet_types.FleetManifestGet)
    def manifest(self, context: Any, request: Any) -> Any:
        threading.Event().wait(0.15)
        return fleet_types.FleetManifest(versions={'Thing': '1.7'})


def test_call_ledger_has_its_own_timeout_and_tells_versions(bus: Bus) -> None:
    # The client's versions are not those of the server.
    bus.serve_handlers(
        'slow', SlowLedger(), Manifest({**local(), 'Added': '1.0'})
    )
    client = bus.client_with_timeout(0.05)
    request = fleet_types.FleetManifestGet(digest='')
    response = client.call_ledger(request, timeout=60)
    assert response.versions == {'Thing': '1.7'}
    with pytest.raises(oslo_messaging.MessagingTimeout):
        client.call_ledger(request, timeout=0.05)


def test_emulated_manifest_when_newer_than_the_build_is_rejected() -> None:
    with pytest.raises(exceptions.VobjectsError, match=r'WorkRequest 1\.9'):
        server.emulated_manifest(Manifest({'WorkRequest': '1.9'}))
    with pytest.raises(exceptions.VobjectsError, match='no such type'):
        server.emulated_manifest(Manifest({'Unheard': '1.0'}))


def test_collect_handlers_when_two_handle_one_type_raises() -> None:
    with pytest.raises(exceptions.DeclarationError, match='WorkRequest'):
        server.collect_handlers([Worker(), Worker()])


def test_perform_by_an_emulated_server_rejects_newer_versions() -> None:
    endpoint = server.Endpoint([Worker()], manifest=old())
    request = serializer.to_bytes(WorkRequest(name='a', force=False), None)
    reader = {'digest': 'x', 'manifest': dict(local())}
    with pytest.raises(oslo_messaging.ExpectedException) as caught:
        endpoint.perform({}, request.decode(), reader)
    assert isinstance(
        caught.value.exc_info[1], ovo_exception.IncompatibleObjectVersion
    )


class LosingWorker:
    """Handlers whose first responses are lost."""

    def __init__(self, losses: int) -> None:
        self.calls: list[str] = []
        worker = self

        class LosingEndpoint(server.Endpoint):
            def perform(
                self, context: dict[str, Any], request: Any, reader: Any
            ) -> Any:
                response = super().perform(context, request, reader)
                if len(worker.calls) <= losses:
                    raise ResponseLost('the server died')
                return response

        self.endpoint_class = LosingEndpoint

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        self.calls.append(call_state.current_call())


def lose_responses(bus: Bus, losses: int, manifest: Manifest) -> LosingWorker:
    handlers = LosingWorker(losses)
    bus.serve_handlers('one', handlers, manifest)
    bus.members = (bus.member('one', manifest),)
    return handlers


def test_call_when_the_response_is_lost_is_sent_again(
    bus: Bus,
) -> None:
    handlers = lose_responses(bus, 1, local())

    assert bus.client.call({}, WorkRequest(name='a', force=False)) is None
    assert bus.client.call({}, WorkRequest(name='a', force=False)) is None

    first, repeated, second = handlers.calls
    assert first == repeated != second
    assert first


def test_call_sent_again_ends_within_the_timeout_of_the_first(
    bus: Bus,
) -> None:
    class SlowLosingWorker(LosingWorker):
        @server.handles(WorkRequest)
        def work(self, context: Any, request: Any) -> Any:
            threading.Event().wait(0.2)
            return super().work(context, request)

    bus.serve_handlers('one', SlowLosingWorker(1))
    bus.members = (bus.member('one', local()),)
    client = bus.client_with_timeout(0.3)
    with pytest.raises(oslo_messaging.MessagingTimeout):
        client.call({}, WorkRequest(name='a', force=False))


def test_call_when_the_response_is_lost_twice_raises(bus: Bus) -> None:
    handlers = lose_responses(bus, 2, local())

    with pytest.raises(ResponseLost):
        bus.client.call({}, WorkRequest(name='a', force=False))
    assert len(handlers.calls) == 2


def test_call_when_it_arrives_after_the_deadline_is_rejected(bus: Bus) -> None:
    bus.members = (bus.serve('one', local(), now=1000.0),)
    request = WorkRequest(name='a', force=False)

    bus.now = 1000.0 - TIMEOUT / 2
    assert bus.client.call({}, request).values['name'] == 'a'
    bus.now = 1000.0 - 2 * TIMEOUT
    with pytest.raises(exceptions.DeadlinePassed):
        bus.client.call({}, request)
    bus.now = None  # the ledger's clock is not known
    assert bus.client.call({}, request).values['name'] == 'a'
