# SPDX-License-Identifier: Apache-2.0
"""Write messages and progress to the user, coloured on a terminal only.

``NO_COLOR`` (https://no-color.org) and ``FORCE_COLOR``
(https://force-color.org) override the choice; if both are set, ``NO_COLOR``
counts, as in Python itself.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

_STYLES = {'bold': '1', 'good': '32', 'warning': '33', 'bad': '31', 'dim': '2'}

#: Seconds between two updates of a progress line.
_REDRAW = 0.1

#: Seconds between two lines of progress in a log file.
_REPEAT = 10.0

_CLEAR_LINE = '\r\x1b[K'


class Terminal:
    """Writes whole lines, from any thread.

    :param stream: output stream, coloured if it is a terminal or the
        environment demands colours
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._coloured = is_coloured(stream)

    def say(self, text: str = '') -> None:
        """Write a line and flush the stream."""
        with self._lock:
            self._stream.write(text + '\n')
            self._stream.flush()

    def styled(self, style: str, text: str) -> str:
        """Return a text in a style: bold, dim, good, warning or bad."""
        if not self._coloured:
            return text
        return f'\x1b[{_STYLES[style]}m{text}\x1b[0m'


def is_coloured(stream: TextIO) -> bool:
    """Return whether to write colours to a stream."""
    if os.environ.get('NO_COLOR'):
        return False
    if os.environ.get('FORCE_COLOR'):
        return True
    return stream.isatty() and os.environ.get('TERM') != 'dumb'


class Progress:
    """Shows how far a command is, on standard error.

    On a terminal, one line that changes; it disappears at the end. Otherwise,
    such as in a log file, a line every ten seconds.

    :param title: what the command does, such as ``deleting actions``
    :param total: number of steps; None: unknown
    """

    def __init__(self, title: str, total: int | None = None) -> None:
        self._title = title
        self._total = total
        self._stream = sys.stderr
        self._changes = self._stream.isatty()
        self._done = 0
        self._drawn = time.monotonic()
        self._visible = False

    def __enter__(self) -> Self:
        if self._changes:
            self._draw('')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._visible:
            self._stream.write(_CLEAR_LINE)
            self._stream.flush()

    def advance(self, count: int = 1, detail: str = '') -> None:
        """Report finished steps.

        :param count: number of steps
        :param detail: the last step, such as the name of a revision
        """
        self._done += count
        period = _REDRAW if self._changes else _REPEAT
        if time.monotonic() - self._drawn >= period:
            self._draw(detail)

    def _draw(self, detail: str) -> None:
        self._drawn = time.monotonic()
        total = '' if self._total is None else f' of {self._total}'
        counts = f'{self._title}: {self._done}{total}'
        text = f'{counts} ({detail})' if detail else counts
        if self._changes:
            columns = shutil.get_terminal_size().columns
            self._stream.write(f'{_CLEAR_LINE}{text[: columns - 1]}')
            self._visible = True
        else:
            self._stream.write(text + '\n')
        self._stream.flush()
