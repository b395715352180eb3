# SPDX-License-Identifier: Apache-2.0
"""Stop a node before its cluster deletes it, if configured."""

from __future__ import annotations

import logging

from oslo_utils import strutils
from sqlalchemy import orm

from engine.actions import action_run
from engine.db import clusters, models
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects.clustering import consts

LOG = logging.getLogger(__name__)

#: Key in a cluster's config.
CONFIG = 'cluster.stop_node_before_delete'


def is_wanted(
    job: action_run.Work, session: orm.Session, node: models.Node
) -> bool:
    """Tell whether to stop a node before an action deletes it.

    The cluster's config does not apply if the user deletes the node directly.
    """
    if job.action.cause == consts.CAUSE_REQUEST or node.cluster_id is None:
        return False
    cluster = clusters.get(session, node.cluster_id)
    return cluster is not None and bool(
        strutils.bool_from_string(cluster.config.get(CONFIG))
    )


def stop(
    kind: profiles.ProfileType,
    cloud: providers.Provider,
    view: profiles.NodeView,
) -> None:
    """Try to stop an object; a failure does not prevent its deletion."""
    if 'stop' not in kind.operations:
        return
    try:
        kind.operate(cloud, view, 'stop', {})
    except providers.ProviderError as error:
        LOG.warning('Node %s is deleted without a stop: %s', view.id, error)
