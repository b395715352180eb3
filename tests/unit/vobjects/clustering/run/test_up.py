# SPDX-License-Identifier: Apache-2.0
"""Options that `vobjects up` rejects before it starts processes."""

import importlib.metadata
import io
import os
import signal
import socket
import subprocess
import sys
from argparse import Namespace

import pytest

from tests.programs import run_program
from vobjects.cli import main, terminal
from vobjects.clustering.run import state, up, welcome


def usage_error(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main.main(['up', *arguments])
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    'host', ['0.0.0.0', '::', '192.0.2.1', 'example.org', '', '127.0.0.1:80']
)
def test_up_when_host_is_not_loopback_exits_2(host, capsys):
    assert 'is not a loopback address' in usage_error(capsys, '--host', host)


@pytest.mark.parametrize(
    ('option', 'value'),
    [
        ('--port', '65536'),
        ('--port', '-1'),
        ('--port', 'http'),
        ('--engines', '0'),
        ('--engines', '1e1'),
        ('--workers', '0'),
        ('--workers', '1000'),
    ],
)
def test_up_when_number_is_out_of_range_exits_2(option, value, capsys):
    assert 'is not a whole number from' in usage_error(
        capsys, f'{option}={value}'
    )


def test_up_when_config_file_is_missing_exits_2(tmp_path, capsys):
    error = usage_error(capsys, '--config-file', str(tmp_path / 'none.conf'))
    assert 'none.conf is not a file' in error


def test_up_when_the_provider_is_not_installed_names_the_command(
    capsys, monkeypatch
):
    installed = importlib.metadata.entry_points

    def without_providers(**parameters):
        found = installed(**parameters)
        is_hidden = parameters.get('group') == 'vobjects.providers'
        return importlib.metadata.EntryPoints() if is_hidden else found

    monkeypatch.setattr(importlib.metadata, 'entry_points', without_providers)
    message = usage_error(capsys, '--provider=docker')
    assert "run: pip install 'vobjects-clustering[docker]'" in message


def run_up(*arguments):
    return run_program([sys.executable, '-m', 'vobjects', 'up', *arguments])


def test_up_when_state_directory_cannot_be_created_exits_2(tmp_path):
    (tmp_path / 'file').touch()
    result = run_up('--state-dir', str(tmp_path / 'file' / 'below'))
    assert result.returncode == 2
    assert result.stderr.startswith('vobjects up: the directory ')
    assert '--state-dir' in result.stderr
    assert 'Traceback' not in result.stderr


def test_up_when_port_is_taken_then_exits_2(tmp_path):
    with socket.create_server(('127.0.0.1', 0)) as server:
        port = server.getsockname()[1]
        result = run_up(f'--state-dir={tmp_path}', f'--port={port}')
    assert result.returncode == 2
    assert f'cannot listen on 127.0.0.1 port {port}' in result.stderr
    assert '--port' in result.stderr


def test_reserved_port_is_free_for_a_server_only():
    port = up.reserve_port('127.0.0.1', 0)
    with (
        socket.socket() as other,
        pytest.raises(OSError, match='Address already in use'),
    ):
        other.bind(('127.0.0.1', port))
    with socket.create_server(('127.0.0.1', port)):
        pass


def test_up_when_state_directory_is_in_use_then_exits_2(tmp_path):
    lock = state.StateDirectory(tmp_path).lock()
    result = run_up(f'--state-dir={tmp_path}', '--port=0')
    os.close(lock)
    assert result.returncode == 2
    assert f'in use by process {os.getpid()}' in result.stderr


def test_up_when_interrupted_ends_the_checks(tmp_path, monkeypatch):
    started = []

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    def command(files, *words):
        program = 'import os, signal;'
        if words[0] == 'db':  # it starts last
            program += 'os.kill(os.getppid(), signal.SIGINT);'
        return sys.executable, '-c', f'{program} signal.pause()'

    monkeypatch.setattr(up, '_command', command)
    monkeypatch.setattr(subprocess, 'Popen', Recorded)
    # A shell starts its background jobs with this signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    screen = terminal.Terminal(io.StringIO())
    directory = state.StateDirectory(tmp_path / 'state')
    try:
        with pytest.raises(KeyboardInterrupt):
            up._prepare(directory, [], [], screen)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [p.wait() for p in started] == [-signal.SIGTERM] * 2


@pytest.mark.parametrize(
    ('text', 'allowed'),
    [
        (None, True),
        ('[api]\nauth_strategy = none\n', True),
        ('[api]\nauth_strategy = http_basic\n', False),
        ('no option\n', False),
    ],
)
def test_loopback_is_allowed_while_authentication_is_off(
    tmp_path, text, allowed
):
    files = []
    if text is not None:
        files = [tmp_path / 'own.conf']
        files[0].write_text(text)
    options = Namespace(
        provider=None,
        transport_url=None,
        database=None,
        host='127.0.0.1',
        workers=1,
        config_file=files,
    )
    directory = state.StateDirectory(tmp_path / 'state')
    sections = up.configuration(options, directory, 8777)
    for group in ('hooks', 'health_manager'):
        assert (group in sections) == allowed
        if allowed:
            forbidden = sections[group]['forbidden_networks']
            assert forbidden == '169.254.0.0/16,fe80::/10'


def test_commands_when_callers_authenticate_have_credentials():
    for strategy, needed in (
        ('keystone', 'X-Auth-Token'),
        ('http_basic', '-u USER:PASSWORD'),
    ):
        text = '\n'.join(welcome.commands(strategy, 'http://[::1]:1'))
        assert needed in text
        assert 'http://[::1]:1' in text
        assert '--os-auth-type none' not in text
    assert '--os-auth-type none' in '\n'.join(
        welcome.commands('none', 'http://x')
    )
