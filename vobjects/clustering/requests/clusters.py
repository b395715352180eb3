# SPDX-License-Identifier: Apache-2.0
"""Requests about clusters."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ClusterListRequest(common.ListRequest):
    """List clusters."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'status': fields.ListOfEnumField(
            valid_values=list(consts.CLUSTER_STATUSES), nullable=True
        ),
        'sort': fields.SortField(consts.CLUSTER_SORT_KEYS, nullable=True),
    }


@objects.register
class ClusterCreateRequest(objects.Request):
    """Create a cluster of ``desired_capacity`` nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'name': NameField(),
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


@objects.register
class ClusterGetRequest(objects.Request):
    """Show a cluster."""

    fields = {'identity': fields.StringField()}


@objects.register
class ClusterUpdateRequest(objects.Request):
    """Update a cluster; omitted fields keep their values."""

    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}
    EARLY_VERSION_MAP = {'1.0': '1.2'}

    fields = {
        'identity': fields.StringField(),
        'name': NameField(nullable=True),
        'profile_id': fields.StringField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
        'timeout': fields.CapacityField(nullable=True),
        'profile_only': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
        'config': added('1.2', fields.JsonField(nullable=True)),
    }

    def profile_of_nodes(self) -> str | None:
        """Return the new profile of existing nodes; None: unchanged."""
        if self.get('profile_only'):
            return None
        profile_id: str | None = self.get('profile_id')
        return profile_id


@objects.register
class ClusterDeleteRequest(objects.Request):
    """Delete a cluster and its nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'force': added('1.1', fields.StrictBooleanField(default=False)),
    }


@objects.register
class ClusterResizeRequest(objects.Request):
    """Change the size of a cluster or its limits."""

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


@objects.register
class ClusterScaleInRequest(objects.Request):
    """Remove nodes from a cluster, by default one.

    Rejected while another action works on the cluster. Older engines reject it
    only if ``refuse_conflict`` is set.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.11': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'count': fields.CapacityField(nullable=True),
        'refuse_conflict': added(
            '1.1', fields.StrictBooleanField(default=False)
        ),
    }


@objects.register
class ClusterScaleOutRequest(objects.Request):
    """Add nodes to a cluster, by default one.

    Rejected while another action works on the cluster. Older engines reject it
    only if ``refuse_conflict`` is set.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.11': '1.1'}

    fields = {
        'identity': fields.StringField(),
        'count': fields.CapacityField(nullable=True),
        'refuse_conflict': added(
            '1.1', fields.StrictBooleanField(default=False)
        ),
    }


@objects.register
class ClusterAddNodesRequest(objects.Request):
    """Add existing nodes that belong to no cluster."""

    fields = {
        'identity': fields.StringField(),
        'nodes': fields.IdentityListField(minimum=1),
    }


@objects.register
class ClusterDelNodesRequest(objects.Request):
    """Remove nodes from a cluster, and optionally delete them.

    Before microversion 1.4, the nodes are kept, as in Senlin: a client of that
    time may not expect that they are deleted.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.4': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}
    EARLY_IGNORED = ('destroy_after_deletion',)

    fields = {
        'identity': fields.StringField(),
        'nodes': fields.IdentityListField(minimum=1),
        'destroy_after_deletion': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
    }


@objects.register
class ClusterReplaceNodesRequest(objects.Request):
    """Replace members of a cluster with nodes that belong to no cluster.

    ``nodes`` maps each member to its replacement.
    """

    VERSION_MAP = {'1.3': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'nodes': fields.JsonField(),
    }


@objects.register
class ClusterCheckRequest(objects.Request):
    """Check the health of a cluster's nodes.

    The parameter ``delete_check_action`` deletes the records of earlier
    checks.
    """

    fields = {
        'identity': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class ClusterRecoverRequest(objects.Request):
    """Recover the unhealthy nodes of a cluster."""

    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}
    EARLY_VERSION_MAP = {'1.0': '1.2'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.AnyCaseEnumField(
            consts.RECOVERY_OPERATIONS, nullable=True
        ),
        'operation_params': fields.JsonField(nullable=True),
        'check': added(
            '1.1', fields.StrictBooleanField(nullable=True, default=False)
        ),
        'check_capacity': added(
            '1.2', fields.StrictBooleanField(nullable=True, default=False)
        ),
    }


@objects.register
class ClusterOperationRequest(objects.Request):
    """Run an operation of the profile type on some or all nodes.

    The keys of ``filters`` are those in
    :data:`vobjects.clustering.consts.OPERATION_FILTERS`. Each value is the
    attribute of the node, or a list of accepted values.
    """

    VERSION_MAP = {'1.4': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'operation': fields.StringField(),
        'params': fields.JsonField(nullable=True, default={}),
        'filters': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class ClusterCollectRequest(objects.Request):
    """Collect one attribute of each node, selected by a JSON path."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'path': fields.StringField(),
    }


@objects.register
class ClusterCompleteLifecycleRequest(objects.Request):
    """Complete the lifecycle hook of a node that is being removed.

    The token is the ID of the action that removes the node.
    """

    VERSION_MAP = {'1.9': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'lifecycle_action_token': fields.StringField(),
    }
