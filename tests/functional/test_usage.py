# SPDX-License-Identifier: Apache-2.0
"""Metrics of several API processes, and ``vobjects api who-uses``."""

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


@pytest.fixture(scope='module')
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Two API processes."""
    directory = tmp_path_factory.mktemp('counting')
    with deployed(Platform('embedded', 'sqlite'), directory) as service:
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


def test_metrics_add_up_over_processes(counting: Deployment) -> None:
    wait_until_both_count(counting)
    for _ in range(24):
        assert get(counting, '1.1', 'adder/1.0').status_code == 200
    get(counting, '1.1', 'adder/1.0', '/v1/clusters/secret-name')

    # Both processes report the total.
    for _ in range(4):
        text = requests.get(f'{counting.url}/metrics', timeout=TIMEOUT).text
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
    counting: Deployment,
) -> None:
    for _ in range(3):
        get(counting, '1.2', 'finder/2.0 python/3')
    get(counting, '1.9', 'modern/1.0')

    old = who_uses(counting, '1.0-1.2')
    assert old['finder GET /v1/clusters'] == 3
    assert not any(key.startswith('modern') for key in old)
    assert who_uses(counting, '1.9') == {'modern GET /v1/clusters': 1}
    assert who_uses(counting, '1.6') == {}
