# SPDX-License-Identifier: Apache-2.0
"""The types in which processes speak of the fleet itself.

They are what a process says before it knows what its peers speak, so 1.0 of
each is understood forever (KIP-511 of Kafka has the same rule).
"""

from __future__ import annotations

from typing import Any

from vobjects import base, fields
from vobjects.manifest import Manifest
from vobjects.rpc.fleet import Member, View

_MEMBER: dict[str, fields.Field[Any]] = {
    'id': fields.StringField(),
    'binary': fields.StringField(),
    'host': fields.StringField(),
    'topic': fields.StringField(),
    'release': fields.StringField(),
    'manifest': fields.DictOfStringsField(),
    'state': fields.EnumField(valid_values=('joining', 'up')),
    'seen': fields.IntegerField(default=0),
}


@base.register
class FleetReport(base.Request):
    """I live; what do you know of the others?"""

    fields = dict(_MEMBER)


@base.register
class FleetLeave(base.Request):
    """I stop."""

    fields = {'id': fields.StringField()}


@base.register
class FleetGet(base.Request):
    """Who lives?"""


@base.register
class FleetHold(base.Request):
    """Keep the cap of a topic as it is."""

    fields = {'topic': fields.StringField()}


@base.register
class FleetFinalize(base.Request):
    """Let the cap follow the live members again."""


@base.register
class FleetMember(base.Resource):
    """A live process; ``age`` is in seconds."""

    fields = {**_MEMBER, 'age': fields.FloatField()}


@base.register
class FleetView(base.Resource):
    """The ledger."""

    fields = {
        'generation': fields.IntegerField(),
        'members': fields.ListOfObjectsField('FleetMember'),
        'held': fields.DictOfStringsField(nullable=True),
    }


@base.register
class Answered(base.Resource):
    """What a call was answered, kept for when the call comes once more.

    A fleet that speaks it remembers: what may have been done already can be
    asked for again.
    """

    fields = {'content': fields.JsonField(nullable=True)}


#: Spoken by every release, whatever manifest it emulates.
ALWAYS = (
    FleetReport,
    FleetLeave,
    FleetGet,
    FleetHold,
    FleetFinalize,
    FleetMember,
    FleetView,
)

_SHARED = ('id', 'binary', 'host', 'topic', 'release', 'state', 'seen')


def report_of(member: Member) -> FleetReport:
    """Return a member's report of itself."""
    return FleetReport(
        manifest=dict(member.manifest),
        **{name: getattr(member, name) for name in _SHARED},
    )


def member_of(said: FleetReport | FleetMember) -> Member:
    """Read a report, or a line of the ledger.

    :raises vobjects.exceptions.VobjectsError: its manifest is none
    """
    return Member(
        manifest=Manifest.parse(dict(said.manifest), f'manifest of {said.id}'),
        age=said.age if isinstance(said, FleetMember) else 0.0,
        **{name: getattr(said, name) for name in _SHARED},
    )


def resource_of(view: View) -> FleetView:
    """Return a view as an answer."""
    return FleetView(
        generation=view.generation,
        members=[
            FleetMember(
                manifest=dict(member.manifest),
                age=member.age,
                **{name: getattr(member, name) for name in _SHARED},
            )
            for member in view.members
        ],
        held=None if view.held is None else dict(view.held),
    )


def view_of(resource: FleetView) -> View:
    """Read an answer.

    :raises vobjects.exceptions.VobjectsError: a manifest in it is none
    """
    held = resource.held
    return View(
        resource.generation,
        tuple(member_of(member) for member in resource.members),
        None if held is None else Manifest.parse(dict(held), 'the hold'),
    )
