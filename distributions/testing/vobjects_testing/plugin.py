# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: invariants of every type, and upgrade plans.

::

    def test_invariants(vobjects_invariants):
        vobjects_invariants()

The plugin turns this into one test per type and locked version, and one per
release for its golden primitives. The lock is ``vobjects.lock`` in pytest's
root directory; ``vobjects_lock`` in the ini file names another, for
:func:`vobjects_testing.emulate`, too.
``vobjects_invariants_examples`` is the number of instances that hypothesis
draws for each test.

::

    def test_upgrade(vobjects_upgrade):
        vobjects_upgrade(CONFIG, open_fleet)

The plugin turns this into one test per seed; see
:mod:`vobjects_testing.upgrade`, and ``pytest --help`` for the options.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

import vobjects_testing
from vobjects_testing import upgrade_plugin

if TYPE_CHECKING:
    from vobjects_testing.lock_checks import Check, Exempt

vobjects_upgrade = upgrade_plugin.vobjects_upgrade

FIXTURE = 'vobjects_invariants'


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini options."""
    parser.addini(
        'vobjects_lock',
        "the lock file, relative to pytest's root directory; used by"
        ' vobjects_invariants and vobjects_testing.emulate()',
        default='vobjects.lock',
    )
    parser.addini(
        'vobjects_invariants_examples',
        'instances drawn by hypothesis for each type and version',
        default='5',
    )
    upgrade_plugin.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Let ``emulate()`` read the lock that the ini file names."""
    config.add_cleanup(
        functools.partial(_set_default_lock, vobjects_testing.default_lock)
    )
    _set_default_lock(_lock_path(config))


def _set_default_lock(path: pathlib.Path) -> None:
    vobjects_testing.default_lock = path


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize the tests that use the fixtures."""
    if FIXTURE in metafunc.fixturenames:
        cases = dict(_cases(metafunc.config))
        metafunc.parametrize(
            FIXTURE, cases.values(), ids=cases.keys(), indirect=True
        )
    upgrade_plugin.generate_tests(metafunc)


@pytest.fixture
def vobjects_invariants(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Return a function that checks the invariants of one case.

    It has an optional parameter, ``exempt``: ``INVARIANT Type.field`` -> the
    reason for which the field may violate the invariant.
    """
    check_case: Check = request.param

    def check(exempt: Exempt = MappingProxyType({})) -> None:
        without_reason = [
            name for name, reason in exempt.items() if not reason
        ]
        if without_reason:
            raise pytest.UsageError(
                f'vobjects_invariants: exempt {without_reason[0]!r} has no'
                ' reason'
            )
        check_case(exempt)

    return check


def _lock_path(config: pytest.Config) -> pathlib.Path:
    return pathlib.Path(config.rootpath, config.getini('vobjects_lock'))


def _cases(config: pytest.Config) -> Iterator[tuple[str, Check]]:
    # Imported here: pytest loads the plugin in every project.
    from vobjects import exceptions
    from vobjects_testing import lock_checks

    path = _lock_path(config)
    examples = int(config.getini('vobjects_invariants_examples'))
    try:
        yield from lock_checks.cases(lock_checks.load(path), path, examples)
    except exceptions.VobjectsError as error:
        raise pytest.UsageError(f'vobjects_invariants: {error}') from None
