# SPDX-License-Identifier: Apache-2.0
"""Base types that several requests share."""

from __future__ import annotations

from typing import Annotated

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.fields import NameField

#: A name that a client gives to a resource.
NewName = Annotated[str, NameField()]
Capacity = Annotated[int, fields.CapacityField()]
#: A maximum number of nodes; -1: no limit.
MaximumSize = Annotated[int, fields.CapacityField(minimum=-1)]
#: Names or IDs of at least one resource.
Identities = Annotated[list[str], fields.IdentityListField(minimum=1)]


class Request(objects.Request):
    """Base of all requests."""

    BOUNDS = {'maxLength': consts.MAX_TEXT}


class IdentityRequest(Request):
    """Base of the requests about one resource, given by name or ID."""

    identity: str


class ListRequest(Request):
    """Base of all list requests: pagination and project scope.

    The field names are those of Senlin's API reference. Each subclass adds
    ``sort`` with its own sort keys.
    """

    limit: Capacity | None = UNSET
    marker: Annotated[str, fields.UUIDField()] | None = UNSET
    global_project: bool = False
