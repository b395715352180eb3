# SPDX-License-Identifier: Apache-2.0
"""Send the lifecycle hook of a deletion policy before a node is removed.

A hook is the map ``hooks`` in the policy's properties. The message is
Senlin's, with the cluster's ID added::

    {"lifecycle_action_token": ..., "lifecycle_transition_type": "termination",
     "node_id": ..., "resource_id": ..., "cluster_id": ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from oslo_config import cfg

from engine import http_client
from engine.db import models
from engine.queues import base as queues
from vobjects.clustering import consts


class HookError(Exception):
    """A hook could not be delivered; the message is for users."""


def hook_message(action: models.Action, node: models.Node) -> dict[str, Any]:
    """Return the hook message for a node that an action will remove."""
    return {
        'lifecycle_action_token': action.id,
        'lifecycle_transition_type': consts.LIFECYCLE_TERMINATION,
        'node_id': node.id,
        'resource_id': node.physical_id,
        'cluster_id': action.cluster_id,
    }


def send(
    conf: cfg.ConfigOpts,
    service: queues.Queues,
    hook: Mapping[str, Any],
    project: str | None,
    message: Mapping[str, Any],
) -> None:
    """Send a message to the webhook or queue of a hook, once.

    :param project: ID of the project that owns the queue, if it is a queue
    :param message: the message
    :raises HookError: the message was not delivered or not accepted
    """
    if hook['type'] == 'webhook':
        _call_webhook(conf, hook['params']['url'], message)
        return
    try:
        service.post(project, hook['params']['queue'], message)
    except queues.QueueError as error:
        raise HookError(str(error)) from error


def _call_webhook(
    conf: cfg.ConfigOpts, url: str, message: Mapping[str, Any]
) -> None:
    seconds = conf.hooks.webhook_timeout
    target = 'the webhook'

    try:
        with http_client.session(
            conf.hooks.forbidden_networks, target, limit=0
        ) as session:
            status = session.post(
                url, json=message, timeout=seconds, allow_redirects=False
            ).status_code
    except http_client.OutgoingError as error:
        raise HookError(str(error)) from error
    except requests.RequestException as error:
        # The error text would reveal servers in the engine's network.
        raise HookError(
            f'the webhook did not answer: {type(error).__name__}'
        ) from error
    if status not in range(200, 300):
        raise HookError(f'the webhook answered {status}')
