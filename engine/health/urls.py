# SPDX-License-Identifier: Apache-2.0
"""Check the health of a node by its URL (NODE_STATUS_POLL_URL).

Users choose the URL and the regular expression, so all resources are limited:
the time of a request, the size of a response, and the memory and time of a
search (:mod:`engine.patterns`).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import requests
from oslo_config import cfg

from engine import http_client, patterns


class UnknownHealthError(Exception):
    """Raised when a node's health is unknown, so it must not be recovered."""


def find_failure(
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
