# SPDX-License-Identifier: Apache-2.0
"""Requests about nodes."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class NodeListRequest(common.ListRequest):
    """List nodes."""

    fields = {
        'cluster_id': fields.StringField(nullable=True),
        'name': fields.ListOfStringsField(nullable=True),
        'status': fields.ListOfEnumField(
            valid_values=list(consts.NODE_STATUSES), nullable=True
        ),
        'sort': fields.SortField(consts.NODE_SORT_KEYS, nullable=True),
    }


@objects.register
class NodeCreateRequest(objects.Request):
    """Create a node, optionally in a cluster."""

    fields = {
        'name': NameField(),
        'profile_id': fields.StringField(),
        'cluster_id': fields.StringField(nullable=True, default=''),
        'role': fields.StringField(nullable=True, default=''),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class NodeGetRequest(objects.Request):
    """Show a node, optionally with details from the cloud."""

    fields = {
        'identity': fields.StringField(),
        'show_details': fields.StrictBooleanField(
            nullable=True, default=False
        ),
    }


@objects.register
class NodeUpdateRequest(objects.Request):
    """Update a node; omitted fields keep their values."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'name': NameField(nullable=True),
        'profile_id': fields.StringField(nullable=True),
        'role': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'tainted': added('1.1', fields.StrictBooleanField(nullable=True)),
    }


@objects.register
class NodeDeleteRequest(objects.Request):
    """Delete a node."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'force': added('1.1', fields.StrictBooleanField(default=False)),
    }


@objects.register
class NodeCheckRequest(objects.Request):
    """Check the health of a node."""

    fields = {
        'identity': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class NodeRecoverRequest(objects.Request):
    """Recover a node.

    For the operation RECREATE, ``delete_timeout`` is the time in seconds
    within which the old cloud resource must be gone. ``force_recreate``
    creates the new one even if the old one cannot be deleted. Like Senlin, the
    API accepts both fields at every microversion.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.6': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.AnyCaseEnumField(
            consts.RECOVERY_OPERATIONS, nullable=True
        ),
        'operation_params': fields.JsonField(nullable=True),
        'delete_timeout': fields.CapacityField(nullable=True),
        'force_recreate': fields.StrictBooleanField(
            nullable=True, default=False
        ),
        'check': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
    }


@objects.register
class NodeOperationRequest(objects.Request):
    """Run an operation of the profile type on a node."""

    VERSION_MAP = {'1.4': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
    }


class _Adoption(objects.Request):
    """Base of the adoption requests: the resource and its profile type."""

    fields = {
        'identity': fields.StringField(),
        'type': fields.StringField(),
        'overrides': fields.JsonField(nullable=True, default={}),
        'snapshot': fields.StrictBooleanField(nullable=True, default=False),
    }


@objects.register
class NodeAdoptPreviewRequest(_Adoption):
    """Show the spec that an existing cloud resource would have as a node."""

    VERSION_MAP = {'1.7': '1.0'}


@objects.register
class NodeAdoptRequest(_Adoption):
    """Create a node from an existing cloud resource."""

    VERSION_MAP = {'1.7': '1.0'}

    fields = {
        'name': NameField(nullable=True),
        'role': fields.StringField(nullable=True, default=''),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class NodeJoinRequest(objects.Request):
    """Add a node to a cluster; sent by an action on that cluster."""

    fields = {
        'identity': fields.StringField(),
        'cluster_id': fields.StringField(),
    }


@objects.register
class NodeLeaveRequest(objects.Request):
    """Remove a node from its cluster; sent by an action on that cluster."""

    fields = {'identity': fields.StringField()}
