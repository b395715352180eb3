# SPDX-License-Identifier: Apache-2.0
"""The systemd units, as systemd reads them.

:mod:`tests.functional.test_operators` runs what they start.
"""

from __future__ import annotations

import pathlib
import shutil
import sys

import pytest
from oslo_config import cfg

from api import conf as api_conf
from engine import conf as engine_conf
from tests.programs import run_program

UNITS = pathlib.Path(__file__).parents[3] / 'etc' / 'systemd'
NAMES = sorted(path.name for path in UNITS.glob('*.service'))

INSTALLED = '/opt/vobjects/bin/vobjects'


def settings(name: str) -> dict[str, str]:
    """Return the settings of a unit; of several the last."""
    lines = (UNITS / name).read_text().splitlines()
    return dict(line.split('=', 1) for line in lines if line[:1].isalpha())


def test_each_kind_of_process_has_a_unit() -> None:
    assert NAMES == ['vobjects-api.service', 'vobjects-engine@.service']
    for name in NAMES:
        assert settings(name)['ExecStart'].startswith(f'{INSTALLED} ')


@pytest.mark.parametrize('name', NAMES)
def test_systemd_finds_no_fault(name: str, tmp_path: pathlib.Path) -> None:
    analyze = shutil.which('systemd-analyze')
    if analyze is None:
        return  # systemd is not installed
    command = pathlib.Path(sys.executable).with_name('vobjects')
    assert command.exists()
    unit = tmp_path / name.replace('@', '@1')
    text = (UNITS / name).read_text()
    unit.write_text(text.replace(INSTALLED, str(command)))
    result = run_program(
        [analyze, 'verify', '--man=no', str(unit)], timeout=600
    )
    faults = [line for line in result.stderr.splitlines() if unit.name in line]
    assert faults == []


def test_systemd_waits_longer_than_the_stop_timeout() -> None:
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    engine_conf.register(conf)
    conf([], default_config_files=[], default_config_dirs=[])
    for name, seconds in (
        ('vobjects-api.service', conf.api.stop_timeout),
        ('vobjects-engine@.service', conf.engine.stop_timeout),
    ):
        assert int(settings(name)['TimeoutStopSec']) > seconds
