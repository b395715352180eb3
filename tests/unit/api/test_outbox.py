# SPDX-License-Identifier: Apache-2.0
"""Responses to clients that read them slowly, or not at all."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from api import outbox

PART = outbox.PART_BYTES

#: Longer than any test.
TIMEOUT = 60.0


class Client:
    """Reads some parts of a response, and then nothing.

    :param reads: number of parts; None: all
    """

    def __init__(self, reads: int | None = None) -> None:
        self.parts: list[bytes] = []
        self.is_complete = False
        self._reads = reads

    async def send(self, message: Any) -> None:
        assert message['type'] == 'http.response.body'
        if len(self.parts) == self._reads:
            await asyncio.Event().wait()
        self.parts.append(message['body'])
        self.is_complete = not message.get('more_body', False)
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ('size', 'parts'),
    [(0, 1), (5, 1), (PART, 1), (PART + 1, 2), (3 * PART, 3)],
)
def test_body_when_read_arrives_whole(size: int, parts: int) -> None:
    client = Client()
    content = bytes(range(256)) * (size // 256 + 1)
    sending = outbox.Outbox(0, TIMEOUT).send(
        client.send, content[:size], 'client'
    )
    asyncio.run(sending)
    assert b''.join(client.parts) == content[:size]
    assert len(client.parts) == parts
    assert client.is_complete


@pytest.mark.parametrize('reads', [0, 1, 2])
def test_body_when_not_read_is_cut_off(
    caplog: pytest.LogCaptureFixture, reads: int
) -> None:
    client = Client(reads)
    sending = outbox.Outbox(PART, 0.01).send(
        client.send, b'a' * 3 * PART, '192.0.2.1'
    )
    asyncio.run(sending)
    assert len(client.parts) == reads
    assert '192.0.2.1 does not read it' in caplog.text


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock a test sets.

    :ivar now: the time, in seconds
    """

    now = 0.0

    def time(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ('seconds_per_part', 'is_complete'), [(0.9, True), (1.1, False)]
)
def test_body_when_read_slowly_arrives_while_each_part_is_in_time(
    seconds_per_part: float, is_complete: bool
) -> None:
    client = Client()
    loop = Loop()

    async def send(message: Any) -> None:
        loop.now += seconds_per_part * TIMEOUT
        await asyncio.sleep(0)  # lets the loop notice the time
        await client.send(message)

    async def send_body() -> None:
        box = outbox.Outbox(9 * PART, TIMEOUT)
        await box.send(send, b'a' * 9 * PART, 'client')

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(send_body())
    assert client.is_complete == is_complete


@pytest.mark.parametrize(
    ('limit', 'cut_off'),
    [
        (12, []),
        (11, ['stalled']),
        (9, ['stalled']),
        (8, ['stalled', 'slow']),
        (5, ['stalled', 'slow', 'new']),
        (0, ['stalled', 'slow', 'new']),
    ],
)
def test_bodies_without_progress_are_cut_off_when_too_many_wait(
    limit: int, cut_off: list[str]
) -> None:
    async def send_all() -> list[str]:
        box = outbox.Outbox(limit * PART, TIMEOUT)
        content = b'a' * 3 * PART
        # "slow" begins first, but makes progress when "stalled" has begun.
        tasks = {
            name: asyncio.create_task(
                box.send(Client(reads).send, content, name)
            )
            for name, reads in {'slow': 2, 'stalled': 0, 'new': 0}.items()
        }
        for _ in range(5):
            await asyncio.sleep(0)
        last = Client()
        await box.send(last.send, content, 'last')
        assert last.is_complete
        ended = [name for name, task in tasks.items() if task.done()]
        for task in tasks.values():
            task.cancel()
        return ended

    assert sorted(asyncio.run(send_all())) == sorted(cut_off)
