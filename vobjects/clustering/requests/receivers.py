# SPDX-License-Identifier: Apache-2.0
"""Requests about receivers, and webhook calls."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ReceiverListRequest(common.ListRequest):
    """List receivers."""

    VERSION = '1.1'
    VERSION_MAP = {'1.4': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'type': fields.ListOfEnumField(
            valid_values=list(consts.RECEIVER_TYPES), nullable=True
        ),
        'action': fields.ListOfEnumField(
            valid_values=list(consts.CLUSTER_ACTIONS), nullable=True
        ),
        'cluster_id': fields.ListOfStringsField(nullable=True),
        'sort': fields.SortField(consts.RECEIVER_SORT_KEYS, nullable=True),
        'user': added('1.1', fields.ListOfStringsField(nullable=True)),
    }


@objects.register
class ReceiverCreateRequest(objects.Request):
    """Create a receiver, through which external systems start actions.

    The receiver acts with the permissions of its creator; ``actor`` is
    ignored. ``endpoint`` is the API's root URL as clients see it.
    """

    fields = {
        'name': NameField(),
        'type': fields.EnumField(valid_values=list(consts.RECEIVER_TYPES)),
        'cluster_id': fields.StringField(nullable=True),
        'action': fields.EnumField(
            valid_values=list(consts.CLUSTER_ACTIONS), nullable=True
        ),
        'actor': fields.JsonField(nullable=True, default={}),
        'params': fields.JsonField(nullable=True, default={}),
        'endpoint': fields.StringField(nullable=True),
    }


@objects.register
class ReceiverGetRequest(objects.Request):
    """Show a receiver."""

    fields = {'identity': fields.StringField()}


@objects.register
class ReceiverUpdateRequest(objects.Request):
    """Update a receiver; omitted fields keep their values."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'name': NameField(nullable=True),
        'action': fields.EnumField(
            valid_values=list(consts.CLUSTER_ACTIONS), nullable=True
        ),
        'params': fields.JsonField(nullable=True),
    }


@objects.register
class ReceiverDeleteRequest(objects.Request):
    """Delete a receiver."""

    fields = {'identity': fields.StringField()}


@objects.register
class ReceiverNotifyRequest(objects.Request):
    """Make a receiver fetch its messages."""

    fields = {'identity': fields.StringField()}


@objects.register
class WebhookTriggerRequest(objects.Request):
    """Start the action of a receiver.

    Every key of ``params`` must be a parameter of the action. ``body`` may be
    the report of an alarm service: keys that are not parameters are ignored.
    From microversion 1.10 on, the API ignores the query and sets
    ``only_body``.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.10': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'params': fields.JsonField(default={}),
        'body': fields.JsonField(default={}),
        'only_body': added('1.1', fields.StrictBooleanField(default=False)),
    }
