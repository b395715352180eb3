# SPDX-License-Identifier: Apache-2.0
"""Prometheus with the alert rules, and the queries of the dashboard."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import yaml

from tests import requirements
from tests.functional import deployments
from tests.functional.processes import TIMEOUT, free_port, wait_for

ETC = pathlib.Path(__file__).parents[2] / 'etc'
RULES = ETC / 'prometheus/vobjects.rules.yaml'
DASHBOARD = ETC / 'grafana/vobjects.json'

#: Rates need two scrapes.
SCRAPES = 3

#: Metrics of events that need not have happened.
RARE = {
    'vobjects_api_downgrades_total',
    'vobjects_api_refusals_total',
    'vobjects_engine_downgrades_total',
}


@dataclasses.dataclass(frozen=True)
class Monitored:
    """A service, and the Prometheus that scrapes it.

    :ivar url: URL of Prometheus
    """

    deployment: deployments.Deployment
    engine: deployments.Engine
    url: str


@pytest.fixture(scope='module')
def monitored(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Monitored]:
    """A service that has done some work, and its Prometheus."""
    requirements.programs('prometheus')
    tmp_path = tmp_path_factory.mktemp('monitored')
    rules = tmp_path / RULES.name
    # The alerts fire at once, not after minutes.
    rules.write_text(re.sub(r'for: \d+[sm]', 'for: 0s', RULES.read_text()))
    engine_port, port = free_port(), free_port()
    platform = deployments.Platform('embedded', 'sqlite')
    settings = {'engine': {'metrics_port': engine_port, 'metrics_cache': 0}}
    with deployments.deployed(platform, tmp_path, settings) as deployment:
        engine = deployment.start_engine('engine')
        deployment.start_api()
        with deployment.rest() as rest:
            rest.create_cluster(rest.create_profile(), 1)
        targets = [
            deployment.url.removeprefix('http://'),
            f'127.0.0.1:{engine_port}',
        ]
        config = tmp_path / 'prometheus.yaml'
        config.write_text(
            yaml.safe_dump(
                {
                    'global': {
                        'scrape_interval': '1s',
                        'evaluation_interval': '1s',
                    },
                    'rule_files': [str(rules)],
                    'scrape_configs': [
                        {
                            'job_name': 'vobjects',
                            'static_configs': [{'targets': targets}],
                        }
                    ],
                }
            )
        )
        deployment.group.start(
            'prometheus',
            shutil.which('prometheus') or '',
            f'--config.file={config}',
            f'--storage.tsdb.path={tmp_path / "tsdb"}',
            f'--web.listen-address=127.0.0.1:{port}',
        )
        url = f'http://127.0.0.1:{port}'
        wait_for('Prometheus is ready', lambda: _is_ready(url))
        scrapes = f'min(count_over_time(up[1m])) >= {SCRAPES}'
        wait_for('all targets are scraped', lambda: query(url, scrapes))
        assert [row['value'][1] for row in query(url, 'up')] == ['1', '1']
        yield Monitored(deployment, engine, url)


def _is_ready(url: str) -> bool:
    try:
        return requests.get(f'{url}/-/ready', timeout=TIMEOUT).ok
    except requests.ConnectionError:
        return False


def query(url: str, expression: str) -> list[dict[str, Any]]:
    """Return the series of an expression now."""
    response = requests.get(
        f'{url}/api/v1/query',
        params={'query': expression},
        timeout=TIMEOUT,
    )
    result = response.json()
    assert result['status'] == 'success', f'{expression}: {result}'
    series: list[dict[str, Any]] = result['data']['result']
    return series


def test_monitoring_files_match_the_metrics_of_a_running_service(
    monitored: Monitored,
) -> None:
    prometheus = monitored.url

    def rules() -> Any:
        response = requests.get(f'{prometheus}/api/v1/rules', timeout=TIMEOUT)
        (group,) = response.json()['data']['groups']
        return group['rules']

    # On a busy machine, a scrape may be late.
    wait_for(
        'no alert fires',
        lambda: {rule['state'] for rule in rules()} == {'inactive'},
    )
    existing = {
        name
        for row in query(prometheus, 'count by (__name__) ({job="vobjects"})')
        for name in row['metric'].values()
    }

    used = set()
    for rule in rules():
        used |= set(re.findall(r'vobjects_\w+', rule['query']))
    for panel in json.loads(DASHBOARD.read_text())['panels']:
        for target in panel.get('targets', ()):
            names = set(re.findall(r'vobjects_\w+', target['expr']))
            used |= names
            series = query(prometheus, target['expr'])
            if names & RARE:
                continue
            assert series, f'{panel["title"]} has no data'
            for label in re.findall(r'{{(\w+)}}', target['legendFormat']):
                assert all(row['metric'][label] for row in series), panel
    assert used - RARE - existing == set()


def test_alert_fires_when_the_last_engine_has_stopped(
    monitored: Monitored,
) -> None:
    assert monitored.engine.process.stop() == 0
    monitored.deployment.group.remove(monitored.engine.process)

    def firing() -> set[str]:
        alerts = requests.get(
            f'{monitored.url}/api/v1/alerts', timeout=TIMEOUT
        ).json()['data']['alerts']
        return {
            alert['labels']['alertname']
            for alert in alerts
            if alert['state'] == 'firing'
        }

    wait_for('the alert', lambda: 'VobjectsNoEngine' in firing())
