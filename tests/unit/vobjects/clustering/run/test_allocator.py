# SPDX-License-Identifier: Apache-2.0
"""The memory that a process keeps after large values."""

from __future__ import annotations

import ctypes
import os
import platform
import sys

import pytest

from tests.programs import run_program
from vobjects.clustering.run import allocator

MB = 1 << 20

#: Frees one block of 31 MB, then 99 of 100 blocks of 1 MB, of which the last
#: one keeps a heap from shrinking; prints the growth in MB.
PROGRAM = f"""
import resource
from vobjects.clustering.run import allocator

def size():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * resource.getpagesize()

CALL
before = size()
block = b'a' * (31 * {MB})
del block
blocks = [b'a' * {MB} for _ in range(100)]
del blocks[:-1]
print((size() - before) // {MB})
"""


def growth(call: str, **environment: str) -> int:
    """Return by how many MB a process grows that first executes a call."""
    result = run_program(
        [sys.executable, '-c', PROGRAM.replace('CALL', call)],
        env={**os.environ, **environment},
        check=True,
    )
    return int(result.stdout)


needs_glibc = pytest.mark.skipif(
    platform.libc_ver()[0] != 'glibc', reason='needs glibc'
)


@needs_glibc
def test_large_blocks_when_freed_return_to_the_system() -> None:
    assert growth('') > 90
    assert growth('allocator.return_large_blocks()') < 10


@needs_glibc
def test_setting_of_the_administrator_is_kept() -> None:
    kept = growth(
        'allocator.return_large_blocks()',
        MALLOC_MMAP_THRESHOLD_=str(32 * MB),
    )
    assert kept > 90


def test_other_c_library_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ctypes, 'CDLL', lambda _: object())
    allocator.return_large_blocks()
