# SPDX-License-Identifier: Apache-2.0
"""The guide doc/source/adding.rst, applied to a copy of the source."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'doc/source/adding.rst'
COPIED = ('api', 'engine', 'vobjects', 'tests', 'pyproject.toml')
LOCK = 'vobjects.lock'

#: Path of the checks in the copy, where they can use the engine's fixtures.
CHECKS = 'tests/unit/engine/handlers/test_adding.py'

_BLOCK = re.compile(
    r'^\.\. code-block:: diff\n\n((?:    .*\n|\n)+)', re.MULTILINE
)


def diffs(page: str) -> list[tuple[str, list[str]]]:
    """Return file and marked lines of each diff on a page."""
    changes = []
    for block in _BLOCK.findall(page):
        first, *lines = [line[4:] for line in block.rstrip().split('\n')]
        assert first.startswith('--- '), first
        changes.append((first[4:], lines))
    return changes


def apply(tree: pathlib.Path, path: str, lines: list[str]) -> None:
    """Apply a diff, whose old text the file must contain exactly once."""
    before = [line[1:] for line in lines if not line.startswith('+')]
    after = [line[1:] for line in lines if not line.startswith('-')]
    text = (tree / path).read_text()
    old = '\n'.join(before)
    assert text.count(old) == 1, f'{path} does not have:\n{old}'
    (tree / path).write_text(text.replace(old, '\n'.join(after)))


def run(tree: pathlib.Path, *words: str) -> str:
    """Run a Python module on the copy."""
    completed = subprocess.run(
        [sys.executable, '-m', *words],
        cwd=tree,
        env={**os.environ, 'PYTHONPATH': str(tree)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    output = f'{words}\n{completed.stdout}\n{completed.stderr}'
    assert completed.returncode == 0, output
    return completed.stdout


def test_guide_when_applied_adds_the_microversion(
    tmp_path: pathlib.Path,
) -> None:
    for name in (*COPIED, LOCK):
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(
                source, target, ignore=shutil.ignore_patterns('__pycache__')
            )
        else:
            shutil.copy(source, target)
    changes = diffs(PAGE.read_text())

    for path, lines in changes:
        apply(tmp_path, path, lines)
    assert 'vobjects lock update' in PAGE.read_text()
    run(tmp_path, 'vobjects', 'lock', 'update')
    shutil.copy(
        ROOT / 'tests/functional/new_microversion_checks.py', tmp_path / CHECKS
    )
    passed = run(tmp_path, 'pytest', '-q', '-p', 'no:cacheprovider', CHECKS)

    assert re.search(r'^6 passed', passed, re.MULTILINE), passed
    assert [path for path, _lines in changes] == [
        'vobjects/clustering/requests/clusters.py',
        'vobjects/clustering/history.py',
        'engine/handlers/clusters.py',
    ]
