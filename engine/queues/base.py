# SPDX-License-Identifier: Apache-2.0
"""What a queue service must be able to do.

An entry point of the group ``vobjects.queues`` names a class called with
``(conf, database)``. A message is claimed before it is read, so that nobody
else reads it meanwhile, and removed when what it asks for is done; a claim
that is not released ends by itself.

::

    QueueError   the service could not do it; the message is for users
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import stevedore.exception
from oslo_config import cfg
from stevedore import driver

from engine.db import database
from vobjects import exceptions

NAMESPACE = 'vobjects.queues'

#: What a queue may be called (Zaqar's rule).
NAME = r'[A-Za-z0-9_-]{1,64}'


class QueueError(Exception):
    """The queue service could not do what it was asked."""


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A message that is claimed.

    :ivar id: what the service calls it
    :ivar body: any JSON value, as it was posted
    """

    id: str
    body: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """Messages that nobody else gets for a while, the oldest first.

    :ivar id: what the service calls the claim; '' if there is no message
    """

    id: str
    messages: Sequence[Message]


class Queues(Protocol):
    """A queue service. Every method may raise QueueError.

    :param project: whose queue it is; a service that knows by itself for
        whom it works does not look at it
    """

    def create(self, project: str | None, queue: str) -> None:
        """Make a queue; fine if it is there."""

    def delete(self, project: str | None, queue: str) -> None:
        """Remove a queue with its messages; fine if it is gone."""

    def subscribe(self, project: str | None, queue: str, url: str) -> str:
        """Have a URL called when a message comes; return what to undo."""

    def unsubscribe(
        self, project: str | None, queue: str, subscription: str
    ) -> None:
        """Call a URL no more; fine if that was over."""

    def post(
        self, project: str | None, queue: str, body: Mapping[str, Any]
    ) -> None:
        """Add a message to a queue, which is made if need be."""

    def claim(self, project: str | None, queue: str) -> Claim:
        """Take some messages of a queue, which others cannot take now."""

    def remove(
        self, project: str | None, queue: str, message: str, claim: str
    ) -> None:
        """Remove a claimed message; fine if it is gone."""

    def release(self, project: str | None, queue: str, claim: str) -> None:
        """Let others take what is left of a claim."""


def load(conf: cfg.ConfigOpts, target: database.Database) -> Queues:
    """Return the service that ``[queues] driver`` names.

    :raises vobjects.exceptions.VobjectsError: nobody brought one of that name
    """
    try:
        manager: driver.DriverManager[Any] = driver.DriverManager(
            NAMESPACE,
            conf.queues.driver,
            invoke_on_load=True,
            invoke_args=(conf, target),
        )
    except stevedore.exception.NoMatches:
        raise exceptions.VobjectsError(
            f'[queues] driver: there is no {conf.queues.driver}'
        ) from None
    return cast(Queues, manager.driver)
