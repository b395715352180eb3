# SPDX-License-Identifier: Apache-2.0
"""Consume notifications, which are acknowledged after they are handled."""

from __future__ import annotations

import queue
from typing import Any

from oslo_messaging_driverlib import oslo_api
from oslo_messaging_pyamqp import topology
from oslo_messaging_pyamqp.consumption import Consumption, Delivery
from oslo_messaging_pyamqp.link import OutageLog
from oslo_messaging_pyamqp.message_format import Request
from oslo_messaging_pyamqp.settings import Settings

#: Unacknowledged notifications, unless configured.
PREFETCH = 1000


class NotificationListener(oslo_api.PollStyleListener):  # type: ignore[misc]
    """Receives notifications; oslo.messaging forms batches of them.

    :param queues: the queues to create and to consume from
    """

    def __init__(
        self,
        settings: Settings,
        outages: OutageLog,
        queues: list[topology.Queue],
    ) -> None:
        super().__init__(settings.prefetch)
        self._arrived: queue.SimpleQueue[Notification | None] = (
            queue.SimpleQueue()
        )
        self.consumption = Consumption(
            settings, outages, queues, self._receive
        )

    @oslo_api.batch_poll_helper  # type: ignore[untyped-decorator]
    def poll(self, timeout: float | None = None) -> Notification | None:
        """Return the next notification; None: none within the timeout.

        :param timeout: in seconds; None: unlimited, until :meth:`stop`
        """
        try:
            return self._arrived.get(timeout=timeout)
        except queue.Empty:
            return None

    def stop(self) -> None:
        """Stop consuming."""
        self.consumption.stop()
        # For the waiting poll, and for the poll of remaining messages.
        self._arrived.put(None)
        self._arrived.put(None)

    def cleanup(self) -> None:
        """Disconnect; the broker redelivers what is not acknowledged."""
        self.consumption.close()

    def _receive(self, request: Request, delivery: Delivery) -> None:
        self._arrived.put(Notification(request, delivery))


class Notification(oslo_api.RpcIncomingMessage):  # type: ignore[misc]
    """A notification, in the form that oslo.messaging's server expects.

    :param delivery: its delivery
    """

    def __init__(self, request: Request, delivery: Delivery) -> None:
        super().__init__(request.context, request.content)
        self.client_timeout = None
        self._delivery = delivery

    def acknowledge(self) -> None:
        """Acknowledge the notification."""
        self._delivery.acknowledge()

    def requeue(self) -> None:
        """Return the notification to its queue."""
        self._delivery.reject(requeue=True)

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        """Do nothing: notifications have no response."""

    def heartbeat(self) -> None:
        """Do nothing: notifications have no response."""
