# SPDX-License-Identifier: Apache-2.0
"""Requests about actions."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ActionListRequest(common.ListRequest):
    """List actions."""

    VERSION = '1.1'
    VERSION_MAP = {'1.14': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'action': fields.ListOfEnumField(
            valid_values=list(consts.CLUSTER_ACTIONS + consts.NODE_ACTIONS),
            nullable=True,
        ),
        'target': fields.ListOfStringsField(nullable=True),
        'status': fields.ListOfEnumField(
            valid_values=list(consts.ACTION_STATUSES), nullable=True
        ),
        'cluster_id': added('1.1', fields.ListOfStringsField(nullable=True)),
        'sort': fields.SortField(consts.ACTION_SORT_KEYS, nullable=True),
    }


@objects.register
class ActionGetRequest(objects.Request):
    """Show an action."""

    fields = {'identity': fields.StringField()}


@objects.register
class ActionUpdateRequest(objects.Request):
    """Cancel an action and the actions that it depends on."""

    VERSION_MAP = {'1.12': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'status': fields.StringField(),
        'force': fields.StrictBooleanField(default=False),
    }
