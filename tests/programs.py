# SPDX-License-Identifier: Apache-2.0
"""Run programs and keep their output."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any


def run_program(
    command: str | Sequence[Any], *, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program, without input by default, and capture its output.

    :param check: raise an error if the program fails
    :param options: those of :func:`subprocess.run`
    """
    if 'input' not in options:
        options = {'stdin': subprocess.DEVNULL, **options}
    return subprocess.run(
        command, capture_output=True, text=True, check=check, **options
    )
