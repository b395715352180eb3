# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin that adopts the objects of a service before its own tests.

::

    pytest -p tests.adoption.pytest_adopt --adopt magnum \
        --pyargs magnum.tests.unit.objects

Without ``--adopt``, the tests use the original classes.
"""

from __future__ import annotations

import contextlib
import importlib
import unittest

import pytest

from tests.adoption import services


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        '--adopt',
        choices=sorted(services.SERVICES),
        help='adopt the objects of a service before the tests are imported',
    )


def _delete_attribute(self: unittest.TestCase, name: str) -> None:
    """Delete an attribute, if it exists.

    pytest deletes the method that it has set on a test case. The clean-up of
    Ironic's and others' tests has already deleted all attributes.
    """
    with contextlib.suppress(AttributeError):
        object.__delattr__(self, name)


def pytest_configure(config: pytest.Config) -> None:
    """Adopt all registered classes."""
    unittest.TestCase.__delattr__ = _delete_attribute  # type: ignore[method-assign]
    name = config.getoption('--adopt')
    if name:
        # The package of the tests must be the first import: Nova's replaces
        # modules of the standard library.
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(f'{name}.tests.unit')
        from vobjects.lock import registries
        from vobjects.objects.adoption import adopt

        registries.load(services.SERVICES[name].imports)
        adopt(
            cls
            for versions in registries.registered().values()
            for cls in versions
        )
