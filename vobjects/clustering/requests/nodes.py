# SPDX-License-Identifier: Apache-2.0
"""Requests about nodes."""

from __future__ import annotations

from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class NodeListRequest(common.ListRequest):
    """List nodes."""

    cluster_id: str | None = UNSET
    name: list[str] | None = UNSET
    status: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.NODE_STATUSES))
        ]
        | None
    ) = UNSET
    sort: Annotated[str, fields.SortField(consts.NODE_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class NodeCreateRequest(common.Request):
    """Create a node, optionally in a cluster."""

    name: common.NewName
    profile_id: str
    cluster_id: str | None = ''
    role: str | None = ''
    metadata: dict[str, Any] | None = {}


@objects.register
class NodeGetRequest(common.Request):
    """Show a node, optionally with details from the cloud."""

    identity: str
    show_details: bool | None = False


@objects.register
class NodeUpdateRequest(common.Request):
    """Update a node; omitted fields keep their values."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    identity: str
    name: common.NewName | None = UNSET
    profile_id: str | None = UNSET
    role: str | None = UNSET
    metadata: dict[str, Any] | None = UNSET
    tainted: bool | None = added('1.1')


@objects.register
class NodeDeleteRequest(common.Request):
    """Delete a node."""

    VERSION = '1.1'
    VERSION_MAP = {'1.8': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    identity: str
    force: bool = added('1.1', default=False)


@objects.register
class NodeCheckRequest(common.Request):
    """Check the health of a node."""

    identity: str
    params: dict[str, Any] | None = {}


@objects.register
class NodeRecoverRequest(common.Request):
    """Recover a node.

    For the operation RECREATE, ``delete_timeout`` is the time in seconds
    within which the old cloud resource must be gone. ``force_recreate``
    creates the new one even if the old one cannot be deleted. Like Senlin, the
    API accepts both fields at every microversion.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.6': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    identity: str
    operation: (
        Annotated[str, fields.AnyCaseEnumField(consts.RECOVERY_OPERATIONS)]
        | None
    ) = UNSET
    operation_params: dict[str, Any] | None = UNSET
    delete_timeout: common.Capacity | None = UNSET
    force_recreate: bool | None = False
    check: bool | None = added('1.1', default=False)


@objects.register
class NodeOperationRequest(common.Request):
    """Run an operation of the profile type on a node."""

    VERSION_MAP = {'1.4': '1.0'}

    identity: str
    operation: str
    params: dict[str, Any] | None = {}


class _Adoption(common.Request):
    """Base of the adoption requests: the resource and its profile type."""

    identity: str
    type: str
    overrides: dict[str, Any] | None = {}
    snapshot: bool | None = False


@objects.register
class NodeAdoptPreviewRequest(_Adoption):
    """Show the spec that an existing cloud resource would have as a node."""

    VERSION_MAP = {'1.7': '1.0'}


@objects.register
class NodeAdoptRequest(_Adoption):
    """Create a node from an existing cloud resource."""

    VERSION_MAP = {'1.7': '1.0'}

    name: common.NewName | None = UNSET
    role: str | None = ''
    metadata: dict[str, Any] | None = {}


@objects.register
class NodeJoinRequest(common.Request):
    """Add a node to a cluster; sent by an action on that cluster."""

    identity: str
    cluster_id: str


@objects.register
class NodeLeaveRequest(common.IdentityRequest):
    """Remove a node from its cluster; sent by an action on that cluster."""
