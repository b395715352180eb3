# SPDX-License-Identifier: Apache-2.0
"""``vobjects contract`` on a small service."""

import json
import sys
import types

import pytest

from tests.unit.vobjects_contract import samples
from vobjects import Service, exceptions, service
from vobjects_contract import command, type_schemas


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """Install a service with a contract; return the module that has it."""
    samples.register_types(monkeypatch)
    module = types.ModuleType('things.contract')
    module.CONTRACT = samples.contract()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    services = {
        'things': Service(
            name='things', types=(), history={}, contract=module.__name__
        ),
        'silent': Service(name='silent', types=(), history={}),
    }
    monkeypatch.setattr(service, 'find', services.__getitem__)
    monkeypatch.setattr(service, 'only', lambda: 'things')
    return module


def run(*argv):
    return command.main(list(argv))


RETURNING = samples.contract(
    samples.fixed(
        v1_0=type_schemas.closed({'a': {'type': 'string'}}),
        v1_2=type_schemas.closed({}),
        v1_3=type_schemas.closed({'a': {'type': 'string'}}),
    )
)


def test_history_when_complete_prints_the_page(capsys):
    assert run('history') == 0
    page = capsys.readouterr().out
    assert page == page.rstrip('\n') + '\n'
    assert '**1.5**' in page


def test_history_when_incomplete_fails_and_names_the_change(capsys, declared):
    incomplete = {**samples.HISTORY, '1.2': ()}
    declared.CONTRACT = samples.contract(history=incomplete)

    assert run('history', '--check')
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
    old, new, is_alarm, capsys, declared
):
    declared.CONTRACT = RETURNING

    assert run('diff', old, new) == is_alarm
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


def test_command_when_the_service_declares_no_contract_names_the_remedy():
    with pytest.raises(exceptions.VobjectsError, match='as contract='):
        run('openapi', '--service', 'silent')
