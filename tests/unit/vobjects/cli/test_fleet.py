# SPDX-License-Identifier: Apache-2.0
"""Results of `vobjects fleet` that need no message bus."""

from __future__ import annotations

import getpass
import json
import os
import pwd
import re
import socket

import pytest

from tests.unit.vobjects.rpc.memory_ledger import MemoryLedger
from vobjects import service
from vobjects.cli import fleet, main
from vobjects.objects import manifest
from vobjects.rpc import client_process
from vobjects.rpc.fleet import Member


def test_manifest_when_printed_then_a_manifest_file(tmp_path, capsys):
    assert fleet.main(['manifest']) == 0
    file = tmp_path / 'manifest.json'
    file.write_text(capsys.readouterr().out)
    assert manifest.Manifest.load(file) == manifest.local()


def test_manifest_when_of_a_microversion_has_its_versions(capsys):
    assert fleet.main(['manifest', '1.7']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['ClusterCreateRequest'] == '1.1'
    assert shown['ClusterDeleteRequest'] == '1.0'
    assert fleet.main(['manifest', '1.6']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['ClusterCreateRequest'] == '1.0'
    assert 'Service' not in shown


def test_manifest_when_another_service_is_installed_then_its_own(
    monkeypatch, capsys
):
    clustering = service.find('clustering')
    monkeypatch.setattr(service, 'installed', lambda: ['keys'])
    monkeypatch.setattr(service, 'find', {'keys': clustering}.__getitem__)
    assert fleet.main(['manifest']) == 0
    assert 'ClusterCreateRequest' in json.loads(capsys.readouterr().out)


def test_fleet_when_several_services_are_installed_then_exits_2(
    monkeypatch, capsys
):
    monkeypatch.setattr(service, 'installed', lambda: ['clustering', 'keys'])
    assert main.main(['fleet', 'manifest']) == 2
    assert 'choose one with --service NAME' in capsys.readouterr().err


def test_can_roll_back_without_the_sql_distribution_names_it_and_exits_2(
    monkeypatch, capsys
):
    monkeypatch.setattr(fleet, 'GROUP', 'vobjects.not_installed')
    arguments = ['fleet', 'can-roll-back', '0.1.0', '--database', 'sqlite://']
    assert main.main(arguments) == 2
    assert 'pip install vobjects-sql' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        (['manifest', '1.x'], "'1.x' is not a version"),
        (['manifest', '1.99'], 'no microversion 1.99; use one of 1.0 to'),
        (['manifest', '--service', 'none'], "no service 'none'"),
        (['explain', 'Clutser'], "no type 'Clutser'"),
        (['list', '--state-dir', '/no/such'], 'is not a file'),
        (['list', '--config-file', '/no/such'], 'does not exist'),
    ],
)
def test_fleet_when_input_is_bad_then_exits_2(arguments, error_text, capsys):
    assert main.main(['fleet', *arguments]) == 2
    streams = capsys.readouterr()
    assert error_text in streams.err
    assert streams.out == ''


class Ledger(MemoryLedger):
    """A ledger that the command connects to."""

    def connect(self, conf, service):
        return self, lambda: None


@pytest.fixture
def ledger(monkeypatch, tmp_path):
    ledger = Ledger()
    monkeypatch.setattr(client_process, 'connect_to_ledger', ledger.connect)
    file = tmp_path / 'vobjects.conf'
    file.write_text('[DEFAULT]\ntransport_url = embedded:///tmp/none\n')
    for id_ in ('aa1', 'aa2', 'bb'):
        ledger.report(
            Member(id_, 'w', 'h', 't', '1', manifest.Manifest({'A': '1.0'}))
        )
    ledger.arguments = [f'--config-file={file}']
    return ledger


def test_hold_names_its_owner_and_reason_to_operators(ledger, capsys):
    topic = service.find('clustering').topic
    ledger.report(Member('cc', 'w', 'h', topic, '1', manifest.local(), 'up'))
    hold = ['hold', '--owner=alice', '--reason=2.0 is under test']
    held = r'held by alice since 20\S+Z, because 2.0 is under test: versions'
    for command in hold, ['list'], ['explain']:
        assert main.main(['fleet', *command, *ledger.arguments]) == 0
        assert re.search(held, capsys.readouterr().out)
    of_type = ['fleet', 'explain', 'ClusterListRequest', *ledger.arguments]
    assert main.main(of_type) == 0
    assert 'held at 1.0 by alice since' in capsys.readouterr().out
    assert main.main([*of_type, '-o', 'json']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['hold_origin']['owner'] == 'alice'
    assert main.main(['fleet', 'finalize', *ledger.arguments]) == 0
    assert 'held' not in capsys.readouterr().out


@pytest.mark.parametrize(
    ('get_user', 'expected'),
    [
        (lambda: 'carol', 'carol@ops1'),
        # As getpass does in a container whose user has no name.
        (lambda: pwd.getpwuid(2**31 - 9), f'{os.getuid()}@ops1'),
    ],
)
def test_hold_without_an_owner_names_the_user_and_the_host(
    ledger, monkeypatch, get_user, expected
):
    monkeypatch.setattr(getpass, 'getuser', get_user)
    monkeypatch.setattr(socket, 'gethostname', lambda: 'ops1')
    assert main.main(['fleet', 'hold', *ledger.arguments]) == 0
    assert ledger.get().hold_origin.owner == expected


def test_fleet_when_configuration_is_malformed_then_exits_2(tmp_path, capsys):
    file = tmp_path / 'bad.conf'
    file.write_text('[fleet\nx\n')
    arguments = ['fleet', 'list', f'--config-file={file}']
    assert main.main(arguments) == 2
    assert 'bad.conf' in capsys.readouterr().err


def test_fleet_when_message_bus_is_away_then_one_line(tmp_path, capsys):
    file = tmp_path / 'bus.conf'
    file.write_text(
        '[DEFAULT]\ntransport_url = rabbit://u:secret@127.0.0.1:1/'
    )
    assert main.main(['fleet', 'list', f'--config-file={file}']) == 1
    error_text = capsys.readouterr().err.splitlines()[-1]
    assert 'rabbit://u:***@127.0.0.1:1/ cannot be used:' in error_text
    assert 'Connection refused' in error_text


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory with a configuration file in it."""
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.delenv('XDG_STATE_HOME', raising=False)
    monkeypatch.chdir(tmp_path)  # this one may have a .state of `make up`
    (tmp_path / '.vobjects').mkdir()
    (tmp_path / '.vobjects' / 'vobjects.conf').write_text('[fleet\nx\n')
    return tmp_path


def test_fleet_without_options_reads_the_engines_configuration(home, capsys):
    assert main.main(['fleet', 'list']) == 2
    assert str(home / '.vobjects' / 'vobjects.conf') in capsys.readouterr().err


def test_fleet_when_only_the_default_state_directory_exists_reads_it(
    home, capsys
):
    (home / '.vobjects' / 'vobjects.conf').unlink()
    own = home / '.local' / 'state' / 'vobjects' / 'vobjects.conf'
    own.parent.mkdir(parents=True)
    own.write_text('[fleet\ny\n')
    assert main.main(['fleet', 'list']) == 2
    assert str(own) in capsys.readouterr().err


def test_fleet_when_the_state_directory_is_wrong_reads_no_other(home, capsys):
    assert main.main(['fleet', 'list', '--state-dir', '/no/such']) == 2
    assert '/no/such/vobjects.conf is not a file' in capsys.readouterr().err


@pytest.mark.parametrize('limit', ['abc', '0', '10001', '9' * 5000])
def test_list_when_the_limit_is_no_number_in_range_exits_2(
    limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main.main(['fleet', 'list', '--limit', limit])
    assert exited.value.code == 2
    message = capsys.readouterr().err
    assert 'is not a whole number from 1 to 10000' in message
    assert len(message) < 1000
