# SPDX-License-Identifier: Apache-2.0
"""Telling whom the hook of a deletion policy names that a node goes.

A hook is the map ``hooks`` of the policy's properties. What is told is
Senlin's message, and the cluster's ID besides::

    {"lifecycle_action_token": ..., "lifecycle_transition_type": "termination",
     "node_id": ..., "resource_id": ..., "cluster_id": ...}
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

import requests
from oslo_config import cfg

from engine.db import models
from engine.queues import base as queues
from vobjects.clustering import consts

#: Webhooks of one process that are being called: one that sends its answer
#: byte by byte keeps a thread, and those must not become ever more.
_CALLS = threading.BoundedSemaphore(64)


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
    _refuse_forbidden(conf, url)

    def call() -> int:
        with requests.post(
            url,
            json=told,
            timeout=seconds,
            allow_redirects=False,
            stream=True,
        ) as answer:
            return answer.status_code

    try:
        status = _within(seconds, call)
    except requests.RequestException as error:
        # Its text would show what answers in the engine's network.
        raise HookError(
            f'the webhook did not answer: {type(error).__name__}'
        ) from error
    if status not in range(200, 300):
        raise HookError(f'the webhook answered {status}')


def _refuse_forbidden(conf: cfg.ConfigOpts, url: str) -> None:
    """Refuse to call where operators do not want anything to be called."""
    host = urllib.parse.urlsplit(url).hostname or ''
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise HookError('the host of the webhook is unknown') from None
    forbidden = [
        ipaddress.ip_network(network)
        for network in conf.hooks.forbidden_networks
    ]
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition('%')[0])
        if any(ip in network for network in forbidden):
            raise HookError('the webhook is in a forbidden network')


def _within(seconds: float, call: Callable[[], int]) -> int:
    """Return what a call returns, and wait no longer than it may take.

    A timeout of requests is for each read: an answer that comes byte by byte
    would keep the caller for as long as its sender likes.

    :raises HookError: it took too long
    """
    if not _CALLS.acquire(blocking=False):
        raise HookError('too many webhooks are being called')
    results: list[int] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            errors.append(error)
        finally:
            _CALLS.release()

    thread = threading.Thread(target=run, name='webhook', daemon=True)
    thread.start()
    thread.join(seconds)
    for error in list(errors):
        raise error
    if not results:
        raise HookError(f'the webhook did not answer within {seconds} seconds')
    return results[0]
