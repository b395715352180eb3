# SPDX-License-Identifier: Apache-2.0
"""When a server acknowledges the messages of RabbitMQ."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from oslo_messaging_pyamqp import listener
from oslo_messaging_pyamqp.message_format import Request
from oslo_messaging_pyamqp.settings import Settings

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0

CALL = Request('unique', {}, {'method': 'm'}, 'call', 'reply', 3.0)
CAST = Request('unique', {}, {'method': 'm'}, None, '', None)


class Consumption:
    """Passes on messages of the test.

    :ivar calls: names of the called methods
    """

    def __init__(
        self, settings: Any, outages: Any, queues: Any, on_request: Any
    ) -> None:
        self.receive: Callable[[Request, Delivery], None] = on_request
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self.calls.append(name)


class Delivery:
    """Records what becomes of a message."""

    def __init__(self, *, is_redelivered: bool = False) -> None:
        self.is_redelivered = is_redelivered
        self.outcomes: list[str] = []

    def acknowledge(self) -> None:
        self.outcomes.append('acknowledged')

    def reject(self, *, requeue: bool) -> None:
        self.outcomes.append('requeued' if requeue else 'dropped')


class Responses:
    """Keeps the messages to callers.

    :ivar sent: queue, response and ``on_end`` of each
    :ivar caller_exists: whether the queue of the caller exists
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any, Callable[[bool], None]]] = []
        self.heartbeats: list[tuple[str, Any]] = []
        self.caller_exists = True

    def send(self, queue: str, body: bytes, on_end: Any) -> None:
        self.sent.append((queue, content_of(body), on_end))

    def send_heartbeat(self, queue: str, body: bytes) -> bool:
        self.heartbeats.append((queue, content_of(body)))
        return self.caller_exists


def content_of(body: bytes) -> Any:
    """Return the content of an encoded message without its own ID."""
    content = json.loads(json.loads(body)['oslo.message'])
    assert content.pop('_unique_id')
    return content


class Server:
    """A listener and what it passes on.

    :ivar incoming: the messages
    """

    def __init__(self) -> None:
        self.responses = Responses()
        conf = cfg.ConfigOpts()
        url = oslo_messaging.TransportURL.parse(conf, 'pyamqp://127.0.0.1/')
        settings = Settings.load(conf, url)
        self.listener = listener.Listener(
            settings,
            None,
            [],
            self.responses,  # type: ignore[arg-type]
        )
        self.consumption: Consumption = self.listener.consumption  # type: ignore[assignment]
        self.incoming: list[Any] = []
        self.listener.start(self.incoming.extend)

    def receive(self, request: Request, **options: Any) -> Delivery:
        delivery = Delivery(**options)
        self.consumption.receive(request, delivery)
        return delivery


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(listener, 'Consumption', Consumption)
    return Server()


def test_call_is_acknowledged_when_the_broker_has_its_response(
    server: Server,
) -> None:
    delivery = server.receive(CALL)
    (incoming,) = server.incoming
    assert incoming.message == CALL.content
    assert (incoming.msg_id, incoming.client_timeout) == ('call', 3.0)
    incoming.acknowledge()
    incoming.requeue()
    incoming.reply({'a': 1})
    incoming.reply('again')
    ((queue, content, on_end),) = server.responses.sent
    assert queue == 'reply'
    assert content == {
        'result': {'a': 1},
        'failure': None,
        'ending': True,
        '_msg_id': 'call',
    }
    assert delivery.outcomes == []
    on_end(True)
    assert delivery.outcomes == ['acknowledged']


def test_response_with_an_error_has_its_description(server: Server) -> None:
    server.receive(CALL)
    error = ValueError('no')
    server.incoming[0].reply(failure=(ValueError, error, None))
    _, content, _ = server.responses.sent[0]
    assert content['result'] is None
    assert json.loads(content['failure'])['message'] == 'no'


def test_call_whose_response_is_dropped_goes_to_another_server(
    server: Server,
) -> None:
    delivery = server.receive(CALL)
    server.incoming[0].reply()
    _, _, on_end = server.responses.sent[0]
    on_end(False)
    assert delivery.outcomes == ['requeued']
    # The other server may be this one.
    again = server.receive(CALL)
    assert len(server.incoming) == 2
    assert again.outcomes == []


@pytest.mark.parametrize('is_redelivered', [False, True])
def test_message_in_progress_is_not_handled_again(
    server: Server, is_redelivered: bool
) -> None:
    server.receive(CALL)
    again = server.receive(CALL, is_redelivered=is_redelivered)
    assert again.outcomes == ['acknowledged']
    assert len(server.incoming) == 1


@pytest.mark.parametrize(
    ('request_', 'is_redelivered'), [(CALL, True), (CAST, False), (CAST, True)]
)
def test_cast_or_redelivered_call_is_acknowledged_when_it_arrives(
    server: Server, request_: Request, is_redelivered: bool
) -> None:
    delivery = server.receive(request_, is_redelivered=is_redelivered)
    assert delivery.outcomes == ['acknowledged']
    (incoming,) = server.incoming
    incoming.reply()
    assert len(server.responses.sent) == (request_ is CALL)
    for _, _, on_end in server.responses.sent:
        on_end(False)
    assert delivery.outcomes == ['acknowledged']


def test_message_without_an_id_is_always_handled(server: Server) -> None:
    anonymous = CALL._replace(unique_id=None)
    for _ in range(2):
        delivery = server.receive(anonymous)
    assert len(server.incoming) == 2
    server.incoming[-1].reply()
    _, _, on_end = server.responses.sent[0]
    on_end(False)
    assert delivery.outcomes == ['requeued']


def test_message_that_could_not_be_passed_on_is_handled_when_it_returns(
    server: Server,
) -> None:
    def fail(incoming: list[Any]) -> None:
        raise RuntimeError

    server.listener.on_incoming_callback = fail
    with pytest.raises(RuntimeError):
        server.receive(CAST)
    server.listener.on_incoming_callback = server.incoming.extend
    server.receive(CAST, is_redelivered=True)
    assert len(server.incoming) == 1


def test_stopped_listener_leaves_messages_to_others(server: Server) -> None:
    server.listener.stop()
    assert server.consumption.calls == ['start', 'stop']
    assert server.receive(CALL).outcomes == []
    assert server.incoming == []


def test_listener_remembers_the_newest_messages(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, 'MAX_IDS', 2)
    for name in ('first', 'second', 'third'):
        server.receive(CAST._replace(unique_id=name))
    for name in ('third', 'second'):
        server.receive(CAST._replace(unique_id=name))
    assert len(server.incoming) == 3
    server.receive(CAST._replace(unique_id='first'))
    assert len(server.incoming) == 4


def test_cleanup_waits_until_all_calls_are_acknowledged(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, 'STOP_TIMEOUT', LONG)
    for name in ('first', 'second'):
        server.receive(CALL._replace(unique_id=name))
    for incoming in server.incoming:
        incoming.reply()
    thread = threading.Thread(target=server.listener.cleanup, daemon=True)
    thread.start()
    for _, _, on_end in server.responses.sent:
        thread.join(0.05)
        assert 'close' not in server.consumption.calls
        on_end(True)
    thread.join(LONG)
    assert server.consumption.calls == ['start', 'close']


def test_cleanup_gives_up_when_a_response_takes_too_long(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, 'STOP_TIMEOUT', 0.01)
    server.receive(CALL)
    server.listener.cleanup()
    assert server.consumption.calls == ['start', 'close']


def test_heartbeat_reaches_the_caller_or_reports_that_it_has_left(
    server: Server,
) -> None:
    server.receive(CALL)
    (incoming,) = server.incoming
    incoming.heartbeat()
    ((queue, content),) = server.responses.heartbeats
    assert (queue, content['_msg_id']) == ('reply', 'call')
    assert content['ending'] is False
    assert content['result'] is content['failure'] is None
    server.responses.caller_exists = False
    with pytest.raises(oslo_messaging.MessageDeliveryFailure, match='left'):
        incoming.heartbeat()
