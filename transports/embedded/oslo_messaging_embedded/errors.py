# SPDX-License-Identifier: Apache-2.0
"""Errors of this driver; see also ``oslo_messaging_driverlib.errors``."""

from __future__ import annotations

import oslo_messaging


class UnsafeDirectory(oslo_messaging.MessagingException):  # type: ignore[misc]
    """The socket directory is unusable, or accessible to other users."""


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
