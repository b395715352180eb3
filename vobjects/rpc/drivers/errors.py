# SPDX-License-Identifier: Apache-2.0
"""What the embedded driver raises.

::

    oslo_messaging.MessagingException
    ├── UnsafeDirectory                 others could read or send messages
    ├── oslo_messaging.MessagingTimeout
    │   └── AnswerLost                  the server may or may not have done it
    └── oslo_messaging.MessageDeliveryFailure
        └── FrameTooLarge               longer than one side allows
    Exception, never seen by a caller
    ├── MalformedFrame                  the other side speaks nonsense
    └── NotTaken                        surely not begun: try another server
"""

from __future__ import annotations

import oslo_messaging


class UnsafeDirectory(oslo_messaging.MessagingException):  # type: ignore[misc]
    """The directory of the sockets is open to other users, or unusable."""


class AnswerLost(oslo_messaging.MessagingTimeout):  # type: ignore[misc]
    """A server had read a call, and no answer will come: it died, mostly.

    A kind of timeout, because it means the same: nobody knows how far the
    call came; what handles that handles this. A broker gives the call to
    another server instead, see :mod:`vobjects.rpc.redelivery`.
    MessageDeliveryFailure would say that it is safe to send again.
    """


class FrameTooLarge(oslo_messaging.MessageDeliveryFailure):  # type: ignore[misc]
    """A message is longer than a side allows; it was not delivered."""

    def __init__(self, size: int, limit: int) -> None:
        self.size = size
        self.limit = limit
        super().__init__(
            f'{size} bytes are more than the {limit} of'
            ' [embedded_messaging] max_frame_size'
        )


class MalformedFrame(Exception):
    """Bytes that no release of this driver sends."""


class NotTaken(Exception):
    """The server surely did not begin to handle the message."""
