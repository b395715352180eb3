# SPDX-License-Identifier: Apache-2.0
"""Handler that completes lifecycle hooks of nodes to be removed."""

from __future__ import annotations

from typing import Any

from sqlalchemy import orm

from engine.actions import deletion_hooks
from engine.db import actions, find, models
from engine.handlers import common
from vobjects.clustering import resources
from vobjects.clustering.requests import clusters as requests
from vobjects.rpc.server import handles


class LifecycleHandlers(common.Handlers):
    """Handle requests to complete lifecycle hooks."""

    @handles(requests.ClusterCompleteLifecycleRequest)
    def complete(
        self, context: Any, request: requests.ClusterCompleteLifecycleRequest
    ) -> resources.Accepted:
        """Complete a lifecycle hook; no error if the node is already gone.

        The hook's timeout may have expired before the request.
        """
        token = request.lifecycle_action_token

        def body(session: orm.Session) -> bool:
            cluster = find.find(
                session, models.Cluster, request.identity, context.project_id
            )
            action = None
            if find.is_storable(token):
                action = actions.lock(session, token)
            if action is None or action.cluster_id != cluster.id:
                raise find.not_found(models.Action, token)
            if not action.data.get('hook'):
                return False  # no hook; Senlin accepts it, too
            return deletion_hooks.let_go(session, action)

        if self.run.database.write(body):
            self.run.wake()
        return resources.Accepted(action=token, cluster=None, node=None)
