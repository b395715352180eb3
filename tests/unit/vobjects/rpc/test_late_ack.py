# SPDX-License-Identifier: Apache-2.0
"""Late acknowledgement, without a broker.

With one: ``tests/functional/vobjects/rpc/test_late_ack.py``.
"""

from __future__ import annotations

import threading
import types
from typing import Any

import pytest

from vobjects.rpc import late_ack


class Message(dict[str, Any]):
    """A message of the RabbitMQ driver."""

    def __init__(self, redelivered: bool = False, **content: Any) -> None:
        super().__init__(content)
        self.acknowledged = 0
        info = {'redelivered': redelivered}
        self._raw_message = types.SimpleNamespace(delivery_info=info)

    def acknowledge(self) -> None:
        self.acknowledged += 1


class Listener:
    """Acknowledges each message, like that of the driver."""

    def __init__(self, *message_ids: str) -> None:
        self.received: list[Any] = []
        self.msg_id_cache = types.SimpleNamespace(prev_msgids=[*message_ids])

    def __call__(self, message: Any) -> None:
        message.acknowledge()
        self.received.append(message)


def test_call_is_acknowledged_after_release() -> None:
    listener, message = Listener(), Message(_msg_id='1', _unique_id='a')
    late_ack._receive(listener, message)
    (received,) = listener.received
    assert received == message
    assert not message.acknowledged
    received.release()
    assert message.acknowledged == 1


@pytest.mark.parametrize(
    'message',
    [
        pytest.param(Message(_unique_id='a'), id='cast'),
        pytest.param(
            Message(redelivered=True, _msg_id='1', _unique_id='a'),
            id='redelivered call',
        ),
    ],
)
def test_message_without_late_ack_is_acknowledged_at_once(
    message: Message,
) -> None:
    listener = Listener()
    late_ack._receive(listener, message)
    assert listener.received == [message]
    assert message.acknowledged == 1


def test_message_when_received_before_is_dropped() -> None:
    listener = Listener('a')
    message = Message(redelivered=True, _msg_id='1', _unique_id='a')
    late_ack._receive(listener, message)
    assert not listener.received
    assert message.acknowledged == 1


def test_release_when_the_connection_is_lost_returns() -> None:
    class LostMessage(Message):
        def acknowledge(self) -> None:
            raise ConnectionError('closed')

    listener = Listener()
    late_ack._receive(listener, LostMessage(_msg_id='1', _unique_id='a'))
    (received,) = listener.received
    received.release()
    assert received.released.is_set()


def test_send_when_queues_are_missing_blocks_few_threads(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(late_ack, 'DROP_TIMEOUT', 0.01)
    replies, missing = (
        late_ack.ReplyLimit(missing_after=0.0),
        threading.Event(),
    )
    waiting = threading.Semaphore(0)

    def wait_for_queue() -> None:
        waiting.release()
        missing.wait()

    threads = [
        threading.Thread(
            target=replies.send, args=(f'reply_{number}', wait_for_queue)
        )
        for number in range(late_ack.MAX_WAITING_THREADS)
    ]
    for thread in threads:
        thread.start()
        waiting.acquire()

    sent: list[str] = []
    for _ in range(20):
        replies.send('reply_other', lambda: sent.append('other'))
    assert not sent
    assert len(caplog.records) == 1

    missing.set()
    for thread in threads:
        thread.join()
    replies.send('reply_other', lambda: sent.append('other'))
    assert sent == ['other']
    assert not replies.is_known('reply_0')


def test_send_when_the_queue_exists_remembers_it() -> None:
    replies = late_ack.ReplyLimit(missing_after=1000.0)
    assert not replies.is_known('reply_1')
    replies.send('reply_1', lambda response: None, 'answer')
    assert replies.is_known('reply_1')
