# SPDX-License-Identifier: Apache-2.0
"""Value classes for the live members and the versions they share.

A :class:`View` is one process's copy of the ledger. Its *cap* for a topic is
the minimum, type by type, over the manifests of the members that serve the
topic: the versions that every one of them can read. The cap determines the
highest microversion that the API can advertise.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal

from vobjects import objects
from vobjects.objects.manifest import Manifest, minimum
from vobjects.versions import NULL, Maximum, Version

#: Heartbeats that a process sends per period.
BEATS_PER_PERIOD = 2

#: Periods without a heartbeat after which a process counts as dead. Members
#: check every half period, so a death is detected within two periods.
DEAD_AFTER_PERIODS = 1.5

#: Lease of a view, in periods. A sender with an older view renews it before it
#: sends anything.
LEASE_PERIODS = 2

State = Literal['joining', 'up']


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One live process, as recorded in the ledger.

    :ivar id: unique id of the process
    :ivar topic: topic that the process serves; each topic has its own cap
    :ivar state: ``joining`` until all senders know the process, then ``up``
    :ivar seen: newest ledger generation that this process has acted on
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
        """A short description of the process, for operators."""
        return f'{self.binary} {self.id[:8]} on {self.host}'


@dataclasses.dataclass(frozen=True, slots=True)
class MicroversionLimit:
    """The reason why a microversion cannot be served.

    :ivar microversion: the lowest microversion affected
    :ivar required: object version that the microversion shows
    :ivar supported: highest version that the cap allows; None: the type is
        unknown
    :ivar members: members that force this limit; empty if a hold or a pin does
    """

    microversion: Version
    type_name: str
    required: str
    supported: str | None
    members: tuple[Member, ...]

    @property
    def reason(self) -> str:
        """A clause that can follow "because"."""
        if not self.members:
            return (
                f'{self.type_name} {self.required} is needed, but'
                f' {self.type_name} is held at'
                f' {self.supported or "no version"}'
            )
        first, *others = self.members
        verb = f'and {len(others)} more support' if others else 'supports'
        supported = (
            f'only {self.type_name} {self.supported}'
            if self.supported
            else f'no {self.type_name}'
        )
        return (
            f'{self.type_name} {self.required} is needed, but {first.label}'
            f' (release {first.release}) {verb} {supported}'
        )


@dataclasses.dataclass(frozen=True)
class View:
    """One process's view of the fleet.

    :ivar generation: number of changes of the ledger
    :ivar held: upper limit of the cap set by a hold; None: no hold
    :ivar pinned: upper limit of the cap from this process's configuration;
        None: no pin
    :ivar now: time on the ledger's clock, in seconds since 1970; None: the
        engine that keeps the ledger does not report it
    """

    generation: int
    members: tuple[Member, ...]
    held: Manifest | None = None
    pinned: Manifest | None = None
    now: float | None = None

    def servers(self, topic: str) -> tuple[Member, ...]:
        """Return the members that serve a topic, including joining ones."""
        return tuple(m for m in self.members if m.topic == topic)

    @functools.cached_property
    def _caps(self) -> dict[str, Manifest]:
        return {}

    def cap(self, topic: str) -> Manifest:
        """Return the highest versions that every server of a topic can read.

        A hold or a pin may lower them further.

        :returns: an empty manifest if no member serves the topic
        """
        cap = self._caps.get(topic)
        if cap is None:
            known = [member.manifest for member in self.servers(topic)]
            if known:
                known += [m for m in (self.held, self.pinned) if m]
            cap = self._caps[topic] = minimum(known)
        return cap

    def limiting_members(
        self, topic: str, type_name: str
    ) -> tuple[Member, ...]:
        """Return the members that support no more of a type than the cap."""
        allowed = self.cap(topic).version(type_name)
        return tuple(
            member
            for member in self.servers(topic)
            if member.manifest.version(type_name) == allowed
        )

    def limits(self, topic: str) -> list[MicroversionLimit]:
        """Return the limits on microversions, lowest first."""
        cap = self.cap(topic)
        limits = []
        for cls in objects.registered_types():
            name = cls.obj_name()
            allowed = cap.version(name)
            for microversion, required in cls.VERSION_MAP.items():
                if allowed is None or allowed < Version.parse(required):
                    limits.append(
                        MicroversionLimit(
                            Version.parse(microversion),
                            name,
                            required,
                            cap.get(name),
                            self.limiting_members(topic, name),
                        )
                    )
                    break
        return sorted(limits, key=lambda limit: limit.microversion)

    def maximum(self, topic: str, newest: Version) -> Maximum:
        """Return the highest microversion that every server supports.

        :param newest: highest microversion of this build
        """
        limits = self.limits(topic)
        if not limits or limits[0].microversion > newest:
            return Maximum(newest)
        lowest = limits[0]
        major, minor = lowest.microversion
        # Minor versions are consecutive: the previous one is one less.
        before = Version(major, minor - 1) if minor else NULL
        return Maximum(before, lowest.reason)


def to_json(view: View, topic: str, newest: Version) -> dict[str, Any]:
    """Return a view of the fleet as JSON data.

    :param topic: topic whose cap and limits are included
    :param newest: highest microversion of this build
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
                'needs': limit.required,
                'speaks': limit.supported,
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
