# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the drivers.

::

    oslo_messaging.MessagingException
    ├── UnsafeDirectory                 other users could read or send messages
    ├── BadOption                       the value of an option is not supported
    ├── oslo_messaging.MessagingTimeout
    │   ├── AnswerLost                  the call may have been performed
    │   └── NoQueue                     no queue has received the call
    └── oslo_messaging.MessageDeliveryFailure
        └── FrameTooLarge               longer than one side allows
    Exception, used inside the driver only
    ├── MalformedFrame                  the other side violates the protocol
    └── NotHandled                      not handled: try another server
"""

from __future__ import annotations

import oslo_messaging


class UnsafeDirectory(oslo_messaging.MessagingException):  # type: ignore[misc]
    """The socket directory is unusable, or accessible to other users."""


class BadOption(oslo_messaging.MessagingException):  # type: ignore[misc]
    """The value of an option is not supported, or contradicts another one."""


class AnswerLost(oslo_messaging.MessagingTimeout):  # type: ignore[misc]
    """No response will arrive: the server or the connection is lost.

    This is a kind of timeout because the consequence is the same: the call may
    have been performed. Code that handles timeouts handles it, too. If a
    server dies, RabbitMQ redelivers the call to another one instead.
    MessageDeliveryFailure would mean that the caller can safely repeat the
    call.
    """


class NoQueue(oslo_messaging.MessagingTimeout):  # type: ignore[misc]
    """No queue has received a call: no server has ever listened.

    This is a kind of timeout, because the driver of oslo.messaging waits for
    the whole timeout in this case.
    """


class FrameTooLarge(oslo_messaging.MessageDeliveryFailure):  # type: ignore[misc]
    """A message is longer than one side allows; it was not delivered."""

    def __init__(self, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(
            f'{size} bytes exceed the limit of {limit} bytes; see'
            ' [embedded_messaging] max_frame_size'
        )


class MalformedFrame(Exception):
    """The received bytes do not follow the protocol."""


class NotHandled(Exception):
    """The server certainly did not begin to handle the message."""
