# SPDX-License-Identifier: Apache-2.0
"""Requests about policies, policy types and attached policies."""

from __future__ import annotations

from vobjects import base, fields
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@base.register
class PolicyTypeListRequest(base.Request):
    """List the policy types that an engine supports."""


@base.register
class PolicyTypeGetRequest(base.Request):
    """Show a policy type and the schema of its spec."""

    fields = {'identity': fields.StringField()}


@base.register
class PolicyListRequest(common.ListRequest):
    """List policies."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'type': fields.ListOfStringsField(nullable=True),
        'sort': fields.SortField(consts.POLICY_SORT_KEYS, nullable=True),
    }


@base.register
class PolicyCreateRequest(base.Request):
    """Create a policy."""

    fields = {
        'name': fields.NameField(),
        'spec': fields.JsonField(),
    }


@base.register
class PolicyValidateRequest(base.Request):
    """Validate a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {'spec': fields.JsonField()}


@base.register
class PolicyGetRequest(base.Request):
    """Show a policy."""

    fields = {'identity': fields.StringField()}


@base.register
class PolicyUpdateRequest(base.Request):
    """Rename a policy."""

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(),
    }


@base.register
class PolicyDeleteRequest(base.Request):
    """Delete a policy that is not attached to a cluster."""

    fields = {'identity': fields.StringField()}


@base.register
class ClusterPolicyListRequest(base.Request):
    """List the policies attached to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True),
        'policy_name': fields.StringField(nullable=True),
        'policy_type': fields.StringField(nullable=True),
        'sort': fields.SortField(
            consts.CLUSTER_POLICY_SORT_KEYS, nullable=True
        ),
    }


@base.register
class ClusterPolicyGetRequest(base.Request):
    """Show a policy attached to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@base.register
class ClusterAttachPolicyRequest(base.Request):
    """Attach a policy to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True, default=True),
    }


@base.register
class ClusterDetachPolicyRequest(base.Request):
    """Detach a policy from a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@base.register
class ClusterUpdatePolicyRequest(base.Request):
    """Enable or disable a policy attached to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True),
    }
