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

import pytest

from tests import adding_guide

ROOT = pathlib.Path(__file__).parents[2]
COPIED = ('api', 'doc', 'engine', 'releasenotes', 'tests', 'vobjects')
FILES = ('pyproject.toml', 'vobjects.lock')

#: Checks of the results, and their path in the copy, where they can use the
#: fixtures of the engine.
RESULTS = ROOT / 'tests/functional/new_microversion_checks.py'
RESULTS_COPY = 'tests/unit/engine/handlers/test_adding.py'


def link(source: str, target: str) -> None:
    """Create a hard link, or a copy on another file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def apply_guide(tree: pathlib.Path, *, without: str = '') -> None:
    """Copy the source, and follow the guide except for one step."""
    for name in COPIED:
        shutil.copytree(
            ROOT / name,
            tree / name,
            symlinks=True,
            ignore=shutil.ignore_patterns('build'),
            copy_function=link,
        )
    for name in FILES:
        shutil.copy2(ROOT / name, tree / name)
    for step in adding_guide.steps():
        if step.name == without:
            continue
        if step.command is None:
            step.apply(tree)
        else:
            code, output = run(tree, step.command)
            # Without an earlier step, the command may fail.
            assert code == 0 or without, output


def run(tree: pathlib.Path, command: str) -> tuple[int, str]:
    """Run a command on the copy; return its exit code and its output."""
    completed = subprocess.run(
        [sys.executable, '-m', *shlex.split(command)],
        cwd=tree,
        env={
            **os.environ,
            'PYTHONPATH': str(tree),
            'PYTEST_ADDOPTS': '-q -p no:cacheprovider',
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return completed.returncode, completed.stdout


def test_complete_change_passes_all_checks(tmp_path: pathlib.Path) -> None:
    apply_guide(tmp_path)
    shutil.copy(RESULTS, tmp_path / RESULTS_COPY)
    commands = {check.command for check in adding_guide.checks()}

    for command in sorted({*commands, f'pytest {RESULTS_COPY}'}):
        code, output = run(tmp_path, command)
        assert code == 0, f'{command}\n{output}'


@pytest.mark.parametrize(
    'check', adding_guide.checks(), ids=lambda check: check.step
)
def test_forgotten_step_is_reported_with_its_fix(
    tmp_path: pathlib.Path, check: adding_guide.Check
) -> None:
    apply_guide(tmp_path, without=check.step)

    code, output = run(tmp_path, check.command)

    assert code != 0, output
    assert check.message in ' '.join(output.split()), output
