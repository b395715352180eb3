# SPDX-License-Identifier: Apache-2.0
"""Look-up of commands, and errors for unknown ones."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest

from tests.programs import run_program
from vobjects.cli import main

#: Commands of other distributions of this repository.
ELSEWHERE = {
    point.name: point.dist.name
    for point in importlib.metadata.entry_points(group=main.GROUP)
    if point.dist is not None and point.dist.name.startswith('vobjects-')
}

HEAVY = (
    'oslo_config',
    'oslo_messaging',
    'oslo_versionedobjects',
    'sqlalchemy',
    'webob',
    'granian',
)


def output_of(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_program([sys.executable, '-m', 'vobjects', *arguments])


def test_main_when_help_is_requested_lists_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(['--help'])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    for point in importlib.metadata.entry_points(group=main.GROUP):
        assert re.search(rf'\n  {point.name} +(?!from )\w', shown)


def test_main_when_help_is_requested_imports_no_heavy_module():
    code = (
        'import sys\n'
        'from vobjects.cli import main\n'
        'try:\n'
        "    main.main(['--help'])\n"
        'except SystemExit:\n'
        '    pass\n'
        f'assert not set({HEAVY!r}) & set(sys.modules)\n'
        "assert not {'api', 'engine'} & set(sys.modules)\n"
    )
    subprocess.run(
        [sys.executable, '-c', code], check=True, capture_output=True
    )


#: Prints the name of each command whose help imports a heavy module.
DESCRIBE = f"""
import sys
from vobjects.cli import main, parser

def describe(each):
    each.format_help()
    for subcommand in each.commands.values():
        describe(subcommand)

# Reading the configuration's options takes a tenth of a second, not more.
heavy = set({HEAVY!r}) - {{'oslo_config'}}
for name, point in main.command_points().items():
    command = point.load()
    assert isinstance(command, parser.Command)
    describe(command.parser())
    for module in heavy & set(sys.modules):
        print(name, 'imports', module)
        heavy.remove(module)
"""


def test_help_and_completion_of_every_command_import_no_heavy_module():
    described = run_program([sys.executable, '-c', DESCRIBE], check=True)
    assert described.stdout == ''


def test_main_when_version_is_requested_prints_the_distribution(capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(['--version'])
    assert ended.value.code == 0
    version = importlib.metadata.version('vobjects')
    assert capsys.readouterr().out == f'vobjects {version}\n'


@pytest.mark.parametrize(
    ('arguments', 'error_text'),
    [
        (['egnine'], "did you mean 'engine'?"),
        (['wholly-unknown'], 'see vobjects --help'),
        (['import-senlin'], "did you mean 'db import-senlin'?"),
        (['release'], "did you mean 'lock release'?"),
        (
            ['check'],
            "did you mean 'config check' or 'db check' or 'lock check'?",
        ),
        (['--port', 'up'], '--port'),
        ([''], 'unknown command'),
    ],
)
def test_main_when_command_is_unknown_then_exits_2(
    arguments, error_text, capsys
):
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    streams = capsys.readouterr()
    assert error_text in streams.err
    assert streams.out == ''


@pytest.mark.parametrize(('command', 'distribution'), ELSEWHERE.items())
def test_main_when_the_distribution_of_a_command_is_missing_names_it(
    command, distribution, capsys, monkeypatch
):
    monkeypatch.setattr(importlib.metadata, 'entry_points', lambda group: ())
    with pytest.raises(SystemExit) as ended:
        main.main([command])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert f'"pip install {distribution}"' in error


def test_main_without_arguments_prints_help_and_exits_2(capsys):
    assert main.main([]) == 2
    assert 'commands:' in capsys.readouterr().err


def test_main_when_help_of_a_command_is_requested_prints_its_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(['help', 'up'])
    assert ended.value.code == 0
    assert 'usage: vobjects up' in capsys.readouterr().out


def test_module_when_run_then_is_the_command_line():
    result = output_of('up', '--port', 'http')
    assert result.returncode == 2
    assert "'http' is not a whole number from 0 to 65535" in result.stderr
    assert 'Traceback' not in result.stderr
    assert result.stdout == ''


def test_main_when_the_caller_can_mend_it_then_exits_2(capsys):
    assert main.main(['fleet', 'list', '--state-dir=/no/such']) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(
        'vobjects fleet: --state-dir: /no/such/vobjects.conf is not a file'
    )


@pytest.mark.parametrize(
    'arguments', [['lock', 'rules'], ['--help'], ['lock', '--help']]
)
def test_main_when_the_reader_closed_the_pipe_exits_as_after_sigpipe(
    arguments,
):
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [sys.executable, '-m', 'vobjects', *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    # argparse ignores such an error when it prints the help.
    expected = 0 if '--help' in arguments else main.PIPE_CLOSED
    assert (process.returncode, process.stderr) == (expected, b'')
