# SPDX-License-Identifier: Apache-2.0
"""Requests about policies, policy types and attached policies."""

from __future__ import annotations

from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@objects.register
class PolicyTypeListRequest(common.Request):
    """List the policy types that an engine supports."""


@objects.register
class PolicyTypeGetRequest(common.IdentityRequest):
    """Show a policy type and the schema of its spec."""


@objects.register
class PolicyListRequest(common.ListRequest):
    """List policies."""

    name: list[str] | None = UNSET
    type: list[str] | None = UNSET
    sort: Annotated[str, fields.SortField(consts.POLICY_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class PolicyCreateRequest(common.Request):
    """Create a policy."""

    name: common.NewName
    spec: dict[str, Any]


@objects.register
class PolicyValidateRequest(common.Request):
    """Validate a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    spec: dict[str, Any]


@objects.register
class PolicyGetRequest(common.IdentityRequest):
    """Show a policy."""


@objects.register
class PolicyUpdateRequest(common.Request):
    """Rename a policy."""

    identity: str
    name: common.NewName


@objects.register
class PolicyDeleteRequest(common.IdentityRequest):
    """Delete a policy that is not attached to a cluster."""


@objects.register
class ClusterPolicyListRequest(common.Request):
    """List the policies attached to a cluster."""

    identity: str
    enabled: bool | None = UNSET
    policy_name: str | None = UNSET
    policy_type: str | None = UNSET
    sort: (
        Annotated[str, fields.SortField(consts.CLUSTER_POLICY_SORT_KEYS)]
        | None
    ) = UNSET


@objects.register
class ClusterPolicyGetRequest(common.Request):
    """Show a policy attached to a cluster."""

    identity: str
    policy_id: str


@objects.register
class ClusterAttachPolicyRequest(common.Request):
    """Attach a policy to a cluster."""

    identity: str
    policy_id: str
    enabled: bool | None = True


@objects.register
class ClusterDetachPolicyRequest(common.Request):
    """Detach a policy from a cluster."""

    identity: str
    policy_id: str


@objects.register
class ClusterUpdatePolicyRequest(common.Request):
    """Enable or disable a policy attached to a cluster."""

    identity: str
    policy_id: str
    enabled: bool | None = UNSET
