# SPDX-License-Identifier: Apache-2.0
"""``vobjects api history | diff | openapi`` on a small service."""

import json

import pytest

from tests.unit.vobjects.contract import samples
from vobjects import exceptions
from vobjects.cli import contract as commands
from vobjects.cli.parser import Parser
from vobjects.contract import type_schemas


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    samples.register_types(monkeypatch)


def run(*argv, contract=None):
    parser = Parser()
    parser.add_commands(
        commands.definitions(lambda options: contract or samples.contract())
    )
    options = parser.parse_args(argv)
    return options.run(options)


RETURNING = samples.contract(
    samples.fixed(
        v1_0=type_schemas.closed({'a': {'type': 'string'}}),
        v1_2=type_schemas.closed({}),
        v1_3=type_schemas.closed({'a': {'type': 'string'}}),
    )
)


def test_history_when_complete_writes_the_page(tmp_path, capsys):
    path = tmp_path / 'history.rst'

    assert run('history', '--output-file', str(path)) == 0
    assert run('history') == 0
    assert path.read_text() == capsys.readouterr().out.rstrip('\n') + '\n'
    assert '**1.5**' in path.read_text()


def test_history_when_incomplete_fails_and_names_the_change(capsys):
    incomplete = {**samples.HISTORY, '1.2': ()}

    assert run(
        'history', '--check', contract=samples.contract(history=incomplete)
    )
    captured = capsys.readouterr()
    assert captured.out == ''
    assert '1.2: the history does not document that POST /v1/things: body' in (
        captured.err
    )


def test_diff_lists_breaking_changes_first(capsys):
    assert run('diff', '1.2', '1.4') == 0

    assert capsys.readouterr().out.splitlines() == [
        '1.2 to 1.4: 1 breaking and 2 additive changes',
        '  breaking  POST /v1/things: response 201.thing.old is removed',
        '  additive  POST /v1/things: body.thing.deep is added',
        '  additive  GET /v1/things/{identity} is added',
    ]


def test_diff_with_json_prints_json(capsys):
    assert run('diff', '1.2', '1.3', '-o', 'json') == 0

    output = json.loads(capsys.readouterr().out)
    assert (output['from'], output['to'], output['alarms']) == (
        '1.2',
        '1.3',
        [],
    )
    assert output['changes'][0] == {
        'operation': 'POST /v1/things',
        'place': 'body.thing.deep',
        'what': 'is added',
        'breaking': False,
    }


def test_diff_when_equal_reports_no_changes(capsys):
    assert run('diff', '1.4', '1.5') == 0
    assert capsys.readouterr().out == '1.4 and 1.5 have the same contract\n'


@pytest.mark.parametrize(
    ('old', 'new', 'is_alarm'),
    [('1.0', '1.3', 1), ('1.2', '1.3', 1), ('1.0', '1.1', 0),
     ('1.4', '1.5', 0)],
)  # fmt: skip
def test_diff_when_a_removed_part_returns_reports_an_alarm(
    old, new, is_alarm, capsys
):
    assert run('diff', old, new, contract=RETURNING) == is_alarm
    assert ('alarm: GET /v1/x' in capsys.readouterr().err) is bool(is_alarm)


@pytest.mark.parametrize(
    ('argv', 'version'),
    [
        (['openapi'], '1.5'),
        (['openapi', '1.2'], '1.2'),
    ],
)
def test_openapi_prints_the_document(argv, version, capsys):
    assert run(*argv) == 0
    assert json.loads(capsys.readouterr().out)['info']['version'] == version


@pytest.mark.parametrize(
    'argv',
    [
        ['diff', '1.2', '1.x'],
        ['diff', '1.2', '2.0'],
        ['openapi', '1.99'],
        ['openapi', 'latest'],
    ],
)
def test_command_when_version_is_unknown_raises(argv):
    with pytest.raises(exceptions.VobjectsError):
        run(*argv)
