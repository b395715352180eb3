# SPDX-License-Identifier: Apache-2.0
"""Requests about profiles and profile types."""

from __future__ import annotations

from vobjects import base, fields
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@base.register
class ProfileTypeListRequest(base.Request):
    """List the profile types that an engine supports."""


@base.register
class ProfileTypeGetRequest(base.Request):
    """Show a profile type and the schema of its spec."""

    fields = {'identity': fields.StringField()}


@base.register
class ProfileTypeOpsRequest(base.Request):
    """List the operations that nodes of a profile type support."""

    VERSION_MAP = {'1.4': '1.0'}

    fields = {'identity': fields.StringField()}


@base.register
class ProfileListRequest(common.ListRequest):
    """List profiles."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'type': fields.ListOfStringsField(nullable=True),
        'sort': fields.SortField(consts.PROFILE_SORT_KEYS, nullable=True),
    }


@base.register
class ProfileCreateRequest(base.Request):
    """Create a profile."""

    fields = {
        'name': fields.NameField(),
        'spec': fields.JsonField(),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@base.register
class ProfileValidateRequest(base.Request):
    """Validate a spec without creating a profile."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {'spec': fields.JsonField()}


@base.register
class ProfileGetRequest(base.Request):
    """Show a profile."""

    fields = {'identity': fields.StringField()}


@base.register
class ProfileUpdateRequest(base.Request):
    """Update a profile; omitted fields keep their values."""

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
    }


@base.register
class ProfileDeleteRequest(base.Request):
    """Delete a profile that no cluster or node uses."""

    fields = {'identity': fields.StringField()}
