# SPDX-License-Identifier: Apache-2.0
"""A temporary loss of the database: 503, few log lines, no lost data."""

from __future__ import annotations

import pathlib
import time
from collections import Counter
from collections.abc import Iterator

import pytest
import sqlalchemy

from tests import tcp_proxy
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.processes import wait_for

#: Duration of the outage in seconds.
OUTAGE = 6

#: Timeout of requests in seconds, which the service must not exceed.
TIMEOUT = 60

SERVERS = [
    Platform('embedded', 'postgresql').parameter(),
    Platform('embedded', 'mysql').parameter(),
]


@pytest.fixture(params=SERVERS)
def service(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[tuple[Deployment, tcp_proxy.TcpProxy]]:
    """A service whose engines reach the database through a proxy."""
    with deployed(request.param, tmp_path) as deployment:
        url = sqlalchemy.make_url(deployment.database_url)
        with tcp_proxy.running(str(url.host), int(url.port or 0)) as proxy:
            through = url.set(port=proxy.port)
            connection = through.render_as_string(hide_password=False)
            for number in (1, 2):
                deployment.start_engine(
                    f'engine-{number}',
                    settings={'database': {'connection': connection}},
                )
            deployment.start_api()
            yield deployment, proxy
            proxy.restore()
            deployment.group.close()


def lines_of(deployment: Deployment) -> Counter[str]:
    """Return the number of lines in the log of each engine."""
    return Counter(
        {
            name: len(path.read_text().splitlines())
            for name, path in deployment.group.logs()
            if name.startswith('engine')
        }
    )


def test_lost_database_when_it_returns_then_nothing_was_lost(
    service: tuple[Deployment, tcp_proxy.TcpProxy],
) -> None:
    deployment, proxy = service
    with deployment.rest(timeout=TIMEOUT) as rest:
        profile = rest.create_profile()
        before = lines_of(deployment)
        proxy.cut()
        statuses: Counter[int] = Counter()
        until = time.monotonic() + OUTAGE
        while time.monotonic() < until:
            for response in (
                rest.request('GET', '/v1/clusters'),
                rest.request('GET', f'/v1/profiles/{profile}'),
                rest.request(
                    'POST',
                    '/v1/clusters',
                    {'cluster': {'name': 'c', 'profile_id': profile}},
                ),
            ):
                statuses[response.status_code] += 1
                assert 'Traceback' not in response.text
                if response.status_code == 503:
                    assert response.headers['Retry-After']
        proxy.restore()
        assert set(statuses) == {503}, statuses
        for name, count in (lines_of(deployment) - before).items():
            assert count < 20, f'{name} logged {count} lines'
        wait_for(
            'clusters can be read again',
            lambda: rest.request('GET', '/v1/clusters').status_code == 200,
        )
        assert rest.get('/v1/clusters') == []
        cluster, action = rest.start_cluster(profile, 2)
        rest.wait_for_success(action)
        assert len(rest.nodes(cluster)) == 2
    for _, path in deployment.group.logs():
        text = path.read_text()
        if path.name.startswith('engine'):
            assert text.count('does not answer: ') < 5
            assert ' answers again, after ' in text
    deployment.assert_tidy()
