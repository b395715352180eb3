# SPDX-License-Identifier: Apache-2.0
"""Nodes that host other nodes, as servers host containers.

A node stores its host in ``data['host']``. The host, or its cluster, stores
the IDs of the nodes on it, and of the profiles that refer to it, in
``dependents``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import orm

from engine import distribution, spec_schema
from engine.db import find, models, nodes, statements
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors

HostTarget = models.Node | models.Cluster
Row = TypeVar('Row', models.Node, models.Cluster)


def node_object(
    session: orm.Session,
    types: profiles.Registry,
    node: models.Node,
    profile: models.Profile,
) -> profiles.NodeObject:
    """Return a node with its profile, as profile types see them."""
    view = profiles.NodeView(
        id=node.id,
        name=node.name,
        physical_id=node.physical_id,
        metadata=node.meta,
        project=node.project or '',
        cluster_id=node.cluster_id,
        index=node.index,
        host=_host(session, node),
        placement=node.data.get(distribution.PLACEMENT) or {},
    )
    return profiles.NodeObject(
        view,
        profile.id,
        types.get(profile.type),
        types.properties_of(profile.type, profile.spec),
    )


def assign(
    session: orm.Session, node: models.Node, properties: Mapping[str, Any]
) -> None:
    """Assign a host to a node, unless its current host is healthy.

    :param properties: the properties of a profile whose nodes need hosts,
        with all defaults
    :raises engine.providers.base.ProviderError: no host is available
    """
    host = _choose_host(session, node, properties)
    assignment = node.data.get('host')
    if assignment is not None and assignment['node'] != host.id:
        release(session, node)
    assignment = {'node': host.id, 'port': properties['port']}
    node.data = {**node.data, 'host': assignment}
    _add(host, 'nodes', node.id)
    session.flush()


def release(session: orm.Session, node: models.Node) -> None:
    """Remove a node from its host, if it has one."""
    assignment = node.data.get('host')
    if assignment is None:
        return
    host = nodes.lock(session, assignment['node'])
    if host is not None:
        _remove(host, 'nodes', node.id)
    node.data = {k: v for k, v in node.data.items() if k != 'host'}
    session.flush()


def find_host(
    session: orm.Session, project: str | None, properties: Mapping[str, Any]
) -> HostTarget:
    """Return the node or cluster that a spec names as host.

    :raises vobjects.clustering.errors.InvalidSpec: no resource matches, or
        several do
    """
    node, cluster = properties.get('host_node'), properties.get('host_cluster')
    try:
        if node:
            return find.find(session, models.Node, node, project)
        return find.find(session, models.Cluster, cluster or '', project)
    except (errors.ResourceNotFound, errors.MultipleChoices):
        raise errors.InvalidSpec(
            f'{spec_schema.PROPERTIES}.host_{"node" if node else "cluster"}:'
            f' {exceptions.cut(node or cluster)} could not be found or is'
            ' not unique'
        ) from None


def add_profile(
    session: orm.Session,
    profile: models.Profile,
    properties: Mapping[str, Any],
) -> None:
    """Register a new profile with the host that it refers to.

    :raises vobjects.clustering.errors.InvalidSpec: no resource matches, or
        several do
    """
    host = find_host(session, profile.project, properties)
    target = statements.locked(session, type(host), host.id)
    if target is None:
        find_host(session, profile.project, properties)
    else:
        _add(target, 'profiles', profile.id)
    session.flush()


def remove_profile(session: orm.Session, profile: models.Profile) -> None:
    """Unregister a deleted profile from the host that it refers to."""
    properties = profile.spec.get('properties') or {}
    # Don't test for truth: the number 0 is a valid name.
    if properties.get('host_node') not in (None, ''):
        _remove_profile(session, models.Node, profile)
    elif properties.get('host_cluster') not in (None, ''):
        _remove_profile(session, models.Cluster, profile)


def _remove_profile(
    session: orm.Session, model: type[Row], profile: models.Profile
) -> None:
    # Search ``dependents``, because the host's name may have changed.
    owned = sqlalchemy.select(model).where(
        find.owned_by(model, profile.project)
    )
    for target in session.scalars(owned).all():
        if profile.id in (target.dependents.get('profiles') or ()):
            locked = statements.locked(session, model, target.id)
            if locked is not None:
                _remove(locked, 'profiles', profile.id)
    session.flush()


def _host(session: orm.Session, node: models.Node) -> profiles.Host | None:
    assignment: Mapping[str, Any] = node.data.get('host') or {}
    host = session.get(models.Node, assignment.get('node') or '')
    if host is None:
        return None
    profile = session.get(models.Profile, host.profile_id)
    assert profile is not None  # guaranteed by a foreign key
    type_name = profile.type.rpartition('-')[0]
    return profiles.Host(type_name, host.physical_id, assignment['port'])


def _choose_host(
    session: orm.Session, node: models.Node, properties: Mapping[str, Any]
) -> models.Node:
    """Return a locked host; prefer the current one, then the least used."""
    try:
        target = find_host(session, node.project, properties)
    except errors.InvalidSpec as error:
        raise providers.ProviderError(str(error)) from None
    if isinstance(target, models.Node):
        candidates = [target]
    else:
        candidates = [
            member
            for member in nodes.of_cluster(session, target.id)
            if member.status == 'ACTIVE' and member.physical_id
        ]
    current_id = (node.data.get('host') or {}).get('node')
    candidates.sort(
        key=lambda host: (
            host.id != current_id,
            len(host.dependents.get('nodes') or ()),
        )
    )
    for host in candidates:
        locked = nodes.lock(session, host.id)
        if locked is not None:
            return locked
    raise providers.ProviderError(
        f'the host cluster {target.id} has no node that is ACTIVE'
    )


def _add(target: HostTarget, key: str, id_: str) -> None:
    ids = list(target.dependents.get(key) or ())
    if id_ not in ids:
        target.dependents = {**target.dependents, key: [*ids, id_]}


def _remove(target: HostTarget, key: str, id_: str) -> None:
    ids = [other for other in target.dependents.get(key) or () if other != id_]
    others = {k: v for k, v in target.dependents.items() if k != key}
    target.dependents = {**others, key: ids} if ids else others
