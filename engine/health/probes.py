# SPDX-License-Identifier: Apache-2.0
"""Detect failed nodes, with one probe for each detection mode.

A probe is a function that receives a :class:`ProbedNode` and returns the
reason for a failure, or an empty string if the node is healthy. If the health
is unknown, the probe raises an exception, and the node counts as healthy.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping
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
    :ivar profile_type: the type of the node's profile
    :ivar properties: the properties of the node's profile
    """

    view: profiles.NodeView
    owner: tuple[str | None, str | None]
    status: str
    profile_type: profiles.ProfileType
    properties: Mapping[str, Any]


Probe = Callable[
    [Runtime, ProbedNode, Mapping[str, Any], threading.Event], str
]


def _cloud_of(runtime: Runtime, node: ProbedNode) -> providers.Provider:
    cloud = runtime.cloud_of(*node.owner)
    return node.view.cloud(cloud, node.properties)


def _status(
    runtime: Runtime,
    node: ProbedNode,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud_of(runtime, node)
    return node.profile_type.failure(cloud, node.view)


def _hypervisor(
    runtime: Runtime,
    node: ProbedNode,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud_of(runtime, node)
    if not node.view.physical_id:
        return 'it has no server'
    if cloud.hosts is None:
        return ''
    try:
        return cloud.hosts.problem(node.view.physical_id)
    except providers.ServerNotFound:
        return f'its server {node.view.physical_id} is gone'


def _url(
    runtime: Runtime,
    node: ProbedNode,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    if node.status != 'ACTIVE':
        return ''
    return urls.find_failure(runtime.conf, options, node.view.name, stopping)


PROBES: Mapping[str, Probe] = {
    policy.STATUS: _status,
    policy.HYPERVISOR: _hypervisor,
    policy.URL: _url,
}

#: Exceptions that mean unknown health.
UNKNOWN_HEALTH = (providers.ProviderError, urls.UnknownHealthError)


def find_failure(
    runtime: Runtime,
    node: ProbedNode,
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
        options = policy.options_of(mode)
        try:
            failure = PROBES[mode['type']](runtime, node, options, stopping)
        except UNKNOWN_HEALTH as error:
            LOG.warning(
                'The health of node %s is unknown: %s', node.view.id, error
            )
            failure = ''
        if failure and not needs_all:
            return failure
        if not failure and needs_all:
            return ''
        if failure:
            failures.append(failure)
    return '; '.join(failures)
