# SPDX-License-Identifier: Apache-2.0
"""What becomes of a response and of its call, for each outcome."""

from __future__ import annotations

import threading
import time

import oslo_messaging
import pytest

from oslo_messaging_pyamqp import publisher, responses

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


class Publisher:
    """Settles each message with the next of some outcomes, then with success.

    :ivar outcomes: those of the next messages
    :ivar attempts: number of messages
    """

    def __init__(self, *outcomes: Exception) -> None:
        self.outcomes = list(outcomes)
        self.attempts = 0

    def try_publish(self, publication: publisher.Publication) -> bool:
        self.attempts += 1
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, publisher.Rejected):
            raise outcome
        if isinstance(outcome, ConnectionError):
            return False
        publication.settle(outcome)
        return True


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, 'RETRY_INTERVAL', 0.01)


MISSING = oslo_messaging.MessageUndeliverable(None, '', 'reply', None)
AWAY = ConnectionError('away')
UNCERTAIN = publisher.Uncertain('lost')
CLOSED = publisher.ChannelClosed('too long')


@pytest.mark.parametrize(
    ('outcomes', 'timeout', 'attempts', 'is_done'),
    [
        pytest.param([], LONG, 1, True, id='success'),
        pytest.param([AWAY, UNCERTAIN], LONG, 3, True, id='later'),
        # The caller has left: no other server must handle the call.
        pytest.param([MISSING], LONG, 2, True, id='queue appears'),
        pytest.param([MISSING] * 2, 0.0, 1, True, id='queue is missing'),
        # The broker delivers the call again.
        pytest.param([AWAY] * 2, 0.0, 1, False, id='disconnected'),
        pytest.param([UNCERTAIN] * 2, 0.0, 1, False, id='uncertain'),
        # Each further attempt would fail, too, and end those of others.
        pytest.param([CLOSED] * 9, LONG, 3, True, id='refused'),
        pytest.param(
            [publisher.Rejected('x')], LONG, 1, True, id='cannot be sent'
        ),
    ],
)
def test_call_is_done_unless_its_response_was_only_dropped(
    outcomes: list[Exception], timeout: float, attempts: int, is_done: bool
) -> None:
    fake = Publisher(*outcomes)
    sender = responses.ResponseSender(fake, timeout)  # type: ignore[arg-type]
    ended: list[bool] = []
    event = threading.Event()

    def on_end(is_done: bool) -> None:
        ended.append(is_done)
        event.set()

    sender.send('reply', b'{}', on_end)
    assert event.wait(LONG)
    while fake.attempts < attempts:
        event.clear()
        event.wait(0.01)
    sender.close()
    assert (ended, fake.attempts) == ([is_done], attempts)


def test_closing_drops_the_responses_that_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(responses, 'RETRY_INTERVAL', LONG)
    fake = Publisher(*[AWAY] * 9)
    sender = responses.ResponseSender(fake, LONG)  # type: ignore[arg-type]
    ended: list[bool] = []
    for _ in range(3):
        sender.send('reply', b'{}', ended.append)
    assert ended == []
    sender.close()
    assert ended == [False] * 3
    # A later one does not wait.
    sender.send('reply', b'{}', ended.append)
    assert ended == [False] * 4


def test_few_responses_wait_and_others_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(responses, 'RETRY_INTERVAL', LONG)
    monkeypatch.setattr(responses, 'MAX_WAITING', 2)
    fake = Publisher(*[AWAY] * 9)
    sender = responses.ResponseSender(fake, LONG)  # type: ignore[arg-type]
    ended: list[bool] = []
    for _ in range(5):
        sender.send('reply', b'{}', ended.append)
    # One may be in the hands of the thread, and two wait.
    assert ended in ([False] * 2, [False] * 3)
    sender.close()
    assert ended == [False] * 5


def test_response_is_tried_again_after_a_pause() -> None:
    fake = Publisher(AWAY)
    sender = responses.ResponseSender(fake, LONG)  # type: ignore[arg-type]
    done = threading.Event()
    began = time.monotonic()
    sender.send('reply', b'{}', lambda _: done.set())
    assert done.wait(LONG)
    assert time.monotonic() - began >= responses.RETRY_INTERVAL
    sender.close()


def test_missing_queues_are_remembered_for_some_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(time, 'monotonic', lambda: now)
    monkeypatch.setattr(responses, 'MISSING_QUEUES', 2)
    fake = Publisher()
    sender = responses.ResponseSender(fake, 0.0)  # type: ignore[arg-type]
    ended: list[bool] = []

    def attempts(*queues: str) -> list[str]:
        """Return the queues for which a response is sent."""
        sent = []
        for queue in queues:
            before = fake.attempts
            sender.send(queue, b'{}', ended.append)
            sent += [queue] * (fake.attempts - before)
        return sent

    fake.outcomes += [MISSING] * 2
    assert attempts('a', 'b', 'a', 'b') == ['a', 'b']
    # A further one replaces the oldest one.
    fake.outcomes.append(MISSING)
    assert attempts('c', 'b', 'c', 'a') == ['c', 'a']
    now = responses.MISSING_TTL + 1
    assert attempts('b', 'c') == ['b', 'c']
    assert ended == [True] * 10


def test_dropped_responses_are_counted_in_few_log_lines(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr(time, 'monotonic', lambda: now)
    fake = Publisher()
    sender = responses.ResponseSender(fake, 0.0)  # type: ignore[arg-type]

    def drop() -> list[str]:
        """Drop a response; return what is logged."""
        caplog.clear()
        fake.outcomes.append(AWAY)
        sender.send('reply', b'{}', lambda _: None)
        return [record.getMessage()[:21] for record in caplog.records]

    assert drop() == ['Dropped 1 response(s)']
    now += responses.LOG_INTERVAL / 2
    assert drop() == drop() == []
    now += responses.LOG_INTERVAL / 2
    assert drop() == ['Dropped 3 response(s)']
    now += responses.LOG_INTERVAL
    assert drop() == ['Dropped 1 response(s)']
