# SPDX-License-Identifier: Apache-2.0
"""Leftovers on RabbitMQ, and the service during an outage of RabbitMQ."""

from __future__ import annotations

import contextlib
import pathlib
import time
import urllib.parse
from collections.abc import Iterator
from concurrent import futures

import pytest
import requests

from tests import machine_speed, tcp_proxy
from tests.functional import brokers
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import NEWEST, SPEC

pytestmark = pytest.mark.rabbit

#: [fleet] call_timeout, and the timeout of requests, in seconds.
CALL_TIMEOUT = 10
REQUEST_TIMEOUT = 6 * CALL_TIMEOUT

#: Concurrent requests: more than an API has threads.
CONCURRENCY = 60

#: Tests wait for detected deaths.
FLEET = {
    'fleet': {
        'call_timeout': CALL_TIMEOUT,
        'heartbeat_interval': 2 * machine_speed.scale(),
    }
}

#: Errors that processes may log without RabbitMQ.
ALLOWED_ERRORS = (
    r'out of reach|AMQP|amqp|[Cc]onnection|rabbit|message bus|reply queue'
)

HEADERS = {'OpenStack-API-Version': f'clustering {NEWEST}'}

#: Transient queues without a consumer expire after 2 seconds.
SHORT_EXPIRY = {'oslo_messaging_rabbit': {'rabbit_transient_queues_ttl': 2}}


def test_processes_leave_no_entities_on_the_broker(
    tmp_path: pathlib.Path,
) -> None:
    with deployed(
        Platform('pyamqp', 'sqlite'), tmp_path, SHORT_EXPIRY
    ) as deployment:
        url = deployment.transport_url
        run_all(deployment, 'first')
        before = wait_for(
            'the transient queues are gone', lambda: durable_entities(url)
        )

        run_all(deployment, 'second')
        run_all(deployment, 'killed', kill=True)

        wait_for(
            'the new entities are gone',
            lambda: brokers.entities(url) <= before,
        )


def run_all(deployment: Deployment, name: str, *, kill: bool = False) -> None:
    """Run an engine, an API and a command, and stop or kill them."""
    engine = deployment.start_engine(f'engine-{name}')
    api = deployment.start_api(f'api-{name}')
    deployment.fleet_list()
    for process in (api, engine.process):
        if kill:
            process.kill()
        else:
            assert process.stop() == 0
        deployment.group.remove(process)


def durable_entities(url: str) -> set[str]:
    """Return the entities of the broker; empty with transient queues."""
    entities = brokers.entities(url)
    transient = [e for e in entities if '_fanout_' in e or 'reply_' in e]
    return set() if transient else entities


@pytest.fixture
def bus() -> Iterator[tuple[str, tcp_proxy.TcpProxy]]:
    """The URL of a temporary transport, and the proxy in it."""
    with brokers.temporary('pyamqp') as url:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or '127.0.0.1'
        with tcp_proxy.running(host, parts.port or 5672) as proxy:
            yield url.replace(f':{parts.port}/', f':{proxy.port}/'), proxy


@contextlib.contextmanager
def behind(
    bus: tuple[str, tcp_proxy.TcpProxy], directory: pathlib.Path
) -> Iterator[Deployment]:
    """Yield a deployment whose processes reach RabbitMQ through the proxy."""
    with deployed(
        Platform('pyamqp', 'sqlite'),
        directory,
        FLEET,
        allowed_errors=ALLOWED_ERRORS,
        transport_url=bus[0],
    ) as deployment:
        yield deployment
        bus[1].restore()


def get(deployment: Deployment, path: str) -> int:
    """Return the status of a response."""
    response = requests.get(
        f'{deployment.url}{path}', headers=HEADERS, timeout=REQUEST_TIMEOUT
    )
    if response.status_code == 503 and path.startswith('/v1'):
        assert int(response.headers['Retry-After']) > 0
    return response.status_code


@pytest.mark.parametrize(
    'fault', [pytest.param('cut', marks=pytest.mark.long), 'freeze']
)
def test_requests_without_a_broker_fail_and_have_no_late_effect(
    bus: tuple[str, tcp_proxy.TcpProxy], tmp_path: pathlib.Path, fault: str
) -> None:
    with behind(bus, tmp_path) as deployment:
        deployment.start_engine('engine')
        deployment.start_api()
        assert get(deployment, '/v1/profiles') == 200

        getattr(bus[1], fault)()
        with futures.ThreadPoolExecutor(CONCURRENCY) as pool:
            posts = [
                pool.submit(post_profile, deployment, f'late-{number}')
                for number in range(CONCURRENCY)
            ]
            # Threads are free for requests that need no engine.
            for path in ('/', '/ui'):
                assert get(deployment, path) < 400
            assert {post.result() for post in posts} == {503}
            assert get(deployment, '/v1/profiles') == 503
            # A lease may last longer than a call.
            wait_for(
                'the API is unhealthy',
                lambda: get(deployment, '/healthcheck') == 503,
            )

        bus[1].restore()
        wait_for(
            'the service recovers',
            lambda: get(deployment, '/v1/profiles') == 200,
        )
        # Late messages would have arrived before these requests.
        for _ in range(3):
            assert get(deployment, '/v1/profiles') == 200
            time.sleep(1)
        late = deployment.rows("SELECT name FROM profiles WHERE name <> ''")
        assert late == []
        assert get(deployment, '/healthcheck') == 200


def post_profile(deployment: Deployment, name: str) -> int:
    response = requests.post(
        f'{deployment.url}/v1/profiles',
        json={'profile': {'name': name, 'spec': SPEC}},
        headers=HEADERS,
        timeout=REQUEST_TIMEOUT,
    )
    return response.status_code


def test_api_that_starts_without_a_broker_returns_503_until_it_connects(
    bus: tuple[str, tcp_proxy.TcpProxy], tmp_path: pathlib.Path
) -> None:
    with behind(bus, tmp_path) as deployment:
        bus[1].cut()
        deployment.group.start('api', *deployment.command('api'))
        wait_for('the API listens', lambda: listens(deployment))
        assert get(deployment, '/v1/profiles') == 503
        assert get(deployment, '/healthcheck') == 503

        bus[1].restore()
        deployment.start_engine('engine')
        deployment.wait_until_served()
        assert get(deployment, '/v1/profiles') == 200


def listens(deployment: Deployment) -> bool:
    try:
        requests.get(deployment.url, timeout=TIMEOUT)
    except requests.ConnectionError:
        return False
    return True
