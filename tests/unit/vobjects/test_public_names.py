# SPDX-License-Identifier: Apache-2.0
"""The public names of the library and of other distributions: ``__all__``."""

from __future__ import annotations

import ast
import importlib
import inspect
import pathlib
from typing import Any

import pytest
from oslo_versionedobjects import fields as ovo_fields

import vobjects
import vobjects_client
import vobjects_contract
import vobjects_sql
import vobjects_testing

#: The packages of all distributions with public names.
ROOTS = [
    pathlib.Path(str(package.__file__)).parent
    for package in (
        vobjects,
        vobjects_client,
        vobjects_contract,
        vobjects_sql,
        vobjects_testing,
    )
]
GOLDEN = pathlib.Path(__file__).with_name('public_names.txt')

#: More names than a reader can survey.
MOST_NAMES = 150


def is_public(path: pathlib.Path) -> bool:
    """Tell whether a module has ``__all__``, or a list of public names."""
    return path.with_suffix('.pyi').exists() or any(
        isinstance(node, ast.Assign)
        and any(getattr(t, 'id', '') == '__all__' for t in node.targets)
        for node in ast.parse(path.read_text()).body
    )


PUBLIC = sorted(
    '.'.join(path.relative_to(root.parent).with_suffix('').parts).removesuffix(
        '.__init__'
    )
    for root in ROOTS
    for path in root.rglob('*.py')
    if 'clustering' not in path.parts and is_public(path)
)


def is_from_elsewhere(module: str, name: str) -> bool:
    """Tell whether a name is that of an OpenStack library."""
    if module == 'vobjects.fields':
        return hasattr(ovo_fields, name)
    value = getattr(importlib.import_module(module), name)
    return str(getattr(value, '__module__', '')).startswith('oslo_')


NAMES = [
    f'{module}.{name}'
    for module in PUBLIC
    for name in sorted(importlib.import_module(module).__all__)
    if not is_from_elsewhere(module, name)
]


def value_of(name: str) -> Any:
    module, _, attribute = name.rpartition('.')
    return getattr(importlib.import_module(module), attribute)


def test_public_names_are_those_in_the_golden_file() -> None:
    assert GOLDEN.read_text().splitlines() == NAMES


def test_a_reader_can_survey_the_public_names() -> None:
    assert len(NAMES) <= MOST_NAMES


@pytest.mark.parametrize('module', PUBLIC)
def test_public_module_when_it_lists_a_name_then_has_it(module: str) -> None:
    loaded = importlib.import_module(module)
    assert set(loaded.__all__) <= set(dir(loaded))
    assert len((loaded.__doc__ or '').splitlines()) > 1


@pytest.mark.parametrize('name', NAMES)
def test_public_name_has_types_and_a_docstring(name: str) -> None:
    value = value_of(name)
    if not callable(value) or not value.__module__.startswith('vobjects'):
        return
    assert inspect.getdoc(value)
    if inspect.isfunction(value):
        parameters = inspect.signature(value).parameters
        assert value.__annotations__.keys() == {*parameters, 'return'}


def test_unknown_name_of_a_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Objekt'"):
        vobjects.Objekt  # noqa: B018
