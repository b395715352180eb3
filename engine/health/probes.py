# SPDX-License-Identifier: Apache-2.0
"""Detect failed nodes, by each detection mode of a health policy.

If the health is unknown, the node counts as healthy.

Users choose the URL and the regular expression of NODE_STATUS_POLL_URL, so all
resources are limited: the time of a request, the size of a response, and the
memory and time of a search (:mod:`engine.patterns`).
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Mapping
from typing import Any

import requests
from oslo_config import cfg

from engine import http_client, patterns
from engine.actions.runtime import Runtime
from engine.policies import health as policy
from engine.profiles import base as profiles
from engine.providers import base as providers

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class ProbedNode:
    """A node to be checked.

    :ivar owner: user and project of the node's cluster
    :ivar status: the status of the node in the database
    """

    node: profiles.NodeObject
    owner: tuple[str | None, str | None]
    status: str


def _probe(
    runtime: Runtime,
    probed: ProbedNode,
    mode: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return why a node has failed by one detection mode.

    :returns: empty if it is healthy
    :raises Exception: one of :data:`UNKNOWN_HEALTH`
    """
    node, view = probed.node, probed.node.view
    if mode['type'] == policy.URL:
        if probed.status != 'ACTIVE':
            return ''
        options = policy.options_of(mode)
        return url_failure(runtime.conf, options, view.name, stopping)
    cloud = node.cloud(runtime.cloud_of(*probed.owner))
    if mode['type'] == policy.STATUS:
        return node.profile_type.failure(cloud, view)
    if not view.physical_id:
        return 'it has no server'
    if cloud.hosts is None:
        return ''
    try:
        return cloud.hosts.problem(view.physical_id)
    except providers.ServerNotFound:
        return f'its server {view.physical_id} is gone'


class UnknownHealthError(Exception):
    """Raised when a node's health is unknown, so it must not be recovered."""


#: Exceptions that mean unknown health.
UNKNOWN_HEALTH = (providers.ProviderError, UnknownHealthError)


def find_failure(
    runtime: Runtime,
    probed: ProbedNode,
    detection: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return the reason for a node's failure; empty if it is healthy.

    :param detection: the policy's ``detection``, with all defaults
    :param stopping: set when the engine stops
    """
    failures = []
    needs_all = detection['recovery_conditional'] == 'ALL_FAILED'
    for mode in detection['detection_modes']:
        try:
            failure = _probe(runtime, probed, mode, stopping)
        except UNKNOWN_HEALTH as error:
            node_id = probed.node.view.id
            LOG.warning('The health of node %s is unknown: %s', node_id, error)
            failure = ''
        if failure and not needs_all:
            return failure
        if not failure and needs_all:
            return ''
        if failure:
            failures.append(failure)
    return '; '.join(failures)


def url_failure(
    conf: cfg.ConfigOpts,
    options: Mapping[str, Any],
    name: str,
    stopping: threading.Event,
) -> str:
    """Return why the URL of a node reports a failure; empty if healthy.

    :param options: the options of the detection mode, with all defaults
    :param name: the name of the node
    :param stopping: when it is set, there are no further attempts
    :raises UnknownHealthError: the health is unknown
    """
    url = options['poll_url'].replace('{nodename}', name)
    pause = options['poll_url_retry_interval']
    attempts = max(1, options['poll_url_retry_limit'])
    for attempt in range(attempts):
        if attempt and stopping.wait(pause):
            raise UnknownHealthError('the engine stops')
        failure = _request(conf, options, url)
        if not failure:
            return ''
    return failure


def _request(
    conf: cfg.ConfigOpts, options: Mapping[str, Any], url: str
) -> str:
    seconds = conf.health_manager.poll_url_timeout
    networks = conf.health_manager.forbidden_networks
    description = 'its URL'

    try:
        with http_client.session(
            networks, description, limit=conf.health_manager.poll_url_max_size
        ) as session:
            response = session.get(
                url,
                timeout=seconds,
                verify=options['poll_url_ssl_verify'],
                allow_redirects=False,
            )
    except (http_client.OutgoingError, requests.RequestException) as error:
        if not options['poll_url_conn_error_as_unhealthy']:
            return ''
        if isinstance(error, http_client.OutgoingError):
            return str(error)
        # The exception's text would reveal services in the engine's network.
        return f'its URL did not answer: {type(error).__name__}'
    text = response.content.decode(errors='replace')
    return _check_response(options['poll_url_healthy_response'], text)


def _check_response(pattern: str, text: str) -> str:
    try:
        is_healthy = patterns.matches(pattern, text)
    except patterns.PatternError as error:
        # An earlier release accepted this pattern.
        raise UnknownHealthError(
            f'poll_url_healthy_response: {error}'
        ) from None
    return '' if is_healthy else 'the response of its URL does not match'
