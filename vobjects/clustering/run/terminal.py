# SPDX-License-Identifier: Apache-2.0
"""Write messages to the operator, coloured on a terminal only."""

from __future__ import annotations

import os
import threading
from typing import TextIO

_STYLES = {'bold': '1', 'good': '32', 'bad': '31', 'dim': '2'}


class Terminal:
    """Writes whole lines, from any thread.

    :param stream: output stream, coloured if it is a terminal and ``NO_COLOR``
        is not set
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._coloured = stream.isatty() and not os.environ.get('NO_COLOR')

    def say(self, text: str = '') -> None:
        """Write a line and flush the stream."""
        with self._lock:
            self._stream.write(text + '\n')
            self._stream.flush()

    def styled(self, style: str, text: str) -> str:
        """Return the text as ``bold``, ``good``, ``bad`` or ``dim``."""
        if not self._coloured:
            return text
        return f'\x1b[{_STYLES[style]}m{text}\x1b[0m'
