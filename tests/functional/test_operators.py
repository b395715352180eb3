# SPDX-License-Identifier: Apache-2.0
"""Readiness, health checks, logs and metrics for operators.

The tests start the processes with the commands and restrictions of the systemd
units.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import pathlib
import re
import shlex
import shutil
import socket
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.functional import deployments
from tests.functional.processes import (
    EXEC_SCRIPT,
    TIMEOUT,
    Process,
    wait_for,
)
from tests.programs import run_program
from vobjects.clustering import history

UNITS = pathlib.Path(__file__).parents[2] / 'etc' / 'systemd'


@contextlib.contextmanager
def systemd() -> Iterator[socket.socket]:
    """Listen for readiness notifications, like systemd."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f'\0vobjects-test-{uuid.uuid4().hex}')
        listening.settimeout(0.1)
        yield listening


def start(
    deployment: deployments.Deployment, unit: str, listening: socket.socket
) -> Process:
    """Start the process of a unit and wait until it is ready."""
    text = (UNITS / unit).read_text()
    match = re.search(r'^ExecStart=(.*)$', text, re.MULTILINE)
    assert match is not None
    _program, command, *words = shlex.split(match[1].replace('%i', '1'))
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options.pop('--config-file') == '/etc/vobjects/vobjects.conf'
    if '--metrics-port' in options:
        assert options['--metrics-port'] == '9101'
        options['--metrics-port'] = '0'
    name = listening.getsockname().decode().replace('\0', '@')
    more = [word for pair in options.items() for word in pair]
    process = deployment.group.start(
        command,
        shutil.which('env') or '',
        f'NOTIFY_SOCKET={name}',
        *(sys.executable, '-I', '-S', str(EXEC_SCRIPT), '--sandbox'),
        *deployment.command(command, *more),
        stop_order=command == 'engine',
    )

    def notification() -> bytes:
        deployment.group.assert_alive()
        with contextlib.suppress(TimeoutError):
            return listening.recv(512)
        return b''

    assert wait_for(f'{command} is ready', notification) == b'READY=1'
    return process


def lines(process: Process) -> list[dict[str, Any]]:
    """Return the log of a process; each complete line is JSON."""
    text = process.log.read_text()
    whole = text[: text.rfind('\n') + 1]
    return [json.loads(line) for line in whole.splitlines()]


def metrics_at(url: str) -> dict[str, float]:
    """Return the metrics at a URL: series and value."""
    response = requests.get(url, timeout=TIMEOUT)
    assert response.status_code == 200
    values = {}
    for line in response.text.splitlines():
        if not line.startswith('#'):
            series, _, number = line.rpartition(' ')
            values[series] = float(number)
    return values


def metrics_of(engine: Process) -> dict[str, float]:
    """Return the metrics of an engine; its log has their URL."""
    (url,) = [
        line['args'][0]
        for line in lines(engine)
        if line['msg'].startswith('Serving metrics at')
    ]
    return metrics_at(url)


def unfinished(deployment: deployments.Deployment) -> list[Any]:
    return deployment.rows('SELECT id FROM actions WHERE end_time IS NULL')


def healthcheck(deployment: deployments.Deployment) -> tuple[int, str]:
    response = requests.get(f'{deployment.url}/healthcheck', timeout=TIMEOUT)
    return response.status_code, response.text


def exceed_quota(
    deployment: deployments.Deployment, profile: str
) -> list[str]:
    """Create concurrent clusters; return the messages of those rejected."""
    content = {'name': 'c', 'profile_id': profile}

    def create(_: int) -> str:
        with deployment.rest() as rest:
            response = rest.request(
                'POST', '/v1/clusters', {'cluster': content}
            )
        if response.status_code == 202:
            return ''
        assert response.status_code == 403, response.text
        return str(response.json()['error']['message'])

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        return [
            message for message in threads.map(create, range(8)) if message
        ]


@pytest.fixture(
    params=[deployments.Platform('embedded', 'postgresql').parameter()]
)
def deployment(
    request: pytest.FixtureRequest, tmp_path: pathlib.Path
) -> Iterator[deployments.Deployment]:
    """A database without processes."""
    settings = {
        'DEFAULT': {'use_json': 'true'},
        'engine': {
            'metrics_cache': 0,
            'max_clusters_per_project': 3,
            'event_retention': 0.00001,  # days
            'purge_interval': 1,
        },
        'fleet': {'call_timeout': 30},
    }
    with deployments.deployed(request.param, tmp_path, settings) as running:
        yield running


def test_engine_when_the_port_of_its_metrics_is_in_use_leaves_the_fleet(
    deployment: deployments.Deployment,
) -> None:
    with socket.create_server(('127.0.0.1', 0)) as other:
        port = other.getsockname()[1]
        settings = {'engine': {'metrics_port': port}}
        completed = run_program(
            deployment.command('engine', name='blocked', settings=settings),
            timeout=TIMEOUT,
            env=deployment.group.environment(),
        )
    assert completed.returncode == 1, completed.stderr
    reason = f'cannot serve metrics on 127.0.0.1 port {port}'
    assert reason in completed.stderr
    assert deployment.engine_ids() == set()


def test_readiness_health_logs_and_metrics(
    deployment: deployments.Deployment,
) -> None:
    assert 'up to date' in deployment.run('db', 'check')
    with systemd() as listening:
        engine = start(deployment, 'vobjects-engine@.service', listening)
        assert len(deployment.engine_ids()) == 1
        api = start(deployment, 'vobjects-api.service', listening)
    deployment.wait_until_served()
    assert healthcheck(deployment) == (200, 'engines answer')

    with deployment.rest() as rest:
        profile = rest.create_profile()
        cluster, action = rest.start_cluster(profile, 2)
        rest.wait_for_success(action)
        (row,) = deployment.rows(
            'SELECT request_id FROM actions WHERE id = :id', id=action
        )

    def ends() -> list[dict[str, Any]]:
        return [
            line['context']
            for line in lines(engine)
            if line['context'].get('action_id') == action
            and 'SUCCEEDED' in line['message']
        ]

    (context,) = wait_for('the end is logged', ends)
    assert context['request_id'] == row.request_id
    assert context['cluster_id'] == cluster
    messages = [
        line['message']
        for line in lines(api)
        if line['context'].get('request_id') == row.request_id
    ]
    assert any('POST /v1/clusters ' in message for message in messages)

    # Probes of containers wait for the metrics.
    logged = [line['message'] for line in lines(engine)]
    (served,) = (n for n, m in enumerate(logged) if 'Serving vobjects' in m)
    (measured,) = (n for n, m in enumerate(logged) if 'Serving metrics' in m)
    assert served < measured
    values = metrics_of(engine)
    for series in (
        'vobjects_engine_actions_ended_total'
        '{action="NODE_CREATE",status="SUCCEEDED"}',
        'vobjects_engine_action_duration_seconds_count{action="NODE_CREATE"}',
    ):
        assert values[series] == 2
    created = '{request="ClusterCreateRequest",result="ok"}'
    assert values[f'vobjects_engine_requests_total{created}'] == 1
    assert values['vobjects_actions{status="READY"}'] == 0
    assert values['vobjects_locks'] == 0
    newest = history.MAXIMUM.minor
    assert values['vobjects_fleet_served_maximum_minor'] == newest
    ages = [s for s in values if 'fleet_heartbeat_age_seconds{' in s]
    assert len(ages) == 2
    assert any(
        'route="/healthcheck"' in series
        for series in metrics_at(f'{deployment.url}/metrics')
    )

    rejections = exceed_quota(deployment, profile)
    assert len(rejections) == 6
    for rejection in rejections:
        assert rejection.startswith(
            'Quota exceeded for resources. The project'
        )
    wait_for('all actions have ended', lambda: not unfinished(deployment))

    wait_for(
        'the engine purges events',
        lambda: not deployment.rows('SELECT id FROM events'),
    )
    purged = deployment.run('db', 'purge', '--older-than', '0s')
    assert purged.splitlines()[-1].startswith('5 actions and 0 events')
    with deployment.rest() as rest:
        assert rest.get('/v1/actions') == []
        assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'

    assert engine.stop() == 0
    deployment.group.remove(engine)
    wait_for('the API is unhealthy', lambda: healthcheck(deployment)[0] == 503)
    assert not [
        line
        for process in (engine, api)
        for line in lines(process)
        if line['levelname'] in ('ERROR', 'CRITICAL')
    ]
