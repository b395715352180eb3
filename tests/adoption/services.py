# SPDX-License-Identifier: Apache-2.0
"""Services, and where each has its objects."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Service(NamedTuple):
    """Where a service has its objects.

    :ivar load: imports and registers all of them
    :ivar recorded: path in its package, and the name there, of the
        fingerprints that its tests record
    """

    load: Callable[[], Any]
    recorded: tuple[str, str]


def _registering(module: str) -> Callable[[], Any]:
    return lambda: importlib.import_module(module).register_all()


_TESTS = 'tests/unit/objects/test_objects.py'

SERVICES = {
    'nova': Service(_registering('nova.objects'), (_TESTS, 'object_data')),
    'ironic': Service(
        _registering('ironic.objects'),
        (_TESTS, 'expected_object_fingerprints'),
    ),
    'cinder': Service(_registering('cinder.objects'), (_TESTS, 'object_data')),
    'magnum': Service(
        lambda: importlib.import_module('magnum.objects'),
        (_TESTS, 'object_data'),
    ),
}


def recorded(name: str) -> dict[str, str] | None:
    """Return the fingerprints in the source of a service's tests.

    They are read, not run: a service's tests choose threads or eventlet, and
    need a lot that is not installed.

    :returns: None when its package does not ship them
    """
    where, variable = SERVICES[name].recorded
    package = importlib.util.find_spec(name)
    assert package is not None
    assert package.origin is not None
    path = pathlib.Path(package.origin).parent / where
    if not path.exists():
        return None
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == variable
            for target in statement.targets
        ):
            found: dict[str, str] = ast.literal_eval(statement.value)
            return found
    return None
