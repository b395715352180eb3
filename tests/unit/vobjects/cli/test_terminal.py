# SPDX-License-Identifier: Apache-2.0
"""Colour is for terminals."""

import io
import sys

import pytest

from vobjects.cli import terminal


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_styled_when_stream_is_a_file_then_plain():
    assert terminal.Terminal(io.StringIO()).styled('bad', 'x') == 'x'


def test_styled_when_stream_is_a_terminal_then_coloured(monkeypatch):
    monkeypatch.delenv('NO_COLOR', raising=False)
    assert terminal.Terminal(Screen()).styled('bad', 'x') == '\x1b[31mx\x1b[0m'


def test_styled_when_no_color_is_set_then_plain(monkeypatch):
    monkeypatch.setenv('NO_COLOR', '1')
    assert terminal.Terminal(Screen()).styled('bad', 'x') == 'x'


def test_say_when_called_then_writes_a_line():
    stream = io.StringIO()
    terminal.Terminal(stream).say('hello')
    assert stream.getvalue() == 'hello\n'


@pytest.mark.parametrize(
    ('variables', 'is_terminal', 'is_coloured'),
    [
        ({}, True, True),
        ({}, False, False),
        ({'TERM': 'dumb'}, True, False),
        ({'FORCE_COLOR': '1'}, False, True),
        ({'NO_COLOR': '1'}, True, False),
        ({'NO_COLOR': '', 'FORCE_COLOR': ''}, True, True),
        ({'NO_COLOR': '1', 'FORCE_COLOR': '1'}, True, False),
    ],
)
def test_is_coloured_follows_the_environment(
    variables, is_terminal, is_coloured, monkeypatch
):
    for name in ('NO_COLOR', 'FORCE_COLOR', 'TERM'):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = Screen() if is_terminal else io.StringIO()
    assert terminal.is_coloured(stream) is is_coloured


def test_progress_on_a_terminal_changes_one_line_and_removes_it(monkeypatch):
    monkeypatch.setattr(terminal, '_REDRAW', 0)
    screen = Screen()
    monkeypatch.setattr(sys, 'stderr', screen)
    with terminal.Progress('deleting', 3) as progress:
        progress.advance(2, 'row b')
        progress.advance(detail='row c')
    shown = screen.getvalue()
    assert '\n' not in shown
    drawn = shown.split('\r\x1b[K')
    assert drawn == [
        '',
        'deleting: 0 of 3',
        'deleting: 2 of 3 (row b)',
        'deleting: 3 of 3 (row c)',
        '',
    ]


def test_progress_in_a_file_is_whole_lines(monkeypatch):
    monkeypatch.setattr(terminal, '_REPEAT', 0)
    stream = io.StringIO()
    monkeypatch.setattr(sys, 'stderr', stream)
    with terminal.Progress('deleting') as progress:
        progress.advance(500)
    assert stream.getvalue() == 'deleting: 500\n'


def test_progress_of_a_short_command_leaves_no_line_in_a_file(
    monkeypatch,
):
    stream = io.StringIO()
    monkeypatch.setattr(sys, 'stderr', stream)
    with terminal.Progress('deleting') as progress:
        progress.advance()
    assert stream.getvalue() == ''
