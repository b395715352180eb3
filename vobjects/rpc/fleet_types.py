# SPDX-License-Identifier: Apache-2.0
"""Object types of the fleet protocol.

A process sends its first requests before it knows the versions of its peers,
so every release must support 1.0 of the types in :data:`BASE_TYPES` forever
(Apache Kafka's KIP-511 has the same rule).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from vobjects import fields, objects
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import (
    Group,
    Member,
    Process,
    Roster,
    State,
    View,
)

#: The fields of :class:`vobjects.rpc.fleet.Process`.
_PROCESS_FIELDS: dict[str, fields.Field[Any]] = {
    'id': fields.StringField(),
    'binary': fields.StringField(),
    'host': fields.StringField(),
    'topic': fields.StringField(),
    'release': fields.StringField(),
}

_MEMBER_FIELDS: dict[str, fields.Field[Any]] = {
    **_PROCESS_FIELDS,
    'manifest': fields.DictOfStringsField(),
    'state': fields.EnumField(valid_values=('joining', 'up')),
    'seen': fields.IntegerField(default=0),
}


@objects.register
class FleetReport(objects.Request):
    """Report a heartbeat, and request the whole ledger.

    Since servers support :class:`FleetHeartbeat`, clients send this only to
    older ones.
    """

    fields = dict(_MEMBER_FIELDS)


@objects.register
class FleetLeave(objects.Request):
    """Leave the fleet."""

    fields = {'id': fields.StringField()}


@objects.register
class FleetGet(objects.Request):
    """Request the ledger without reporting a heartbeat."""


@objects.register
class FleetHold(objects.Request):
    """Keep the cap of a topic at its current value."""

    fields = {'topic': fields.StringField()}


@objects.register
class FleetFinalize(objects.Request):
    """End a hold: the cap follows the live members again."""


@objects.register
class FleetMember(objects.Resource):
    """A live process; ``age`` is in seconds."""

    fields = {**_MEMBER_FIELDS, 'age': fields.FloatField()}


@objects.register
class FleetView(objects.Resource):
    """The ledger: its generation, its members and the current hold."""

    fields = {
        'generation': fields.IntegerField(),
        'members': fields.ListOfObjectsField('FleetMember'),
        'held': fields.DictOfStringsField(nullable=True),
    }


@objects.register
class FleetClock(objects.Request):
    """Request the time on the ledger's clock."""


@objects.register
class FleetTime(objects.Resource):
    """The time on the ledger's clock, in seconds since 1970.

    Clients without a database send deadlines once every live server supports
    this type. Servers reject requests that arrive after their deadline.
    """

    fields = {'now': fields.FloatField(nullable=True)}


@objects.register
class RecordedResponse(objects.Resource):
    """The recorded response of a call, for when the call is delivered again.

    Once every live server supports this type, clients may repeat a call that
    may already have been performed. Its registered name is ``Answered``.
    """

    fields = {'content': fields.JsonField(nullable=True)}

    @classmethod
    def obj_name(cls) -> str:
        """Return the name on the wire, which may never change."""
        return 'Answered'


@objects.register
class RecordedText(objects.Resource):
    """The recorded response of a call whose caller needs JSON text.

    Servers record it once every live server supports this type.
    """

    fields = {'text': fields.StringField()}


#: The record of a response; the caller's form selects the type.
Record = RecordedResponse | RecordedText


@objects.register
class FleetHeartbeat(objects.Request):
    """Report a heartbeat, and request the view if it has changed.

    ``generation`` and ``token`` identify the view that the process has;
    ``manifest`` is absent if the ledger should know it by its digest.
    """

    fields = {
        **_PROCESS_FIELDS,
        'state': fields.EnumField(valid_values=('joining', 'up')),
        'seen': fields.IntegerField(),
        'digest': fields.StringField(),
        'manifest': fields.DictOfStringsField(nullable=True),
        'generation': fields.IntegerField(nullable=True),
        'token': fields.StringField(nullable=True),
    }


@objects.register
class FleetProcess(objects.Resource):
    """A live process; ``age`` is in seconds.

    The examples of a group have only the first five fields.
    """

    fields = {
        **_PROCESS_FIELDS,
        'digest': fields.StringField(nullable=True),
        'state': fields.EnumField(
            valid_values=('joining', 'up'), nullable=True
        ),
        'seen': fields.IntegerField(nullable=True),
        'age': fields.FloatField(nullable=True),
    }


@objects.register
class FleetGroup(objects.Resource):
    """The live processes with the same topic, manifest and state."""

    fields = {
        'topic': fields.StringField(),
        'digest': fields.StringField(),
        'state': fields.EnumField(valid_values=('joining', 'up')),
        'count': fields.IntegerField(),
        'examples': fields.ListOfObjectsField('FleetProcess'),
    }


@objects.register
class FleetState(objects.Resource):
    """The generation of the ledger, and the view if it was requested.

    ``groups`` and ``held`` are null if the generation is the one that the
    request names. If ``needs_manifest`` is true, nothing was recorded.
    """

    fields = {
        'generation': fields.IntegerField(),
        'token': fields.StringField(),
        'now': fields.FloatField(nullable=True),
        'needs_manifest': fields.BooleanField(),
        'groups': fields.ListOfObjectsField('FleetGroup', nullable=True),
        'held': fields.DictOfStringsField(nullable=True),
    }


@objects.register
class FleetStateGet(objects.Request):
    """Request the view without reporting a heartbeat."""


@objects.register
class FleetHoldSet(objects.Request):
    """Begin a hold of the cap of a topic, or end it if the topic is null."""

    fields = {'topic': fields.StringField(nullable=True)}


@objects.register
class FleetProcessList(objects.Request):
    """Request the processes with the oldest heartbeats."""

    fields = {'limit': fields.IntegerField()}


@objects.register
class FleetManifestGet(objects.Request):
    """Request a manifest by its digest."""

    fields = {'digest': fields.StringField()}


@objects.register
class FleetManifest(objects.Resource):
    """A manifest; null if no live process has it."""

    fields = {'versions': fields.DictOfStringsField(nullable=True)}


#: Types that every release supports, whatever manifest it emulates.
BASE_TYPES = (
    FleetReport,
    FleetLeave,
    FleetGet,
    FleetHold,
    FleetFinalize,
    FleetMember,
    FleetView,
)

_COMMON_FIELDS = (*_PROCESS_FIELDS, 'state', 'seen')


def to_report(member: Member) -> FleetReport:
    """Return the report of a member."""
    return FleetReport(
        manifest=dict(member.manifest),
        **{name: getattr(member, name) for name in _COMMON_FIELDS},
    )


def to_member(message: FleetReport | FleetMember) -> Member:
    """Convert a report, or a member of the ledger, to a ``Member``.

    :raises vobjects.exceptions.VobjectsError: its manifest is malformed
    """
    return Member(
        manifest=Manifest.parse(
            dict(message.manifest), f'manifest of {message.id}'
        ),
        age=message.age if isinstance(message, FleetMember) else 0.0,
        **{name: getattr(message, name) for name in _COMMON_FIELDS},
    )


def roster_to_resource(roster: Roster) -> FleetView:
    """Convert the whole ledger to a response."""
    return FleetView(
        generation=roster.generation,
        members=[
            FleetMember(
                manifest=dict(member.manifest),
                age=member.age,
                **{name: getattr(member, name) for name in _COMMON_FIELDS},
            )
            for member in roster.members
        ],
        held=None if roster.held is None else dict(roster.held),
    )


def to_roster(resource: FleetView) -> Roster:
    """Convert a response to the whole ledger.

    :raises vobjects.exceptions.VobjectsError: it contains a malformed manifest
    """
    return Roster(
        resource.generation,
        tuple(to_member(member) for member in resource.members),
        _to_hold(resource.held),
    )


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
    return FleetState(
        generation=view.generation,
        token=view.token,
        now=now,
        needs_manifest=False,
        groups=[
            FleetGroup(
                topic=group.topic,
                digest=group.manifest.digest,
                state=group.state,
                count=group.count,
                examples=[
                    FleetProcess(
                        **{n: getattr(e, n) for n in _PROCESS_FIELDS},
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
                Process(**{n: getattr(e, n) for n in _PROCESS_FIELDS})
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
    return View(
        resource.generation,
        tuple(groups),
        _to_hold(resource.held),
        token=resource.token,
    )


def to_process(member: Member) -> FleetProcess:
    """Convert a member to an element of a response."""
    return FleetProcess(
        digest=member.manifest.digest,
        age=member.age,
        **{name: getattr(member, name) for name in _COMMON_FIELDS},
    )


def from_process(resource: FleetProcess, manifest: Manifest) -> Member:
    """Convert an element of a response to a member."""
    return Member(
        manifest=manifest,
        age=resource.age or 0.0,
        **{name: getattr(resource, name) for name in _COMMON_FIELDS},
    )


def _to_hold(held: dict[str, str] | None) -> Manifest | None:
    return None if held is None else Manifest.parse(dict(held), 'the hold')
