# SPDX-License-Identifier: Apache-2.0
"""doc/source/adding.rst, followed to the letter in a copy of the source."""

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

#: Where the copy's checks go: beside the engine's own, whose world they use.
CHECKS = 'tests/unit/engine/handlers/test_adding.py'

_BLOCK = re.compile(
    r'^\.\. code-block:: diff\n\n((?:    .*\n|\n)+)', re.MULTILINE
)


def diffs(page: str) -> list[tuple[str, list[str]]]:
    """Return the changes a page shows: file, and marked lines."""
    found = []
    for block in _BLOCK.findall(page):
        first, *lines = [line[4:] for line in block.rstrip().split('\n')]
        assert first.startswith('--- '), first
        found.append((first[4:], lines))
    return found


def apply(tree: pathlib.Path, path: str, lines: list[str]) -> None:
    """Change a file as a page shows it; what it shows must be there once."""
    before = [line[1:] for line in lines if not line.startswith('+')]
    after = [line[1:] for line in lines if not line.startswith('-')]
    text = (tree / path).read_text()
    old = '\n'.join(before)
    assert text.count(old) == 1, f'{path} does not have:\n{old}'
    (tree / path).write_text(text.replace(old, '\n'.join(after)))


def run(tree: pathlib.Path, *words: str) -> str:
    """Run a Python module on the copy."""
    done = subprocess.run(
        [sys.executable, '-m', *words],
        cwd=tree,
        env={**os.environ, 'PYTHONPATH': str(tree)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    assert done.returncode == 0, f'{words}\n{done.stdout}\n{done.stderr}'
    return done.stdout


def test_walk_through_when_followed_gives_what_it_says(
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
    found = diffs(PAGE.read_text())

    for path, lines in found:
        apply(tmp_path, path, lines)
    assert 'vobjects lock update' in PAGE.read_text()
    run(tmp_path, 'vobjects', 'lock', 'update')
    shutil.copy(
        ROOT / 'tests/functional/new_microversion_checks.py', tmp_path / CHECKS
    )
    passed = run(tmp_path, 'pytest', '-q', '-p', 'no:cacheprovider', CHECKS)

    assert re.search(r'^6 passed', passed, re.MULTILINE), passed
    assert [path for path, _lines in found] == [
        'vobjects/clustering/requests/clusters.py',
        'vobjects/clustering/history.py',
        'engine/handlers/clusters.py',
    ]
