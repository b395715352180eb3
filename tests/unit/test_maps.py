# SPDX-License-Identifier: Apache-2.0
"""The docstring of each package lists its modules."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

import vobjects

ROOT = pathlib.Path(__file__).parents[2]

PACKAGES = sorted(
    path.parent.relative_to(ROOT)
    for package in ('vobjects', 'api', 'engine', 'transports')
    for path in (ROOT / package).rglob('__init__.py')
)


def modules_of(package: pathlib.Path) -> set[str]:
    """Return the names of a package's modules, and of packages inside it."""
    children = (ROOT / package).iterdir()
    return {
        path.stem
        for path in children
        if (path.suffix == '.py' and not path.stem.startswith('_'))
        or (path / '__init__.py').exists()
    }


@pytest.mark.parametrize('package', PACKAGES, ids=str)
def test_package_docstring_names_each_module(package: pathlib.Path) -> None:
    source = (ROOT / package / '__init__.py').read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ''
    words = set(re.findall(r'\w+', docstring))
    unlisted = modules_of(package) - words
    assert unlisted == set(), (
        f'list {", ".join(sorted(unlisted))} in the docstring of'
        f' {package}/__init__.py'
    )


@pytest.mark.parametrize('package', PACKAGES, ids=str)
def test_package_docstring_names_only_existing_modules(
    package: pathlib.Path,
) -> None:
    """A map is a block of lines that begin with at least two modules."""
    source = (ROOT / package / '__init__.py').read_text()
    docstring = ast.get_docstring(ast.parse(source)) or ''
    modules = modules_of(package)
    for block in docstring.split('\n\n'):
        first_words = re.findall(r'^ *(\w+)(?:/|\.py)? {2,}\S', block, re.M)
        if len(modules & set(first_words)) > 1:
            assert set(first_words) <= modules


def test_library_reference_lists_each_public_name() -> None:
    page = (ROOT / 'doc/source/reference/index.rst').read_text()
    names = set(vobjects.__all__) - {'__version__'}
    assert names - set(re.findall(r'\w+', page)) == set()
