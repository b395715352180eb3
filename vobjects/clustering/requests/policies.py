# SPDX-License-Identifier: Apache-2.0
"""What may be asked of policies, their types, and those of a cluster."""

from __future__ import annotations

from vobjects import base, fields
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@base.register
class PolicyTypeListRequest(base.Request):
    """List the policy types that an engine has."""


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
    """Check a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {'spec': fields.JsonField()}


@base.register
class PolicyGetRequest(base.Request):
    """Show a policy."""

    fields = {'identity': fields.StringField()}


@base.register
class PolicyUpdateRequest(base.Request):
    """Give a policy another name."""

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(),
    }


@base.register
class PolicyDeleteRequest(base.Request):
    """Delete a policy that no cluster has."""

    fields = {'identity': fields.StringField()}


@base.register
class ClusterPolicyListRequest(base.Request):
    """List the policies of a cluster."""

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
    """Show a policy of a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@base.register
class ClusterAttachPolicyRequest(base.Request):
    """Have a policy look after a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True, default=True),
    }


@base.register
class ClusterDetachPolicyRequest(base.Request):
    """Have a policy look after a cluster no more."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@base.register
class ClusterUpdatePolicyRequest(base.Request):
    """Enable or disable a policy of a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True),
    }
