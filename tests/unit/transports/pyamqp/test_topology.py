# SPDX-License-Identifier: Apache-2.0
"""Declarations that the broker rejects."""

from __future__ import annotations

from typing import Any

import amqp
import pytest

from oslo_messaging_pyamqp import topology

REJECTED = 406


class Channel:
    """Rejects all declarations with a text."""

    def __init__(self, text: str) -> None:
        self._error = amqp.PreconditionFailed(
            f'PRECONDITION_FAILED - {text}', reply_code=REJECTED
        )

    def exchange_declare(self, *arguments: Any, **options: Any) -> None:
        raise self._error

    def declare_queue(self, *arguments: Any) -> None:
        raise self._error


def declare(kind: str, text: str) -> None:
    channel: Any = Channel(text)
    exchange = topology.Exchange('control', 'topic', False, False)
    if kind == 'exchange':
        topology.declare_exchange(channel, exchange)
    else:
        queue = topology.Queue('q', topology.DEFAULT, '', False, False, {})
        topology.declare_queue(channel, queue)


@pytest.mark.parametrize(
    ('kind', 'argument'),
    [
        ('exchange', 'durable'),
        ('exchange', 'auto_delete'),
        ('queue', 'durable'),
        ('queue', 'x-expires'),
        ('queue', 'x-queue-type'),
    ],
)
def test_existing_one_with_other_properties_is_used(
    kind: str, argument: str
) -> None:
    declare(kind, f"inequivalent arg '{argument}' for {kind} 'control'")


@pytest.mark.parametrize(
    ('kind', 'text'),
    [
        # It would route calls to the queues of all topics, or to none.
        ('exchange', "inequivalent arg 'type' for exchange 'control'"),
        ('exchange', 'invalid exchange type'),
        ('queue', "cannot declare queue 'q': queue limit is reached"),
        ('queue', "invalid arg 'x-expires' for queue 'q'"),
    ],
)
def test_other_rejection_is_an_error(kind: str, text: str) -> None:
    with pytest.raises(amqp.PreconditionFailed):
        declare(kind, text)
