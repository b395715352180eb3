# SPDX-License-Identifier: Apache-2.0
"""Installation from a clone names all folders that the service needs."""

from __future__ import annotations

import pathlib
import re
import subprocess
import tomllib
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[3]


def project(folder: pathlib.Path) -> dict[str, Any]:
    return tomllib.loads((folder / 'pyproject.toml').read_text())


#: Distribution -> folder with its source.
FOLDERS = {
    project(path.parent)['project']['name']: path.parent
    for path in (
        ROOT / 'pyproject.toml',
        *ROOT.glob('distributions/*/pyproject.toml'),
        *ROOT.glob('transports/*/pyproject.toml'),
    )
}


def needed(name: str, found: set[str]) -> set[str]:
    """Add a distribution and those of this repository that it requires."""
    if name in FOLDERS and name not in found:
        found.add(name)
        hooks = project(FOLDERS[name])['tool']['hatch'].get('metadata', {})
        hook = hooks.get('hooks', {}).get('uv-dynamic-versioning', {})
        for requirement in hook.get('dependencies', ()):
            match = re.match(r'[\w-]+', requirement)
            assert match is not None
            needed(match[0], found)
    return found


@pytest.mark.parametrize('page', ['README.md', 'doc/source/index.rst'])
def test_command_names_the_folders_of_all_requirements(page: str) -> None:
    text = ' '.join((ROOT / page).read_text().split())
    found = re.search(r'`pip install (\. [^`]*)`', text)
    assert found is not None
    printed = subprocess.check_output(
        ['bash', '-c', f'printf "%s\n" {found[1]}'], cwd=ROOT, text=True
    )
    installed = {(ROOT / line).resolve() for line in printed.split()}
    names = needed('vobjects-clustering', set())
    assert {FOLDERS[name].resolve() for name in names} == installed
