# SPDX-License-Identifier: Apache-2.0
"""Requests about events."""

from __future__ import annotations

from typing import Annotated

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common


@objects.register
class EventListRequest(common.ListRequest):
    """List events; a level is given by name or number."""

    oid: list[str] | None = UNSET
    oname: list[str] | None = UNSET
    otype: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.EVENT_OBJECTS))
        ]
        | None
    ) = UNSET
    action: (
        Annotated[
            list[str],
            fields.ListOfEnumField(
                list(consts.CLUSTER_ACTIONS + consts.NODE_ACTIONS)
            ),
        ]
        | None
    ) = UNSET
    cluster_id: list[str] | None = UNSET
    level: (
        Annotated[
            list[str],
            fields.ListOfEnumField(
                [*consts.EVENT_LEVELS, *map(str, consts.EVENT_LEVELS.values())]
            ),
        ]
        | None
    ) = UNSET
    sort: Annotated[str, fields.SortField(consts.EVENT_SORT_KEYS)] | None = (
        UNSET
    )


@objects.register
class EventGetRequest(common.IdentityRequest):
    """Show an event."""
