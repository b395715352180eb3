# SPDX-License-Identifier: Apache-2.0
"""Run code in a child process with a memory limit and a timeout."""

from __future__ import annotations

import resource
import sys

from tests import machine_speed
from tests.programs import run_program

#: Address space in bytes that the interpreter and the imports need.
BASE = 400 * 2**20

#: In seconds; long enough for slow machines.
TIMEOUT = 120 * machine_speed.scale()


def run(code: str, *, memory: int) -> str:
    """Run Python code and return what it prints.

    :param memory: bytes of address space on top of :data:`BASE`
    :raises AssertionError: with the standard error, if the code failed
    """
    limit = BASE + memory
    child = run_program(
        [sys.executable, '-c', code],
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (limit, limit)
        ),
        timeout=TIMEOUT,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return child.stdout
