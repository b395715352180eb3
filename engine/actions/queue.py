# SPDX-License-Identifier: Apache-2.0
"""New actions. Their inputs are a request that every live engine can read."""

from __future__ import annotations

from typing import Any

from engine.actions import runtime
from engine.db import models
from vobjects import base, serializer
from vobjects.clustering import consts


def from_request(
    run: runtime.Runtime,
    context: Any,
    kind: str,
    target: models.Cluster | models.Node,
    request: base.Request,
    *,
    cluster: models.Cluster | None,
) -> models.Action:
    """Return a new action that a user asked for.

    :param context: of the user's request
    :param request: with IDs in place of names
    :param cluster: the target, or the cluster that the target belongs to
    :raises vobjects.exceptions.LossyDowngrade: an engine that lives could
        not be told what the request says
    """
    # A node's own actions know no cluster's timeout.
    governs = cluster if cluster is target else None
    return _new(
        run,
        kind,
        target.id,
        request,
        cluster_id=None if cluster is None else cluster.id,
        cause=consts.CAUSE_REQUEST,
        timeout=run.timeout(governs),
        user=context.user_id,
        project=context.project_id,
        domain=context.domain_id,
        request_id=context.request_id,
    )


def derived(
    run: runtime.Runtime,
    parent: models.Action,
    kind: str,
    target_id: str,
    request: base.Request,
) -> models.Action:
    """Return a new action that another one waits for.

    It must end when its parent must, belongs to whom its parent belongs to,
    and remembers the stage that waits for it.

    :raises vobjects.exceptions.LossyDowngrade: see :func:`from_request`
    """
    return _new(
        run,
        kind,
        target_id,
        request,
        cluster_id=parent.cluster_id,
        cause=consts.CAUSE_DERIVED,
        timeout=parent.timeout,
        deadline=parent.deadline,
        user=parent.user,
        project=parent.project,
        domain=parent.domain,
        request_id=parent.request_id,
    )


def read(run: runtime.Runtime, action: models.Action) -> base.Request:
    """Return the request that an action's inputs are.

    :raises oslo_versionedobjects.exception.IncompatibleObjectVersion: it is
        newer than what this engine reads
    :raises oslo_versionedobjects.exception.UnsupportedObjectError: this
        engine does not know its type
    """
    request: base.Request = serializer.from_wire(
        action.inputs, speaks=run.speaks
    )
    return request


def _new(
    run: runtime.Runtime,
    kind: str,
    target_id: str,
    request: base.Request,
    **values: Any,
) -> models.Action:
    return models.Action(
        id=models.new_id(),
        name=f'{kind.lower()}_{target_id[:8]}',
        action=kind,
        target=target_id,
        status='READY',
        data={},
        inputs=serializer.to_wire(request, run.cap() or run.speaks),
        **values,
    )
