# SPDX-License-Identifier: Apache-2.0
"""What is acknowledged when, without a broker.

With one: ``tests/functional/vobjects/rpc/test_redelivery.py``.
"""

from __future__ import annotations

import threading
import types
from typing import Any

import pytest

from vobjects.rpc import late_ack


class Message(dict[str, Any]):
    """As the driver makes one."""

    def __init__(self, redelivered: bool = False, **content: Any) -> None:
        super().__init__(content)
        self.acknowledged = 0
        info = {'redelivered': redelivered}
        self._raw_message = types.SimpleNamespace(delivery_info=info)

    def acknowledge(self) -> None:
        self.acknowledged += 1


class Listener:
    """Acknowledges what it is given, as the driver's does."""

    def __init__(self, *seen: str) -> None:
        self.taken: list[Any] = []
        self.msg_id_cache = types.SimpleNamespace(prev_msgids=[*seen])

    def __call__(self, message: Any) -> None:
        message.acknowledge()
        self.taken.append(message)


def test_call_is_acknowledged_when_it_is_released() -> None:
    listener, message = Listener(), Message(_msg_id='1', _unique_id='a')
    late_ack._receive(listener, message)
    (taken,) = listener.taken
    assert taken == message
    assert not message.acknowledged
    taken.release()
    assert message.acknowledged == 1


@pytest.mark.parametrize(
    'message',
    [
        pytest.param(Message(_unique_id='a'), id='nobody waits for an answer'),
        pytest.param(
            Message(redelivered=True, _msg_id='1', _unique_id='a'),
            id='it has come back',
        ),
    ],
)
def test_message_is_acknowledged_at_once_when(message: Message) -> None:
    listener = Listener()
    late_ack._receive(listener, message)
    assert listener.taken == [message]
    assert message.acknowledged == 1


def test_message_when_it_was_seen_here_is_not_taken_again() -> None:
    listener = Listener('a')
    message = Message(redelivered=True, _msg_id='1', _unique_id='a')
    late_ack._receive(listener, message)
    assert not listener.taken
    assert message.acknowledged == 1


def test_release_when_connection_is_gone_ends() -> None:
    class Stale(Message):
        def acknowledge(self) -> None:
            raise ConnectionError('closed')

    listener = Listener()
    late_ack._receive(listener, Stale(_msg_id='1', _unique_id='a'))
    (taken,) = listener.taken
    taken.release()
    assert taken.released.is_set()


def test_answers_to_missing_queues_keep_few_threads_waiting(
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
    assert not replies.knows('reply_0')


def test_reply_queue_that_was_there_is_known_from_then_on() -> None:
    replies = late_ack.ReplyLimit(missing_after=1000.0)
    assert not replies.knows('reply_1')
    replies.send('reply_1', lambda answer: None, 'answer')
    assert replies.knows('reply_1')
