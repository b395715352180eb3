# SPDX-License-Identifier: Apache-2.0
"""Help of single commands; `test_tree` checks all of them."""

from __future__ import annotations

import sys

import pytest

from tests.programs import run_program
from tests.unit.vobjects.cli import tree
from vobjects.cli import main


def help_text(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """Return the help of a command."""
    with pytest.raises(SystemExit) as end:
        main.main([*command, '--help'])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_help_of_up_names_no_defaults_that_are_none(capsys):
    text = ' '.join(help_text(capsys, 'up').split())
    assert '(default: 8777)' in text
    for empty in ('None', '[]', 'False'):
        assert f'(default: {empty})' not in text


def test_help_of_diff_has_no_markup(capsys):
    text = help_text(capsys, 'diff')
    assert 'a git revision of its repository' in text
    assert '``' not in text
    assert '===' not in text


def test_help_of_queue_names_its_arguments_as_others_do(capsys):
    text = help_text(capsys, 'queue', 'post')
    assert 'QUEUE MESSAGE' in text
    assert '\nAdd a message to a queue.\n' in text


#: Prints the commands whose help imports a slow library: the first that does,
#: for each library. It takes the commands from its arguments.
IMPORTS = """\
import contextlib, io, sys
from vobjects.cli import main
slow = {'sqlalchemy', 'alembic', 'oslo_messaging', 'keystoneauth1',
        'oslo_config', 'urllib.request', 'vobjects.objects'}
for command in sys.argv[1:]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        main.main([*command.split(), '--help'])
    assert text.getvalue().startswith('usage:'), command
    for name in sorted(slow & set(sys.modules)):
        print(f'{command}: {name}')
        slow.remove(name)
"""


def test_help_of_all_commands_imports_no_slow_library() -> None:
    commands = [' '.join(words) for words, _ in tree.parsers()]
    assert len(commands) > 40
    run = run_program([sys.executable, '-c', IMPORTS, *commands], check=True)
    assert run.stdout == ''
