# SPDX-License-Identifier: Apache-2.0
"""Requests about receivers, and webhook calls."""

from __future__ import annotations

from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.clustering.requests import common
from vobjects.objects.history import added


@objects.register
class ReceiverListRequest(common.ListRequest):
    """List receivers."""

    VERSION = '1.1'
    VERSION_MAP = {'1.4': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    name: list[str] | None = UNSET
    type: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.RECEIVER_TYPES))
        ]
        | None
    ) = UNSET
    action: (
        Annotated[
            list[str], fields.ListOfEnumField(list(consts.CLUSTER_ACTIONS))
        ]
        | None
    ) = UNSET
    cluster_id: list[str] | None = UNSET
    sort: (
        Annotated[str, fields.SortField(consts.RECEIVER_SORT_KEYS)] | None
    ) = UNSET
    user: list[str] | None = added('1.1')


@objects.register
class ReceiverCreateRequest(common.Request):
    """Create a receiver, through which external systems start actions.

    The receiver acts with the permissions of its creator; ``actor`` is
    ignored. ``endpoint`` is the API's root URL as clients see it.
    """

    name: common.NewName
    type: Annotated[str, fields.EnumField(list(consts.RECEIVER_TYPES))]
    cluster_id: str | None = UNSET
    action: (
        Annotated[str, fields.EnumField(list(consts.CLUSTER_ACTIONS))] | None
    ) = UNSET
    actor: dict[str, Any] | None = {}
    params: dict[str, Any] | None = {}
    endpoint: str | None = UNSET


@objects.register
class ReceiverGetRequest(common.IdentityRequest):
    """Show a receiver."""


@objects.register
class ReceiverUpdateRequest(common.Request):
    """Update a receiver; omitted fields keep their values."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}

    identity: str
    name: common.NewName | None = UNSET
    action: (
        Annotated[str, fields.EnumField(list(consts.CLUSTER_ACTIONS))] | None
    ) = UNSET
    params: dict[str, Any] | None = UNSET


@objects.register
class ReceiverDeleteRequest(common.IdentityRequest):
    """Delete a receiver."""


@objects.register
class ReceiverNotifyRequest(common.IdentityRequest):
    """Make a receiver fetch its messages."""


@objects.register
class WebhookTriggerRequest(common.Request):
    """Start the action of a receiver.

    Every key of ``params`` must be a parameter of the action. ``body`` may be
    the report of an alarm service: keys that are not parameters are ignored.
    From microversion 1.10 on, the API ignores the query and sets
    ``only_body``.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.10': '1.1'}

    identity: str
    params: dict[str, Any] = {}
    body: dict[str, Any] = {}
    only_body: bool = added('1.1', default=False)
