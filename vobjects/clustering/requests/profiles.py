# SPDX-License-Identifier: Apache-2.0
"""Requests about profiles and profile types."""

from __future__ import annotations

from vobjects import fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField
from vobjects.clustering.requests import common


@objects.register
class ProfileTypeListRequest(objects.Request):
    """List the profile types that an engine supports."""


@objects.register
class ProfileTypeGetRequest(objects.Request):
    """Show a profile type and the schema of its spec."""

    fields = {'identity': fields.StringField()}


@objects.register
class ProfileTypeOpsRequest(objects.Request):
    """List the operations that nodes of a profile type support."""

    VERSION_MAP = {'1.4': '1.0'}

    fields = {'identity': fields.StringField()}


@objects.register
class ProfileListRequest(common.ListRequest):
    """List profiles."""

    fields = {
        'name': fields.ListOfStringsField(nullable=True),
        'type': fields.ListOfStringsField(nullable=True),
        'sort': fields.SortField(consts.PROFILE_SORT_KEYS, nullable=True),
    }


@objects.register
class ProfileCreateRequest(objects.Request):
    """Create a profile."""

    fields = {
        'name': NameField(),
        'spec': fields.JsonField(),
        'metadata': fields.JsonField(nullable=True, default={}),
    }


@objects.register
class ProfileValidateRequest(objects.Request):
    """Validate a spec without creating a profile."""

    VERSION_MAP = {'1.2': '1.0'}

    fields = {'spec': fields.JsonField()}


@objects.register
class ProfileGetRequest(objects.Request):
    """Show a profile."""

    fields = {'identity': fields.StringField()}


@objects.register
class ProfileUpdateRequest(objects.Request):
    """Update a profile; omitted fields keep their values."""

    fields = {
        'identity': fields.StringField(),
        'name': NameField(nullable=True),
        'metadata': fields.JsonField(nullable=True),
    }


@objects.register
class ProfileDeleteRequest(objects.Request):
    """Delete a profile that no cluster or node uses."""

    fields = {'identity': fields.StringField()}
