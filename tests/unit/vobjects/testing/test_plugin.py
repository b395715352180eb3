# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from tests.unit.vobjects.cli.test_lock import FIRST, SECOND


def run(directory: pathlib.Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, '-m', *words],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    return done.stdout + done.stderr


def test_laws_are_tried_in_somebody_elses_project(
    tmp_path: pathlib.Path,
) -> None:
    module = tmp_path / 'shop.py'
    module.write_text(FIRST)
    (tmp_path / 'pytest.ini').write_text(
        '[pytest]\nvobjects_laws_examples = 2\n'
    )
    (tmp_path / 'test_shop.py').write_text(
        'def test_laws(vobjects_laws):\n    vobjects_laws()\n'
    )
    quiet = ('pytest', '-q', '-p', 'no:cacheprovider')
    assert 'there is no' in run(tmp_path, *quiet)
    cli = 'vobjects.cli'
    run(tmp_path, cli, 'lock', 'init', '--import', 'shop:register_all')
    run(tmp_path, cli, 'lock', 'release', '1')
    module.write_text(SECOND)
    run(tmp_path, cli, 'lock', 'update')

    said = run(tmp_path, *quiet, '-vv')
    for case in ('Order-1.0', 'Order-1.1', 'golden-1'):
        assert f'test_laws[{case}] PASSED' in said
    assert '3 cases hold; 1 of 1 declared changes happened' in said
