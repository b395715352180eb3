# SPDX-License-Identifier: Apache-2.0
"""Help of single commands; `test_tree` checks all of them."""

from __future__ import annotations

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
    assert 'git:REVISION' in text
    assert '``' not in text
    assert '===' not in text


def test_help_of_queue_names_its_arguments_as_others_do(capsys):
    text = help_text(capsys, 'queue', 'post')
    assert 'QUEUE MESSAGE' in text
    assert '\nAdd a message to a queue.\n' in text
