# SPDX-License-Identifier: Apache-2.0
"""Callers recognize errors of drivers without their classes."""

from __future__ import annotations

import oslo_messaging

from oslo_messaging_driverlib.errors import AnswerLost


def test_lost_response_is_a_timeout_with_a_mark() -> None:
    error: oslo_messaging.MessagingTimeout = AnswerLost('cut')
    assert error.answer_lost is True
    assert not hasattr(oslo_messaging.MessagingTimeout('late'), 'answer_lost')
