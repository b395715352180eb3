# SPDX-License-Identifier: Apache-2.0
"""Retired microversions: response headers, metrics and `who-uses`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent import futures

import pytest
import requests

from tests.functional import fork_server
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import HEADER
from vobjects.clustering import history

Completed = subprocess.CompletedProcess[str]

RETIRE = (
    '1.0-1.2 deprecated=2026-01-01 sunset=2027-06-30T12:00:00Z successor=1.7'
)


@pytest.fixture(scope='module')
def retiring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Two API processes that retire 1.0 to 1.2."""
    directory = tmp_path_factory.mktemp('retiring')
    settings = {'api': {'retire': RETIRE}}
    with deployed(
        Platform('embedded', 'sqlite'), directory, settings
    ) as service:
        service.start_all(engines=1, workers=2)
        yield service


def get(
    service: Deployment, version: str, agent: str, path: str = '/v1/clusters'
) -> requests.Response:
    # A new connection, which either process may accept.
    return requests.get(
        service.url + path,
        headers={HEADER: f'clustering {version}', 'User-Agent': agent},
        timeout=TIMEOUT,
    )


def run(service: Deployment, *command: str) -> Completed:
    return fork_server.run(command, service.group.environment(), TIMEOUT)


def who_uses(service: Deployment, version: str) -> dict[str, int]:
    """Return the number of requests by agent, method and route."""
    state = f'--state-dir={service.directory / "state"}'
    words = ('api', 'who-uses', version, '-o', 'json', state)
    completed = run(service, sys.executable, '-m', 'vobjects', *words)
    assert completed.returncode == 0, completed.stderr
    report = json.loads(completed.stdout)
    return {
        f'{use["agent"]} {use["method"]} {use["route"]}': use['requests']
        for use in report['uses']
    }


def test_retired_version_is_in_response_headers(
    retiring: Deployment,
) -> None:
    for path, status in [('/v1/clusters', 200), ('/v1/clusters/none', 404)]:
        old = get(retiring, '1.2', 'teller', path)
        new = get(retiring, '1.3', 'teller', path)

        assert (old.status_code, new.status_code) == (status, status)
        assert old.headers['Deprecation'] == '@1767225600'
        assert old.headers['Sunset'] == 'Wed, 30 Jun 2027 12:00:00 GMT'
        assert old.links['successor-version'] == {
            'url': '',
            'rel': 'successor-version',
            'title': 'clustering 1.7',
        }
        assert {'deprecation', 'sunset'} <= old.links.keys()
        assert not {'Deprecation', 'Sunset', 'Link'} & new.headers.keys()
    assert 'Sunset' not in requests.get(retiring.url, timeout=TIMEOUT).headers


def wait_until_both_count(service: Deployment) -> None:
    """Send concurrent requests until both API processes have served one.

    The same process may serve all sequential requests.
    """
    home = service.directory / 'state' / 'metrics'

    def both_count() -> bool:
        with futures.ThreadPoolExecutor(8) as pool:
            versions, agents = ['1.10'] * 16, ['warmer'] * 16
            list(pool.map(get, [service] * 16, versions, agents))
        return len(list(home.glob('counter_*.db'))) == 2

    wait_for('both API processes count requests', both_count)


def test_metrics_add_up_over_processes(retiring: Deployment) -> None:
    wait_until_both_count(retiring)
    for _ in range(24):
        assert get(retiring, '1.1', 'adder/1.0').status_code == 200
    get(retiring, '1.1', 'adder/1.0', '/v1/clusters/secret-name')

    # Both processes report the total.
    for _ in range(4):
        text = requests.get(f'{retiring.url}/metrics', timeout=TIMEOUT).text
        (count,) = re.findall(
            r'^vobjects_api_uses_total\{agent="adder",method="GET",'
            r'route="/v1/clusters",version="1\.1"\} (\S+)$',
            text,
            re.MULTILINE,
        )
        assert float(count) == 24
        assert 'route="/v1/clusters/{identity}"' in text
        assert 'secret-name' not in text
        newest = float(history.MAXIMUM.minor)
        assert f'vobjects_api_served_maximum_minor {newest}' in text


def test_who_uses_names_the_clients_of_a_version(
    retiring: Deployment,
) -> None:
    for _ in range(3):
        get(retiring, '1.2', 'finder/2.0 python/3')
    get(retiring, '1.9', 'modern/1.0')

    old = who_uses(retiring, '1.0-1.2')
    assert old['finder GET /v1/clusters'] == 3
    assert not any(key.startswith('modern') for key in old)
    assert who_uses(retiring, '1.9') == {'modern GET /v1/clusters': 1}
    assert who_uses(retiring, '1.6') == {}


def test_metrics_when_requested_through_a_proxy_are_forbidden(
    retiring: Deployment,
) -> None:
    response = requests.get(
        f'{retiring.url}/metrics',
        headers={'X-Forwarded-For': '127.0.0.1'},
        timeout=TIMEOUT,
    )

    assert response.status_code == 403
    assert '[api] metrics' in response.json()['errors'][0]['detail']


def test_api_when_a_retired_version_does_not_exist_fails_to_start(
    retiring: Deployment,
) -> None:
    settings = {'api': {'retire': '1.99 sunset=2030-01-01'}}
    completed = run(
        retiring, *retiring.command('api', name='bad', settings=settings)
    )

    assert completed.returncode == 2
    assert 'retire = 1.99' in completed.stderr
    assert 'Traceback' not in completed.stderr
