# SPDX-License-Identifier: Apache-2.0
"""The base class of policy types, and their registry.

Policies that are attached to a cluster check its actions before and after they
run. The policy with the lowest priority number comes first. Later policies and
the action see its decisions.

A policy type uses the cloud only outside of transactions. Such a method may
run again after an engine has died in the middle of it. Decisions and changes
of the database happen within a transaction.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine import plugins, sizes, spec_schema
from engine.db import models, nodes
from engine.providers import base as providers
from vobjects.clustering import errors

BEFORE, AFTER = 'BEFORE', 'AFTER'

ANY = ('ANY',)


class PolicyRefusal(Exception):
    """Raised when a policy rejects an action; the message explains why."""


@dataclasses.dataclass(slots=True)
class Check:
    """An action to be checked by policies.

    :ivar request: the request of the action
    :ivar cluster: the cluster; its row is locked
    :ivar node_limit: the maximum number of nodes in any cluster
    :ivar now: the current time of the database
    :ivar decided: the decisions of policies so far, by topic, such as
        ``{'deletion': {'count': 2, 'candidates': [...]}}``
    :ivar seen: results of :meth:`PolicyType.look`, by policy ID
    """

    session: orm.Session
    action: models.Action
    request: Any
    cluster: models.Cluster
    node_limit: int
    now: datetime.datetime
    decided: dict[str, Any]
    seen: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def bounds(self) -> sizes.Bounds:
        """Return the limits of the cluster's size."""
        return sizes.Bounds(
            self.cluster.min_size, self.cluster.max_size, self.node_limit
        )

    def growth(self) -> int:
        """Return the number of nodes that the action adds; negative: removes.

        Decisions of preceding policies take precedence over the request.

        :raises PolicyRefusal: the cluster cannot have that size
        """
        for topic, sign in (('deletion', -1), ('creation', 1)):
            count = self.decided.get(topic, {}).get('count')
            if count is not None:
                return sign * int(count)
        kind = self.action.action
        if kind in ('NODE_CREATE', 'NODE_DELETE'):
            return 1 if kind == 'NODE_CREATE' else -1
        if kind == 'CLUSTER_SCALE_OUT':
            return int(self.request.get('count') or 1)
        present = nodes.count_of_cluster(self.session, self.cluster.id)
        if kind == 'CLUSTER_SCALE_IN':
            return -min(int(self.request.get('count') or 1), present)
        if kind == 'CLUSTER_RECOVER' and self.request.get('check_capacity'):
            return self.cluster.desired_capacity - present
        if kind != 'CLUSTER_RESIZE':
            return 0
        change = sizes.Resize.from_request(self.request)
        try:
            size, _ = change.apply(present, self.bounds())
        except errors.BadRequest as error:
            raise PolicyRefusal(str(error)) from None
        return size - present


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """A policy with its binding to a cluster.

    :ivar properties: the properties of the policy's spec, with all defaults
    """

    policy: models.Policy
    binding: models.ClusterPolicy
    properties: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """The cluster to attach a policy to or to detach it from.

    :ivar cluster: the cluster, as it was at the beginning
    :ivar profile: the profile of the cluster
    :ivar properties: the properties of the policy's spec, with all defaults
    """

    conf: cfg.ConfigOpts
    cloud: providers.Provider
    cluster: models.Cluster
    profile: models.Profile
    policy: models.Policy
    properties: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The key of this policy and cluster for names in the cloud."""
        return f'{self.cluster.id}-{self.policy.id}'


class PolicyType:
    """Base class of policy types; by default, every hook does nothing."""

    name: str
    version: str
    support_status: Mapping[str, list[dict[str, str]]]
    properties: spec_schema.Schema
    #: Policies with lower numbers are called first.
    priority: int
    #: The actions to check, by :data:`BEFORE` and :data:`AFTER`.
    targets: Mapping[str, Sequence[str]]
    #: The key of the policy's data in the API.
    label: str = ''
    #: Actions before which :meth:`look` is called.
    looks: Sequence[str] = ()
    #: Names of the supported profile types.
    profile_types: Sequence[str] = ANY
    #: Whether a cluster can have only one policy of this type.
    singleton: bool = True
    #: Whether :meth:`arrive` and :meth:`depart` are called for each node.
    follows_nodes: bool = False

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check properties beyond their schema.

        :param properties: the properties, with all defaults
        :raises vobjects.clustering.errors.InvalidSpec: names an invalid
            property
        """

    def plan(self, target: Target) -> dict[str, Any]:
        """Check whether a cluster supports the policy; change nothing.

        :returns: a plan for :meth:`attach`, which stays the same for all
            attempts
        :raises PolicyRefusal: the cluster does not support the policy
        :raises engine.providers.base.ProviderError: the cloud did not answer
        """
        return {}

    def attach(
        self, target: Target, planned: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Create the policy's cloud resources.

        :param planned: the result of :meth:`plan`
        :returns: the data of the binding
        :raises engine.providers.base.ProviderError: the creation failed
        """
        return {}

    def detach(self, target: Target, data: Mapping[str, Any]) -> None:
        """Delete the policy's cloud resources, ignoring missing ones.

        :param data: the result of :meth:`attach`
        :raises engine.providers.base.ProviderError: the deletion failed
        """

    def wrapped(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a binding in the API's format."""
        return {self.label: {'version': self.version, 'data': dict(data)}}

    def unwrapped(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data in :meth:`wrapped` form, or an empty mapping."""
        found: Mapping[str, Any] = (data.get(self.label) or {}).get('data', {})
        return found

    def bound(
        self, session: orm.Session, attached: Attached, conf: cfg.ConfigOpts
    ) -> None:
        """Update the database after attaching, enabling or disabling."""

    def unbound(self, session: orm.Session, attached: Attached) -> None:
        """Update the database before a policy is detached."""

    def arrive(
        self, cloud: providers.Provider, attached: Attached, node: models.Node
    ) -> dict[str, Any]:
        """Add a node to the policy, unless that was done already.

        :returns: keys of the node's data with new values; None deletes a key
        :raises engine.providers.base.ProviderError: the node cannot be added
        """
        return {}

    def depart(
        self, cloud: providers.Provider, attached: Attached, node: models.Node
    ) -> dict[str, Any]:
        """Remove a node from the policy before the node leaves its cluster.

        :returns: see :meth:`arrive`
        :raises engine.providers.base.ProviderError: the node cannot be removed
        """
        return {}

    def depart_all(
        self,
        cloud: providers.Provider,
        attached: Attached,
        members: Iterable[models.Node],
    ) -> dict[str, dict[str, Any]]:
        """Remove all nodes from the policy, before :meth:`detach`.

        :returns: see :meth:`arrive`; by node ID
        :raises engine.providers.base.ProviderError: a node cannot be removed
        """
        return {
            node.id: self.depart(cloud, attached, node) for node in members
        }

    def look(self, cloud: providers.Provider, attached: Attached) -> Any:
        """Return the information from the cloud that :meth:`pre_op` needs.

        :raises PolicyRefusal: the policy rejects the action
        :raises engine.providers.base.ProviderError: the cloud did not answer
        """

    def is_asked(self, when: str, attached: Attached, kind: str) -> bool:
        """Tell whether a policy checks a kind of action.

        :param when: :data:`BEFORE` or :data:`AFTER`
        :param kind: the kind of action, such as ``CLUSTER_RESIZE``
        """
        return kind in self.targets.get(when, ())

    def cools_down(
        self, attached: Attached, kind: str, now: datetime.datetime
    ) -> bool:
        """Tell whether a cooldown forbids a kind of action now."""
        return False

    def pre_op(self, check: Check, attached: Attached) -> None:
        """Make decisions for an action that is about to begin.

        :raises PolicyRefusal: the policy rejects the action
        """

    def post_op(self, check: Check, attached: Attached) -> None:
        """Process the completion of an action.

        :raises PolicyRefusal: the action has failed
        """


class Registry(plugins.Registry[PolicyType]):
    """The installed policy types, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.policies'
    WORD = 'policy'
    ITEMS = {
        **plugins.Registry.ITEMS,
        'description': spec_schema.Property('String', 'A text for people.'),
    }

    def __init__(self, types: Mapping[str, PolicyType]) -> None:
        super().__init__(types)
        #: Actions before which any policy type may look at the cloud.
        self.looks = frozenset(
            action for kind in self.all() for action in kind.looks
        )

    def check(
        self, spec: Mapping[str, Any], *, semantics: bool = True
    ) -> PolicyType:
        """Validate a spec, and return its type.

        :param semantics: whether to check the properties beyond their schema
        :raises vobjects.clustering.errors.InvalidSpec: the spec is not valid
        """
        kind, properties = self._read(spec)
        if semantics:
            kind.check_properties(
                spec_schema.filled(kind.properties, properties)
            )
        return kind

    def properties_of(
        self, type_name: str, spec: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the properties of a stored spec, with all defaults."""
        resolved = super().properties_of(type_name, spec)
        return spec_schema.filled(self.get(type_name).properties, resolved)
