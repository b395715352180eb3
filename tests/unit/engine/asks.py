# SPDX-License-Identifier: Apache-2.0
"""Short ways to ask an engine for things."""

from __future__ import annotations

from typing import Any

from tests.unit.engine import fleet
from vobjects.clustering.requests import clusters, nodes, profiles


def profile(engine: fleet.Engine, name: str = 'p', **options: Any) -> str:
    """Create a profile and return its ID."""
    spec = options.pop('spec', None)
    if spec is None:
        changed = options.pop('properties', {})
        properties = {**fleet.SPEC['properties'], **changed}
        spec = {**fleet.SPEC, 'properties': properties}
    request = profiles.ProfileCreateRequest(name=name, spec=spec)
    found: str = engine.ask(request, options.pop('context', None)).id
    return found


def cluster(
    engine: fleet.Engine, size: int = 2, *, run: bool = True, **options: Any
) -> str:
    """Create a profile and a cluster, and return the cluster's ID."""
    context = options.pop('context', None)
    if 'profile_id' not in options:
        options['profile_id'] = profile(engine, context=context)
    options.setdefault('name', 'c')
    accepted = engine.ask(
        clusters.ClusterCreateRequest(desired_capacity=size, **options),
        context,
    )
    if run:
        engine.work()
    found: str = accepted.cluster.id
    return found


def node(engine: fleet.Engine, *, run: bool = True, **options: Any) -> str:
    """Create a profile and a node, and return the node's ID."""
    if 'profile_id' not in options:
        options['profile_id'] = profile(engine, name='of-node')
    options.setdefault('name', 'n')
    accepted = engine.ask(nodes.NodeCreateRequest(**options))
    if run:
        engine.work()
    found: str = accepted.node.id
    return found


def show_cluster(engine: fleet.Engine, identity: str) -> Any:
    """Return a cluster as users see it."""
    return engine.ask(clusters.ClusterGetRequest(identity=identity))


def show_node(engine: fleet.Engine, identity: str) -> Any:
    """Return a node as users see it."""
    return engine.ask(nodes.NodeGetRequest(identity=identity))
