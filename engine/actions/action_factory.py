# SPDX-License-Identifier: Apache-2.0
"""Create actions whose inputs every live engine can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.actions.runtime import Runtime
from engine.db import models, types
from vobjects import exceptions, objects
from vobjects.clustering import consts
from vobjects_sql import stored


def from_request(
    runtime: Runtime,
    context: Any,
    action_name: str,
    target: models.Cluster | models.Node,
    request: objects.Request,
    *,
    cluster: models.Cluster | None,
) -> models.Action:
    """Return a new action that a user requested.

    :param context: the context of the user's request
    :param request: the request, with IDs in place of names
    :param cluster: the target, or the cluster that the target belongs to
    :raises vobjects.exceptions.LossyDowngrade: a live engine does not support
        part of the request
    """
    # A cluster's timeout does not apply to actions on a node.
    own_cluster = cluster if cluster is target else None
    return _new(
        runtime,
        action_name,
        target.id,
        request,
        cluster_id=None if cluster is None else cluster.id,
        cause=consts.CAUSE_REQUEST,
        timeout=runtime.timeout(own_cluster),
        user=context.user_id,
        project=context.project_id,
        domain=context.domain_id,
        request_id=context.request_id,
    )


def child(
    runtime: Runtime,
    parent: models.Action,
    action_name: str,
    target_id: str,
    request: objects.Request,
) -> models.Action:
    """Return a new child action.

    It inherits the deadline, the timeout and the owner of its parent.

    :raises vobjects.exceptions.LossyDowngrade: see :func:`from_request`
    """
    return _new(
        runtime,
        action_name,
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


def read(runtime: Runtime, action: models.Action) -> objects.Request:
    """Return the request stored in an action's inputs.

    :raises vobjects_sql.stored.StoredTooNew: a newer engine has stored it
    :raises vobjects.exceptions.ConversionError: the inputs are no request
    """
    try:
        request = action.inputs.read(runtime.speaks)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise exceptions.ConversionError(
            f'the stored inputs are no request: {error!r}'
        ) from error
    if not isinstance(request, objects.Request):
        raise exceptions.ConversionError('the stored inputs are no request')
    return request


def request_fields(
    inputs: stored.StoredText[objects.Request],
) -> Mapping[str, Any]:
    """Return the fields of the request in an action's inputs.

    They are not decoded, since their version may be newer than this engine.
    """
    try:
        primitive = inputs.primitive()
    except ValueError:
        primitive = None
    if not isinstance(primitive, dict):
        return types.UNREADABLE
    fields = primitive.get(f'{objects.Object.OBJ_SERIAL_NAMESPACE}.data')
    return fields if isinstance(fields, dict) else {}


def _new(
    runtime: Runtime,
    action_name: str,
    target_id: str,
    request: objects.Request,
    **values: Any,
) -> models.Action:
    return models.Action(
        id=models.new_id(),
        name=f'{action_name.lower()}_{target_id[:8]}',
        action=action_name,
        target=target_id,
        status='READY',
        data={},
        inputs=stored.StoredText.of(request, runtime.cap() or runtime.speaks),
        **values,
    )
