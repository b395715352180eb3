# SPDX-License-Identifier: Apache-2.0
"""Packages that tests download once, by the scripts in ``tools``."""

from __future__ import annotations

import functools
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]


@functools.cache
def path_of(tool: str, within: float) -> pathlib.Path | str:
    """Run a script that downloads something, and return the path it prints.

    :param tool: its name in ``tools``
    :param within: seconds
    :returns: why it failed, as text, if it did
    """
    done = subprocess.run(
        (ROOT / 'tools' / tool, sys.executable),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
    )
    if done.returncode:
        return f'tools/{tool} failed: {done.stderr[-2000:]}'
    return pathlib.Path(done.stdout.strip())


def require(tool: str, within: float) -> pathlib.Path:
    """Return :func:`path_of`; skip the test if it failed, or fail it in CI."""
    path = path_of(tool, within)
    if isinstance(path, pathlib.Path):
        return path
    if os.environ.get('CI'):
        pytest.fail(path)
    pytest.skip(path)
