# SPDX-License-Identifier: Apache-2.0
"""Services, and the modules of their objects."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
from typing import NamedTuple


class Service(NamedTuple):
    """A service and its objects.

    :ivar imports: the code that registers them; see
        :func:`vobjects.lock.registries.load`
    :ivar recorded: path in its package and variable of the fingerprints that
        its tests record; empty: none
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

    The tests are parsed, not imported, because they have many dependencies.

    :returns: None if there are none, or the package does not contain them
    """
    file, variable = SERVICES[name].recorded
    package = importlib.util.find_spec(name)
    assert package is not None
    assert package.origin is not None
    path = pathlib.Path(package.origin).parent / file
    if not variable or not path.exists():
        return None
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == variable
            for target in statement.targets
        ):
            fingerprints: dict[str, str] = ast.literal_eval(statement.value)
            return fingerprints
    return None
