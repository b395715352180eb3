# SPDX-License-Identifier: Apache-2.0
"""Keep prometheus_client's shared files from ending a process.

prometheus_client maps files into memory that have no blocks on the disk yet.
When the disk is full, a write to such a page ends the process with SIGBUS. The
files of :class:`ReservedDict` have their blocks before they are mapped, so
that a full disk is an error of the call that needs more of them.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import mmap
import os
import time
from typing import Any

from prometheus_client import mmap_dict, values

LOG = logging.getLogger(__name__)

#: Size of a new file, which prometheus_client does not export.
_INITIAL_SIZE = 1 << 16

#: Seconds between attempts to share values that a full disk has kept private.
RETRY_INTERVAL = 10.0


class ReservedDict(mmap_dict.MmapedDict):
    """The values in one file, whose blocks are reserved.

    If there is no space for a new file, the values are in the memory of this
    process, and other processes do not show them, until there is space.
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        self._path = filename
        #: Descriptor of the memory; None: the values are shared.
        self._memory: int | None = None
        if not read_mode:
            try:
                with open(filename, 'ab') as file:
                    _reserve(file.fileno(), _INITIAL_SIZE)
            except OSError as error:
                LOG.warning(
                    'The metrics of this process are not shared: %s: %s',
                    filename,
                    error.strerror,
                )
                # prometheus_client cannot read an empty file.
                with contextlib.suppress(OSError):
                    if not os.path.getsize(filename):
                        os.unlink(filename)
                self._memory = os.memfd_create('metrics')
                filename = f'/proc/self/fd/{self._memory}'
        super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]
        self._f: Any = _ReservedFile(self._f)
        self._next_attempt = time.monotonic() + RETRY_INTERVAL

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        """Set a value.

        :raises OSError: the disk is full
        """
        if self._memory is not None and time.monotonic() >= self._next_attempt:
            self._next_attempt = time.monotonic() + RETRY_INTERVAL
            self._share(self._memory)
        super().write_value(key, value, timestamp)  # type: ignore[no-untyped-call]

    def _share(self, memory: int) -> None:
        """Move the values to the file if there is space for it."""
        file: Any = None
        try:
            # It stays open.
            file = open(self._path, 'w+b', buffering=0)  # noqa: SIM115
            _reserve(file.fileno(), self._capacity)
            file.write(self._m[:])
            mapped = mmap.mmap(file.fileno(), self._capacity)
        except OSError:
            if file is not None:
                file.close()
                with contextlib.suppress(OSError):
                    os.unlink(self._path)
            return
        self._m.close()
        self._f.close()
        os.close(memory)
        self._m, self._f, self._memory = mapped, _ReservedFile(file), None
        LOG.warning('The metrics of this process are shared: %s', self._path)

    def _init_value(self, key: str) -> None:
        """Add a value.

        :raises OSError: the disk is full
        """
        capacity = self._capacity
        try:
            super()._init_value(key)  # type: ignore[no-untyped-call]
        except OSError:
            self._capacity = capacity
            raise


class _ReservedFile:
    """A file that reserves blocks when it grows."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def truncate(self, size: int) -> None:
        _reserve(self._file.fileno(), size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _reserve(descriptor: int, size: int) -> None:
    """Make a file at least as long, with blocks on the disk.

    :raises OSError: the disk is full
    """
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        # The file system reserves no blocks.
        if os.fstat(descriptor).st_size < size:
            os.ftruncate(descriptor, size)


def install() -> None:
    """Make prometheus_client use such files."""
    values.MmapedDict = ReservedDict  # type: ignore[attr-defined]
