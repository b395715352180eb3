# SPDX-License-Identifier: Apache-2.0
"""Handlers that add, remove and replace members of clusters.

Each request reports all problems with its nodes in a single error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from sqlalchemy import orm

from engine.db import find, models, nodes
from engine.handlers import queueing
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles

# Senlin uses different messages for the two requests.
_ADD_MESSAGES = (
    'Profile type of nodes {} does not match that of the cluster.',
    'Nodes {} already owned by some cluster.',
)
_REPLACE_MESSAGES = (
    'Profile type of nodes {} do not match that of the cluster.',
    'Nodes {} already member of a cluster.',
)


class MemberHandlers(queueing.ActionHandlers):
    """Handle requests to change the members of clusters."""

    def _check_count(self, identities: Sized) -> None:
        """Reject more nodes than a cluster can have, before looking them up.

        :raises vobjects.clustering.errors.BadRequest: has both numbers
        """
        limit = self.runtime.node_limit()
        if len(identities) > limit:
            raise errors.BadRequest(
                f'nodes: must have at most {limit} items, not'
                f' {len(identities)}'
            )

    @handles(requests.ClusterAddNodesRequest)
    def add(
        self, context: Any, request: requests.ClusterAddNodesRequest
    ) -> resources.Accepted:
        """Add nodes to a cluster."""
        self._check_count(request.nodes)

        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            rows, missing = _find_nodes(session, context, request.nodes)
            _raise_problems(
                {
                    **_join_problems(session, cluster, rows),
                    'Nodes not found: {}.': missing,
                }
            )
            present = nodes.count_of_cluster(session, cluster.id)
            self.runtime.bounds(cluster).check_size(present + len(rows))
            return {'nodes': [node.id for node in rows.values()]}

        return self.queue_action(context, 'CLUSTER_ADD_NODES', request, check)

    @handles(requests.ClusterDelNodesRequest)
    def remove(
        self, context: Any, request: requests.ClusterDelNodesRequest
    ) -> resources.Accepted:
        """Remove nodes from a cluster, or delete them."""
        self._check_count(request.nodes)

        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            rows, missing = _find_nodes(session, context, request.nodes)
            host_ids = [
                n.id for n in rows.values() if n.dependents.get('nodes')
            ]
            if host_ids:
                raise errors.ResourceInUse(
                    f"The node '{host_ids}' cannot be deleted: nodes"
                    f" {host_ids} are depended by other nodes, so can't be"
                    ' deleted or become orphan nodes.'
                )
            _raise_problems(
                {
                    'Nodes not found: {}.': missing,
                    'Nodes not members of specified cluster: {}.': [
                        node.id
                        for node in rows.values()
                        if node.cluster_id != cluster.id
                    ],
                }
            )
            present = nodes.count_of_cluster(session, cluster.id)
            self.runtime.bounds(cluster).check_size(present - len(rows))
            return {'nodes': [node.id for node in rows.values()]}

        return self.queue_action(context, 'CLUSTER_DEL_NODES', request, check)

    @handles(requests.ClusterReplaceNodesRequest)
    def replace(
        self, context: Any, request: requests.ClusterReplaceNodesRequest
    ) -> resources.Accepted:
        """Replace members of a cluster by other nodes."""
        self._check_count(request.nodes)
        replacements = _check_replacements(request.nodes)

        def check(
            session: orm.Session, cluster: models.Cluster
        ) -> queueing.Resolved:
            old, missing_old = _find_nodes(session, context, replacements)
            new, missing_new = _find_nodes(
                session, context, replacements.values()
            )
            _raise_problems(
                {
                    'The specified nodes {} to be replaced are not members'
                    f' of the cluster {cluster.id}.': [
                        identity
                        for identity, node in old.items()
                        if node.cluster_id != cluster.id
                    ],
                    **_join_problems(session, cluster, new, _REPLACE_MESSAGES),
                    'Original nodes not found: {}.': missing_old,
                    'Replacement nodes not found: {}.': missing_new,
                }
            )
            return {
                'nodes': {
                    old[old_identity].id: new[new_identity].id
                    for old_identity, new_identity in replacements.items()
                }
            }

        return self.queue_action(
            context, 'CLUSTER_REPLACE_NODES', request, check
        )


def _check_replacements(node_map: Mapping[str, Any]) -> dict[str, str]:
    """Return a map of old to new nodes from a request.

    :raises vobjects.clustering.errors.BadRequest: the map is empty, or not one
        of names or IDs, or has duplicate values
    """
    if not node_map:
        raise errors.BadRequest(
            'nodes: must name at least one node',
            'The data provided is not a map',
        )
    for name, value in node_map.items():
        if not isinstance(value, str) or not value:
            raise errors.BadRequest(
                f'nodes[{name}]: must be the name or ID of a node',
                f"Field `nodes[{name}]' cannot be None"
                if value is None
                else '',
            )
    if len(set(node_map.values())) < len(node_map):
        raise errors.BadRequest(
            'nodes: a node cannot replace two nodes',
            'Map contains duplicated values',
        )
    return dict(node_map)


def _find_nodes(
    session: orm.Session, context: Any, identities: Iterable[str]
) -> tuple[dict[str, models.Node], list[str]]:
    """Return nodes by the given name or ID, and those not found.

    :raises vobjects.clustering.errors.BadRequest: two identify the same node
    """
    rows: dict[str, models.Node] = {}
    missing = []
    for identity in identities:
        try:
            rows[identity] = find.find(
                session, models.Node, identity, context.project_id
            )
        except (errors.ResourceNotFound, errors.MultipleChoices):
            missing.append(identity)
    if len({node.id for node in rows.values()}) < len(rows):
        raise errors.BadRequest('nodes: must name each node once')
    return rows, missing


def _join_problems(
    session: orm.Session,
    cluster: models.Cluster,
    rows: Mapping[str, models.Node],
    messages: tuple[str, str] = _ADD_MESSAGES,
) -> dict[str, list[str]]:
    """Return the reasons that keep nodes from joining, with the nodes.

    :param messages: errors for another profile type and for nodes in a
        cluster
    :returns: message with a placeholder for IDs -> IDs of nodes
    """
    other_type, owned_by_cluster = messages
    types = {
        node.profile_id: _type_of(session, node.profile_id)
        for node in rows.values()
    }
    cluster_type = _type_of(session, cluster.profile_id)
    members = rows.values()
    return {
        other_type: [
            node.id
            for node in members
            if types[node.profile_id] != cluster_type
        ],
        owned_by_cluster: [node.id for node in members if node.cluster_id],
        'Nodes are not ACTIVE: {}.': [
            node.id for node in members if node.status != 'ACTIVE'
        ],
    }


def _type_of(session: orm.Session, profile_id: str) -> str:
    profile = session.get(models.Profile, profile_id)
    return '' if profile is None else profile.type


def _raise_problems(problems: Mapping[str, list[str]]) -> None:
    """Raise an error if any nodes have problems.

    :param problems: message with a placeholder for IDs -> the nodes
    :raises vobjects.clustering.errors.BadRequest: lists all problems
    """
    messages = [text.format(ids) for text, ids in problems.items() if ids]
    if messages:
        raise errors.BadRequest('\n'.join(messages))
