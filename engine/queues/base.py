# SPDX-License-Identifier: Apache-2.0
"""The interface of queue services.

An entry point of the group ``vobjects.queues`` names a class, which is called
with ``(conf, database)``. A client claims a message before reading it, so that
no other client reads it meanwhile. It removes the message after processing it.
A claim that is not released expires.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from oslo_config import cfg

from engine import plugins
from engine.db import database

NAMESPACE = 'vobjects.queues'

#: Valid names of queues (Zaqar's rule).
NAME = r'[A-Za-z0-9_-]{1,64}'


class QueueError(Exception):
    """Raised for a failure of the queue service; the message is for users."""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A claimed message.

    :ivar id: the service's ID of the message
    :ivar body: any JSON value, as it was posted
    """

    id: str
    body: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """Messages reserved for one client for a while, oldest first.

    :ivar id: the service's ID of the claim; empty if there is no message
    """

    id: str
    messages: Sequence[Message]


class Queues(Protocol):
    """A queue service. Every method may raise QueueError.

    :param project: the project that owns the queue; ignored by services that
        use the project of their account
    """

    def create(self, project: str | None, queue: str) -> None:
        """Create a queue, unless it exists."""

    def delete(self, project: str | None, queue: str) -> None:
        """Delete a queue with its messages, if it exists."""

    def subscribe(self, project: str | None, queue: str, url: str) -> str:
        """Subscribe a URL to new messages; return the subscription's ID."""

    def unsubscribe(
        self, project: str | None, queue: str, subscription: str
    ) -> None:
        """Cancel a subscription, if it exists."""

    def post(
        self, project: str | None, queue: str, body: Mapping[str, Any]
    ) -> None:
        """Add a message to a queue, which is created if necessary."""

    def claim(self, project: str | None, queue: str) -> Claim:
        """Claim some messages of a queue that are not claimed."""

    def remove(
        self, project: str | None, queue: str, message: str, claim: str
    ) -> None:
        """Delete a claimed message, if it exists."""

    def release(self, project: str | None, queue: str, claim: str) -> None:
        """Release a claim, so that others can claim its remaining messages."""


def load(conf: cfg.ConfigOpts, target: database.Database) -> Queues:
    """Return the queue service configured by ``[queues] driver``.

    :raises vobjects.exceptions.VobjectsError: no such driver is installed
    """
    return cast(
        Queues,
        plugins.load(
            NAMESPACE, conf.queues.driver, '[queues] driver', conf, target
        ),
    )
