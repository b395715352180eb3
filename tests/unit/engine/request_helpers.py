# SPDX-License-Identifier: Apache-2.0
"""Create and read resources through the request handlers."""

from __future__ import annotations

import threading
from typing import Any

from tests import waiting
from tests.unit.engine import engine_harness
from tests.unit.engine.engine_harness import Engine
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import (
    clusters,
    nodes,
    profiles,
    receivers,
)


def create_profile(engine: Engine, name: str = 'p', **options: Any) -> str:
    """Create a profile and return its ID."""
    spec = options.pop('spec', None)
    if spec is None:
        overrides = options.pop('properties', {})
        properties = {**engine_harness.SPEC['properties'], **overrides}
        spec = {**engine_harness.SPEC, 'properties': properties}
    request = profiles.ProfileCreateRequest(name=name, spec=spec)
    profile_id: str = engine.call(request, options.pop('context', None)).id
    return profile_id


def create_cluster(
    engine: Engine, size: int = 2, *, run: bool = True, **options: Any
) -> str:
    """Create a profile and a cluster, and return the cluster's ID."""
    context = options.pop('context', None)
    if 'profile_id' not in options:
        options['profile_id'] = create_profile(engine, context=context)
    options.setdefault('name', 'c')
    accepted = engine.call(
        clusters.ClusterCreateRequest(desired_capacity=size, **options),
        context,
    )
    if run:
        engine.run_actions()
    cluster_id: str = accepted.cluster.id
    return cluster_id


def create_node(engine: Engine, *, run: bool = True, **options: Any) -> str:
    """Create a profile and a node, and return the node's ID."""
    if 'profile_id' not in options:
        options['profile_id'] = create_profile(engine, name='of-node')
    options.setdefault('name', 'n')
    accepted = engine.call(nodes.NodeCreateRequest(**options))
    if run:
        engine.run_actions()
    node_id: str = accepted.node.id
    return node_id


def create_foreign_cluster(engine: Engine) -> str:
    """Create an empty cluster in the project ``theirs``; return its ID."""
    context = engine_harness.request_context('theirs')
    return create_cluster(engine, 0, name='theirs', context=context)


def create_webhook(
    engine: Engine,
    action: str | None = 'CLUSTER_SCALE_OUT',
    *,
    context: RequestContext | None = None,
    **options: Any,
) -> Any:
    """Create a webhook receiver of cluster c, and return it."""
    request_fields = {
        'name': 'hook',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': action,
        'endpoint': 'http://api:8777',
        **options,
    }
    request = receivers.ReceiverCreateRequest(**request_fields)
    return engine.call(request, context)


def trigger_webhook(engine: Engine, identity: str, **options: Any) -> Any:
    """Call a webhook without authentication, and return the response."""
    request_fields = {'params': {}, 'body': {}, **options}
    request = receivers.WebhookTriggerRequest(
        identity=identity, **request_fields
    )
    return engine.call(request, RequestContext())


def accepted_together(
    engine: Engine, requests: list[Any], rejection: type[Exception]
) -> int:
    """Send requests at the same time; return how many are accepted.

    :param rejection: the error of those that are rejected
    """
    barrier = threading.Barrier(len(requests))

    def is_accepted(request: Any) -> bool:
        barrier.wait(60)
        try:
            engine.call(request)
        except rejection:
            return False
        return True

    return sum(waiting.in_threads(is_accepted, requests))


def get_cluster(engine: Engine, identity: str) -> Any:
    """Return a cluster from its handler."""
    return engine.call(clusters.ClusterGetRequest(identity=identity))


def get_node(engine: Engine, identity: str) -> Any:
    """Return a node from its handler."""
    return engine.call(nodes.NodeGetRequest(identity=identity))
