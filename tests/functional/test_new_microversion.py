# SPDX-License-Identifier: Apache-2.0
"""The guide doc/source/adding.rst, applied to a copy of the source.

The complete change passes each command in the table of the guide. Without one
of the steps, the command in its row fails with the message in that row.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests import adding_guide, machine_speed

ROOT = pathlib.Path(__file__).parents[2]
LOCK = 'vobjects.lock'

#: Checks of the results, and their path in the copy, where they can use the
#: fixtures of the engine.
RESULTS = ROOT / 'tests/functional/new_microversion_checks.py'
RESULTS_COPY = 'tests/unit/engine/handlers/test_adding.py'


def run(tree: pathlib.Path, command: str) -> tuple[int, str]:
    """Run a command on the copy; return its exit code and its output."""
    completed = subprocess.run(
        [sys.executable, '-m', *shlex.split(command)],
        cwd=tree,
        env={
            **os.environ,
            'PYTHONPATH': str(tree),
            # A step may keep the size of a module, and a revert the second of
            # its change, so that Python would use an outdated .pyc file.
            'PYTHONDONTWRITEBYTECODE': '1',
            'PYTEST_ADDOPTS': '-q -x -p no:cacheprovider',
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600 * machine_speed.scale(),
        check=False,
    )
    return completed.returncode, completed.stdout


@pytest.fixture(scope='module')
def complete(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the source with all steps of the guide."""
    tree = tmp_path_factory.mktemp('complete')
    adding_guide.copy(ROOT, tree)
    for step in adding_guide.steps():
        if step.command is None:
            step.apply(tree)
        else:
            code, output = run(tree, step.command)
            assert code == 0, output
    shutil.copy(RESULTS, tree / RESULTS_COPY)
    return tree


def test_complete_change_passes_all_checks(complete: pathlib.Path) -> None:
    commands = {check.command for check in adding_guide.checks()}
    # One process runs all files, because pytest takes seconds to start.
    whole = {c for c in commands if c.startswith('pytest ') and ' -' not in c}
    files = [command.removeprefix('pytest ') for command in sorted(whole)]
    together = ' '.join(['pytest', *files, RESULTS_COPY])

    for command in sorted({*commands - whole, together}):
        code, output = run(complete, command)
        assert code == 0, f'{command}\n{output}'


def rows() -> Iterator[Any]:
    """Yield the rows; those that repeat the tests of another one are long."""
    commands = set()
    for check in adding_guide.checks():
        repeats = 'pytest ' in check.command and check.command in commands
        commands.add(check.command)
        marks = [pytest.mark.long] if repeats else []
        yield pytest.param(check, id=check.step, marks=marks)


@pytest.mark.parametrize('check', list(rows()))
def test_forgotten_step_is_reported_with_its_fix(
    complete: pathlib.Path,
    tmp_path: pathlib.Path,
    check: adding_guide.Check,
) -> None:
    step = next(s for s in adding_guide.steps() if s.name == check.step)
    adding_guide.copy(complete, tmp_path)
    if step.command is None:
        step.revert(tmp_path)
    else:
        # The only file that a command of the guide writes.
        shutil.copy2(ROOT / LOCK, tmp_path / LOCK)

    code, output = run(tmp_path, check.command)

    assert code != 0, output
    assert check.message in ' '.join(output.split()), output
