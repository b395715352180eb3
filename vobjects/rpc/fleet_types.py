# SPDX-License-Identifier: Apache-2.0
"""Object types of the fleet protocol.

A process sends its first requests before it knows the versions of its peers,
so every release must support 1.0 of :data:`BASE_TYPES` forever (Apache
Kafka's KIP-511 has the same rule). Responses have the versions of their
readers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, cast, get_args

from vobjects import UNSET, added, changed, fields, objects
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    Group,
    HoldOrigin,
    Member,
    Process,
    State,
    View,
)

#: The states of a member, as the ledger has them.
_STATES = get_args(State)
_State = Annotated[str, fields.EnumField(_STATES)]

#: Those of 1.0. Processes without a database report no others.
_FirstState = Annotated[str, fields.EnumField(('joining', 'up'))]


class _Process(objects.Object):
    """The fields of :class:`vobjects.rpc.fleet.Process`."""

    id: str
    binary: str
    host: str
    topic: str
    release: str


@objects.register
class FleetLeave(objects.Request):
    """Leave the fleet."""

    id: str


@objects.register
class RecordedResponse(objects.Resource):
    """The recorded response of a call, for when the call is delivered again.

    Its registered name is ``Answered``.
    """

    content: dict[str, Any] | None = UNSET

    @classmethod
    def obj_name(cls) -> str:
        """Return the name on the wire, which may never change."""
        return 'Answered'


@objects.register
class RecordedText(objects.Resource):
    """The recorded response of a call whose caller needs JSON text.

    Servers record it once every live server supports this type.
    """

    text: str


#: The record of a response; the caller's form selects the type.
Record = RecordedResponse | RecordedText


@objects.register
class FleetHeartbeat(_Process, objects.Request):
    """Report a heartbeat, and request the view if it has changed.

    ``generation`` and ``token`` identify the view that the process has;
    ``manifest`` is absent if the ledger should know it by its digest.
    """

    state: _FirstState
    seen: int
    digest: str
    manifest: dict[str, str] | None = UNSET
    generation: int | None = UNSET
    token: str | None = UNSET


@objects.register
class FleetProcess(_Process, objects.Object):
    """A live process; ``age`` is in seconds.

    The examples of a group have only the first five fields.
    """

    VERSION = '1.1'
    REFUSE_LOSS = False

    digest: str | None = UNSET
    state: _State | None = changed(
        '1.1', _FirstState | None, instead='joining'
    )
    seen: int | None = UNSET
    age: float | None = UNSET


@objects.register
class FleetGroup(objects.Object):
    """The live processes with the same topic, manifest and state."""

    VERSION = '1.1'
    REFUSE_LOSS = False

    topic: str
    digest: str
    state: _State = changed('1.1', _FirstState, instead='joining')
    count: int
    examples: list[FleetProcess]


@objects.register
class FleetHoldOrigin(objects.Resource):
    """The beginning of a hold; see :class:`vobjects.rpc.fleet.HoldOrigin`."""

    owner: str
    reason: str
    since: float


@objects.register
class FleetState(objects.Object):
    """The generation of the ledger, and the view if it was requested.

    ``groups`` and ``held`` are null if the generation is the one that the
    request names. If ``needs_manifest`` is true, nothing was recorded.
    """

    VERSION = '1.1'
    REFUSE_LOSS = False

    generation: int
    token: str
    now: float | None = UNSET
    needs_manifest: Annotated[bool, fields.BooleanField()]
    groups: list[FleetGroup] | None = UNSET
    held: dict[str, str] | None = UNSET
    hold_origin: FleetHoldOrigin | None = added('1.1')


@objects.register
class FleetStateGet(objects.Request):
    """Request the view without reporting a heartbeat."""


@objects.register
class FleetHoldSet(objects.Request):
    """Begin a hold of the cap of a topic, or end it if the topic is null."""

    topic: str | None = UNSET


@objects.register
class FleetHoldBegin(objects.Request):
    """Begin a hold of the cap of a topic, and record its origin.

    Servers of releases that do not record it do not support this type.
    """

    topic: str
    owner: str
    reason: str


@objects.register
class FleetProcessList(objects.Request):
    """Request the processes with the oldest heartbeats."""

    limit: int


@objects.register
class FleetManifestGet(objects.Request):
    """Request a manifest by its digest."""

    digest: str


@objects.register
class FleetManifest(objects.Resource):
    """A manifest; null if no live process has it."""

    versions: dict[str, str] | None = UNSET


@objects.register
class FleetDirect(objects.Resource):
    """Never sent. The manifest of a server has it if calls can address it.

    See :data:`vobjects.rpc.fleet.DIRECT`.
    """


#: Types that every release supports, whatever manifest it emulates.
BASE_TYPES = (
    FleetLeave,
    RecordedResponse,
    FleetHeartbeat,
    FleetProcess,
    FleetGroup,
    FleetState,
    FleetStateGet,
    FleetHoldSet,
    FleetProcessList,
    FleetManifestGet,
    FleetManifest,
)

_COMMON_FIELDS = (*_Process.fields, 'state', 'seen')


def to_heartbeat(
    member: Member, known: View | None, *, with_manifest: bool
) -> FleetHeartbeat:
    """Return the heartbeat of a member.

    :param known: the view that the member has
    """
    return FleetHeartbeat(
        digest=member.manifest.digest,
        manifest=dict(member.manifest) if with_manifest else None,
        generation=None if known is None else known.generation,
        token=None if known is None else known.token,
        **{name: getattr(member, name) for name in _COMMON_FIELDS},
    )


def from_heartbeat(
    message: FleetHeartbeat, find_manifest: Callable[[str], Manifest | None]
) -> Member | None:
    """Convert a heartbeat to a member.

    :param find_manifest: returns the manifest with a digest, if it is known
    :returns: None: the heartbeat lacks the manifest, and it is unknown
    :raises vobjects.exceptions.VobjectsError: the manifest is malformed
    """
    manifest = (
        find_manifest(message.digest)
        if message.manifest is None
        else Manifest.parse(
            dict(message.manifest), f'manifest of {message.id}'
        )
    )
    if manifest is None:
        return None
    return Member(
        manifest=manifest,
        **{name: getattr(message, name) for name in _COMMON_FIELDS},
    )


def known_view(message: FleetHeartbeat) -> View | None:
    """Return the view that the sender of a heartbeat has, without groups."""
    if message.generation is None:
        return None
    return View(message.generation, (), token=message.token or '')


def to_state(view: View, now: float | None) -> FleetState:
    """Convert a view to a response."""
    origin = view.hold_origin
    return FleetState(
        generation=view.generation,
        token=view.token,
        now=now,
        needs_manifest=False,
        groups=[
            FleetGroup(
                topic=group.topic,
                digest=group.manifest.digest,
                state=_readable(group.state),
                count=group.count,
                examples=[
                    FleetProcess(
                        **{n: getattr(e, n) for n in _Process.fields},
                        digest=None,
                        state=None,
                        seen=None,
                        age=None,
                    )
                    for e in group.examples
                ],
            )
            for group in view.groups
        ],
        held=None if view.held is None else dict(view.held),
        hold_origin=None
        if origin is None
        else FleetHoldOrigin(
            owner=origin.owner, reason=origin.reason, since=origin.since
        ),
    )


def unchanged_state(
    known: View, now: float | None, *, needs_manifest: bool = False
) -> FleetState:
    """Return the response to a heartbeat with the current view.

    :param known: the view that the sender of the heartbeat has
    """
    return FleetState(
        generation=known.generation,
        token=known.token,
        now=now,
        needs_manifest=needs_manifest,
        groups=None,
        held=None,
        hold_origin=None,
    )


def from_state(
    resource: FleetState, find_manifest: Callable[[str], Manifest | None]
) -> View | None:
    """Convert a response to a view; None if it has no groups.

    :param find_manifest: returns the manifest with a digest; None if the last
        process of a group has left since, so the view omits the group
    :raises vobjects.exceptions.VobjectsError: a manifest is malformed
    """
    if resource.groups is None:
        return None
    groups = []
    for group in resource.groups:
        manifest = find_manifest(group.digest)
        if manifest is not None:
            examples = tuple(
                Process(**{n: getattr(e, n) for n in _Process.fields})
                for e in group.examples
            )
            groups.append(
                Group(
                    group.topic,
                    manifest,
                    cast(State, group.state),
                    group.count,
                    examples,
                )
            )
    origin = resource.hold_origin
    return View(
        resource.generation,
        tuple(groups),
        None
        if resource.held is None
        else Manifest.parse(dict(resource.held), 'the hold'),
        token=resource.token,
        hold_origin=None
        if origin is None
        else HoldOrigin(origin.owner, origin.reason, origin.since),
    )


def to_process(member: Member) -> FleetProcess:
    """Convert a member to an element of a response."""
    values = {name: getattr(member, name) for name in _COMMON_FIELDS}
    return FleetProcess(
        digest=member.manifest.digest,
        age=member.age,
        **values | {'state': _readable(member.state)},
    )


def _readable(state: str) -> State:
    """Return a state that every reader knows.

    A later release may have stored another one. Its process counts for the
    cap, but is not known to consume.
    """
    return cast(State, state) if state in _STATES else 'joining'


def from_process(resource: FleetProcess, manifest: Manifest) -> Member:
    """Convert an element of a response to a member."""
    return Member(
        manifest=manifest,
        age=resource.age or 0.0,
        **{name: getattr(resource, name) for name in _COMMON_FIELDS},
    )
