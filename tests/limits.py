# SPDX-License-Identifier: Apache-2.0
"""Run code in a child process with a memory limit and a deadline."""

from __future__ import annotations

import resource
import subprocess
import sys

#: Bytes of address space that the interpreter and our imports need.
BASE = 400 * 2**20

#: A hang, on however slow a machine.
DEADLINE = 120


def run(code: str, *, memory: int) -> str:
    """Run Python code and return what it prints.

    :param memory: bytes of address space on top of :data:`BASE`
    :raises AssertionError: it failed, with its standard error
    """
    limit = BASE + memory
    child = subprocess.run(
        [sys.executable, '-c', code],
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (limit, limit)
        ),
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return child.stdout
