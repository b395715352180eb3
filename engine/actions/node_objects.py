# SPDX-License-Identifier: Apache-2.0
"""Cloud objects of nodes: where they are, and what becomes of new ones."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from sqlalchemy import orm

from engine import distribution
from engine.actions import action_run
from engine.db import actions, nodes
from engine.profiles import base as profiles
from engine.providers import base as providers
from vobjects.clustering import consts

LOG = logging.getLogger(__name__)


def data_of(
    run: action_run.ActionRun,
    node: profiles.NodeObject,
    physical_id: str | None,
) -> dict[str, Any]:
    """Return the data of a node about its object; empty if unknown.

    The policies' choice of a location stays.
    """
    if physical_id is None:
        return {}
    view = node.view
    try:
        cloud = node.cloud(run.cloud)
        data = dict(node.profile_type.node_data(cloud, physical_id))
    except providers.ProviderError as error:
        LOG.warning('The data of node %s lacks its object: %s', view.id, error)
        return {}
    key = distribution.PLACEMENT
    if key in data:
        data[key] = {**data[key], **view.placement}
    return data


@contextlib.contextmanager
def keeping(
    run: action_run.ActionRun, work: profiles.NodeObject
) -> Iterator[list[str]]:
    """Record or delete the new object of an action that ends meanwhile.

    The action may be cancelled, be overdue, or give way to a forced deletion
    while the cloud creates the object. The node then keeps the object, so that
    users see it and delete it with the node. If the node is deleted, too, so
    is the object: the deletion finds no object if the cloud creates it later.

    :returns: a list; append the ID of the object once you know it
    """
    objects: list[str] = []
    view = work.view

    def record(session: orm.Session) -> bool:
        node = nodes.lock(session, view.id)
        if node is None or node.status == 'DELETING':
            return False
        action = actions.get(session, run.action.id)
        # Another engine that took over an unfinished action finds the object.
        has_ended = action is None or action.status in consts.ACTION_ENDS
        if objects and has_ended and node.physical_id == view.physical_id:
            node.physical_id = objects[0]
        return True

    try:
        yield objects
    except actions.ClaimLostError:
        if not run.runtime.database.write(record):
            try:
                work.profile_type.delete(work.cloud(run.cloud), view)
            except providers.ProviderError as error:
                LOG.warning(
                    'Node %s is gone, its object is not: %s', view.id, error
                )
        raise
