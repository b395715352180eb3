# SPDX-License-Identifier: Apache-2.0
"""The complete service in ``doc/examples/keys``, with real processes."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest
import requests

from tests import machine_speed
from tests.functional import brokers
from tests.functional.processes import (
    TIMEOUT,
    Process,
    ProcessGroup,
    wait_for,
    wait_for_url,
)

EXAMPLES = pathlib.Path(__file__).parents[2] / 'doc' / 'examples'


class Deployment:
    """Processes of the example with one configuration file."""

    def __init__(self, group: ProcessGroup, file: pathlib.Path) -> None:
        self.group = group
        self.file = file

    def start(self, module: str, name: str, stop_order: int) -> Process:
        command = (sys.executable, '-m', f'keys.{module}', str(self.file))
        return self.group.start(name, *command, stop_order=stop_order)

    def start_api(self) -> str:
        """Start the API and return its URL."""
        return wait_for_url(self.group, self.start('api', 'api', 0))


@pytest.fixture(
    params=['embedded', pytest.param('rabbit', marks=pytest.mark.rabbit)]
)
def deployment(
    request: pytest.FixtureRequest,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Deployment]:
    """A configuration for one transport, and processes that stop cleanly."""
    monkeypatch.setenv('PYTHONPATH', str(EXAMPLES))
    monkeypatch.setenv('NO_PROXY', '*')
    monkeypatch.syspath_prepend(str(EXAMPLES))
    file = tmp_path / 'keys.conf'
    with brokers.temporary(request.param) as url:
        file.write_text(
            f'[DEFAULT]\ntransport_url = {url}\n'
            f'[database]\nconnection = sqlite:///{tmp_path}/keys.sqlite\n'
            f'[fleet]\nheartbeat_interval = {2 * machine_speed.scale()}\n'
        )
        group = ProcessGroup(tmp_path, str(tmp_path))
        try:
            yield Deployment(group, file)
        finally:
            problems = group.close()
        assert problems == []


def send(method: str, url: str, version: str, body: str = '') -> str:
    """Send a request until the fleet serves it, and return the response."""
    headers = {'OpenStack-API-Version': f'keys {version}'}

    def text() -> str:
        response = requests.request(
            method, url, data=body, headers=headers, timeout=TIMEOUT
        )
        return '' if response.status_code == 503 else response.text

    return wait_for(f'{method} {url} is served', text)


def test_example_serves_requests_and_hides_tracebacks(
    deployment: Deployment,
) -> None:
    deployment.start('engine', 'engine', 1)
    url = deployment.start_api()
    assert '"note":"x"' in send(
        'POST', url, '1.1', '{"name": "first", "note": "x"}'
    )
    assert send('GET', f'{url}/first', '1.0') == '{"name":"first"}'
    missing = send('GET', f'{url}/second', '1.1')
    assert "There is no key 'second'." in missing
    for leak in ('Traceback', '.py', 'raise ', 'line '):
        assert leak not in missing
