# SPDX-License-Identifier: Apache-2.0
"""What a cloud tells by itself of its servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Protocol


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a server.

    :ivar id: of the event
    :ivar type: Nova's, such as ``compute.instance.power_off.end``
    """

    id: str
    server_id: str
    type: str


#: Types of events after which a server does not work any more.
FAILURES = (
    'compute.instance.delete.end',
    'compute.instance.pause.end',
    'compute.instance.power_off.end',
    'compute.instance.rebuild.error',
    'compute.instance.shutdown.end',
    'compute.instance.soft_delete.end',
)


class Events(Protocol):
    """Events of a cloud's servers. Every method may raise ProviderError.

    Each is told again until it is acknowledged, to all engines alike.
    """

    def start(self) -> None:
        """Begin to hear what happens, in the background."""

    def stop(self) -> None:
        """Hear nothing more."""

    def of(self, server_ids: Collection[str]) -> list[Event]:
        """Return what happened to some servers, in its order."""

    def acknowledge(self, event_ids: Collection[str]) -> None:
        """Have events told no more."""
