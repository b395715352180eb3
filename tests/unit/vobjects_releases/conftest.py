# SPDX-License-Identifier: Apache-2.0
"""Two small releases as source trees."""

from __future__ import annotations

import pathlib
import textwrap
from collections.abc import Callable, Mapping

import pytest

from vobjects_releases import comparison

Files = Mapping[str, str]
Findings = set[tuple[str, str, str]]
Compare = Callable[[Files, Files], Findings]


def write(directory: pathlib.Path, files: Files) -> pathlib.Path:
    """Write a package ``shop`` with the files."""
    package = directory / 'shop'
    package.mkdir(parents=True)
    for name, source in {'__init__.py': '', **files}.items():
        path = package / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(source))
    return directory


@pytest.fixture
def compare(tmp_path: pathlib.Path) -> Compare:
    """Return the rule, subject and field of each finding."""

    def compare_files(old: Files, new: Files) -> Findings:
        return {
            (item.rule.id, item.subject, item.field)
            for item in comparison.compare(
                comparison.Release(write(tmp_path / 'old', old)),
                comparison.Release(write(tmp_path / 'new', new)),
            )
        }

    return compare_files
