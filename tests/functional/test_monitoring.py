# SPDX-License-Identifier: Apache-2.0
"""Prometheus with the alert rules, and the queries of the dashboard."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
from collections.abc import Iterator

import pytest
import yaml

from tests import requirements
from tests.functional import deployments
from tests.functional.processes import free_port, wait_for
from tests.functional.prometheus import RULES, Prometheus

PAGE = pathlib.Path(__file__).parents[2] / 'doc/source/metrics.rst'


@dataclasses.dataclass(frozen=True)
class Monitored:
    """A service, and the Prometheus that scrapes it."""

    deployment: deployments.Deployment
    engine: deployments.Engine
    prometheus: Prometheus


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
        prometheus = Prometheus(f'http://127.0.0.1:{port}', interval=1)
        prometheus.wait_until_scraped(len(targets))
        yield Monitored(deployment, engine, prometheus)


def test_monitoring_files_match_the_metrics_of_a_running_service(
    monitored: Monitored,
) -> None:
    # On a busy machine, a scrape may be late.
    wait_for(
        'no alert fires',
        lambda: set(monitored.prometheus.states().values()) == {'inactive'},
    )
    monitored.prometheus.assert_dashboard_has_data()


def test_page_about_metrics_lists_those_of_a_running_service(
    monitored: Monitored,
) -> None:
    documented = set(re.findall(r'``(vobjects_\w+)``', PAGE.read_text()))
    served = {
        re.sub('_(bucket|count|sum)$', '', row['metric']['__name__'])
        for row in monitored.prometheus.query(
            '{__name__=~"vobjects_.+", __name__!~".+_created"}'
        )
    }
    assert len(served) > 20
    assert served - documented == set()


def test_alert_fires_when_the_last_engine_has_stopped(
    monitored: Monitored,
) -> None:
    assert monitored.engine.process.stop() == 0
    monitored.deployment.group.remove(monitored.engine.process)

    def state() -> str:
        return monitored.prometheus.states()['VobjectsNoEngine']

    wait_for('the alert', lambda: state() == 'firing')
