# SPDX-License-Identifier: Apache-2.0
"""Object types of the fleet protocol.

A process sends its first requests before it knows the versions of its peers,
so every release must support 1.0 of the types in :data:`BASE_TYPES` forever
(Apache Kafka's KIP-511 has the same rule).
"""

from __future__ import annotations

from typing import Any

from vobjects import fields, objects
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, View

_MEMBER_FIELDS: dict[str, fields.Field[Any]] = {
    'id': fields.StringField(),
    'binary': fields.StringField(),
    'host': fields.StringField(),
    'topic': fields.StringField(),
    'release': fields.StringField(),
    'manifest': fields.DictOfStringsField(),
    'state': fields.EnumField(valid_values=('joining', 'up')),
    'seen': fields.IntegerField(default=0),
}


@objects.register
class FleetReport(objects.Request):
    """Report a heartbeat, and request the ledger."""

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

_COMMON_FIELDS = ('id', 'binary', 'host', 'topic', 'release', 'state', 'seen')


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


def to_resource(view: View) -> FleetView:
    """Convert a view to a response."""
    return FleetView(
        generation=view.generation,
        members=[
            FleetMember(
                manifest=dict(member.manifest),
                age=member.age,
                **{name: getattr(member, name) for name in _COMMON_FIELDS},
            )
            for member in view.members
        ],
        held=None if view.held is None else dict(view.held),
    )


def to_view(resource: FleetView) -> View:
    """Convert a response to a view.

    :raises vobjects.exceptions.VobjectsError: it contains a malformed manifest
    """
    held = resource.held
    return View(
        resource.generation,
        tuple(to_member(member) for member in resource.members),
        None if held is None else Manifest.parse(dict(held), 'the hold'),
    )
