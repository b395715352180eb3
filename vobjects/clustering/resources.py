# SPDX-License-Identifier: Apache-2.0
"""Resources in responses. A response omits fields that are not set."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from vobjects import UNSET, fields, objects
from vobjects.clustering import consts
from vobjects.objects.history import added


class Owned(objects.Resource):
    """Base of the resources of a user."""

    user: str | None = UNSET
    project: str | None = UNSET
    domain: str | None = UNSET


class Timed(objects.Resource):
    """Base of the resources that remember when they changed."""

    created_at: datetime.datetime | None = UNSET
    updated_at: datetime.datetime | None = UNSET


class TypeItem(objects.Resource):
    """Base of the types in a list.

    Up to microversion 1.4 the name includes the version
    (``os.nova.server-1.0``). From 1.5 on, version and support status are
    separate fields.
    """

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    name: str
    version: str | None = added('1.1', split_from=('name', '-'))
    support_status: dict[str, Any] | None = added('1.1')


class Type(objects.Resource):
    """Base of the types with the schema of their specs' properties."""

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    name: str
    schema: dict[str, Any]
    support_status: dict[str, Any] | None = added('1.1')


@objects.register
class ProfileTypeItem(TypeItem):
    """A profile type in a list."""


@objects.register
class ProfileType(Type):
    """A profile type and the schema of its spec's properties."""


@objects.register
class ProfileTypeOperations(objects.Resource):
    """The operations that nodes of a profile type support."""

    VERSION_MAP = {'1.4': '1.0'}

    operations: dict[str, Any]


@objects.register
class Profile(Owned, Timed):
    """A template from which nodes are created."""

    id: str
    name: str
    type: str
    spec: dict[str, Any]
    metadata: dict[str, Any] | None = UNSET


@objects.register
class ProfileValidation(Owned, Timed):
    """The result of validating a spec without creating a profile."""

    VERSION_MAP = {'1.2': '1.0'}

    id: str | None = UNSET
    name: str | None = UNSET
    type: str
    spec: dict[str, Any]
    metadata: dict[str, Any] | None = UNSET


@objects.register
class PolicyTypeItem(TypeItem):
    """A policy type in a list."""


@objects.register
class PolicyType(Type):
    """A policy type and the schema of its spec's properties."""


@objects.register
class Policy(Owned, Timed):
    """A rule that can be attached to clusters."""

    id: str
    name: str
    type: str
    spec: dict[str, Any]
    data: dict[str, Any] | None = UNSET


@objects.register
class PolicyValidation(Owned, Timed):
    """The result of validating a spec without creating a policy."""

    VERSION_MAP = {'1.2': '1.0'}

    id: str | None = UNSET
    name: str | None = UNSET
    type: str
    spec: dict[str, Any]
    data: dict[str, Any] | None = UNSET


@objects.register
class ClusterPolicy(objects.Resource):
    """A policy attached to a cluster."""

    id: str
    cluster_id: str
    cluster_name: str
    policy_id: str
    policy_name: str
    policy_type: str
    enabled: bool
    priority: int
    data: dict[str, Any] | None = UNSET
    last_op: datetime.datetime | None = UNSET


@objects.register
class Cluster(Owned, Timed):
    """A group of nodes created from one profile."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    id: str
    name: str
    profile_id: str
    profile_name: str | None = UNSET
    min_size: int
    max_size: int
    desired_capacity: int
    timeout: int | None = UNSET
    status: Annotated[str, fields.EnumField(consts.CLUSTER_STATUSES)]
    status_reason: str | None = UNSET
    metadata: dict[str, Any] | None = UNSET
    data: dict[str, Any] | None = UNSET
    dependents: dict[str, Any] | None = UNSET
    nodes: list[str] = []
    policies: list[str] = []
    init_at: datetime.datetime | None = UNSET
    config: dict[str, Any] | None = added('1.1')


@objects.register
class Node(Owned, Timed):
    """A server, a stack or a container."""

    VERSION = '1.1'
    VERSION_MAP = {'1.13': '1.1'}

    id: str
    name: str
    profile_id: str
    profile_name: str | None = UNSET
    cluster_id: str | None = UNSET
    physical_id: str | None = UNSET
    index: int
    role: str | None = UNSET
    status: Annotated[str, fields.EnumField(consts.NODE_STATUSES)]
    status_reason: str | None = UNSET
    metadata: dict[str, Any] | None = UNSET
    data: dict[str, Any] | None = UNSET
    dependents: dict[str, Any] | None = UNSET
    details: dict[str, Any] | None = UNSET
    init_at: datetime.datetime | None = UNSET
    tainted: bool = added('1.1', default=False)


@objects.register
class ClusterAttribute(objects.Resource):
    """The value of a JSON path in one node."""

    VERSION_MAP = {'1.2': '1.0'}

    id: str
    value: Any | None = UNSET


@objects.register
class NodePreview(objects.Resource):
    """The spec that an existing cloud resource would have as a node."""

    VERSION_MAP = {'1.7': '1.0'}

    type: str
    version: str
    properties: dict[str, Any]


@objects.register
class Action(Owned, Timed):
    """A task of an engine. Times are in seconds since the epoch."""

    VERSION = '1.1'
    VERSION_MAP = {'1.14': '1.1'}
    ROUTE = 'capable'

    id: str
    name: str
    action: str
    target: str
    cause: str | None = UNSET
    owner: str | None = UNSET
    interval: int | None = UNSET
    start_time: float | None = UNSET
    end_time: float | None = UNSET
    timeout: int | None = UNSET
    status: Annotated[str, fields.EnumField(consts.ACTION_STATUSES)]
    status_reason: str | None = UNSET
    inputs: dict[str, Any] | None = UNSET
    outputs: dict[str, Any] | None = UNSET
    data: dict[str, Any] | None = UNSET
    depends_on: list[str] = []
    depended_by: list[str] = []
    cluster_id: str | None = added('1.1')


@objects.register
class Receiver(Owned, Timed):
    """An entry point through which external systems start cluster actions."""

    id: str
    name: str
    type: str
    cluster_id: str | None = UNSET
    action: str | None = UNSET
    actor: dict[str, Any] | None = UNSET
    params: dict[str, Any] | None = UNSET
    channel: dict[str, Any] | None = UNSET


@objects.register
class Event(objects.Resource):
    """A record of something that happened to a cluster or a node."""

    id: str
    timestamp: datetime.datetime
    level: str
    oid: str
    oname: str | None = UNSET
    otype: str
    cluster_id: str | None = UNSET
    action: str
    status: str
    status_reason: str | None = UNSET
    meta_data: dict[str, Any] | None = UNSET
    user: str | None = UNSET
    project: str | None = UNSET


@objects.register
class Accepted(objects.Resource):
    """The response to a request that an action carries out later."""

    action: str
    cluster: Cluster | None = UNSET
    node: Node | None = UNSET


@objects.register
class Service(objects.Resource):
    """An engine process."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}

    id: str
    binary: str
    host: str
    topic: str
    state: str
    status: str
    disabled_reason: str | None = UNSET
    updated_at: datetime.datetime | None = UNSET


@objects.register
class BuildInfo(objects.Resource):
    """The builds of the API and of the engine."""

    api: dict[str, Any] | None = UNSET
    engine: dict[str, Any] | None = UNSET


@objects.register
class Summary(objects.Resource):
    """The numbers of resources of a project, by status.

    Actions that ended count only if they are recent. ``queue_age`` is the age
    in seconds of the oldest action that is ready and waits for an engine;
    None: there is none.
    """

    clusters: dict[str, Any]
    nodes: dict[str, Any]
    actions: dict[str, Any]
    queue_age: float | None = UNSET


@objects.register
class RollbackVerdict(objects.Resource):
    """Whether the previous release can read what is stored.

    ``release`` is null if there is none. ``can_roll_back`` is null if it is
    not known. ``reasons`` are sentences for people.
    """

    release: str | None = UNSET
    can_roll_back: bool | None = UNSET
    reasons: list[str]
