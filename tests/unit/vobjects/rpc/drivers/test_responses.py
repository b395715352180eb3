# SPDX-License-Identifier: Apache-2.0
"""What becomes of a response and of its call, for each outcome."""

from __future__ import annotations

import threading

import oslo_messaging
import pytest

from vobjects.rpc.drivers.pyamqp import publisher, responses

#: A timeout in seconds that does not expire even on a slow machine.
LONG = 1000.0


class Publisher:
    """Settles each message with the next of some outcomes, then with success.

    :ivar attempts: number of messages
    """

    def __init__(self, *outcomes: Exception) -> None:
        self._outcomes = list(outcomes)
        self.attempts = 0

    def try_publish(self, publication: publisher.Publication) -> bool:
        self.attempts += 1
        outcome = self._outcomes.pop(0) if self._outcomes else None
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
