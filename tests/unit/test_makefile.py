# SPDX-License-Identifier: Apache-2.0
"""The recipes of the Makefile, which tests otherwise run only in part."""

from __future__ import annotations

import pathlib

import pytest

from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize('target', ['.up', '.test', '.mutants'])
def test_recipe_of_an_installation_is_valid(
    target: str, tmp_path: pathlib.Path
) -> None:
    venv = tmp_path / 'venv'
    recipes = run_program(
        ['make', '--dry-run', f'VENV={venv}', f'{venv}/{target}'],
        cwd=ROOT,
        check=True,
    ).stdout
    assert f"tools/install-packages '{venv}/bin/python'" in recipes
    checked = run_program(['bash', '-n'], input=recipes)
    assert checked.returncode == 0, f'{checked.stderr}\n{recipes}'
