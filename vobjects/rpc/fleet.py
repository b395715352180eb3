# SPDX-License-Identifier: Apache-2.0
"""The live peers and what they can speak together: pure values.

A :class:`View` is one process's picture of the ledger. Its *cap* for a topic
is the minimum, type by type, over the processes that serve the topic: what a
sender may say without anybody failing to understand it. From the cap follows
the highest microversion that can be advertised truthfully.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal

from vobjects import base
from vobjects.manifest import Manifest, minimum
from vobjects.microversions.policy import Maximum
from vobjects.versions import NULL, Version

#: A process writes its heartbeat this often a period.
BEATS_PER_PERIOD = 2

#: Periods without a heartbeat after which a process counts as dead. With a
#: look every half period, a death is noticed within two periods.
DEAD_AFTER_PERIODS = 1.5

#: Periods for which a view may be used without having been renewed. A
#: sender with an older view renews it before it sends anything.
LEASE_PERIODS = 2

State = Literal['joining', 'up']


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One live process, as the ledger has it.

    :ivar id: unique to the process
    :ivar topic: what it serves; senders cap by topic
    :ivar state: ``joining`` while it waits for all senders to know of it
    :ivar seen: the newest ledger generation this process has acted on
    :ivar age: seconds since its last heartbeat, by the ledger's clock
    """

    id: str
    binary: str
    host: str
    topic: str
    release: str
    manifest: Manifest
    state: State = 'joining'
    seen: int = 0
    age: float = 0.0

    @property
    def label(self) -> str:
        """The process in a few words, for people."""
        return f'{self.binary} {self.id[:8]} on {self.host}'


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """Why a microversion cannot be served.

    :ivar microversion: the lowest one that cannot
    :ivar needs: the object version it shows
    :ivar speaks: the version that can be spoken; None: the type is unknown
    :ivar who: the members that force it; none of them when a hold or a pin
        does
    """

    microversion: Version
    type_name: str
    needs: str
    speaks: str | None
    who: tuple[Member, ...]

    @property
    def reason(self) -> str:
        """A clause that can stand after "because"."""
        if not self.who:
            return (
                f'{self.type_name} is held at {self.speaks or "nothing"},'
                f' and {self.microversion} shows {self.needs}'
            )
        member = self.who[0]
        more = f' and {len(self.who) - 1} more' if self.who[1:] else ''
        speaks = (
            f'only {self.type_name} {self.speaks}'
            if self.speaks
            else f'no {self.type_name}'
        )
        return (
            f'{self.type_name} {self.needs} is needed and {member.label}'
            f' (release {member.release}){more} speaks {speaks}'
        )


@dataclasses.dataclass(frozen=True)
class View:
    """What one process knows of the fleet.

    :ivar generation: counts the changes of the ledger
    :ivar held: the cap may not rise above this; None: nothing is held
    :ivar pinned: the same, from this process's own configuration
    """

    generation: int
    members: tuple[Member, ...]
    held: Manifest | None = None
    pinned: Manifest | None = None

    def servers(self, topic: str) -> tuple[Member, ...]:
        """Return the members that serve a topic, joining ones included."""
        return tuple(m for m in self.members if m.topic == topic)

    @functools.cached_property
    def _caps(self) -> dict[str, Manifest]:
        return {}

    def cap(self, topic: str) -> Manifest:
        """Return what may be said on a topic.

        :returns: an empty manifest when nobody serves the topic
        """
        cap = self._caps.get(topic)
        if cap is None:
            known = [member.manifest for member in self.servers(topic)]
            if known:
                known += [m for m in (self.held, self.pinned) if m]
            cap = self._caps[topic] = minimum(known)
        return cap

    def forced_by(self, topic: str, type_name: str) -> tuple[Member, ...]:
        """Return the members that speak no more of a type than the cap."""
        allowed = self.cap(topic).version(type_name)
        return tuple(
            member
            for member in self.servers(topic)
            if member.manifest.version(type_name) == allowed
        )

    def limits(self, topic: str) -> list[Limit]:
        """Return what keeps microversions from being served, lowest first."""
        cap = self.cap(topic)
        found = []
        for cls in base.registered_types():
            name = cls.obj_name()
            allowed = cap.version(name)
            for microversion, needs in cls.VERSION_MAP.items():
                if allowed is None or allowed < Version.parse(needs):
                    found.append(
                        Limit(
                            Version.parse(microversion),
                            name,
                            needs,
                            cap.get(name),
                            self.forced_by(topic, name),
                        )
                    )
                    break
        return sorted(found, key=lambda limit: limit.microversion)

    def maximum(self, topic: str, newest: Version) -> Maximum:
        """Return the highest microversion that every server can serve.

        :param newest: the highest one this build knows
        """
        limits = self.limits(topic)
        if not limits or limits[0].microversion > newest:
            return Maximum(newest)
        lowest = limits[0]
        major, minor = lowest.microversion
        # A microversion is a counter: the one before is one less.
        before = Version(major, minor - 1) if minor else NULL
        return Maximum(before, lowest.reason)


def as_data(view: View, topic: str, newest: Version) -> dict[str, Any]:
    """Return what a process knows of the fleet, as JSON data.

    :param topic: whose servers are capped
    :param newest: the highest microversion this build knows
    """
    maximum = view.maximum(topic, newest)
    return {
        'generation': view.generation,
        'max_microversion': str(maximum.version),
        'reason': maximum.reason,
        'held': None if view.held is None else dict(view.held),
        'limits': [
            {
                'microversion': str(limit.microversion),
                'type': limit.type_name,
                'needs': limit.needs,
                'speaks': limit.speaks,
                'reason': limit.reason,
            }
            for limit in view.limits(topic)
            if limit.microversion <= newest
        ],
        'members': [
            {
                'id': member.id,
                'binary': member.binary,
                'host': member.host,
                'topic': member.topic,
                'release': member.release,
                'state': member.state,
                'age': member.age,
                'manifest': dict(member.manifest),
            }
            for member in view.members
        ],
    }
