# SPDX-License-Identifier: Apache-2.0
"""Help, examples, suggestions and formats of all commands."""

import contextlib
import json
import logging
import pathlib
import sys

import pytest
import yaml

from tests.unit.vobjects.cli import tree
from vobjects.cli import main

PARSERS = list(tree.parsers())
IDS = [' '.join(words) for words, _ in PARSERS]
GROUPS = [(words, parser) for words, parser in PARSERS if parser.commands]
LEAVES = [(words, parser) for words, parser in PARSERS if not parser.commands]
ROOT = pathlib.Path(__file__).parents[4]

every_parser = pytest.mark.parametrize(('words', 'parser'), PARSERS, ids=IDS)
every_leaf = pytest.mark.parametrize(
    ('words', 'parser'), LEAVES, ids=[' '.join(words) for words, _ in LEAVES]
)


def help_of(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main.main([*words, '--help'])
    assert ended.value.code == 0
    return capsys.readouterr().out


def error_of(arguments, capsys):
    """Return the last line of a usage error."""
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    streams = capsys.readouterr()
    assert streams.out == ''
    assert streams.err.startswith('usage: vobjects')
    return streams.err.splitlines()[-1]


@every_parser
def test_help_describes_the_command_and_each_argument(words, parser, capsys):
    text = help_of(words, capsys)
    assert parser.description
    assert parser.description[0].isupper()
    assert parser.description.endswith('.')
    listed = tree.arguments(text)
    assert '-h, --help' in listed
    for name, description in listed.items():
        assert len(description.split()) > 1, name
        assert not description[0].isupper() or description[1].isupper(), name
        assert not description.endswith('.'), name
    for name, summary in parser.summaries.items():
        assert f'  {name}' in text
        assert summary[0].islower()
    assert '\n  COMMAND\n' not in text


@pytest.mark.parametrize('columns', [60, 80, 200])
@every_parser
def test_help_is_wrapped_at_the_width_of_the_terminal(
    words, parser, columns, capsys, monkeypatch
):
    monkeypatch.setenv('COLUMNS', str(columns))
    text = help_of(words, capsys)
    prose = text.partition('\nexample')[0].splitlines()
    # An indented line of the notes is a table, which keeps its lines.
    tables = {
        line
        for line in (parser.epilog or '').splitlines()
        if line.startswith(' ')
    }
    assert all(
        len(line) <= min(columns, 102) for line in prose if line not in tables
    )


@every_leaf
def test_example_of_a_command_parses(words, parser):
    assert parser.examples
    top = main.command_points()[words[0]].load()
    for example in parser.examples:
        arguments = tree.example_words(example)
        assert tuple(arguments[: len(words)]) == words, example
        options = top.parser().parse_args(arguments[1:])
        assert callable(options.run)


@pytest.mark.parametrize(
    ('words', 'name'),
    [((), name) for name in main.command_points()]
    + [(words, name) for words, parser in GROUPS for name in parser.commands],
)
def test_misspelled_command_then_suggestion_and_exit_2(words, name, capsys):
    wrong = f'{name}x'
    assert f"unknown command '{wrong}'; did you mean '{name}'?" in error_of(
        [*words, wrong], capsys
    )


@every_leaf
def test_misspelled_option_then_suggestion_and_exit_2(words, parser, capsys):
    given = {
        ('db', 'purge'): ['--older-than=1d'],
        ('db', 'import-senlin'): ['--from=x'],
        ('lock', 'drop'): ['--below=1.1'],
        ('lock', 'init'): ['--import=x'],
        ('transfers',): ['--import=x'],
    }
    required = {
        'TYPE': 'A', 'A': 'A', 'SHELL': 'bash', 'NAME': 'A', 'OLD': '1.0',
        'NEW': '1.1', 'VERSION': '1.0', 'QUEUE': 'q', 'MESSAGE': '{}',
        'ID': 'a', 'RELEASE': '0.1.0',
    }  # fmt: skip
    positionals = [
        required[name]
        for name in tree.arguments(help_of(words, capsys))
        if name in required
    ]
    known = parser.format_usage()
    option = next(
        option
        for option in ('--config-file', '--file', '--engines', '--help')
        if option in known or option == '--help'
    )
    line = error_of(
        [*words, *positionals, *given.get(words, []), f'{option}x=1'], capsys
    )
    assert f"unknown option '{option}x'; did you mean " in line or (
        option == '--help' and "unknown option '--helpx'; see" in line
    )


def test_option_when_abbreviated_is_unknown(capsys):
    """An abbreviation would change its meaning with a new option."""
    assert "unknown option '--config-fil'; did you mean '--config-file'" in (
        error_of(['db', 'check', '--config-fil=x'], capsys)
    )


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        ('lock check -o jsn', "unknown format 'jsn'; did you mean 'json'?"),
        (
            'lock rules -o github',
            "unknown format 'github'; known here: 'json'",
        ),
        ('completion bsh', "unknown shell 'bsh'; did you mean 'bash'?"),
        ('up --provider dokcer', "unknown provider 'dokcer'; did you mean"),
        ('config check --connect bsu', "unknown server 'bsu'; did you mean"),
        ('api diff 1.6 1.7 1.8', "unexpected argument '1.8'"),
        ('api openapi -o spec.json', "unknown format 'spec.json'"),
        ('fleet', 'the following arguments are required: COMMAND'),
    ],
)
def test_argument_when_wrong_then_advice_and_exit_2(
    arguments, error_text, capsys
):
    assert error_text in error_of(arguments.split(), capsys)


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        ('history ClusterDeletRequest', "did you mean 'ClusterDeleteRequest'"),
        ('fleet explain ClusterDelete', "did you mean 'ClusterDeleteReq"),
        ('fleet manifest 1.99', 'no microversion 1.99; use one of 1.0 to 1.'),
        ('api openapi 1.99', 'no microversion 1.99; use one of 1.0 to 1.'),
        ('api diff 1.7 1.99', 'no microversion 1.99; use one of 1.0 to 1.'),
    ],
)
def test_name_when_unknown_then_advice_and_exit_2(
    arguments, error_text, capsys, monkeypatch
):
    monkeypatch.chdir(ROOT)
    assert main.main(arguments.split()) == 2
    streams = capsys.readouterr()
    assert error_text in streams.err
    assert streams.out == ''


# Formats


@pytest.fixture(scope='module')
def configuration(tmp_path_factory):
    """A configuration file, and an empty database."""
    folder = tmp_path_factory.mktemp('configured')
    file = folder / 'vobjects.conf'
    file.write_text(
        f'[DEFAULT]\ntransport_url = embedded://{folder}/rpc\n'
        f'[database]\nconnection = sqlite:///{folder}/v.sqlite\n'
    )
    with pytest.MonkeyPatch.context() as patch, logging_unchanged():
        patch.setenv('VOBJECTS_CONFIG_FILE', str(file))
        assert main.main(['db', 'sync']) == 0
    return file


@contextlib.contextmanager
def logging_unchanged():
    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    yield
    root.handlers[:], sys.excepthook = handlers, hook
    root.setLevel(level)


@pytest.fixture
def configured(configuration, monkeypatch):
    """Commands find the configuration file."""
    monkeypatch.setenv('VOBJECTS_CONFIG_FILE', str(configuration))
    monkeypatch.chdir(ROOT)
    with logging_unchanged():
        yield


#: Commands that print data -> arguments. The functional tests run those that
#: need a running service.
PRINTS = {
    'api diff': '1.6 1.7',
    'api history': '',
    'api openapi': '1.7',
    'config check': '',
    'contract diff': '1.6 1.7',
    'contract history': '',
    'contract openapi': '1.7',
    'db check': '',
    'diff': '0.1.0 tree',
    'fleet can-roll-back': '0.1.0',
    'fleet manifest': '',
    'history': 'ClusterDeleteRequest',
    'lock check': '',
    'lock rules': '',
    'matrix': '',
    'queue show': 'events',
    'stored scan': '',
    'releases': f'{ROOT}/vobjects/cli {ROOT}/vobjects/cli',
    'transfers': (
        f'{sys.prefix} {sys.prefix} --import vobjects.rpc.fleet_types'
    ),
}
NEEDS_SERVICE = {
    'api who-uses',
    'fleet explain',
    'fleet finalize',
    'fleet hold',
    'fleet list',
}


def test_commands_with_formats_are_all_tested():
    assert {
        ' '.join(words)
        for words, parser in LEAVES
        if '-o FORMAT' in parser.format_usage()
    } == {*PRINTS, *NEEDS_SERVICE}


@pytest.mark.usefixtures('configured')
@pytest.mark.parametrize('command', PRINTS)
def test_output_formats_have_the_same_data(command, capsys):
    words = [*command.split(), *PRINTS[command].split()]
    capsys.readouterr()
    printed = {}
    for output in ('json', 'yaml'):
        assert main.main([*words, '-o', output]) == 0
        printed[output] = capsys.readouterr().out
    data = json.loads(printed['json'])
    assert yaml.safe_load(printed['yaml']) == data
    assert isinstance(data, dict | list)
    # test_command.py has the texts of the commands of a contract.
    if command != 'fleet manifest' and not command.startswith(
        ('api ', 'contract ')
    ):
        assert main.main(words) == 0
        table = capsys.readouterr().out
        assert table != printed['json']
        assert '\x1b' not in table


def test_lock_check_when_the_code_matches_says_ok(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main.main(['lock', 'check']) == 0
    shown = capsys.readouterr().out
    assert shown.startswith('OK: ')
    assert ' versions match vobjects.lock' in shown


@pytest.mark.usefixtures('configured')
def test_colours_when_forced_are_in_tables_only(capsys, monkeypatch):
    monkeypatch.setenv('FORCE_COLOR', '1')
    monkeypatch.delenv('NO_COLOR', raising=False)
    capsys.readouterr()
    assert main.main(['lock', 'check']) == 0
    assert capsys.readouterr().out.startswith('\x1b[32mOK\x1b[0m: ')
    assert main.main(['lock', 'rules', '-o', 'json']) == 0
    assert '\x1b' not in capsys.readouterr().out
