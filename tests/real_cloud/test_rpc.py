# SPDX-License-Identifier: Apache-2.0
"""RPC of Nova and Neutron, between processes with either RabbitMQ driver.

``tools/openstack up --driver`` selects the driver of the servers.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import pytest

from tests import machine_speed
from tests.functional.rest import unique
from tests.real_cloud import environment, plugins
from tests.real_cloud.cloud import Cloud

#: Seconds for a script to load a service and to call it.
TIMEOUT = 300 * machine_speed.scale()


@pytest.fixture(scope='module', params=['rabbit', 'pyamqp'])
def driver(request: pytest.FixtureRequest) -> str:
    """Scheme of the client's ``transport_url``."""
    return str(request.param)


@pytest.fixture(scope='module')
def modules(
    cloud: Cloud, tmp_path_factory: pytest.TempPathFactory
) -> pathlib.Path:
    """A directory with this library, for clients."""
    directory = tmp_path_factory.mktemp('rpc') / 'modules'
    environment.install_driver(cloud.venv, directory)
    return directory


def call(
    cloud: Cloud, modules: pathlib.Path, driver: str, service: str, word: str
) -> Any:
    """Return the response to a client whose URL has another scheme."""
    text = (cloud.settings.etc(service) / f'{service}.conf').read_text()
    url = cloud.settings.transport_url
    assert url in text
    file = modules.with_name(f'{service}-{driver}.conf')
    file.write_text(
        text.replace(url, url.replace(cloud.settings.driver, driver, 1))
    )
    folder = pathlib.Path(plugins.__file__).parent
    completed = subprocess.run(
        [
            *(cloud.venv / 'bin/python', '-W', 'ignore', '-m', 'rpc_client'),
            *(service, file, word),
        ],
        env={
            **cloud.processes.environment(),
            'PYTHONPATH': f'{modules}:{folder}',
        },
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
    )
    return json.loads(completed.stdout)


@pytest.mark.parametrize('topic', ['conductor', 'scheduler', 'compute'])
def test_ping_of_nova_returns_its_argument(
    cloud: Cloud, modules: pathlib.Path, driver: str, topic: str
) -> None:
    response = call(cloud, modules, driver, 'nova', topic)
    assert response == {'service': topic, 'arg': 'hello'}


def test_report_to_neutron_registers_the_agent(
    cloud: Cloud, modules: pathlib.Path, driver: str, admin: Any
) -> None:
    host = unique('host')
    assert call(cloud, modules, driver, 'neutron', host) == 'new'
    assert [agent.host for agent in admin.network.agents(host=host)] == [host]
