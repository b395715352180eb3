# SPDX-License-Identifier: Apache-2.0
"""Configuration files and options that commands require."""

from __future__ import annotations

import pathlib

import pytest

from tests.unit.vobjects.clustering.run.test_config_check import configured
from vobjects.cli import settings


def _write(folder, text):
    path = folder / 'vobjects.conf'
    path.write_text(text)
    return str(path)


def test_require_bus_when_only_the_default_is_set_names_the_option(tmp_path):
    with pytest.raises(settings.NotConfigured, match='transport_url is not'):
        settings.require_bus(configured(_write(tmp_path, '[fleet]\n')))


def test_require_bus_when_set_returns_it(tmp_path):
    file = _write(tmp_path, '[DEFAULT]\ntransport_url = rabbit://\n')
    assert settings.require_bus(configured(file)) == 'rabbit://'


def test_default_state_directory_when_xdg_state_home_is_set_then_below_it(
    monkeypatch,
):
    monkeypatch.setenv('XDG_STATE_HOME', '/var/state')
    assert settings.default_state_directory() == pathlib.Path(
        '/var/state/vobjects'
    )


@pytest.mark.parametrize('home', ['', 'relative/path'])
def test_default_state_directory_when_xdg_is_relative_then_usual_place(
    home, monkeypatch
):
    monkeypatch.setenv('XDG_STATE_HOME', home)
    monkeypatch.setenv('HOME', '/home/someone')
    assert settings.default_state_directory() == pathlib.Path(
        '/home/someone/.local/state/vobjects'
    )
