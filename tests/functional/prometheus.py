# SPDX-License-Identifier: Apache-2.0
"""A Prometheus with the alert rules, and the queries of the dashboard."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import requests

from tests.functional.processes import TIMEOUT, wait_for

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


class Prometheus:
    """A running Prometheus, whose job is ``vobjects``.

    :param url: its URL
    :param interval: seconds between two scrapes, and two evaluations of rules
    """

    def __init__(self, url: str, interval: float) -> None:
        self.url = url
        self._interval = interval

    def wait_until_scraped(self, targets: int) -> None:
        """Wait until all targets are read, often enough for rates."""
        wait_for('Prometheus is ready', self._is_ready)
        window = f'{int(2 * SCRAPES * self._interval + 60)}s'
        scrapes = (
            f'count(count_over_time(up[{window}]) >= {SCRAPES}) == {targets}'
        )
        wait_for(
            'all targets are scraped',
            lambda: self.query(scrapes),
            timeout=TIMEOUT + 2 * SCRAPES * self._interval,
        )
        down = [
            (target['scrapeUrl'], target['lastError'])
            for target in self._get('targets')['activeTargets']
            if target['health'] != 'up'
        ]
        assert down == []

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series of an expression now."""
        series: list[dict[str, Any]] = self._get('query', query=expression)[
            'result'
        ]
        return series

    def rules(self) -> list[dict[str, Any]]:
        """Return the alert rules and their states."""
        (group,) = self._get('rules')['groups']
        rules: list[dict[str, Any]] = group['rules']
        return rules

    def states(self) -> dict[str, str]:
        """Return the state of each alert: inactive, pending or firing."""
        return {rule['name']: rule['state'] for rule in self.rules()}

    def assert_dashboard_has_data(self) -> None:
        """Run the queries of all panels; check the metrics of all rules."""
        used = set()
        for rule in self.rules():
            used |= _names(rule['query'])
        for panel in json.loads(DASHBOARD.read_text())['panels']:
            for target in panel.get('targets', ()):
                names = _names(target['expr'])
                used |= names
                if names & RARE:
                    self.query(target['expr'])
                    continue
                # A rate needs two scrapes after the event.
                series = wait_for(
                    f'{panel["title"]} has data',
                    functools.partial(self.query, target['expr']),
                    timeout=TIMEOUT + SCRAPES * self._interval,
                )
                for label in re.findall(r'{{(\w+)}}', target['legendFormat']):
                    assert all(row['metric'][label] for row in series), panel
        existing = {
            name
            for row in self.query('count by (__name__) ({job="vobjects"})')
            for name in row['metric'].values()
        }
        assert used - RARE - existing == set()

    def _is_ready(self) -> bool:
        try:
            return requests.get(f'{self.url}/-/ready', timeout=TIMEOUT).ok
        except requests.ConnectionError:
            return False

    def _get(self, path: str, **parameters: str) -> Any:
        response = requests.get(
            f'{self.url}/api/v1/{path}', params=parameters, timeout=TIMEOUT
        )
        result = response.json()
        assert result['status'] == 'success', f'{parameters}: {result}'
        return result['data']


def _names(expression: str) -> set[str]:
    return set(re.findall(r'vobjects_\w+', expression))
