# SPDX-License-Identifier: Apache-2.0
"""Bound the free memory that a process keeps.

The C library takes a large block directly from the system and returns it when
it is freed. But glibc raises the size of such blocks to that of the largest
one freed so far, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD). From then on,
the bodies of large responses come from heaps, of which each has gaps that the
system cannot have back.
"""

from __future__ import annotations

import ctypes
import os

#: Blocks of this size in bytes return to the system. For smaller ones, new
#: pages of the system would cost more than the rest of a response.
LARGE_BLOCK = 1 << 20

_M_MMAP_THRESHOLD = -3  # malloc.h

#: An administrator sets the same by one of these environment variables.
_SETTINGS = ('MALLOC_MMAP_THRESHOLD_', 'GLIBC_TUNABLES')


def return_large_blocks() -> None:
    """Make this process return each large block when it is freed.

    It does nothing with other C libraries, or if the environment configures
    the allocator.
    """
    if any(name in os.environ for name in _SETTINGS):
        return
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGE_BLOCK)
