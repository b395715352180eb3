# SPDX-License-Identifier: Apache-2.0
"""Handlers that add, remove and replace members of clusters.

Each request reports all problems with its nodes in a single error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from sqlalchemy import orm

from engine.db import find, models, nodes
from engine.handlers import clusters
from vobjects.clustering import errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles

# Senlin uses different messages for the two requests.
_ADDING = (
    'Profile type of nodes {} does not match that of the cluster.',
    'Nodes {} already owned by some cluster.',
)
_REPLACING = (
    'Profile type of nodes {} do not match that of the cluster.',
    'Nodes {} already member of a cluster.',
)


class MemberHandlers(clusters.ClusterQueue):
    """Handle requests to change the members of clusters."""

    def _check_count(self, given: Sized) -> None:
        """Reject more nodes than a cluster can have, before looking them up.

        :raises vobjects.clustering.errors.BadRequest: has both numbers
        """
        limit = self.runtime.node_limit()
        if len(given) > limit:
            raise errors.BadRequest(
                f'nodes: must have at most {limit} items, not {len(given)}'
            )

    @handles(requests.ClusterAddNodesRequest)
    def add(
        self, context: Any, request: requests.ClusterAddNodesRequest
    ) -> resources.Accepted:
        """Add nodes to a cluster."""
        self._check_count(request.nodes)

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            found, missing = _found(session, context, request.nodes)
            _refuse(
                {
                    **_unfit(session, cluster, found),
                    'Nodes not found: {}.': missing,
                }
            )
            present = nodes.count_of_cluster(session, cluster.id)
            self.bounds(cluster).check_size(present + len(found))
            request.nodes = [node.id for node in found.values()]

        return self.queued(context, 'CLUSTER_ADD_NODES', request, check)

    @handles(requests.ClusterDelNodesRequest)
    def remove(
        self, context: Any, request: requests.ClusterDelNodesRequest
    ) -> resources.Accepted:
        """Remove nodes from a cluster, or delete them."""
        self._check_count(request.nodes)

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            found, missing = _found(session, context, request.nodes)
            needed = [
                n.id for n in found.values() if n.dependents.get('nodes')
            ]
            if needed:
                raise errors.ResourceInUse(
                    f"The node '{needed}' cannot be deleted: nodes {needed}"
                    " are depended by other nodes, so can't be deleted or"
                    ' become orphan nodes.'
                )
            _refuse(
                {
                    'Nodes not found: {}.': missing,
                    'Nodes not members of specified cluster: {}.': [
                        node.id
                        for node in found.values()
                        if node.cluster_id != cluster.id
                    ],
                }
            )
            present = nodes.count_of_cluster(session, cluster.id)
            self.bounds(cluster).check_size(present - len(found))
            request.nodes = [node.id for node in found.values()]

        return self.queued(context, 'CLUSTER_DEL_NODES', request, check)

    @handles(requests.ClusterReplaceNodesRequest)
    def replace(
        self, context: Any, request: requests.ClusterReplaceNodesRequest
    ) -> resources.Accepted:
        """Replace members of a cluster by other nodes."""
        self._check_count(request.nodes)
        wanted = _pairs(request.nodes)

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            old, no_old = _found(session, context, wanted)
            new, no_new = _found(session, context, wanted.values())
            _refuse(
                {
                    'The specified nodes {} to be replaced are not members'
                    f' of the cluster {cluster.id}.': [
                        identity
                        for identity, node in old.items()
                        if node.cluster_id != cluster.id
                    ],
                    **_unfit(session, cluster, new, _REPLACING),
                    'Original nodes not found: {}.': no_old,
                    'Replacement nodes not found: {}.': no_new,
                }
            )
            request.nodes = {
                old[was].id: new[becomes].id for was, becomes in wanted.items()
            }

        return self.queued(context, 'CLUSTER_REPLACE_NODES', request, check)


def _pairs(given: Mapping[str, Any]) -> dict[str, str]:
    """Return a map of old to new nodes from a request.

    :raises vobjects.clustering.errors.BadRequest: the map is empty, or not one
        of names or IDs, or has duplicate values
    """
    if not given:
        raise errors.BadRequest(
            'nodes: no node is named', 'The data provided is not a map'
        )
    for name, value in given.items():
        if not isinstance(value, str) or not value:
            raise errors.BadRequest(
                f'nodes[{name}]: must be the name or ID of a node',
                f"Field `nodes[{name}]' cannot be None"
                if value is None
                else '',
            )
    if len(set(given.values())) < len(given):
        raise errors.BadRequest(
            'nodes: one node cannot replace two',
            'Map contains duplicated values',
        )
    return dict(given)


def _found(
    session: orm.Session, context: Any, identities: Iterable[str]
) -> tuple[dict[str, models.Node], list[str]]:
    """Return nodes by the given name or ID, and those not found.

    :raises vobjects.clustering.errors.BadRequest: two identify the same node
    """
    found: dict[str, models.Node] = {}
    missing = []
    for identity in identities:
        try:
            found[identity] = find.find(
                session, models.Node, identity, context.project_id
            )
        except (errors.ResourceNotFound, errors.MultipleChoices):
            missing.append(identity)
    if len({node.id for node in found.values()}) < len(found):
        raise errors.BadRequest('nodes: one node is named twice')
    return found, missing


def _unfit(
    session: orm.Session,
    cluster: models.Cluster,
    found: Mapping[str, models.Node],
    words: tuple[str, str] = _ADDING,
) -> dict[str, list[str]]:
    """Return the reasons that keep nodes from joining, with the nodes.

    :param words: messages for another profile type and for nodes in a cluster
    :returns: message with a placeholder for IDs -> IDs of nodes
    """
    other_type, owned = words
    types = {
        node.profile_id: _type_of(session, node.profile_id)
        for node in found.values()
    }
    wanted = _type_of(session, cluster.profile_id)
    members = found.values()
    return {
        other_type: [
            node.id for node in members if types[node.profile_id] != wanted
        ],
        owned: [node.id for node in members if node.cluster_id],
        'Nodes are not ACTIVE: {}.': [
            node.id for node in members if node.status != 'ACTIVE'
        ],
    }


def _type_of(session: orm.Session, profile_id: str) -> str:
    profile = session.get(models.Profile, profile_id)
    return '' if profile is None else profile.type


def _refuse(troubles: Mapping[str, list[str]]) -> None:
    """Raise an error if any nodes have problems.

    :param troubles: message with a placeholder for IDs -> the nodes
    :raises vobjects.clustering.errors.BadRequest: lists all problems
    """
    said = [text.format(ids) for text, ids in troubles.items() if ids]
    if said:
        raise errors.BadRequest('\n'.join(said))
