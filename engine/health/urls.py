# SPDX-License-Identifier: Apache-2.0
"""Asking the URL of a node whether it is well (NODE_STATUS_POLL_URL).

Users name the URL and the pattern, so that all is bounded: the time of a
call, the bytes of an answer, and the time that a pattern is looked for.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import regex
import requests
from oslo_config import cfg

from engine import outgoing

#: Seconds that a pattern is looked for.
PATIENCE = 1.0


class UnclearError(Exception):
    """Nobody can tell whether a node is well: no reason to recover it."""


def trouble(
    conf: cfg.ConfigOpts,
    options: Mapping[str, Any],
    name: str,
    stopping: threading.Event,
) -> str:
    """Return '' if the URL of a node says that it is well, else why not.

    :param options: of the mode, with every default
    :param name: of the node
    :param stopping: when it is set, nothing is tried again
    :raises UnclearError: nobody can tell
    """
    url = options['poll_url'].replace('{nodename}', name)
    attempts = max(1, options['poll_url_retry_limit'])
    for attempt in range(attempts):
        if attempt and stopping.wait(options['poll_url_retry_interval']):
            raise UnclearError('the engine stops')
        found = _ask(conf, options, url)
        if not found:
            return ''
    return found


def _ask(conf: cfg.ConfigOpts, options: Mapping[str, Any], url: str) -> str:
    seconds = conf.health_manager.poll_url_timeout
    networks = conf.health_manager.forbidden_networks
    what = 'its URL'

    def call() -> str:
        with (
            outgoing.session(networks, what) as session,
            session.get(
                url,
                timeout=seconds,
                verify=options['poll_url_ssl_verify'],
                allow_redirects=False,
                stream=True,
            ) as answer,
        ):
            limit = conf.health_manager.poll_url_max_size
            return _text(answer, limit)

    try:
        text = outgoing.within(seconds, call, what)
    except (outgoing.OutgoingError, requests.RequestException) as error:
        if not options['poll_url_conn_error_as_unhealthy']:
            return ''
        if isinstance(error, outgoing.OutgoingError):
            return str(error)
        # Its text would show what answers in the engine's network.
        return f'its URL did not answer: {type(error).__name__}'
    return _judge(options['poll_url_healthy_response'], text)


def _text(answer: requests.Response, limit: int) -> str:
    body = b''
    for piece in answer.iter_content(4096):
        body += piece
        if len(body) >= limit:
            break
    return body[:limit].decode(errors='replace')


def _judge(pattern: str, text: str) -> str:
    try:
        found = regex.search(pattern, text, timeout=PATIENCE, concurrent=True)
    except TimeoutError:
        raise UnclearError(
            f'its answer was not understood within {PATIENCE} s'
        ) from None
    return '' if found else 'its URL does not say that it is well'
