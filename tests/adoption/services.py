# SPDX-License-Identifier: Apache-2.0
"""Services, and the modules of their objects."""

from __future__ import annotations

import ast
import importlib.util
import pathlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Service(NamedTuple):
    """A service and its objects.

    :ivar imports: the code that registers them; see
        :func:`vobjects.lock.registries.load`
    :ivar releases: the newest release of each of the last three major
        versions, oldest first; all run on Python 3.11
    :ivar recorded: path in its package and variable of the fingerprints that
        its tests record; empty: none
    :ivar distribution: its name on PyPI, if it is not the service's
    :ivar converts: whether it passes the version of a peer to conversions, or
        lets a peer request one
    :ivar requirements: release -> versions of its dependencies that it needs,
        but does not declare
    """

    imports: str
    releases: tuple[str, ...]
    recorded: tuple[str, str] = ('', '')
    distribution: str = ''
    converts: bool = True
    requirements: Mapping[str, tuple[str, ...]] = MappingProxyType({})


_TESTS = 'tests/unit/objects/test_objects.py'

SERVICES = {
    'nova': Service(
        'nova.objects:register_all',
        ('32.2.1', '33.0.2', '34.0.0'),
        (_TESTS, 'object_data'),
    ),
    'ironic': Service(
        'ironic.objects:register_all',
        ('37.0.0', '38.0.0', '39.0.0'),
        (_TESTS, 'expected_object_fingerprints'),
        # Newer versions register an option twice.
        requirements=dict.fromkeys(
            ('37.0.0', '38.0.0'), ('keystoneauth1<5.17',)
        ),
    ),
    'cinder': Service(
        'cinder.objects:register_all',
        ('27.0.0', '28.0.0', '29.0.0'),
        (_TESTS, 'object_data'),
    ),
    'magnum': Service(
        'magnum.objects',
        ('21.0.1', '22.0.0', '23.0.0'),
        (_TESTS, 'object_data'),
    ),
    'neutron': Service(
        'neutron.objects:register_objects',
        ('27.0.4', '28.0.2', '29.0.0'),
        (_TESTS, 'object_data'),
    ),
    'heat': Service(
        'heat.objects.*',
        ('25.0.2', '26.0.2', '27.0.1'),
        # The package named heat is a different project.
        distribution='openstack-heat',
        converts=False,
    ),
    'watcher': Service(
        'watcher.objects:register_all',
        ('15.1.2', '16.0.2', '17.0.0'),
        (_TESTS, 'expected_object_fingerprints'),
        distribution='python-watcher',
        converts=False,
    ),
    'masakari': Service(
        'masakari.objects:register_all',
        ('20.0.0', '21.0.0', '22.0.0'),
        (_TESTS, 'object_data'),
        converts=False,
    ),
    'zun': Service(
        'zun.objects',
        ('16.0.0', '17.0.0', '18.0.0'),
        (_TESTS, 'object_data'),
        converts=False,
    ),
    'cyborg': Service(
        'cyborg.objects:register_all',
        ('15.0.1', '16.0.1', '17.0.0'),
        distribution='openstack-cyborg',
        converts=False,
    ),
    'os_vif': Service(
        'os_vif.objects:register_all',
        ('3.7.1', '4.3.1', '5.3.0'),
        ('tests/unit/test_objects.py', 'object_data'),
        # Its objects do not leave the process of its caller.
        distribution='os-vif',
    ),
    'senlin': Service(
        'senlin.objects.*',
        ('14.0.0', '15.0.0', '16.0.0'),
        converts=False,
        # Newer versions lack modules that it imports.
        requirements=dict.fromkeys(
            ('14.0.0', '15.0.0'),
            ('oslo.db<13', 'setuptools<81', 'SQLAlchemy<2'),
        ),
    ),
    'tacker': Service(
        'tacker.objects:register_all',
        ('14.0.0', '15.0.0', '16.0.0'),
        converts=False,
    ),
    'designate': Service(
        'designate.objects',
        ('21.0.1', '22.0.1', '23.0.0'),
        converts=False,
    ),
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
