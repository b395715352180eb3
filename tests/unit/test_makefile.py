# SPDX-License-Identifier: Apache-2.0
"""The recipes of the Makefile, which tests otherwise run only in part."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize('target', ['.up', '.test', '.mutants'])
def test_recipe_of_an_installation_is_valid(
    target: str, tmp_path: pathlib.Path
) -> None:
    venv = tmp_path / 'venv'
    recipes = subprocess.run(
        ['make', '--dry-run', f'VENV={venv}', f'{venv}/{target}'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"tools/install-packages '{venv}/bin/python'" in recipes
    checked = subprocess.run(
        ['bash', '-n'],
        input=recipes,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, f'{checked.stderr}\n{recipes}'
