# SPDX-License-Identifier: Apache-2.0
"""Packages that scripts in ``tools`` download once for tests."""

from __future__ import annotations

import functools
import pathlib
import sys

from tests import machine_speed, requirements
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[1]


@functools.cache
def download(tool: str, timeout: float) -> pathlib.Path | str:
    """Run a download script and return the path that it prints.

    :param tool: name of the script in ``tools``
    :param timeout: in seconds on the reference machine
    :returns: the path, or an error message
    """
    completed = run_program(
        (ROOT / 'tools' / tool, sys.executable),
        timeout=timeout * machine_speed.scale(),
    )
    if completed.returncode:
        return f'tools/{tool} failed: {completed.stderr[-2000:]}'
    return pathlib.Path(completed.stdout.strip())


def require(tool: str, timeout: float) -> pathlib.Path:
    """Return the path of a download, or skip the test (fail it in CI)."""
    path = download(tool, timeout)
    if not isinstance(path, pathlib.Path):
        requirements.missing(path)
    return path
