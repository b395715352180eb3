# SPDX-License-Identifier: Apache-2.0
"""The tests that microversion-parse ships pass on our module, all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def run(*arguments: str) -> dict[str, Any]:
    process = subprocess.run(
        [
            sys.executable,
            '-m',
            'tests.functional.vobjects.parse_suite',
            *arguments,
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=1000,
    )
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def test_all_pass_as_they_do_on_the_original() -> None:
    original, ours = run('original'), run()

    assert original['failed'] == {}
    assert ours['failed'] == {}
    assert ours['ran'] == original['ran'] > 40
