# SPDX-License-Identifier: Apache-2.0
"""Tests that need a server or a program that may be missing."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def missing(reason: str) -> NoReturn:
    """Skip the test because of something that is missing; fail it in CI."""
    if os.environ.get('CI'):
        pytest.fail(reason)
    pytest.skip(reason)


def programs(*names: str) -> None:
    """Skip the test if any of these programs is missing; fail it in CI."""
    absent = [name for name in names if shutil.which(name) is None]
    if absent:
        missing(f'no {" and no ".join(absent)}; see `make services`')
