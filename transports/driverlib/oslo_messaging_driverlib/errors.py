# SPDX-License-Identifier: Apache-2.0
"""The error of a lost response."""

from __future__ import annotations

import oslo_messaging


class AnswerLost(oslo_messaging.MessagingTimeout):  # type: ignore[misc]
    """No response will arrive: the server or the connection is lost.

    This is a kind of timeout because the consequence is the same: the call may
    have been performed. Code that handles timeouts handles it, too. If a
    server dies, RabbitMQ redelivers the call to another one instead.
    MessageDeliveryFailure would mean that the caller can safely repeat the
    call.

    :cvar answer_lost: True. A caller recognizes the error by this attribute,
        without importing a driver.
    """

    answer_lost = True
