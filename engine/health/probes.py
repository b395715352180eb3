# SPDX-License-Identifier: Apache-2.0
"""Detect failed nodes, by each detection mode of a health policy.

If the health is unknown, the node counts as healthy.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping
from typing import Any

from engine.actions.runtime import Runtime
from engine.health import urls
from engine.policies import health as policy
from engine.profiles import base as profiles
from engine.providers import base as providers

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class ProbedNode:
    """A node to be checked.

    :ivar owner: user and project of the node's cluster
    :ivar status: the status of the node in the database
    """

    node: profiles.NodeObject
    owner: tuple[str | None, str | None]
    status: str


def _probe(
    runtime: Runtime,
    probed: ProbedNode,
    mode: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return why a node has failed by one detection mode.

    :returns: empty if it is healthy
    :raises Exception: one of :data:`UNKNOWN_HEALTH`
    """
    node, view = probed.node, probed.node.view
    if mode['type'] == policy.URL:
        if probed.status != 'ACTIVE':
            return ''
        options = policy.options_of(mode)
        return urls.find_failure(runtime.conf, options, view.name, stopping)
    cloud = node.cloud(runtime.cloud_of(*probed.owner))
    if mode['type'] == policy.STATUS:
        return node.profile_type.failure(cloud, view)
    if not view.physical_id:
        return 'it has no server'
    if cloud.hosts is None:
        return ''
    try:
        return cloud.hosts.problem(view.physical_id)
    except providers.ServerNotFound:
        return f'its server {view.physical_id} is gone'


#: Exceptions that mean unknown health.
UNKNOWN_HEALTH = (providers.ProviderError, urls.UnknownHealthError)


def find_failure(
    runtime: Runtime,
    probed: ProbedNode,
    detection: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return the reason for a node's failure; empty if it is healthy.

    :param detection: the policy's ``detection``, with all defaults
    :param stopping: set when the engine stops
    """
    failures = []
    needs_all = detection['recovery_conditional'] == 'ALL_FAILED'
    for mode in detection['detection_modes']:
        try:
            failure = _probe(runtime, probed, mode, stopping)
        except UNKNOWN_HEALTH as error:
            node_id = probed.node.view.id
            LOG.warning('The health of node %s is unknown: %s', node_id, error)
            failure = ''
        if failure and not needs_all:
            return failure
        if not failure and needs_all:
            return ''
        if failure:
            failures.append(failure)
    return '; '.join(failures)
