# SPDX-License-Identifier: Apache-2.0
"""What a policy type is, what it is asked, and the types there are.

A policy that is attached to a cluster is asked before and after the cluster's
actions, those with the lowest priority first. What one decides is there for
those that come later, and for the action.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import orm

from engine import plugins
from engine.db import models
from engine.profiles import schema

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
    """

    session: orm.Session
    action: models.Action
    request: Any
    cluster: models.Cluster
    node_limit: int
    now: datetime.datetime
    decided: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Attached:
    """A policy as it is attached to a cluster.

    :ivar properties: of its spec, with every default
    """

    policy: models.Policy
    binding: models.ClusterPolicy
    properties: Mapping[str, Any]


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
    #: Names of the profile types it can be attached to clusters of.
    profile_types: Sequence[str] = ANY
    #: Whether a cluster has one of the type at most.
    singleton: bool = True

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Refuse properties that fit the schema and make no sense.

        :param properties: with every default
        :raises vobjects.clustering.errors.InvalidSpec: naming one
        """

    def attach(
        self, cluster: models.Cluster, properties: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Begin to look after a cluster; return what to remember of it.

        :raises PolicyRefusal: the cluster cannot have it
        """
        return {}

    def detach(self, cluster: models.Cluster, attached: Attached) -> None:
        """Look after a cluster no more.

        :raises PolicyRefusal: it cannot be let go now
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
