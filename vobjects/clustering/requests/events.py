# SPDX-License-Identifier: Apache-2.0
"""Requests about events."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@objects.register
class EventListRequest(common.ListRequest):
    """List events; a level is given by name or number."""

    fields = {
        'oid': fields.ListOfStringsField(nullable=True),
        'oname': fields.ListOfStringsField(nullable=True),
        'otype': fields.ListOfEnumField(
            valid_values=list(consts.EVENT_OBJECTS), nullable=True
        ),
        'action': fields.ListOfEnumField(
            valid_values=list(consts.CLUSTER_ACTIONS + consts.NODE_ACTIONS),
            nullable=True,
        ),
        'cluster_id': fields.ListOfStringsField(nullable=True),
        'level': fields.ListOfEnumField(
            valid_values=[
                *consts.EVENT_LEVELS,
                *map(str, consts.EVENT_LEVELS.values()),
            ],
            nullable=True,
        ),
        'sort': fields.SortField(consts.EVENT_SORT_KEYS, nullable=True),
    }


@objects.register
class EventGetRequest(objects.Request):
    """Show an event."""

    fields = {'identity': fields.StringField()}
