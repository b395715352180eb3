# SPDX-License-Identifier: Apache-2.0
"""Telling whom the hook of a deletion policy names that a node goes.

A hook is the map ``hooks`` of the policy's properties. What is told is
Senlin's message, and the cluster's ID besides::

    {"lifecycle_action_token": ..., "lifecycle_transition_type": "termination",
     "node_id": ..., "resource_id": ..., "cluster_id": ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests
from oslo_config import cfg

from engine import outgoing
from engine.db import models
from engine.queues import base as queues
from vobjects.clustering import consts


class HookError(Exception):
    """Somebody could not be told; the message is for users."""


def message(action: models.Action, node: models.Node) -> dict[str, Any]:
    """Return what is told of a node that an action is about to remove."""
    return {
        'lifecycle_action_token': action.id,
        'lifecycle_transition_type': consts.LIFECYCLE_TERMINATION,
        'node_id': node.id,
        'resource_id': node.physical_id,
        'cluster_id': action.cluster_id,
    }


def tell(
    conf: cfg.ConfigOpts,
    service: queues.Queues,
    hook: Mapping[str, Any],
    project: str | None,
    told: Mapping[str, Any],
) -> None:
    """Tell whom a hook names, once.

    :param project: whose queue it is, if it is one
    :raises HookError: they were not reached, or did not accept it
    """
    if hook['type'] == 'webhook':
        _call(conf, hook['params']['url'], told)
        return
    try:
        service.post(project, hook['params']['queue'], told)
    except queues.QueueError as error:
        raise HookError(str(error)) from error


def _call(conf: cfg.ConfigOpts, url: str, told: Mapping[str, Any]) -> None:
    seconds = conf.hooks.webhook_timeout
    what = 'the webhook'

    def call() -> int:
        with (
            outgoing.session(conf.hooks.forbidden_networks, what) as session,
            session.post(
                url,
                json=told,
                timeout=seconds,
                allow_redirects=False,
                stream=True,
            ) as answer,
        ):
            return answer.status_code

    try:
        status = outgoing.within(seconds, call, what)
    except outgoing.OutgoingError as error:
        raise HookError(str(error)) from error
    except requests.RequestException as error:
        # Its text would show what answers in the engine's network.
        raise HookError(
            f'the webhook did not answer: {type(error).__name__}'
        ) from error
    if status not in range(200, 300):
        raise HookError(f'the webhook answered {status}')
