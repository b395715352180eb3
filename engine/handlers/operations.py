# SPDX-License-Identifier: Apache-2.0
"""Handlers that operate on, or collect attributes of, cluster nodes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import orm

from engine import jsonpath
from engine.actions import operations
from engine.db import models, nodes, paging
from engine.handlers import common, queueing
from vobjects import exceptions, objects, wire
from vobjects.clustering import consts, errors, resources
from vobjects.clustering.requests import clusters as requests
from vobjects.objects import manifest
from vobjects.rpc.server import handles


class OperationHandlers(queueing.ActionHandlers):
    """Handle operations on clusters and collect attributes."""

    @handles(requests.ClusterOperationRequest)
    def operate(
        self, context: Any, request: requests.ClusterOperationRequest
    ) -> resources.Accepted:
        """Perform an operation on some or all nodes of a cluster."""
        filters = request.get('filters') or {}
        _check_filters(filters)

        def check(session: orm.Session, cluster: models.Cluster) -> None:
            self.check_operation(session, cluster, request)
            if not operations.matching_nodes(session, cluster.id, filters):
                raise errors.BadRequest(
                    'No node (matching the filter) could be found.'
                )

        return self.queue_action(context, 'CLUSTER_OPERATION', request, check)

    @handles(requests.ClusterCollectRequest)
    def collect(
        self, context: Any, request: requests.ClusterCollectRequest
    ) -> list[resources.ClusterAttribute]:
        """Return the value at a JSON path for each node that has one."""
        path = jsonpath.Path(request.path)
        with self.runtime.database.reader() as session:
            cluster = common.find_visible(
                session, models.Cluster, context, request.identity
            )
            rows = list(nodes.of_cluster(session, cluster.id))
            profile_of = {
                row.id: session.get(models.Profile, row.profile_id)
                for row in rows
            }
            shown_nodes = common.node_resources(session, rows)
        collected = []
        size = 0
        for row, node in zip(rows, shown_nodes, strict=True):
            document = objects.to_json(node, manifest.local())
            profile = profile_of[row.id]
            if path.mentions('details') and profile is not None:
                document['details'] = common.cloud_details(
                    self.runtime, row, profile
                )
            # Only the first match of each node.
            for value in path.find(document):
                size += len(wire.dumps(value))
                if size > paging.MAX_BYTES:
                    raise errors.BadRequest(
                        f'The attributes have more than {paging.MAX_BYTES}'
                        ' bytes; use a path to a part of them.'
                    )
                collected.append(
                    resources.ClusterAttribute(id=row.id, value=value)
                )
                break
        return collected


def _check_filters(filters: dict[str, Any]) -> None:
    """Reject unknown or malformed filters.

    :raises vobjects.clustering.errors.BadRequest: names the first one
    """
    for name, accepted in filters.items():
        if name not in consts.OPERATION_FILTERS:
            raise errors.BadRequest(
                f'Filter key {exceptions.cut(name)} is unsupported; there'
                f' are {", ".join(consts.OPERATION_FILTERS)}.'
            )
        values = accepted if isinstance(accepted, list) else [accepted]
        if not values or not all(isinstance(value, str) for value in values):
            raise errors.BadRequest(
                f'filters.{name}: must be a string, or a list of strings'
            )
