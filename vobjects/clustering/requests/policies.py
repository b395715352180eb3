# SPDX-License-Identifier: Apache-2.0
"""Requests about policies, policy types and attached policies."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField
from vobjects.clustering.requests import common


@objects.register
class PolicyTypeListRequest(objects.Request):
    """List the policy types that an engine supports."""


@objects.register
class PolicyTypeGetRequest(objects.Request):
    """Show a policy type and the schema of its spec."""

    fields = {'identity': fields.StringField()}


@objects.register
class PolicyListRequest(common.ListRequest):
    """List policies."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'type': fields.ListOfStringsField(nullable=True),
        'sort': fields.SortField(consts.POLICY_SORT_KEYS, nullable=True),
    }


@objects.register
class PolicyCreateRequest(objects.Request):
    """Create a policy."""

    fields = {
        'name': NameField(),
        'spec': fields.JsonField(),
    }


@objects.register
class PolicyValidateRequest(objects.Request):
    """Validate a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {'spec': fields.JsonField()}


@objects.register
class PolicyGetRequest(objects.Request):
    """Show a policy."""

    fields = {'identity': fields.StringField()}


@objects.register
class PolicyUpdateRequest(objects.Request):
    """Rename a policy."""

    fields = {
        'identity': fields.StringField(),
        'name': NameField(),
    }


@objects.register
class PolicyDeleteRequest(objects.Request):
    """Delete a policy that is not attached to a cluster."""

    fields = {'identity': fields.StringField()}


@objects.register
class ClusterPolicyListRequest(objects.Request):
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


@objects.register
class ClusterPolicyGetRequest(objects.Request):
    """Show a policy attached to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@objects.register
class ClusterAttachPolicyRequest(objects.Request):
    """Attach a policy to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True, default=True),
    }


@objects.register
class ClusterDetachPolicyRequest(objects.Request):
    """Detach a policy from a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
    }


@objects.register
class ClusterUpdatePolicyRequest(objects.Request):
    """Enable or disable a policy attached to a cluster."""

    fields = {
        'identity': fields.StringField(),
        'policy_id': fields.StringField(),
        'enabled': fields.StrictBooleanField(nullable=True),
    }
