# SPDX-License-Identifier: Apache-2.0
"""Services, and where each has its objects."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
from typing import NamedTuple


class Service(NamedTuple):
    """Where a service has its objects.

    :ivar imports: what registers all of them; see
        :func:`vobjects.lock.registries.load`
    :ivar recorded: path in its package, and the name there, of the
        fingerprints that its tests record; empty: they record none
    """

    imports: str
    recorded: tuple[str, str] = ('', '')


_TESTS = 'tests/unit/objects/test_objects.py'

SERVICES = {
    'nova': Service('nova.objects:register_all', (_TESTS, 'object_data')),
    'ironic': Service(
        'ironic.objects:register_all',
        (_TESTS, 'expected_object_fingerprints'),
    ),
    'cinder': Service('cinder.objects:register_all', (_TESTS, 'object_data')),
    'magnum': Service('magnum.objects', (_TESTS, 'object_data')),
    'neutron': Service(
        'neutron.objects:register_objects', (_TESTS, 'object_data')
    ),
    'heat': Service('heat.objects.*'),
}


def recorded(name: str) -> dict[str, str] | None:
    """Return the fingerprints in the source of a service's tests.

    They are read, not run: a service's tests choose threads or eventlet, and
    need a lot that is not installed.

    :returns: None when there are none, or its package does not ship them
    """
    where, variable = SERVICES[name].recorded
    package = importlib.util.find_spec(name)
    assert package is not None
    assert package.origin is not None
    path = pathlib.Path(package.origin).parent / where
    if not variable or not path.exists():
        return None
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == variable
            for target in statement.targets
        ):
            found: dict[str, str] = ast.literal_eval(statement.value)
            return found
    return None
