# SPDX-License-Identifier: Apache-2.0
"""What a policy type is, what it is asked, and the types there are.

A policy that is attached to a cluster is asked before and after the cluster's
actions, those with the lowest priority first. What one decides is there for
those that come later, and for the action.

Whatever a type does in the cloud is done outside of transactions and may be
done again after an engine has died in the middle; what it decides or notes
in the database is done within one.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oslo_config import cfg
from sqlalchemy import orm

from engine import plugins
from engine.db import models
from engine.profiles import schema
from engine.providers import base as providers

BEFORE, AFTER = 'BEFORE', 'AFTER'

ANY = ('ANY',)


class PolicyRefusal(Exception):
    """A policy does not let an action happen; the message says why."""


@dataclasses.dataclass(slots=True)
class Check:
    """An action that a policy is asked about.

    :ivar request: what the action was told
    :ivar cluster: whose row we have locked
    :ivar node_limit: most nodes that any cluster may have
    :ivar now: by the database's clock
    :ivar decided: what policies decided for the action so far, such as
        ``{'deletion': {'count': 2, 'candidates': [...]}}``
    :ivar seen: by the ID of a policy, what it saw in the cloud
    """

    session: orm.Session
    action: models.Action
    request: Any
    cluster: models.Cluster
    node_limit: int
    now: datetime.datetime
    decided: dict[str, Any]
    seen: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """A policy as it is attached to a cluster.

    :ivar properties: of its spec, with every default
    """

    policy: models.Policy
    binding: models.ClusterPolicy
    properties: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """A cluster that a policy is attached to or detached from.

    :ivar cluster: as it was when that began
    :ivar profile: of the cluster
    :ivar properties: of the policy's spec, with every default
    """

    conf: cfg.ConfigOpts
    cloud: providers.Provider
    cluster: models.Cluster
    profile: models.Profile
    policy: models.Policy
    properties: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What names the two of them in the cloud."""
        return f'{self.cluster.id}-{self.policy.id}'


class PolicyType:
    """A type of policies. What a type has nothing to say to is inherited."""

    name: str
    version: str
    support_status: Mapping[str, list[dict[str, str]]]
    properties: schema.Schema
    #: Policies of a lower one are asked earlier.
    priority: int
    #: When it is asked, and about which actions.
    targets: Mapping[str, Sequence[str]]
    #: What clients know its data as.
    label: str = ''
    #: Actions before which it looks at the cloud.
    looks: Sequence[str] = ()
    #: Names of the profile types it can be attached to clusters of.
    profile_types: Sequence[str] = ANY
    #: Whether a cluster has one of the type at most.
    singleton: bool = True
    #: Whether it is told of each node that comes or goes.
    follows_nodes: bool = False

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse properties that fit the schema and make no sense.

        :param properties: with every default
        :raises vobjects.clustering.errors.InvalidSpec: naming one
        """

    def plan(self, target: Target) -> dict[str, Any]:
        """Look whether a cluster can have it; change nothing.

        :returns: what :meth:`attach` has to know, however often it is begun
            with
        :raises PolicyRefusal: the cluster cannot have it
        :raises engine.providers.base.ProviderError: nobody can tell
        """
        return {}

    def attach(
        self, target: Target, planned: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Make what is needed in the cloud; return what to remember of it.

        :param planned: by :meth:`plan`
        :raises engine.providers.base.ProviderError: it cannot be made
        """
        return {}

    def detach(self, target: Target, data: Mapping[str, Any]) -> None:
        """Remove what was made in the cloud; fine if it is gone.

        :param data: what :meth:`attach` returned
        :raises engine.providers.base.ProviderError: it cannot be removed
        """

    def wrapped(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a binding remembers, in the form clients know."""
        return {self.label: {'version': self.version, 'data': dict(data)}}

    def unwrapped(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what was wrapped; nothing, if nothing was."""
        found: Mapping[str, Any] = (data.get(self.label) or {}).get('data', {})
        return found

    def bound(
        self, session: orm.Session, attached: Attached, conf: cfg.ConfigOpts
    ) -> None:
        """Take note of a cluster that was attached, enabled or disabled."""

    def unbound(self, session: orm.Session, attached: Attached) -> None:
        """Take note of a cluster that is about to be detached."""

    def arrive(
        self, cloud: providers.Provider, attached: Attached, node: models.Node
    ) -> dict[str, Any]:
        """Look after a node that has come; fine if that was done already.

        :returns: keys of the node's data with new values; None: no key
        :raises engine.providers.base.ProviderError: it cannot be done
        """
        return {}

    def depart(
        self, cloud: providers.Provider, attached: Attached, node: models.Node
    ) -> dict[str, Any]:
        """Look no more after a node that is about to go.

        :returns: see :meth:`arrive`
        :raises engine.providers.base.ProviderError: it cannot be done
        """
        return {}

    def depart_all(
        self,
        cloud: providers.Provider,
        attached: Attached,
        members: Iterable[models.Node],
    ) -> dict[str, dict[str, Any]]:
        """Look no more after any node, before :meth:`detach`.

        :returns: see :meth:`arrive`, by the ID of the node
        :raises engine.providers.base.ProviderError: it cannot be done
        """
        return {
            node.id: self.depart(cloud, attached, node) for node in members
        }

    def look(self, cloud: providers.Provider, attached: Attached) -> Any:
        """Return what :meth:`pre_op` has to know of the cloud.

        :raises PolicyRefusal: the action must not happen
        :raises engine.providers.base.ProviderError: nobody can tell
        """

    def is_asked(self, when: str, attached: Attached, kind: str) -> bool:
        """Tell whether a policy is to be asked about a kind of action."""
        return kind in self.targets.get(when, ())

    def cools_down(
        self, attached: Attached, kind: str, now: datetime.datetime
    ) -> bool:
        """Tell whether a kind of action comes too soon after another."""
        return False

    def pre_op(self, check: Check, attached: Attached) -> None:
        """Decide something for an action that is about to begin.

        :raises PolicyRefusal: it must not
        """

    def post_op(self, check: Check, attached: Attached) -> None:
        """Take note of an action that has done its work.

        :raises PolicyRefusal: it counts as failed
        """


class Registry(plugins.Registry[PolicyType]):
    """The policy types of this build, by ``NAME-VERSION``."""

    NAMESPACE = 'vobjects.policies'
    WORD = 'policy'

    def __init__(self, types: Mapping[str, PolicyType]) -> None:
        super().__init__(types)
        #: Actions before which a policy may look at the cloud.
        self.looks = frozenset(
            action for kind in self.all() for action in kind.looks
        )

    def check(
        self, spec: Mapping[str, Any], *, semantics: bool = True
    ) -> PolicyType:
        """Return the type of a spec that fits it.

        :raises vobjects.clustering.errors.InvalidSpec: it does not fit
        """
        kind = self.check_spec(spec)
        if semantics:
            kind.check_properties(
                schema.filled(kind.properties, spec.get('properties') or {})
            )
        return kind
