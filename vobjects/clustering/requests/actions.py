# SPDX-License-Identifier: Apache-2.0
"""Requests about actions."""

from __future__ import annotations

from typing import Annotated

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ActionListRequest(common.ListRequest):
    """List actions."""

    VERSION = '1.1'
    VERSION_MAP = {'1.14': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}
    ROUTE = 'capable'

    name: list[str] | None = UNSET
    action: (
        Annotated[
            list[str],
            fields.ListOfEnumField(
                list(consts.CLUSTER_ACTIONS + consts.NODE_ACTIONS)
            ),
        ]
        | None
    ) = UNSET
    target: list[str] | None = UNSET
    status: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.ACTION_STATUSES))
        ]
        | None
    ) = UNSET
    cluster_id: list[str] | None = added('1.1')
    sort: Annotated[str, fields.SortField(consts.ACTION_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class ActionGetRequest(common.IdentityRequest):
    """Show an action."""


@objects.register
class ActionUpdateRequest(common.Request):
    """Cancel an action and the actions that it depends on."""

    VERSION_MAP = {'1.12': '1.0'}

    identity: str
    status: str
    force: bool = False
