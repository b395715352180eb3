# SPDX-License-Identifier: Apache-2.0
"""Timeouts that callers pass to a driver."""

from __future__ import annotations

import math
from typing import Any

import oslo_messaging
import pytest

from oslo_messaging_driverlib.base import Driver, OutgoingMessage
from oslo_messaging_driverlib.deadline import LONGEST, Deadline

INVALID: list[Any] = [math.nan, -1, -0.5, -math.inf, True, False, '5', [], {}]

#: Timeouts longer than any lock, socket or broker allows.
HUGE: list[Any] = [LONGEST + 1, 3.2e8, 1e10, 1e300, 10**400, math.inf]


class RecordingDriver(Driver):
    """A driver that keeps the messages to send."""

    def __init__(self) -> None:
        self.sent: list[OutgoingMessage] = []

    def _ignore(self, *args: Any) -> None:
        """Do nothing."""

    reset_in_child = cleanup = listen = _ignore
    listen_for_notifications = send_notification = _ignore

    def _call(self, outgoing: OutgoingMessage) -> None:
        self.sent.append(outgoing)

    _cast = _call


def send(**options: Any) -> OutgoingMessage:
    driver = RecordingDriver()
    driver.send(oslo_messaging.Target(topic='a'), {}, {}, **options)
    return driver.sent[0]


@pytest.mark.parametrize('is_call', [True, False])
@pytest.mark.parametrize('name', ['timeout', 'call_monitor_timeout'])
@pytest.mark.parametrize('value', INVALID, ids=repr)
def test_invalid_timeout_of_a_message_is_named(
    name: str, value: Any, is_call: bool
) -> None:
    with pytest.raises(ValueError, match=f'^{name} is '):
        send(wait_for_reply=is_call, **{name: value})


@pytest.mark.parametrize('name', ['timeout', 'call_monitor_timeout'])
@pytest.mark.parametrize('value', [None, 0, 0.1, 60, *HUGE], ids=repr)
def test_timeout_of_a_message_is_limited(name: str, value: Any) -> None:
    sent = send(**{name: value})
    found = sent.timeout if name == 'timeout' else sent.monitor
    assert found == (None if value is None else min(value, LONGEST))
    # No number is too large for a lock or a socket.
    Deadline(sent.timeout, sent.monitor)
