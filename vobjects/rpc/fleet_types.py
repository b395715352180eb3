# SPDX-License-Identifier: Apache-2.0
"""Object types of the fleet protocol.

A process sends its first requests before it knows the versions of its peers,
so every release must support 1.0 of :data:`BASE_TYPES` forever (Apache
Kafka's KIP-511 has the same rule).
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


@objects.register
class FleetLeave(objects.Request):
    """Leave the fleet."""

    fields = {'id': fields.StringField()}


@objects.register
class RecordedResponse(objects.Resource):
    """The recorded response of a call, for when the call is delivered again.

    Its registered name is ``Answered``.
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

_COMMON_FIELDS = (*_PROCESS_FIELDS, 'state', 'seen')


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
        None
        if resource.held is None
        else Manifest.parse(dict(resource.held), 'the hold'),
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
