# SPDX-License-Identifier: Apache-2.0
"""The containers of ``etc/docker/compose.yaml``.

The tests use the same containers: a rolling upgrade, monitoring, then
authentication.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import urllib.parse
from collections.abc import Iterator

import pytest
import requests

from tests.functional import browser as browsers
from tests.functional.browser import Browser
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.prometheus import DASHBOARD
from tests.functional.rest import NEWEST, RestClient
from tests.upgrade import compose, load_balancer, mixed_fleet
from tests.upgrade.workload import Workload
from vobjects.objects import manifest as manifests

pytestmark = [
    pytest.mark.long,
    pytest.mark.docker,
    pytest.mark.chromium,
]


@pytest.fixture(scope='module')
def stack() -> Iterator[compose.Stack]:
    manifest = {**manifests.local(), **mixed_fleet.OLD_TYPES}
    with compose.running(json.dumps(manifest)) as running:
        yield running


@pytest.fixture
def window(tmp_path: pathlib.Path) -> Iterator[Browser]:
    with browsers.running(tmp_path) as browser:
        yield browser


def address(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc


def test_rolling_upgrade_under_load_fails_no_request(
    stack: compose.Stack, window: Browser
) -> None:
    for service in (*compose.ENGINES, *compose.APIS):
        assert stack.inspect(service)['Config']['User'] == '8777'
    with load_balancer.running() as balancer:
        for url in stack.urls.values():
            balancer.add(address(url))
        workload = Workload(balancer.url, 3)
        workload.start()
        try:
            workload.wait_for_rounds()
            window.open(f'{balancer.url}/ui')
            window.wait_for('1.7 is served now', '#maximum')

            stack.run('db', 'expand')
            for count, service in enumerate(compose.ENGINES, 1):
                stack.replace(service, compose.NEW)
                workload.wait_for_rounds()
                if count == 1:
                    window.wait_for('1 of 2', '.progress')
            for service in compose.APIS:
                balancer.drain(address(stack.urls[service]))
                stack.replace(service, compose.NEW)
                balancer.add(address(stack.urls[service]))
                workload.wait_for_rounds()
            window.wait_for(f'{NEWEST} is served now', '#maximum')
            stack.run('db', 'contract')
            stack.run('db', 'check')
            workload.wait_for_rounds()
        finally:
            workload.stop()
    workload.assert_no_failures()


def test_added_prometheus_scrapes_all_processes_and_raises_alerts(
    stack: compose.Stack,
) -> None:
    with compose.with_monitoring(stack) as prometheus:
        for url in stack.urls.values():
            with RestClient(url) as client:
                client.create_cluster(client.create_profile(), 1)
        prometheus.wait_until_scraped(len(compose.APIS) + len(compose.ENGINES))
        # At the places that its provisioning names.
        dashboard = stack.compose(
            *('exec', '-T', 'grafana', 'cat'),
            '/var/lib/grafana/dashboards/vobjects.json',
        )
        assert dashboard == DASHBOARD.read_text()
        prometheus.assert_dashboard_has_data()

        def wait_for_alert(state: str) -> None:
            wait_for(
                f'the alert is {state}',
                lambda: prometheus.states()['VobjectsNoEngine'] == state,
                # A scrape, two evaluations and the time of the rule.
                timeout=TIMEOUT + 60 + 3 * compose.SCRAPE_INTERVAL,
            )

        wait_for_alert('inactive')
        stack.compose('stop', *compose.ENGINES)
        wait_for_alert('firing')
        stack.compose('start', *compose.ENGINES)
        wait_for_alert('inactive')


def test_added_keystone_authenticates_callers_of_both_apis(
    stack: compose.Stack,
) -> None:
    def openstack(*words: str) -> None:
        stack.compose('exec', '-T', 'keystone', 'openstack', *words)

    with (
        compose.with_keystone(stack) as keystone,
        contextlib.ExitStack() as clients,
    ):
        assert stack.inspect('keystone')['Config']['User'] == '5000'

        def client(service: str, *user: str) -> RestClient:
            rest = clients.enter_context(RestClient(stack.urls[service]))
            if user:
                rest._session.headers['X-Auth-Token'] = keystone.token(*user)
            return rest

        # As the documentation describes it.
        openstack('project', 'create', 'web')
        openstack('user', 'create', '--password', 'alice', 'alice')
        openstack('role', 'add', '--project=web', '--user=alice', 'member')
        keystone.add_project('shop')
        keystone.add_user('bob', 'shop', 'member')

        for service in compose.APIS:
            client(service).expect(401, 'GET', '/v1/clusters')
        alice = client('api-1', 'alice', 'web')
        assert alice.get('/v1/clusters') == []
        cluster = alice.create_cluster(alice.create_profile(), 1)
        alice = client('api-2', 'alice', 'web')
        assert [c['id'] for c in alice.get('/v1/clusters')] == [cluster]
        for service in compose.APIS:
            bob = client(service, 'bob', 'shop')
            assert bob.get('/v1/clusters') == []
            bob.expect(404, 'GET', f'/v1/clusters/{cluster}')

        # A webhook acts for its owner, by a trust.
        body = {
            'name': 'out',
            'type': 'webhook',
            'cluster_id': cluster,
            'action': 'CLUSTER_SCALE_OUT',
        }
        response = alice.expect(
            201, 'POST', '/v1/receivers', {'receiver': body}
        )
        url = response.json()['receiver']['channel']['alarm_url']
        response = requests.post(url, timeout=TIMEOUT)
        assert response.status_code == 202, response.text
        alice.wait_for_success(response.json()['action'])
        (trust,) = keystone.trusts_of('alice')
        assert trust['trustee_user_id'] == keystone.id_of('users', 'vobjects')
