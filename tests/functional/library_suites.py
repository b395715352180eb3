# SPDX-License-Identifier: Apache-2.0
"""Run the tests of another library in a separate process.

A script of this package replaces parts of the library and calls
:func:`run_tests`; a test calls :func:`results_of` with the script.
"""

from __future__ import annotations

import io
import json
import sys
import unittest
import warnings
from typing import Any

from tests import machine_speed
from tests.programs import run_program


def results_of(script: str, *arguments: str) -> dict[str, Any]:
    """Run a script and return the results it prints.

    :param script: name of a module of :mod:`tests.functional`
    :returns: ``ran``: number of tests; ``failed``: test -> traceback;
        ``skipped``: test -> reason
    """
    process = run_program(
        [
            *(sys.executable, '-m', f'tests.functional.{script}'),
            *arguments,
        ],
        check=True,
        timeout=1000 * machine_speed.scale(),
    )
    results: dict[str, Any] = json.loads(process.stdout)
    return results


def run_tests(suite: unittest.TestSuite) -> None:
    """Run tests and print the results as JSON; see :func:`results_of`."""
    warnings.simplefilter('ignore', DeprecationWarning)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    failed = {
        test.id(): trace for test, trace in result.failures + result.errors
    }
    skipped = {test.id(): reason for test, reason in result.skipped}
    json.dump(
        {'ran': result.testsRun, 'failed': failed, 'skipped': skipped},
        sys.stdout,
    )
