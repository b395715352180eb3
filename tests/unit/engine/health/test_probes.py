# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from oslo_config import cfg

from engine.health import probes
from engine.policies import health
from tests import http_server
from tests.unit.engine.conftest import make_conf

HEALTHY = 'status: (ok|fine)'


class Node(http_server.Handler):
    """The responses of a node, by path."""

    requested_paths: list[str]
    proceed: threading.Event

    def do_GET(self) -> None:  # noqa: N802
        self.requested_paths.append(self.path)
        if self.path == '/slow':
            assert self.proceed.wait(120)
        self.send_response(302 if self.path == '/moved' else 200)
        if self.path == '/moved':
            self.send_header('Location', '/well')
        self.end_headers()
        text = {
            '/well': 'status: fine',
            '/second': 'status: ok'
            if self.requested_paths.count('/second') > 1
            else '',
            '/long': 'x' * 100_000 + 'status: ok',
            '/evil': 'a' * 60 + '!',
        }.get(self.path, 'status: bad')
        try:
            self.wfile.write(text.encode())
        except BrokenPipeError:
            return


@pytest.fixture
def served() -> Iterator[str]:
    Node.requested_paths = []
    Node.proceed = threading.Event()
    with http_server.serving(Node) as port:
        yield f'http://127.0.0.1:{port}'
        Node.proceed.set()


@pytest.fixture
def conf() -> cfg.ConfigOpts:
    return make_conf(
        'health_manager', poll_url_timeout=30.0, forbidden_networks=[]
    )


def ask(conf: cfg.ConfigOpts, url: str, **options: Any) -> str:
    mode = {
        'options': {
            'poll_url': url,
            'poll_url_healthy_response': HEALTHY,
            'poll_url_retry_interval': 0,
            **options,
        }
    }
    return probes.url_failure(
        conf, health.options_of(mode), 'well', threading.Event()
    )


def test_response_determines_health(conf: cfg.ConfigOpts, served: str) -> None:
    assert ask(conf, f'{served}/{{nodename}}') == ''
    assert 'does not match' in ask(conf, f'{served}/bad')
    assert Node.requested_paths == ['/well', *['/bad'] * 3]
    assert 'does not match' in ask(conf, f'{served}/moved')
    assert ask(conf, f'{served}/bad', poll_url_healthy_response='') == ''


def test_node_healthy_at_second_request_is_healthy(
    conf: cfg.ConfigOpts, served: str
) -> None:
    assert ask(conf, f'{served}/second') == ''
    assert Node.requested_paths == ['/second'] * 2


def test_only_first_bytes_of_response_are_read(
    conf: cfg.ConfigOpts, served: str
) -> None:
    assert ask(conf, f'{served}/long')
    conf.set_override('poll_url_max_size', 200_000, 'health_manager')
    assert ask(conf, f'{served}/long') == ''


def test_pattern_that_backtracks_is_matched(
    conf: cfg.ConfigOpts, served: str
) -> None:
    pattern = '(a|aa)+$'
    assert ask(conf, f'{served}/evil', poll_url_healthy_response=pattern)


def test_unsupported_stored_pattern_means_unknown_health(
    conf: cfg.ConfigOpts, served: str
) -> None:
    with pytest.raises(
        probes.UnknownHealthError, match='poll_url_healthy_response'
    ):
        ask(conf, f'{served}/well', poll_url_healthy_response='(?=status)')


def test_unreachable_url_is_failure_if_configured(
    conf: cfg.ConfigOpts, served: str
) -> None:
    conf.set_override('poll_url_timeout', 0.1, 'health_manager')
    for url in ('http://127.0.0.1:1/', f'{served}/slow'):
        assert 'did not answer' in ask(conf, url)
        well = ask(conf, url, poll_url_conn_error_as_unhealthy=False)
        assert well == ''


def test_forbidden_network_is_not_contacted(
    conf: cfg.ConfigOpts, served: str
) -> None:
    conf.set_override('forbidden_networks', ['127.0.0.0/8'], 'health_manager')
    assert 'forbidden' in ask(conf, f'{served}/well')
    assert Node.requested_paths == []


def test_stopping_engine_does_not_retry(
    conf: cfg.ConfigOpts, served: str
) -> None:
    stopping = threading.Event()
    stopping.set()
    options = health.options_of(
        {
            'options': {
                'poll_url': f'{served}/bad',
                'poll_url_healthy_response': 'x',
            }
        }
    )
    with pytest.raises(probes.UnknownHealthError, match='stops'):
        probes.url_failure(conf, options, 'n', stopping)
    assert Node.requested_paths == ['/bad']
