# SPDX-License-Identifier: Apache-2.0
"""Help of single commands; `test_tree` checks all of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


#: Prints the slow libraries that the help of a command has imported.
IMPORTS = """\
import sys
from vobjects.cli import main
try:
    main.main([*sys.argv[1:], '--help'])
except SystemExit:
    pass
slow = {'sqlalchemy', 'alembic', 'oslo_messaging', 'keystoneauth1'}
print(*sorted(slow & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    'command',
    [
        *('fleet list', 'lock check', 'diff', 'history', 'matrix'),
        *('completion', 'up', 'engine', 'db', 'db sync', 'config check'),
        'queue post',
    ],
)
def test_help_imports_no_slow_library(command: str) -> None:
    run = subprocess.run(
        [sys.executable, '-c', IMPORTS, *command.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith('usage:')
    assert run.stderr.split() == []
