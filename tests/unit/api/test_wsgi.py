# SPDX-License-Identifier: Apache-2.0
"""The configuration of the application for any WSGI server."""

from __future__ import annotations

import os
import pathlib

import pytest
from oslo_config import cfg

from api import conf as api_conf
from api import wsgi
from vobjects import exceptions


def test_configuration_when_files_are_named_reads_them_in_order(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / 'a.conf', tmp_path / 'b.conf'
    first.write_text('[api]\nport = 1000\nworkers = 2\n')
    second.write_text('[api]\nport = 2000\n')
    named = os.pathsep.join([str(first), str(second)])
    monkeypatch.setenv(api_conf.CONFIG_FILES, named)
    conf = wsgi.configuration()
    assert (conf.api.port, conf.api.workers) == (2000, 2)


def test_configuration_when_it_limits_bodies_as_senlins_does_is_heard(
    tmp_path: pathlib.Path,
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text('[oslo_middleware]\nmax_request_body_size = 2048\n')
    assert wsgi.configuration([str(file)]).api.max_body_size == 2048


def test_configuration_when_a_file_is_missing_is_an_error(
    tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(cfg.Error):
        wsgi.configuration([str(tmp_path / 'none.conf')])


@pytest.mark.parametrize(
    'line', ['port = x', 'auth_strategy = magic', 'threads = 0']
)
def test_configuration_when_a_value_is_bad_is_an_error(
    tmp_path: pathlib.Path, line: str
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text(f'[api]\n{line}\n')
    with pytest.raises(cfg.Error, match=line.partition(' ')[0]):
        wsgi.configuration([str(file)])


def test_configuration_when_the_metrics_port_is_public_is_rejected(
    tmp_path: pathlib.Path,
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text('[api]\nhost = 0.0.0.0\n')
    with pytest.raises(exceptions.VobjectsError, match='auth_strategy'):
        wsgi.configuration([str(file)])


@pytest.mark.parametrize(
    ('lines', 'expected'),
    [
        (['1.2'], 'needs a date'),
        (['1.2 sunset=soon'], 'retire = 1.2 sunset=soon.* not a date'),
        (['1.07 sunset=2030-01-01'], 'is not a version'),
        (['1.99 sunset=2030-01-01'], 'versions of the service'),
        (['1.0-1.3 sunset=2030-01-01', '1.3 sunset=2030-01-01'], 'twice'),
    ],
)
def test_configuration_when_a_version_cannot_be_retired_is_rejected(
    tmp_path: pathlib.Path, lines: list[str], expected: str
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text(
        '[api]\n' + ''.join(f'retire = {line}\n' for line in lines)
    )
    with pytest.raises(exceptions.VobjectsError, match=expected):
        wsgi.configuration([str(file)])


def test_application_when_never_used_closes() -> None:
    wsgi.Application().close()
