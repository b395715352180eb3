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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine import plugins, sizes, spec_schema
from engine.db import models, nodes
from engine.providers import base as providers
from vobjects.clustering import errors

BEFORE, AFTER = 'BEFORE', 'AFTER'

ANY = ('ANY',)


class PolicyCheckError(Exception):
    """Raised when a policy rejects an action; the message explains why."""


#: Errors of a hook by which a policy rejects an action.
REFUSALS = (PolicyCheckError, errors.BadRequest)


@dataclasses.dataclass(slots=True)
class PolicyContext:
    """An action to be checked by policies.

    :ivar request: the request of the action
    :ivar cluster: the cluster; its row is locked
    :ivar bounds: the limits of the cluster's size
    :ivar now: the current time of the database
    :ivar decisions: the decisions of policies so far, by topic, such as
        ``{'deletion': {'count': 2, 'candidates': [...]}}``
    :ivar cloud_info: results of :meth:`PolicyType.get_cloud_info`, by ID of
        the policy
    """

    session: orm.Session
    action: models.Action
    request: Any
    cluster: models.Cluster
    bounds: sizes.Bounds
    now: datetime.datetime
    decisions: dict[str, Any]
    cloud_info: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def growth(self) -> int:
        """Return the number of nodes that the action adds; negative: removes.

        Decisions of preceding policies take precedence over the request.

        :raises vobjects.clustering.errors.BadRequest: the cluster cannot have
            that size
        """
        for topic, sign in (('deletion', -1), ('creation', 1)):
            count = self.decisions.get(topic, {}).get('count')
            if count is not None:
                return sign * int(count)
        action_name = self.action.action
        if action_name in ('NODE_CREATE', 'NODE_DELETE'):
            return 1 if action_name == 'NODE_CREATE' else -1
        if action_name == 'CLUSTER_SCALE_OUT':
            return int(self.request.get('count') or 1)
        present = nodes.count_of_cluster(self.session, self.cluster.id)
        if action_name == 'CLUSTER_SCALE_IN':
            return -min(int(self.request.get('count') or 1), present)
        if action_name == 'CLUSTER_RECOVER' and self.request.get(
            'check_capacity'
        ):
            return self.cluster.desired_capacity - present
        if action_name != 'CLUSTER_RESIZE':
            return 0
        change = sizes.Resize.from_request(self.request)
        size, _ = change.apply(present, self.bounds)
        return size - present


@dataclasses.dataclass(frozen=True, slots=True)
class AttachedPolicy:
    """A policy with its binding to a cluster.

    :ivar properties: the properties of the policy's spec, with all defaults
    """

    policy: models.Policy
    binding: models.ClusterPolicy
    properties: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class AttachmentTarget:
    """The cluster to attach a policy to or to detach it from.

    :ivar key: the ID of the binding, for names in the cloud; it stays the same
        for all attempts, and no other attachment has it
    :ivar cluster: the cluster, as it was at the beginning
    :ivar profile: the profile of the cluster
    :ivar properties: the properties of the policy's spec, with all defaults
    """

    conf: cfg.ConfigOpts
    cloud: providers.Provider
    key: str
    cluster: models.Cluster
    profile: models.Profile
    policy: models.Policy
    properties: Mapping[str, Any]


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
    data_key: str = ''
    #: Actions before which :meth:`get_cloud_info` is called.
    cloud_info_actions: Sequence[str] = ()
    #: Names of the supported profile types.
    profile_types: Sequence[str] = ANY
    #: Whether a cluster can have only one policy of this type.
    singleton: bool = True
    #: Whether :meth:`add_node` and :meth:`remove_node` are called.
    tracks_nodes: bool = False

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check properties beyond their schema.

        :param properties: the properties, with all defaults
        :raises vobjects.clustering.errors.InvalidSpec: names an invalid
            property
        """

    def check_with_cloud(
        self,
        properties: Mapping[str, Any],
        cloud: Callable[[], providers.Provider],
    ) -> None:
        """Check names that only the cloud knows, for a new policy.

        :param properties: the properties, with all defaults
        :param cloud: returns the cloud of the policy's user
        :raises vobjects.clustering.errors.InvalidSpec: the cloud lacks a name
        :raises engine.providers.base.ProviderError: the cloud did not answer
        """

    def plan(self, target: AttachmentTarget) -> dict[str, Any]:
        """Check whether a cluster supports the policy; change nothing.

        :returns: a plan for :meth:`attach`, which stays the same for all
            attempts
        :raises PolicyCheckError: the cluster does not support the policy
        :raises engine.providers.base.ProviderError: the cloud did not answer
        """
        return {}

    def attach(
        self, target: AttachmentTarget, plan: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Create the policy's cloud resources, or find the existing ones.

        :param plan: the result of :meth:`plan`
        :returns: the data of the binding; empty without cloud resources
        :raises engine.providers.base.ProviderError: the creation failed
        """
        return {}

    def detach(
        self, target: AttachmentTarget, data: Mapping[str, Any]
    ) -> None:
        """Delete the policy's cloud resources, ignoring missing ones.

        :param data: the result of :meth:`attach`
        :raises engine.providers.base.ProviderError: the deletion failed
        """

    def wrap_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a binding in the API's format."""
        return {self.data_key: {'version': self.version, 'data': dict(data)}}

    def unwrap_data(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the data in :meth:`wrap_data` form, or an empty mapping."""
        wrapper: Mapping[str, Any] = data.get(self.data_key) or {}
        unwrapped: Mapping[str, Any] = wrapper.get('data', {})
        return unwrapped

    def after_bind(
        self,
        session: orm.Session,
        attached: AttachedPolicy,
        conf: cfg.ConfigOpts,
    ) -> None:
        """Update the database after attaching, enabling or disabling."""

    def before_unbind(
        self, session: orm.Session, attached: AttachedPolicy
    ) -> None:
        """Update the database before a policy is detached."""

    def add_node(
        self,
        cloud: providers.Provider,
        attached: AttachedPolicy,
        node: models.Node,
    ) -> dict[str, Any]:
        """Add a node to the policy, unless that was done already.

        :returns: keys of the node's data with new values; None deletes a key
        :raises engine.providers.base.ProviderError: the node cannot be added
        """
        return {}

    def remove_node(
        self,
        cloud: providers.Provider,
        attached: AttachedPolicy,
        node: models.Node,
    ) -> dict[str, Any]:
        """Remove a node from the policy before the node leaves its cluster.

        :returns: see :meth:`add_node`
        :raises engine.providers.base.ProviderError: the node cannot be removed
        """
        return {}

    def remove_nodes(
        self,
        cloud: providers.Provider,
        attached: AttachedPolicy,
        members: Iterable[models.Node],
    ) -> dict[str, dict[str, Any]]:
        """Remove all nodes from the policy, before :meth:`detach`.

        :returns: see :meth:`add_node`; by node ID
        :raises engine.providers.base.ProviderError: a node cannot be removed
        """
        return {
            node.id: self.remove_node(cloud, attached, node)
            for node in members
        }

    def get_cloud_info(
        self, cloud: providers.Provider, attached: AttachedPolicy
    ) -> Any:
        """Return the information from the cloud that :meth:`pre_op` needs.

        :raises PolicyCheckError: the policy rejects the action
        :raises engine.providers.base.ProviderError: the cloud did not answer
        """

    def checks_action(
        self, when: str, attached: AttachedPolicy, action_name: str
    ) -> bool:
        """Tell whether a policy checks an action.

        An override can narrow :attr:`targets`, but not extend them.

        :param when: :data:`BEFORE` or :data:`AFTER`
        :param action_name: the name of the action, such as ``CLUSTER_RESIZE``
        """
        return action_name in self.targets.get(when, ())

    def in_cooldown(
        self,
        attached: AttachedPolicy,
        action_name: str,
        now: datetime.datetime,
    ) -> bool:
        """Tell whether a cooldown forbids an action now."""
        return False

    def pre_op(self, context: PolicyContext, attached: AttachedPolicy) -> None:
        """Make decisions for an action that is about to begin.

        :raises PolicyCheckError: the policy rejects the action
        """

    def post_op(
        self, context: PolicyContext, attached: AttachedPolicy
    ) -> None:
        """Process the completion of an action.

        :raises PolicyCheckError: the action has failed
        """


class Registry(plugins.Registry[PolicyType]):
    """The installed policy types, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.policies'
    NOUN = 'policy'
    ITEMS = {
        **plugins.Registry.ITEMS,
        'description': spec_schema.Property(
            'String', 'A description of the policy.'
        ),
    }

    def __init__(self, types: Mapping[str, PolicyType]) -> None:
        super().__init__(types)
        #: Actions that a policy of any type may check.
        self.checked_actions = frozenset(
            action_name
            for policy_type in self.all()
            for action_names in policy_type.targets.values()
            for action_name in action_names
        )
        #: Actions before which any policy type may look at the cloud.
        self.cloud_info_actions = frozenset(
            action_name
            for policy_type in self.all()
            for action_name in policy_type.cloud_info_actions
        )

    def check(self, spec: Mapping[str, Any]) -> PolicyType:
        """Validate a spec, and return its type.

        :raises vobjects.clustering.errors.InvalidSpec: the spec is not valid
        """
        policy_type, properties = self._read(spec)
        policy_type.check_properties(
            spec_schema.with_defaults(policy_type.properties, properties)
        )
        return policy_type

    def properties_of(
        self, type_name: str, spec: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the properties of a stored spec, with all defaults."""
        resolved = super().properties_of(type_name, spec)
        return spec_schema.with_defaults(
            self.get(type_name).properties, resolved
        )
