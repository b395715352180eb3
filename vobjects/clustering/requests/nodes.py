# SPDX-License-Identifier: Apache-2.0
"""What may be asked of nodes."""

from __future__ import annotations

from vobjects import base, fields
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.history import added


@base.register
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


@base.register
class NodeCreateRequest(base.Request):
    """Create a node, in a cluster or alone."""

    fields = {
        'name': fields.NameField(),
        'profile_id': fields.StringField(),
        'cluster_id': fields.StringField(nullable=True, default=''),
        'role': fields.StringField(nullable=True, default=''),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@base.register
class NodeGetRequest(base.Request):
    """Show a node, with what its provider says of it if asked."""

    fields = {
        'identity': fields.StringField(),
        'show_details': fields.StrictBooleanField(
            nullable=True, default=False
        ),
    }


@base.register
class NodeUpdateRequest(base.Request):
    """Change a node; what is not given stays."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(nullable=True),
        'profile_id': fields.StringField(nullable=True),
        'role': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'tainted': added('1.1', fields.StrictBooleanField(nullable=True)),
    }


@base.register
class NodeDeleteRequest(base.Request):
    """Delete a node."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'force': added('1.1', fields.StrictBooleanField(default=False)),
    }


@base.register
class NodeCheckRequest(base.Request):
    """Look whether a node is alive."""

    fields = {
        'identity': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
    }


@base.register
class NodeRecoverRequest(base.Request):
    """Bring a node back to health.

    With RECREATE, ``delete_timeout`` says in how many seconds the old object
    has to be gone, and ``force_recreate`` that a new one is made even if the
    old one cannot be removed. Senlin takes both at every microversion.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.6': '1.1'}

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


@base.register
class NodeOperationRequest(base.Request):
    """Do something to a node that its profile type offers."""

    VERSION_MAP = {'1.4': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
    }


class _Adoption(base.Request):
    """What is adopted, and as what."""

    fields = {
        'identity': fields.StringField(),
        'type': fields.StringField(),
        'overrides': fields.JsonField(nullable=True, default={}),
        'snapshot': fields.StrictBooleanField(nullable=True, default=False),
    }


@base.register
class NodeAdoptPreviewRequest(_Adoption):
    """Show the spec that an object of the cloud would have as a node."""

    VERSION_MAP = {'1.7': '1.0'}


@base.register
class NodeAdoptRequest(_Adoption):
    """Make a node of an object that the cloud has already."""

    VERSION_MAP = {'1.7': '1.0'}

    fields = {
        'name': fields.NameField(nullable=True),
        'role': fields.StringField(nullable=True, default=''),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@base.register
class NodeJoinRequest(base.Request):
    """Make a node a member; asked by an action on its cluster."""

    fields = {
        'identity': fields.StringField(),
        'cluster_id': fields.StringField(),
    }


@base.register
class NodeLeaveRequest(base.Request):
    """Make a node no member any more; asked by an action on its cluster."""

    fields = {'identity': fields.StringField()}
