# SPDX-License-Identifier: Apache-2.0
"""Requests between clients and servers of different age, in one process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_versionedobjects import exception as ovo_exception

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, local
from vobjects.rpc import (
    fleet,
    fleet_types,
    serializer,
    server,
    transport,
)
from vobjects.rpc.client import Client
from vobjects.rpc.drivers import errors as driver_errors
from vobjects.rpc.ledger import RemoteLedger

TOPIC = 'workers'
OLD = {'WorkRequest': '1.0', 'Answer': '1.0', 'Deep': '1.0'}


@objects.register
class Deep(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'name': fields.StringField(),
        'since': added('1.1', fields.StringField(nullable=True)),
    }


@objects.register
class Answer(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'said': fields.JsonField(),
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


class RefusalError(Exception):
    """What a handler refuses."""


class Worker:
    """Handlers that answer with what they were given."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        if request.name == 'refuse':
            raise RefusalError('no')
        if request.name == 'nothing':
            return None
        answer = Answer(
            said={'name': request.name, 'force': request.force},
            deep=[Deep(name='d', since='s')],
            tainted=True,
        )
        return [answer, answer] if request.name == 'two' else answer


class Bus:
    """A transport, and the fleet as its one client sees it."""

    def __init__(self) -> None:
        self.now: float | None = None
        self.conf = cfg.ConfigOpts()
        self.conf([], default_config_files=[], default_config_dirs=[])
        self.transport = transport.open_transport(
            self.conf, 'test', (__name__,), url='fake://'
        )
        self.servers: list[Any] = []
        self.members: tuple[fleet.Member, ...] = ()
        self.refreshed: Callable[[], tuple[fleet.Member, ...]] = lambda: (
            self.members
        )
        self.client = Client(
            self.transport,
            TOPIC,
            get_view=lambda: fleet.View(1, self.members),
            refresh_view=self._refresh,
            timeout=10,
            ledger_deadline=lambda seconds: (
                None if self.now is None else self.now + seconds
            ),
        )

    def _refresh(self) -> fleet.View:
        self.members = self.refreshed()
        return fleet.View(2, self.members)

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
            expected=(RefusalError,),
            observer=observer,
            has_expired=lambda deadline: now > deadline,
        )
        running = transport.build_server(
            self.transport, TOPIC, name, [endpoint], 4
        )
        running.start()
        self.servers.append(running)
        return self.member(name, manifest)

    def close(self) -> None:
        for running in self.servers:
            running.stop()
            running.wait()
        self.transport.cleanup()


@pytest.fixture
def bus() -> Iterator[Bus]:
    bus = Bus()
    yield bus
    bus.close()


class Notes:
    """Writes down what an endpoint does."""

    def __init__(self) -> None:
        self.heard: list[tuple[str | None, str]] = []
        self.older: list[str] = []

    def request_finished(
        self, request: str | None, error: Exception | None, seconds: float
    ) -> None:
        assert seconds >= 0
        self.heard.append((request, type(error).__name__ if error else 'ok'))

    def response_downgraded(self, request: str) -> None:
        self.older.append(request)


def old() -> Manifest:
    return server.emulated_manifest(Manifest({**local(), **OLD}))


def test_new_to_new_carries_everything(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    answer = bus.client.call({}, WorkRequest(name='a', force=True))
    assert answer.said == {'name': 'a', 'force': True}
    assert answer.tainted is True
    assert answer.deep[0].since == 's'


def test_lists_and_nothing_are_answers_too(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    answers = bus.client.call({}, WorkRequest(name='two', force=False))
    assert [answer.tainted for answer in answers] == [True, True]
    assert bus.client.call({}, WorkRequest(name='nothing')) is None


def test_nothing_in_an_answer_is_a_change(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    answer = bus.client.call({}, WorkRequest(name='a', force=False))
    assert answer.obj_what_changed() == set()
    assert answer.deep[0].obj_what_changed() == set()


def test_observer_hears_of_each_request(bus: Bus) -> None:
    notes = Notes()
    bus.members = (bus.serve('new', local(), notes),)
    bus.client.call({}, WorkRequest(name='a', force=False))
    with pytest.raises(RefusalError):
        bus.client.call({}, WorkRequest(name='refuse', force=False))
    with pytest.raises(exceptions.UnsupportedType):
        bus.client.call({}, NobodyHandlesThis(name='a'))
    assert notes.heard == [
        ('WorkRequest', 'ok'),
        ('WorkRequest', 'RefusalError'),
        # Sent again, after another look at the fleet.
        (None, 'UnsupportedObjectError'),
        (None, 'UnsupportedObjectError'),
    ]
    assert notes.older == []


def test_observer_hears_of_callers_that_are_older(bus: Bus) -> None:
    notes = Notes()
    endpoint = server.Endpoint([Worker()], manifest=local(), observer=notes)
    reader = {'digest': old().digest, 'manifest': dict(old())}
    request = serializer.to_wire(WorkRequest(name='a', force=False), old())
    answer = endpoint.perform({}, request, reader)
    assert serializer.from_wire(answer).said['name'] == 'a'
    assert notes.older == ['WorkRequest']


def test_to_an_old_server_nothing_newer_is_sent_or_answered(bus: Bus) -> None:
    bus.members = (bus.serve('old', old()),)
    answer = bus.client.call({}, WorkRequest(name='a', force=False))
    assert answer.said == {'name': 'a', 'force': False}
    assert answer.tainted is False  # filled in: the old server never said
    assert 'since' not in answer.deep[0]


def test_to_an_old_server_loss_is_refused_before_sending(bus: Bus) -> None:
    bus.members = (bus.serve('old', old()),)
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        bus.client.call({}, WorkRequest(name='a', force=True))
    assert str(caught.value) == (
        'WorkRequest.force=True needs WorkRequest 1.1, but the peer supports'
        ' only 1.0'
        ' because WorkRequest 1.1 is needed, but worker old on host (release'
        ' 0.1.0) supports only WorkRequest 1.0'
    )


def test_an_old_server_that_joined_unseen_is_spoken_to_once_more(
    bus: Bus,
) -> None:
    joined = bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    bus.refreshed = lambda: (joined,)
    answer = bus.client.call({}, WorkRequest(name='a', force=False))
    assert answer.said == {'name': 'a', 'force': False}


def test_after_the_second_look_a_loss_is_still_refused(bus: Bus) -> None:
    joined = bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    bus.refreshed = lambda: (joined,)
    with pytest.raises(exceptions.LossyDowngrade, match='worker old on host'):
        bus.client.call({}, WorkRequest(name='a', force=True))


def test_a_server_that_stays_unseen_is_reported(bus: Bus) -> None:
    bus.serve('old', old())
    bus.members = (bus.member('new', local()),)
    with pytest.raises(exceptions.UnsupportedType, match='not in the ledger'):
        bus.client.call({}, WorkRequest(name='a', force=True))


def test_a_request_is_sent_no_newer_than_its_microversion_shows(
    bus: Bus,
) -> None:
    bus.members = (bus.serve('new', local()),)
    shown = Manifest({**local(), 'WorkRequest': '1.0'})
    answer = bus.client.call({}, WorkRequest(name='a', force=False), shown)
    assert answer.said == {'name': 'a', 'force': False}
    with pytest.raises(exceptions.LossyDowngrade):
        bus.client.call({}, WorkRequest(name='a', force=True), shown)


def test_downgrade_is_told_when_a_server_forces_it(bus: Bus) -> None:
    told: list[str] = []
    bus.client.on_downgrade = told.append
    request = WorkRequest(name='a', force=False)

    bus.members = (bus.serve('new', local()),)
    bus.client.call({}, request)
    shown = Manifest({**local(), 'WorkRequest': '1.0'})
    bus.client.call({}, request, shown)  # the client's wish, not a server's
    assert told == []

    bus.members = (*bus.members, bus.serve('old', old()))
    bus.client.call({}, request)
    assert told == ['WorkRequest']


def test_a_refusal_comes_back_as_its_class(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    with pytest.raises(RefusalError) as caught:
        bus.client.call({}, WorkRequest(name='refuse'))
    assert caught.value.args == ('no',)


def test_without_a_live_server_nothing_is_sent(bus: Bus) -> None:
    with pytest.raises(exceptions.NoLivePeer, match=TOPIC):
        bus.client.call({}, WorkRequest(name='a'))


def test_a_type_without_handler_is_refused_not_lost(bus: Bus) -> None:
    bus.members = (bus.serve('new', local()),)
    with pytest.raises(exceptions.UnsupportedType, match='NobodyHandlesThis'):
        bus.client.call({}, NobodyHandlesThis(name='a'))


def test_a_type_the_oldest_server_lacks_is_refused(bus: Bus) -> None:
    known = {n: v for n, v in local().items() if n != 'NobodyHandlesThis'}
    member = bus.serve('old', server.emulated_manifest(Manifest(known)))
    bus.members = (member,)
    with pytest.raises(exceptions.UnsupportedType, match='supports no Nobody'):
        bus.client.call({}, NobodyHandlesThis(name='a'))


def test_the_ledger_can_be_asked_before_anything_is_known(bus: Bus) -> None:
    kept: list[fleet.Member] = []

    class Keeper:
        @server.handles(fleet_types.FleetReport)
        def report(self, context: Any, request: Any) -> Any:
            kept.append(fleet_types.to_member(request))
            return fleet_types.to_resource(fleet.View(7, tuple(kept)))

    endpoint = server.Endpoint([Keeper()], manifest=local())
    running = transport.build_server(
        bus.transport, TOPIC, 'keeper', [endpoint], 4
    )
    running.start()
    bus.servers.append(running)
    remote = RemoteLedger(bus.client, timeout=5)
    me = dataclasses.replace(bus.member('me', old()), seen=3)
    view = remote.report(me)
    assert view.generation == 7
    assert view.members == (me,)


def test_emulating_something_newer_than_ourselves_is_refused() -> None:
    with pytest.raises(exceptions.VobjectsError, match=r'WorkRequest 1\.9'):
        server.emulated_manifest(Manifest({'WorkRequest': '1.9'}))
    with pytest.raises(exceptions.VobjectsError, match='no such type'):
        server.emulated_manifest(Manifest({'Unheard': '1.0'}))


def test_two_handlers_of_one_type_are_refused() -> None:
    with pytest.raises(exceptions.DeclarationError, match='WorkRequest'):
        server.collect_handlers([Worker(), Worker()])


def test_an_old_server_refuses_what_is_newer_as_its_release_would() -> None:
    endpoint = server.Endpoint([Worker()], manifest=old())
    primitive = WorkRequest(name='a', force=False).obj_to_primitive()
    reader = {'digest': 'x', 'manifest': dict(local())}
    with pytest.raises(oslo_messaging.ExpectedException) as caught:
        endpoint.perform({}, primitive, reader)
    assert isinstance(
        caught.value.exc_info[1], ovo_exception.IncompatibleObjectVersion
    )


def test_the_answer_is_text_where_the_request_is_and_else_a_primitive() -> (
    None
):
    endpoint = server.Endpoint([Worker()], manifest=local())
    request = WorkRequest(name='two', force=True)
    reader = {'digest': local().digest}
    text = serializer.to_bytes(request, None).decode()
    told = endpoint.perform({}, text, reader)
    answered = endpoint.perform({}, request.obj_to_primitive(), reader)
    assert isinstance(told, str)
    assert isinstance(answered, list)
    for answer in (told, answered):
        first, _ = serializer.from_message(answer)
        assert first.said == {'name': 'two', 'force': True}
        assert first.deep[0].name == 'd'


@pytest.mark.parametrize('text', ['{', '[' * 100_000, '1', '"a"', '\ud800'])
def test_text_that_is_no_request_is_refused(text: str) -> None:
    endpoint = server.Endpoint([Worker()], manifest=local())
    with pytest.raises((ValueError, oslo_messaging.ExpectedException)):
        endpoint.perform({}, text, {'digest': local().digest})


class Dying:
    """Handlers that have done their work when their answers are lost."""

    def __init__(self, losses: int) -> None:
        self.calls: list[str] = []
        self._losses = losses

    @server.handles(WorkRequest)
    def work(self, context: Any, request: Any) -> Any:
        self.calls.append(server.current_call())
        if len(self.calls) <= self._losses:
            raise driver_errors.AnswerLost('it died')


def dying(bus: Bus, losses: int, manifest: Manifest) -> Dying:
    handlers = Dying(losses)
    endpoint = server.Endpoint([handlers], manifest=manifest)
    running = transport.build_server(
        bus.transport, TOPIC, 'one', [endpoint], 4
    )
    running.start()
    bus.servers.append(running)
    bus.members = (bus.member('one', manifest),)
    return handlers


def test_call_whose_answer_is_lost_is_sent_once_more_as_the_same(
    bus: Bus,
) -> None:
    handlers = dying(bus, 1, local())

    assert bus.client.call({}, WorkRequest(name='a', force=False)) is None
    assert bus.client.call({}, WorkRequest(name='a', force=False)) is None

    first, again, other = handlers.calls
    assert first == again != other
    assert first


def test_call_whose_answer_is_lost_twice_is_reported(bus: Bus) -> None:
    handlers = dying(bus, 2, local())

    with pytest.raises(driver_errors.AnswerLost):
        bus.client.call({}, WorkRequest(name='a', force=False))
    assert len(handlers.calls) == 2


def test_call_is_not_repeated_where_a_server_may_forget(bus: Bus) -> None:
    known = {n: v for n, v in local().items() if n != 'Answered'}
    handlers = dying(bus, 1, server.emulated_manifest(Manifest(known)))

    with pytest.raises(driver_errors.AnswerLost):
        bus.client.call({}, WorkRequest(name='a', force=False))
    assert len(handlers.calls) == 1


def test_request_that_arrives_after_its_deadline_is_refused(bus: Bus) -> None:
    bus.members = (bus.serve('one', local(), now=1000.0),)
    request = WorkRequest(name='a', force=False)

    bus.now = 995.0  # plus a timeout of 10 s
    assert bus.client.call({}, request).said['name'] == 'a'
    bus.now = 900.0
    with pytest.raises(exceptions.DeadlinePassed):
        bus.client.call({}, request)
    bus.now = None  # the ledger's clock is not known
    assert bus.client.call({}, request).said['name'] == 'a'
