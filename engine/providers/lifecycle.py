# SPDX-License-Identifier: Apache-2.0
"""The interface for a cloud's events about its servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """An event about a server.

    :ivar id: the ID of the event
    :ivar type: a type of Nova, such as ``compute.instance.power_off.end``
    """

    id: str
    server_id: str
    type: str


#: Types of events after which a server no longer works.
FAILURES = (
    'compute.instance.delete.end',
    'compute.instance.pause.end',
    'compute.instance.power_off.end',
    'compute.instance.rebuild.error',
    'compute.instance.shutdown.end',
    'compute.instance.soft_delete.end',
)


class Events(Protocol):
    """The events of a cloud's servers. Every method may raise ProviderError.

    Every engine receives each event, until one of them acknowledges it.
    """

    def start(self) -> None:
        """Start receiving events in the background."""

    def stop(self) -> None:
        """Stop receiving events."""

    def of(self, server_ids: Collection[str]) -> list[Event]:
        """Return the events of some servers, oldest first."""

    def acknowledge(self, event_ids: Collection[str]) -> None:
        """Acknowledge events, so that they are not returned again."""
