# SPDX-License-Identifier: Apache-2.0
"""Convert webhook calls and messages to requests, and run them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.actions.runtime import Runtime
from engine.db import models
from engine.handlers import clusters, members, operations, policy_bindings
from vobjects import exceptions, phrases
from vobjects.clustering import errors, resources
from vobjects.clustering.context import RequestContext
from vobjects.clustering.requests import clusters as cluster_requests
from vobjects.clustering.requests import policies as policy_requests
from vobjects.rpc import server

#: Action of a receiver -> its request type.
REQUESTS: Mapping[str, Any] = {
    'CLUSTER_DELETE': cluster_requests.ClusterDeleteRequest,
    'CLUSTER_UPDATE': cluster_requests.ClusterUpdateRequest,
    'CLUSTER_ADD_NODES': cluster_requests.ClusterAddNodesRequest,
    'CLUSTER_DEL_NODES': cluster_requests.ClusterDelNodesRequest,
    'CLUSTER_RESIZE': cluster_requests.ClusterResizeRequest,
    'CLUSTER_CHECK': cluster_requests.ClusterCheckRequest,
    'CLUSTER_RECOVER': cluster_requests.ClusterRecoverRequest,
    'CLUSTER_REPLACE_NODES': cluster_requests.ClusterReplaceNodesRequest,
    'CLUSTER_SCALE_OUT': cluster_requests.ClusterScaleOutRequest,
    'CLUSTER_SCALE_IN': cluster_requests.ClusterScaleInRequest,
    'CLUSTER_ATTACH_POLICY': policy_requests.ClusterAttachPolicyRequest,
    'CLUSTER_DETACH_POLICY': policy_requests.ClusterDetachPolicyRequest,
    'CLUSTER_UPDATE_POLICY': policy_requests.ClusterUpdatePolicyRequest,
    'CLUSTER_OPERATION': cluster_requests.ClusterOperationRequest,
}

#: Request fields that parameters cannot set.
_RESERVED_FIELDS = ('identity', 'refuse_conflict')


def trigger_handlers(
    runtime: Runtime, *, queue_conflicts: bool = False
) -> dict[str, server.Handler]:
    """Return the handlers of :data:`REQUESTS`.

    :param queue_conflicts: whether scaling waits for other actions instead of
        being rejected
    """
    return server.collect_handlers(
        handler_class(runtime, queue_conflicts=queue_conflicts)
        for handler_class in (
            clusters.ClusterHandlers,
            members.MemberHandlers,
            operations.OperationHandlers,
            policy_bindings.AttachmentHandlers,
        )
    )


def check_allowed(action_name: str | None, denied: Collection[str]) -> None:
    """Reject an action that its user may not start directly.

    :raises vobjects.clustering.errors.Forbidden: names the action
    """
    if action_name in denied:
        raise errors.Forbidden(
            f'The policy of the service does not allow {action_name} to you'
            ' or to the owner of the receiver.'
        )


def handle_as_owner(
    handlers: dict[str, server.Handler],
    receiver: models.Receiver,
    request: Any,
    request_id: str | None,
) -> resources.Accepted:
    """Run a request as the owner of a receiver.

    :raises vobjects.clustering.errors.ClusteringError: the request is rejected
    """
    owner = RequestContext(
        user_id=receiver.user,
        project_id=receiver.project,
        domain_id=receiver.domain,
        request_id=request_id,
    )
    try:
        request.check_complete()
    except exceptions.FieldsMissing as error:
        raise errors.BadRequest(
            f'{phrases.format_path("params", [error.fields[0]])}: is required'
        ) from None
    handler = handlers[request.obj_name()]
    accepted: resources.Accepted = handler(owner, request)
    return accepted


def build_request(
    action_name: str | None,
    cluster_id: str | None,
    params: Mapping[str, Any],
    body: Mapping[str, Any] | None = None,
) -> Any:
    """Return the request for an action.

    :param params: parameters of the action; unknown ones are rejected
    :param body: further parameters; unknown ones are ignored, unless the
        action takes arbitrary parameters
    :raises vobjects.clustering.errors.BadRequest: receivers do not support the
        action, or a parameter is invalid
    """
    request_type = REQUESTS.get(action_name or '')
    if request_type is None:
        raise errors.BadRequest(
            'Action name cannot be any of [CLUSTER_CREATE].'
        )
    fields = [
        name for name in request_type.fields if name not in _RESERVED_FIELDS
    ]
    request = request_type(identity=cluster_id)
    if fields == ['params']:
        request.params = {**params, **(body or {})}
        return request
    for name in params:
        if name not in fields:
            raise errors.BadRequest(
                f'{phrases.format_path("params", [name])}: unknown'
                f' parameter of {action_name};'
                f' {phrases.not_one_of(name, fields)}'
            )
    body_params = {
        name: body[name] for name in fields if body and name in body
    }
    for name, value in {**params, **body_params}.items():
        try:
            setattr(request, name, value)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise errors.BadRequest(f'params.{name}: {error}') from None
    return request
