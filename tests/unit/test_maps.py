# SPDX-License-Identifier: Apache-2.0
"""Docstrings name the modules and the errors that exist."""

from __future__ import annotations

import ast
import builtins
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]

#: The folders with the code of all distributions.
FOLDERS = 'vobjects', 'api', 'engine', 'distributions', 'transports'

PACKAGES = sorted(
    path.parent.relative_to(ROOT)
    for folder in FOLDERS
    for path in (ROOT / folder).rglob('__init__.py')
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


def unknown_errors(module: pathlib.Path) -> set[str]:
    """Return the names of errors in docstrings that a module does not have."""
    source = module.read_text()
    known = {*vars(builtins)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {name.asname or name.name for name in node.names}
        elif isinstance(node, ast.Assign):
            known |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return {*re.findall(r':raises (\w+):', source)} - known


def test_docstrings_name_only_errors_of_their_module() -> None:
    """Other errors have the name of their module before them."""
    unknown = {
        str(module.relative_to(ROOT)): names
        for folder in FOLDERS
        for module in (ROOT / folder).rglob('*.py')
        if (names := unknown_errors(module))
    }
    assert unknown == {}
