# SPDX-License-Identifier: Apache-2.0
"""Value classes for the live members and the versions they share.

A :class:`View` is one process's copy of the ledger. It does not list members:
it counts them in *groups* that share topic, manifest and state. Its *cap* for
a topic is the minimum, type by type, over the manifests of the groups that
serve the topic: the versions that every one of their members can read. The cap
determines the highest microversion that the API can advertise.

The generation of the ledger increases when such a minimum may change, or when
the last servers of a manifest start or stop to consume. While at least
:data:`EXACT_COUNT` other members with the topic and the manifest are ``up``, a
member that joins, leaves or changes its state has no effect on either, so the
generation stays the same. A rolling restart of any number of processes
therefore costs a constant number of generations.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from vobjects.objects.manifest import Manifest, local_types, minimum
from vobjects.versions import NULL, Maximum, Version

#: Heartbeats that a process sends per period.
BEATS_PER_PERIOD = 2

#: Periods without a heartbeat after which a process counts as dead. Members
#: check every half period, so a death is detected within two periods.
DEAD_AFTER_PERIODS = 1.5

#: Maximum relative difference between the rates of two clocks.
CLOCK_DRIFT = 0.02

#: Lease of a view, in periods. A sender with an older view renews it before it
#: sends anything. The lease of a member that is removed as dead has therefore
#: expired, even if the sender's clock is slower than the ledger's: the join
#: barrier does not wait for such a member.
LEASE_PERIODS = DEAD_AFTER_PERIODS * (1 - 1.5 * CLOCK_DRIFT)

#: Longest lease of any release that may be alive, in periods.
LONGEST_LEASE_PERIODS = 2

#: If fewer than this number of other members have the topic, the manifest and
#: the state of a member, or are ``up`` with that topic and manifest, each
#: change of that member increases the generation. Counts below this number are
#: therefore exact; larger ones may be outdated.
EXACT_COUNT = 8

#: Maximum number of members that a group names.
EXAMPLES = 3

#: A type in the manifest of each server whose name on its topic is the digest
#: of its manifest. Earlier releases have other names, and lack the type.
DIRECT = 'FleetDirect'

#: Default of ``[fleet] capable_servers``.
QUORUM = 2

#: Versions of the processes that can read the state ``draining``.
DRAINING = {'FleetGroup': '1.1'}

State = Literal['draining', 'joining', 'up']


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """The identity of a process.

    :ivar id: unique id of the process
    :ivar topic: topic that the process serves; each topic has its own cap
    """

    id: str
    binary: str
    host: str
    topic: str
    release: str

    @property
    def label(self) -> str:
        """A short description of the process, for operators."""
        return f'{self.binary} {self.id[:8]} on {self.host}'


@dataclasses.dataclass(frozen=True, slots=True)
class Member(Process):
    """One live process, as recorded in the ledger.

    :ivar state: ``joining`` until all senders know the process, then ``up``;
        ``draining`` when it stops, or ``joining`` again while an older
        process is alive that cannot read ``draining``
    :ivar seen: newest ledger generation that this process has acted on
    :ivar age: seconds since its last heartbeat, by the ledger's clock
    """

    manifest: Manifest
    state: State = 'joining'
    seen: int = 0
    age: float = 0.0

    @property
    def process(self) -> Process:
        """The identity of the member."""
        return Process(
            self.id, self.binary, self.host, self.topic, self.release
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """The live processes of a topic that share a manifest and a state.

    :ivar count: number of processes; if it is at least :data:`EXACT_COUNT`, it
        is that of the time at which the generation increased
    :ivar examples: the first :data:`EXAMPLES` of the processes
    """

    topic: str
    manifest: Manifest
    state: State
    count: int
    examples: tuple[Process, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class MicroversionLimit:
    """The reason why a microversion cannot be served.

    :ivar microversion: the lowest microversion affected
    :ivar required: object version that the microversion shows
    :ivar supported: highest version that the cap allows; None: the type is
        unknown
    :ivar groups: groups that force this limit; empty if a hold or a pin does
    :ivar is_pinned: whether the configuration of this process pins the type
        at the supported version
    """

    microversion: Version
    type_name: str
    required: str
    supported: str | None
    groups: tuple[Group, ...]
    is_pinned: bool = False

    @property
    def reason(self) -> str:
        """A clause that can follow "because", for callers of the API.

        It names no host: the version is negotiated before authentication.
        """
        return self._clause('a server')

    @property
    def explanation(self) -> str:
        """The same clause for operators: it names a process and its host."""
        first = self.groups[0].examples[0] if self.groups else None
        return self._clause(first.label if first else '')

    def _clause(self, server: str) -> str:
        if not self.groups:
            limit = (
                '[upgrade_levels] engine limits it to'
                if self.is_pinned
                else f'{self.type_name} is held at'
            )
            return (
                f'{self.type_name} {self.required} is needed, but {limit}'
                f' {self.supported or "no version"}'
            )
        first = self.groups[0].examples[0]
        others = sum(group.count for group in self.groups) - 1
        verb = f'and {others} more support' if others else 'supports'
        # Another major version is not supported, but explains the limit.
        version = self.groups[0].manifest.get(self.type_name)
        supported = (
            f'only {self.type_name} {version}'
            if version
            else f'no {self.type_name}'
        )
        return (
            f'{self.type_name} {self.required} is needed, but {server}'
            f' (release {first.release}) {verb} {supported}'
        )


@dataclasses.dataclass(frozen=True, slots=True)
class HoldOrigin:
    """The beginning of a hold.

    :ivar owner: name of the operator; empty: not stated
    :ivar reason: a clause that can follow "because"; empty: not stated
    :ivar since: time on the ledger's clock, in seconds since 1970
    """

    owner: str
    reason: str
    since: float

    @property
    def time(self) -> str:
        """The time of the beginning, in ISO 8601 and UTC."""
        moment = datetime.datetime.fromtimestamp(self.since, datetime.UTC)
        return f'{moment:%Y-%m-%dT%H:%M:%SZ}'

    @property
    def label(self) -> str:
        """Owner, time and reason of the hold, for operators."""
        by = f'by {self.owner} ' if self.owner else ''
        because = f', because {self.reason}' if self.reason else ''
        return f'{by}since {self.time}{because}'


@dataclasses.dataclass(frozen=True)
class View:
    """One process's view of the fleet.

    :ivar generation: number of changes of the ledger that may affect a cap
    :ivar held: upper limit of the cap set by a hold; None: no hold
    :ivar pinned: upper limit of the cap from this process's configuration;
        None: no pin
    :ivar token: identifies the generation among those of the same number,
        which exist if a database has lost its last commits
    :ivar quorum: number of servers that must support the versions of a
        microversion which not all support
    :ivar hold_origin: the beginning of the hold; None: no hold, or a release
        that does not record its origin has begun it
    """

    generation: int
    groups: tuple[Group, ...]
    held: Manifest | None = None
    pinned: Manifest | None = None
    token: str = ''
    quorum: int = QUORUM
    hold_origin: HoldOrigin | None = None

    @property
    def revision(self) -> tuple[int, str]:
        """The generation and the token."""
        return self.generation, self.token

    def servers(self, topic: str) -> tuple[Group, ...]:
        """Return the groups that serve a topic, whatever their state."""
        return tuple(g for g in self.groups if g.topic == topic)

    def count(self, topic: str | None = None) -> int:
        """Return the number of processes, or of those that serve a topic."""
        return sum(
            g.count for g in self.groups if topic is None or g.topic == topic
        )

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
            known = [group.manifest for group in self.servers(topic)]
            cap = self._caps[topic] = self.limited(minimum(known))
        return cap

    def limited(self, manifest: Manifest) -> Manifest:
        """Return the versions of a manifest that a hold and a pin allow."""
        limits = [limit for limit in (self.held, self.pinned) if limit]
        return minimum([manifest, *limits]) if limits else manifest

    def capable(
        self, topic: str, needs: Mapping[str, str]
    ) -> tuple[Group, ...]:
        """Return the groups of servers that calls with some needs may go to.

        A hold or a pin limits them, too.

        :param needs: type name -> version that the servers must support
        """
        if not all(supports(m, needs) for m in (self.held, self.pinned) if m):
            return ()
        return tuple(
            group
            for group in self.servers(topic)
            if group.state == 'up'
            and DIRECT in group.manifest
            and supports(group.manifest, needs)
        )

    def limiting_groups(self, topic: str, type_name: str) -> tuple[Group, ...]:
        """Return the groups that support no more of a type than the cap."""
        allowed = self.cap(topic).version(type_name)
        return tuple(
            group
            for group in self.servers(topic)
            if minimum([group.manifest]).version(type_name) == allowed
        )

    def limits(self, topic: str) -> list[MicroversionLimit]:
        """Return the limits on microversions, lowest first."""
        cap = self.cap(topic)
        exceeding = [
            (Version.parse(microversion), cls, required)
            for cls in local_types()
            for microversion, required in getattr(
                cls, 'VERSION_MAP', {}
            ).items()
            if not supports(cap, {cls.obj_name(): required})
        ]
        exceeding.sort(key=lambda item: item[0])
        limits: dict[str, MicroversionLimit] = {}
        needs: dict[str, str] = {}
        for microversion, cls, required in exceeding:
            name = cls.obj_name()
            if name in limits:
                continue
            if getattr(cls, 'ROUTE', 'any') != 'any':
                groups = self.capable(topic, {**needs, name: required})
                if sum(group.count for group in groups) >= self.quorum:
                    needs[name] = required
                    continue
            limits[name] = MicroversionLimit(
                microversion,
                name,
                required,
                cap.get(name),
                self.limiting_groups(topic, name),
                self.pinned is not None
                and self.pinned.get(name) == cap.get(name),
            )
        return list(limits.values())

    def maximum(self, topic: str, newest: Version) -> Maximum:
        """Return the highest microversion that can be served.

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


@dataclasses.dataclass(frozen=True, slots=True)
class Report:
    """The ledger's response to a heartbeat.

    :ivar view: the view of the ledger's generation; None: the one that the
        process knows is still valid
    :ivar now: time on the ledger's clock, in seconds since 1970; None: the
        server that keeps the ledger does not report it
    :ivar has_changed: whether this heartbeat increased the generation
    :ivar since_sweep: seconds since dead members were last removed; None:
        unknown, or never
    """

    view: View | None
    now: float | None = None
    has_changed: bool = False
    since_sweep: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Unaware:
    """The members that have not seen a generation yet.

    :ivar examples: a few of them
    """

    count: int
    examples: tuple[Process, ...] = ()


def supports(manifest: Manifest, needs: Mapping[str, str]) -> bool:
    """Return whether a manifest has at least some versions of types."""
    for name, text in needs.items():
        version, needed = manifest.version(name), Version.parse(text)
        if (
            version is None
            or version.major != needed.major
            or version < needed
        ):
            return False
    return True


def group_members(members: Iterable[Member]) -> tuple[Group, ...]:
    """Count members by topic, manifest and state."""

    def key(member: Member) -> tuple[str, str, str]:
        return member.topic, member.manifest.digest, member.state

    groups = []
    # The sort is stable: the examples keep the order of the members.
    for _, grouped in itertools.groupby(sorted(members, key=key), key):
        first, *others = grouped
        groups.append(
            Group(
                first.topic,
                first.manifest,
                first.state,
                1 + len(others),
                tuple(m.process for m in (first, *others[: EXAMPLES - 1])),
            )
        )
    return tuple(groups)


def to_json(
    view: View, topic: str, newest: Version, members: Iterable[Member]
) -> dict[str, Any]:
    """Return a view of the fleet as JSON data, for operators.

    :param topic: topic whose cap and limits are included
    :param newest: highest microversion of this build
    :param members: the members to list, not necessarily all
    """
    limits = [
        limit for limit in view.limits(topic) if limit.microversion <= newest
    ]
    origin = view.hold_origin
    return {
        'generation': view.generation,
        'max_microversion': str(view.maximum(topic, newest).version),
        'reason': limits[0].explanation if limits else '',
        'held': None if view.held is None else dict(view.held),
        'hold_origin': origin
        and {
            'owner': origin.owner,
            'reason': origin.reason,
            'since': origin.time,
        },
        'limits': [
            {
                'microversion': str(limit.microversion),
                'type': limit.type_name,
                'needs': limit.required,
                'speaks': limit.supported,
                'reason': limit.explanation,
            }
            for limit in limits
        ],
        'groups': [
            {
                'topic': group.topic,
                'state': group.state,
                'manifest': group.manifest.digest,
                'count': group.count,
                'examples': [
                    {
                        'id': process.id,
                        'binary': process.binary,
                        'host': process.host,
                        'release': process.release,
                    }
                    for process in group.examples
                ],
            }
            for group in view.groups
        ],
        'manifests': {
            group.manifest.digest: dict(group.manifest)
            for group in view.groups
        },
        'members': [
            {
                'id': member.id,
                'binary': member.binary,
                'host': member.host,
                'topic': member.topic,
                'release': member.release,
                'state': member.state,
                'age': member.age,
                'manifest': member.manifest.digest,
            }
            for member in members
        ],
    }
