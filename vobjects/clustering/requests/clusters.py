# SPDX-License-Identifier: Apache-2.0
"""Requests about clusters."""

from __future__ import annotations

from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ClusterListRequest(common.ListRequest):
    """List clusters."""

    name: list[str] | None = UNSET
    status: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.CLUSTER_STATUSES))
        ]
        | None
    ) = UNSET
    sort: Annotated[str, fields.SortField(consts.CLUSTER_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class ClusterCreateRequest(common.Request):
    """Create a cluster of ``desired_capacity`` nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    name: common.NewName
    profile_id: str
    min_size: common.Capacity | None = 0
    max_size: common.MaximumSize | None = -1
    desired_capacity: common.Capacity | None = UNSET
    metadata: dict[str, Any] | None = {}
    timeout: common.Capacity | None = UNSET
    config: dict[str, Any] | None = added('1.1', default={})


@objects.register
class ClusterGetRequest(common.IdentityRequest):
    """Show a cluster."""


@objects.register
class ClusterUpdateRequest(common.Request):
    """Update a cluster; omitted fields keep their values."""

    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}
    EARLY_VERSION_MAP = {'1.0': '1.2'}

    identity: str
    name: common.NewName | None = UNSET
    profile_id: str | None = UNSET
    metadata: dict[str, Any] | None = UNSET
    timeout: common.Capacity | None = UNSET
    profile_only: bool | None = added('1.1', default=False)
    config: dict[str, Any] | None = added('1.2')

    def profile_of_nodes(self) -> str | None:
        """Return the new profile of existing nodes; None: unchanged."""
        if self.get('profile_only'):
            return None
        profile_id: str | None = self.get('profile_id')
        return profile_id


@objects.register
class ClusterDeleteRequest(common.Request):
    """Delete a cluster and its nodes."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    identity: str
    force: bool = added('1.1', default=False)


@objects.register
class ClusterResizeRequest(common.Request):
    """Change the size of a cluster or its limits."""

    identity: str
    adjustment_type: (
        Annotated[str, fields.EnumField(consts.ADJUSTMENT_TYPES)] | None
    ) = UNSET
    number: float | None = UNSET
    min_size: common.Capacity | None = UNSET
    max_size: common.MaximumSize | None = UNSET
    min_step: common.Capacity | None = UNSET
    strict: bool | None = True


class _Scaling(common.Request):
    """Base of the requests that add or remove a number of nodes.

    Rejected while another action works on the cluster. Older engines reject it
    only if ``refuse_conflict`` is set.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.11': '1.1'}

    identity: str
    count: common.Capacity | None = UNSET
    refuse_conflict: bool = added('1.1', default=False)


@objects.register
class ClusterScaleInRequest(_Scaling):
    """Remove nodes from a cluster, by default one."""


@objects.register
class ClusterScaleOutRequest(_Scaling):
    """Add nodes to a cluster, by default one."""


@objects.register
class ClusterAddNodesRequest(common.Request):
    """Add existing nodes that belong to no cluster."""

    identity: str
    nodes: common.Identities


@objects.register
class ClusterDelNodesRequest(common.Request):
    """Remove nodes from a cluster, and optionally delete them.

    Before microversion 1.4, the nodes are kept, as in Senlin: a client of that
    time may not expect that they are deleted.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.4': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}
    EARLY_IGNORED = ('destroy_after_deletion',)

    identity: str
    nodes: common.Identities
    destroy_after_deletion: bool | None = added('1.1', default=False)


@objects.register
class ClusterReplaceNodesRequest(common.Request):
    """Replace members of a cluster with nodes that belong to no cluster.

    ``nodes`` maps each member to its replacement.
    """

    VERSION_MAP = {'1.3': '1.0'}

    identity: str
    nodes: dict[str, Any]


@objects.register
class ClusterCheckRequest(common.Request):
    """Check the health of a cluster's nodes.

    The parameter ``delete_check_action`` deletes the records of earlier
    checks.
    """

    identity: str
    params: dict[str, Any] | None = {}


@objects.register
class ClusterRecoverRequest(common.Request):
    """Recover the unhealthy nodes of a cluster."""

    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}
    EARLY_VERSION_MAP = {'1.0': '1.2'}

    identity: str
    operation: (
        Annotated[str, fields.AnyCaseEnumField(consts.RECOVERY_OPERATIONS)]
        | None
    ) = UNSET
    operation_params: dict[str, Any] | None = UNSET
    check: bool | None = added('1.1', default=False)
    check_capacity: bool | None = added('1.2', default=False)


@objects.register
class ClusterOperationRequest(common.Request):
    """Run an operation of the profile type on some or all nodes.

    The keys of ``filters`` are those in
    :data:`vobjects.clustering.consts.OPERATION_FILTERS`. Each value is the
    attribute of the node, or a list of accepted values.
    """

    VERSION_MAP = {'1.4': '1.0'}

    identity: str
    operation: str
    params: dict[str, Any] | None = {}
    filters: dict[str, Any] | None = {}


@objects.register
class ClusterCollectRequest(common.Request):
    """Collect one attribute of each node, selected by a JSON path."""

    VERSION_MAP = {'1.2': '1.0'}

    identity: str
    path: str


@objects.register
class ClusterCompleteLifecycleRequest(common.Request):
    """Complete the lifecycle hook of a node that is being removed.

    The token is the ID of the action that removes the node.
    """

    VERSION_MAP = {'1.9': '1.0'}

    identity: str
    lifecycle_action_token: str
