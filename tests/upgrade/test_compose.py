# SPDX-License-Identifier: Apache-2.0
"""A rolling upgrade of the containers of ``etc/docker/compose.yaml``."""

from __future__ import annotations

import json
import pathlib
import urllib.parse
from collections.abc import Iterator

import pytest

from tests.functional import browser as browsers
from tests.functional.browser import Browser
from tests.functional.rest import NEWEST
from tests.upgrade import compose, load_balancer, mixed_fleet
from tests.upgrade.workload import Workload
from vobjects.objects import manifest as manifests

pytestmark = [pytest.mark.docker, pytest.mark.chromium]


@pytest.fixture
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
