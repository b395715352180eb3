# SPDX-License-Identifier: Apache-2.0
"""Colour is for terminals."""

from __future__ import annotations

import io

from vobjects.clustering.run import terminal


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
