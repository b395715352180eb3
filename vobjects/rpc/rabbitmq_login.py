# SPDX-License-Identifier: Apache-2.0
"""Retry refused logins to RabbitMQ like lost connections.

kombu raises an error for a refused login at once, without its interval between
attempts. The threads of oslo.messaging (18.3) that read from RabbitMQ then try
again immediately and forever, and log a traceback each time. With
:class:`Transport`, they wait as they do without a broker, so that a process
recovers when the operator corrects the user on the broker.
"""

from __future__ import annotations

from typing import Any

import amqp
from kombu.transport import pyamqp


class Transport(pyamqp.Transport):
    """kombu's transport, with refused logins as recoverable errors."""

    def establish_connection(self) -> Any:
        """Connect and log in.

        :raises ConnectionRefusedError: the broker rejects the user, the
            password or the virtual host
        """
        try:
            return super().establish_connection()  # type: ignore[no-untyped-call]
        except amqp.AMQPError as error:
            reason = error.reply_text or type(error).__name__
            raise ConnectionRefusedError(
                f'{reason.rstrip(".")}; check user, password and virtual host'
                ' in transport_url'
            ) from error
