# SPDX-License-Identifier: Apache-2.0
"""Read the last lines of a log, and follow several logs at once."""

from __future__ import annotations

import contextlib
import pathlib
import threading
from collections.abc import Callable, Mapping

#: Bytes at the end of a log that are searched for its last lines.
_WINDOW = 16 * 1024

#: Maximum number of bytes read from one log at a time.
_CHUNK = 64 * 1024


def size(path: pathlib.Path) -> int:
    """Return a file's length in bytes; 0 if it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def last_lines(path: pathlib.Path, count: int, *, start: int = 0) -> list[str]:
    """Return the last lines of a log.

    :param count: maximum number of lines
    :param start: byte offset at which to start reading
    :returns: lines without line ends and without blank lines; empty if the
        file does not exist
    """
    try:
        with path.open('rb') as log:
            log.seek(max(start, size(path) - _WINDOW))
            text = log.read().decode(errors='replace')
    except FileNotFoundError:
        return []
    return [line for line in text.splitlines() if line.strip()][-count:]


class Follower:
    """Writes lines appended to several logs, each with its log's name.

    :param files: name -> log; a log may appear later
    :param write: called with a name and a line, in this object's thread
    :param period: seconds between two reads
    """

    def __init__(
        self,
        files: Mapping[str, pathlib.Path],
        write: Callable[[str, str], None],
        *,
        period: float = 0.2,
    ) -> None:
        self._files = dict(files)
        self._write = write
        self._period = period
        self._offsets = {name: size(path) for name, path in files.items()}
        self._partial = dict.fromkeys(files, b'')
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, name='logs', daemon=True
        )

    def start(self) -> None:
        """Start to follow the logs from their current ends."""
        self._thread.start()

    def stop(self) -> None:
        """Write the remaining lines, and end."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._period):
            self._look()
        self._look()

    def _look(self) -> None:
        for name, path in self._files.items():
            with contextlib.suppress(FileNotFoundError):
                while self._read(name, path):
                    pass

    def _read(self, name: str, path: pathlib.Path) -> bool:
        with path.open('rb') as log:
            log.seek(self._offsets[name])
            chunk = log.read(_CHUNK)
        self._offsets[name] += len(chunk)
        *lines, rest = (self._partial[name] + chunk).split(b'\n')
        self._partial[name] = rest
        for line in lines:
            self._write(name, line.decode(errors='replace'))
        return bool(chunk)
