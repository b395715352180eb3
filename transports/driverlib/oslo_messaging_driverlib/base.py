# SPDX-License-Identifier: Apache-2.0
"""The base classes of drivers.

:class:`Driver` sends a message as a call or as a cast, and
:class:`IncomingMessage` responds to calls. Subclasses transport them.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

import oslo_messaging

from oslo_messaging_driverlib import oslo_api, remote_errors
from oslo_messaging_driverlib.deadline import seconds

LOG = logging.getLogger(__name__)


class OutgoingMessage(NamedTuple):
    """A message to send; see :meth:`Driver.send`."""

    target: Any
    context: Mapping[str, Any]
    content: Mapping[str, Any]
    timeout: float | None
    monitor: float | None
    retry: int | None
    mandatory: bool


class Driver(oslo_api.BaseDriver):  # type: ignore[misc]
    """One transport; oslo.messaging loads and calls it.

    Subclasses implement ``_call``, ``_cast`` and :meth:`reset_in_child`.

    :cvar has_broker: whether a broker keeps messages for servers that are
        down. Otherwise, nothing remains of a server that has left, so its name
        may be unique, and it can listen at once.
    """

    has_broker = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        _drivers.add(self)

    def send(
        self,
        target: Any,
        ctxt: Any,
        message: dict[str, Any],
        wait_for_reply: bool | None = None,
        timeout: float | None = None,
        call_monitor_timeout: float | None = None,
        retry: int | None = None,
        transport_options: Any = None,
    ) -> Any:
        """Send a message.

        :param target: the destination; with ``fanout``, every server of the
            topic
        :param ctxt: the context, a mapping or an object with ``to_dict()``
        :param message: JSON data
        :param wait_for_reply: whether the message is a call with a response
        :param timeout: timeout in seconds; None: unlimited
        :param call_monitor_timeout: maximum time without a heartbeat from the
            server, in seconds
        :param retry: number of further attempts to reach a server or the
            broker; None or -1: until the timeout
        :param transport_options: with ``at_least_once``, a queue or a
            server must receive the message
        :returns: the response to a call; None otherwise
        :raises ValueError: a timeout is neither None nor a number from 0
        :raises oslo_messaging.MessagingTimeout: no response in time; its
            subclass AnswerLost: no response will follow
        :raises oslo_messaging.MessageDeliveryFailure: it was not delivered
        :raises oslo_messaging.MessageUndeliverable: no queue received it
        :raises Exception: any error of the server
        """
        outgoing = OutgoingMessage(
            target,
            context_of(ctxt),
            message,
            seconds(timeout, 'timeout'),
            seconds(call_monitor_timeout, 'call_monitor_timeout'),
            retry,
            bool(getattr(transport_options, 'at_least_once', False)),
        )
        if wait_for_reply:
            return self._call(outgoing)
        self._cast(outgoing)
        return None

    def reset_in_child(self) -> None:
        """Release what a child process has inherited from its parent."""
        raise NotImplementedError

    def _call(self, outgoing: OutgoingMessage) -> Any:
        raise NotImplementedError

    def _cast(self, outgoing: OutgoingMessage) -> None:
        raise NotImplementedError

    def _exchange(self, target: Any) -> str:
        return target.exchange or self._default_exchange or ''


class IncomingMessage(oslo_api.RpcIncomingMessage):  # type: ignore[misc]
    """A message, in the form that oslo.messaging's server expects.

    Subclasses implement ``_encode``, ``_respond`` and ``_send_heartbeat``.

    :param monitor: maximum time between heartbeats, in seconds
    :ivar needs_response: whether it is a call without a response
    """

    def __init__(
        self,
        context: dict[str, Any],
        content: dict[str, Any],
        id_: str | None,
        monitor: float | None,
        needs_response: bool,
    ) -> None:
        super().__init__(context, content, id_)
        try:
            self.client_timeout = seconds(monitor, 'call_monitor_timeout')
        except ValueError as error:
            LOG.warning('Sending no heartbeats: %s', error)
            self.client_timeout = None
        self.needs_response = needs_response

    def reply(self, reply: Any = None, failure: Any = None) -> None:
        """Send the response to a call; casts have none.

        :param reply: JSON data
        :param failure: an error as returned by ``sys.exc_info()``
        """
        if not self.needs_response:
            return
        try:
            text = remote_errors.describe(failure) if failure else None
            response = self._encode(reply, text)
        except Exception as error:  # noqa: BLE001 - the caller gets it
            text = remote_errors.describe_unsendable(
                error, self.message.get('method')
            )
            response = self._encode(None, text)
        self.needs_response = False
        self._respond(response)

    def heartbeat(self) -> None:
        """Inform the caller that the call is still in progress.

        :raises oslo_messaging.MessageDeliveryFailure: the caller has left;
            this error ends the watchdog of oslo.messaging's dispatcher
        """
        if self.needs_response and not self._send_heartbeat():
            raise oslo_messaging.MessageDeliveryFailure('the caller has left')

    def _encode(self, result: Any, failure: str | None) -> bytes:
        """Encode a response; the caller gets an error of this method."""
        raise NotImplementedError

    def _respond(self, response: bytes) -> None:
        raise NotImplementedError

    def _send_heartbeat(self) -> bool:
        """Send a heartbeat; return whether the caller is still there."""
        raise NotImplementedError


def context_of(value: Any) -> Mapping[str, Any]:
    """Return a context, which may be an object with ``to_dict()``."""
    return value if isinstance(value, Mapping) else value.to_dict()


_drivers: weakref.WeakSet[Driver] = weakref.WeakSet()


def _after_fork() -> None:
    for driver in list(_drivers):
        driver.reset_in_child()


os.register_at_fork(after_in_child=_after_fork)
