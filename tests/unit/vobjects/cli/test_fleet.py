# SPDX-License-Identifier: Apache-2.0
"""What `vobjects fleet` answers without asking anybody, and refuses."""

from __future__ import annotations

import json

import pytest

from vobjects import manifest
from vobjects.cli import fleet, main


def test_manifest_when_printed_then_a_manifest_file(tmp_path, capsys):
    assert fleet.main(['manifest']) == 0
    file = tmp_path / 'manifest.json'
    file.write_text(capsys.readouterr().out)
    assert manifest.Manifest.load(file) == manifest.own()


def test_manifest_when_of_a_microversion_then_what_it_shows(capsys):
    assert fleet.main(['manifest', '--microversion', '1.7']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['ClusterCreateRequest'] == '1.1'
    assert shown['ClusterDeleteRequest'] == '1.0'
    assert fleet.main(['manifest', '--microversion', '1.6']) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown['ClusterCreateRequest'] == '1.0'
    assert 'Service' not in shown


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['manifest', '--microversion', '1.x'], "'1.x' is not a version"),
        (['manifest', '--service', 'none'], "no service 'none'"),
        (['explain', 'Clutser'], "no type 'Clutser'"),
        (['list', '--state-dir', '/no/such'], 'is not a file'),
        (['list', '--config-file', '/no/such'], 'is not a file'),
    ],
)
def test_fleet_when_input_is_bad_then_exits_2(arguments, said, capsys):
    assert main.main(['fleet', *arguments]) == 2
    streams = capsys.readouterr()
    assert said in streams.err
    assert streams.out == ''


def test_fleet_when_configuration_is_malformed_then_exits_2(tmp_path, capsys):
    file = tmp_path / 'bad.conf'
    file.write_text('[fleet\nx\n')
    arguments = ['fleet', 'list', f'--config-file={file}']
    assert main.main(arguments) == 2
    assert 'bad.conf' in capsys.readouterr().err
