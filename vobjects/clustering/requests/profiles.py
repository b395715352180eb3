# SPDX-License-Identifier: Apache-2.0
"""Requests about profiles and profile types."""

from __future__ import annotations

from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@objects.register
class ProfileTypeListRequest(common.Request):
    """List the profile types that an engine supports."""


@objects.register
class ProfileTypeGetRequest(common.IdentityRequest):
    """Show a profile type and the schema of its spec."""


@objects.register
class ProfileTypeOpsRequest(common.IdentityRequest):
    """List the operations that nodes of a profile type support."""

    VERSION_MAP = {'1.4': '1.0'}


@objects.register
class ProfileListRequest(common.ListRequest):
    """List profiles."""

    name: list[str] | None = UNSET
    type: list[str] | None = UNSET
    sort: Annotated[str, fields.SortField(consts.PROFILE_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class ProfileCreateRequest(common.Request):
    """Create a profile."""

    name: common.NewName
    spec: dict[str, Any]
    metadata: dict[str, Any] | None = {}


@objects.register
class ProfileValidateRequest(common.Request):
    """Validate a spec without creating a profile."""

    VERSION_MAP = {'1.2': '1.0'}

    spec: dict[str, Any]


@objects.register
class ProfileGetRequest(common.IdentityRequest):
    """Show a profile."""


@objects.register
class ProfileUpdateRequest(common.Request):
    """Update a profile; omitted fields keep their values."""

    identity: str
    name: common.NewName | None = UNSET
    metadata: dict[str, Any] | None = UNSET


@objects.register
class ProfileDeleteRequest(common.IdentityRequest):
    """Delete a profile that no cluster or node uses."""
