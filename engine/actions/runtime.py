# SPDX-License-Identifier: Apache-2.0
"""Services shared by all actions of one engine process."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

from oslo_config import cfg

from engine import metrics, sizes
from engine.db import database, models
from engine.events import recorder
from engine.policies import base as policies
from engine.profiles import base as profiles
from engine.providers import base as providers
from engine.queues import base as queues
from engine.trusts import receiver_credentials
from vobjects.clustering.context import RequestContext
from vobjects.objects.manifest import Manifest


class Wake(Protocol):
    """Announces work to this engine and to the others."""

    def __call__(self, action_id: str = '', /) -> None:
        """Announce ready actions.

        :param action_id: the ID of a new action; empty: any actions
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Runtime:
    """The services that an action can use.

    :ivar cap: returns the object versions that every live engine supports;
        None: those of this engine
    :ivar speaks: the object versions that this engine supports, if it emulates
        an older release; None: all of this release's versions
    :ivar wake: called after actions became ready; with the ID of an action if
        it is a new one
    """

    conf: cfg.ConfigOpts
    database: database.Database
    provider: providers.Provider
    profile_types: profiles.Registry
    policy_types: policies.Registry
    events: recorder.Recorder
    queues: queues.Queues
    trusts: receiver_credentials.TrustManager
    cap: Callable[[], Manifest | None] = lambda: None
    speaks: Manifest | None = None
    wake: Wake = lambda action_id='': None
    metrics: metrics.Metrics = dataclasses.field(
        default_factory=metrics.Metrics
    )

    def admit(self, context: RequestContext) -> None:
        """Check that the engine can act for the caller in the cloud later.

        :raises vobjects.clustering.errors.ClusteringError: it cannot
        """
        if self.provider.for_user is not None:
            self.trusts.ensure_project_trust(context)

    def cloud_of(
        self, user: str | None, project: str | None
    ) -> providers.Provider:
        """Return the cloud, with the permissions of a user in a project.

        Don't call it within a transaction: it may call the identity service.

        :raises engine.providers.base.ProviderError: the permissions cannot be
            used
        """
        if self.provider.for_user is None:
            return self.provider
        authorization = self.trusts.authorization(user, project)
        if authorization is None:
            return self.provider
        return self.provider.for_user(authorization)

    def node_limit(self) -> int:
        """Return the maximum number of nodes in a cluster."""
        return int(self.conf.engine.max_nodes_per_cluster)

    def bounds(self, cluster: models.Cluster) -> sizes.Bounds:
        """Return the limits of a cluster's size."""
        return sizes.Bounds(
            cluster.min_size, cluster.max_size, self.node_limit()
        )

    def timeout(self, cluster: models.Cluster | None = None) -> int:
        """Return the timeout of an action in seconds."""
        if cluster is not None and cluster.timeout:
            return cluster.timeout
        return int(self.conf.engine.default_action_timeout)
