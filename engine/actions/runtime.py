# SPDX-License-Identifier: Apache-2.0
"""What the actions of one engine process may use."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from oslo_config import cfg

from engine import metrics
from engine.db import database, models
from engine.delegations import base as delegations
from engine.events import recorder
from engine.policies import base as policies
from engine.profiles import base as profiles
from engine.providers import base as providers
from engine.queues import base as queues
from vobjects.clustering.context import RequestContext
from vobjects.manifest import Manifest


@dataclasses.dataclass(frozen=True, slots=True)
class Runtime:
    """See the module's docstring.

    :ivar cap: returns what every live engine reads; None: what we read
    :ivar speaks: what we read, if that is less than what we were built
        with: an engine that stands in for an older release
    :ivar wake: called after an action became ready
    """

    conf: cfg.ConfigOpts
    database: database.Database
    provider: providers.Provider
    profile_types: profiles.Registry
    policy_types: policies.Registry
    events: recorder.Recorder
    queues: queues.Queues
    delegations: delegations.Delegations
    cap: Callable[[], Manifest | None] = lambda: None
    speaks: Manifest | None = None
    wake: Callable[[], None] = lambda: None
    metrics: metrics.Metrics = dataclasses.field(
        default_factory=metrics.Metrics
    )

    def admit(self, context: RequestContext) -> None:
        """See that what a caller asks for can be done in the cloud later.

        :raises vobjects.clustering.errors.ClusteringError: it cannot
        """
        if self.provider.delegated is not None:
            self.delegations.admit(context)

    def cloud_of(
        self, user: str | None, project: str | None
    ) -> providers.Provider:
        """Return the cloud as a user sees it in a project.

        It may ask the identity service: not within a transaction.

        :raises engine.providers.base.ProviderError: it must not be used so
        """
        if self.provider.delegated is None:
            return self.provider
        delegation = self.delegations.of(user, project)
        if delegation is None:
            return self.provider
        return self.provider.delegated(delegation)

    def node_limit(self) -> int:
        """Return how many nodes a cluster may have at most."""
        return int(self.conf.engine.max_nodes_per_cluster)

    def timeout(self, cluster: models.Cluster | None = None) -> int:
        """Return the seconds that an action may take."""
        if cluster is not None and cluster.timeout:
            return cluster.timeout
        return int(self.conf.engine.default_action_timeout)
