# SPDX-License-Identifier: Apache-2.0
"""The alert rules, as promtool reads them.

:mod:`tests.functional.test_monitoring` runs Prometheus with them.
"""

from __future__ import annotations

import pathlib
import subprocess

from tests import requirements

RULES = (
    pathlib.Path(__file__).parents[3] / 'etc/prometheus/vobjects.rules.yaml'
)
CASES = pathlib.Path(__file__).with_name('prometheus_rules_test.yaml')


def promtool(*words: str) -> None:
    """Run promtool; skip the test without it, and fail it in CI."""
    requirements.programs('promtool')
    result = subprocess.run(
        ['promtool', *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_rules_are_valid() -> None:
    promtool('check', 'rules', str(RULES))


def test_configuration_for_compose_is_valid() -> None:
    # It names the file of the rules, which is beside it.
    promtool('check', 'config', str(RULES.with_name('compose.yaml')))


def test_rules_fire_for_failures_only(tmp_path: pathlib.Path) -> None:
    cases = tmp_path / 'cases.yaml'
    cases.write_text(CASES.read_text().replace('RULES', str(RULES)))

    promtool('test', 'rules', str(cases))
