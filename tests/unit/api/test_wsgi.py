# SPDX-License-Identifier: Apache-2.0
"""The configuration of the application for any WSGI server."""

from __future__ import annotations

import os
import pathlib

import pytest
from oslo_config import cfg
from oslo_log import rate_limit

from api import conf as api_conf
from api import wsgi
from vobjects import exceptions
from vobjects.cli import main


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


@pytest.mark.parametrize(
    'line',
    [
        '[DEFAULT]\nlog_file = policy.d/fifo',
        '[oslo_policy]\npolicy_file = policy.d/fifo',
        '[oslo_policy]\npolicy_dirs = policy.d',
        '[api]\nauth_strategy = http_basic\n'
        '[oslo_middleware]\nhttp_basic_auth_user_file = policy.d/fifo',
    ],
)
def test_configuration_when_a_file_is_a_fifo_is_rejected(
    tmp_path: pathlib.Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'policy.d').mkdir()
    os.mkfifo(tmp_path / 'policy.d' / 'fifo')
    file = tmp_path / 'vobjects.conf'
    file.write_text(f'{line}\n')
    with pytest.raises(exceptions.VobjectsError, match='a FIFO'):
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


@pytest.mark.parametrize(
    ('level', 'expected'),
    [
        ('none', "clustering has no release 'none'"),
        ('folder', 'Is a directory'),
        ('text', 'text'),
        ('list', 'list'),
        ('version', "version: 'x' is not a version"),
        ('fifo', 'there is no such file, and'),
    ],
)
def test_upgrade_level_when_it_is_unknown_is_rejected_by_each_command(
    tmp_path: pathlib.Path,
    level: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    # The command sets it for its workers.
    monkeypatch.setenv(api_conf.CONFIG_FILES, '')
    (tmp_path / 'folder').mkdir()
    os.mkfifo(tmp_path / 'fifo')
    (tmp_path / 'text').write_text('{')
    (tmp_path / 'list').write_text('[]')
    (tmp_path / 'version').write_text('{"Cluster": "x"}')
    file = tmp_path / 'vobjects.conf'
    file.write_text(
        f'[DEFAULT]\ntransport_url = embedded://{tmp_path}/rpc\n'
        f'[upgrade_levels]\nengine = {level}\n'
    )
    for command in ('api', 'config check'):
        code = main.main([*command.split(), f'--config-file={file}'])
        text = ''.join(capsys.readouterr())
        assert (command, code) == (command, 2)
        assert expected in text


def test_application_when_never_used_closes() -> None:
    wsgi.Application().close()


def test_configuration_when_it_limits_the_log_can_be_read_again(
    tmp_path: pathlib.Path,
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text(
        '[DEFAULT]\nrate_limit_interval = 1\nrate_limit_burst = 100\n'
    )
    try:
        for _ in range(2):
            assert wsgi.configuration([str(file)]).rate_limit_burst == 100
    finally:
        rate_limit.uninstall_filter()


@pytest.mark.parametrize('option', ['log_file', 'log_config_append'])
def test_configuration_when_the_log_cannot_be_opened_names_the_options(
    tmp_path: pathlib.Path, option: str
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text(f'[DEFAULT]\n{option} = {tmp_path}/none/x.log\n')
    with pytest.raises(exceptions.VobjectsError, match=f'correct.*{option}'):
        wsgi.configuration([str(file)])
