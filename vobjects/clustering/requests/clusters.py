# SPDX-License-Identifier: Apache-2.0
"""What may be asked of clusters."""

from __future__ import annotations

from vobjects import base, fields
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.history import added


@base.register
class ClusterListRequest(common.ListRequest):
    """List clusters."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'status': fields.ListOfEnumField(
            valid_values=list(consts.CLUSTER_STATUSES), nullable=True
        ),
        'sort': fields.SortField(consts.CLUSTER_SORT_KEYS, nullable=True),
    }


@base.register
class ClusterCreateRequest(base.Request):
    """Create a cluster of ``desired_capacity`` nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}

    fields = {
        'name': fields.NameField(),
        'profile_id': fields.StringField(),
        'min_size': fields.CapacityField(nullable=True, default=0),
        'max_size': fields.CapacityField(
            minimum=-1, nullable=True, default=-1
        ),
        'desired_capacity': fields.CapacityField(nullable=True),
        'metadata': fields.JsonField(nullable=True, default={}),
        'timeout': fields.CapacityField(nullable=True),
        'config': added('1.1', fields.JsonField(nullable=True, default={})),
    }


@base.register
class ClusterGetRequest(base.Request):
    """Show a cluster."""

    fields = {'identity': fields.StringField()}


@base.register
class ClusterUpdateRequest(base.Request):
    """Change a cluster; what is not given stays."""

    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(nullable=True),
        'profile_id': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'timeout': fields.CapacityField(nullable=True),
        'profile_only': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
        'config': added('1.2', fields.JsonField(nullable=True)),
    }


@base.register
class ClusterDeleteRequest(base.Request):
    """Delete a cluster and its nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'force': added('1.1', fields.StrictBooleanField(default=False)),
    }


@base.register
class ClusterResizeRequest(base.Request):
    """Change a cluster's size, or the bounds of it."""

    fields = {
        'identity': fields.StringField(),
        'adjustment_type': fields.EnumField(
            valid_values=consts.ADJUSTMENT_TYPES, nullable=True
        ),
        'number': fields.FloatField(nullable=True),
        'min_size': fields.CapacityField(nullable=True),
        'max_size': fields.CapacityField(minimum=-1, nullable=True),
        'min_step': fields.CapacityField(nullable=True),
        'strict': fields.StrictBooleanField(nullable=True, default=True),
    }


@base.register
class ClusterScaleInRequest(base.Request):
    """Remove nodes; one, when no count is given."""

    fields = {
        'identity': fields.StringField(),
        'count': fields.CapacityField(nullable=True),
    }


@base.register
class ClusterScaleOutRequest(base.Request):
    """Add nodes; one, when no count is given."""

    fields = {
        'identity': fields.StringField(),
        'count': fields.CapacityField(nullable=True),
    }


@base.register
class ClusterCheckRequest(base.Request):
    """Look whether the nodes of a cluster are alive."""

    fields = {'identity': fields.StringField()}


@base.register
class ClusterRecoverRequest(base.Request):
    """Bring the nodes of a cluster back to health."""

    VERSION = '1.1'
    VERSION_MAP = {'1.6': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.AnyCaseEnumField(
            consts.RECOVERY_OPERATIONS, nullable=True
        ),
        'operation_params': fields.JsonField(nullable=True),
        'check': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
    }
