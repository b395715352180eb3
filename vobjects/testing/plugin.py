# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: invariants of every type, and upgrade plans.

::

    def test_invariants(vobjects_invariants):
        vobjects_invariants()

The plugin turns this into one test per type and locked version, and one per
release for its golden primitives. The lock is ``vobjects.lock`` in pytest's
root directory; ``vobjects_lock`` in the ini file names another, for
:func:`vobjects.testing.emulate`, too.
``vobjects_invariants_examples`` is the number of instances that hypothesis
draws for each test.

::

    def test_upgrade(vobjects_upgrade):
        vobjects_upgrade(CONFIG, open_fleet)

The plugin turns this into one test per seed; see
:mod:`vobjects.testing.upgrade`, and ``pytest --help`` for the options.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import pytest

from vobjects import testing
from vobjects.testing import upgrade_plugin

vobjects_upgrade = upgrade_plugin.vobjects_upgrade

FIXTURE = 'vobjects_invariants'

#: User property with the numbers that a :data:`Check` returns.
PROPERTY = 'vobjects_invariants'

#: Invariant and field -> why the field may violate it.
Exempt = Mapping[str, str]

#: Checks one case; returns the numbers of exercised and declared changes, and
#: of exemptions that were needed.
Check = Callable[[Exempt], tuple[int, int, int]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini options."""
    parser.addini(
        'vobjects_lock',
        "the lock file, relative to pytest's root directory; used by"
        ' vobjects_invariants and vobjects.testing.emulate()',
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
        functools.partial(_set_default_lock, testing.default_lock)
    )
    _set_default_lock(_lock_path(config))


def _set_default_lock(path: pathlib.Path) -> None:
    testing.default_lock = path


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
        counts = check_case(exempt)
        request.node.user_properties.append((PROPERTY, list(counts)))

    return check


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> None:
    """Report how many declared changes the invariants exercised."""
    counts = [
        value
        for report in terminalreporter.stats.get('passed', ())
        for name, value in getattr(report, 'user_properties', ())
        if name == PROPERTY
    ]
    if counts:
        exercised, declared, exempted = map(sum, zip(*counts, strict=True))
        exemptions = f'; {exempted} exemptions' if exempted else ''
        terminalreporter.write_line(
            f'vobjects invariants: {len(counts)} cases passed; {exercised} of'
            f' {declared} declared changes were exercised{exemptions}'
        )
    upgrade_plugin.summarize(terminalreporter)


def _lock_path(config: pytest.Config) -> pathlib.Path:
    return pathlib.Path(config.rootpath, config.getini('vobjects_lock'))


def _cases(config: pytest.Config) -> Iterator[tuple[str, Check]]:
    # Imported here: pytest loads the plugin in every project.
    from vobjects import exceptions
    from vobjects.lock import golden, lock_names, parse
    from vobjects.testing import invariants

    path = _lock_path(config)
    examples = int(config.getini('vobjects_invariants_examples'))
    try:
        lock = parse.load(path)
        lock_names.load(lock, path)
    except exceptions.VobjectsError as error:
        raise pytest.UsageError(f'vobjects_invariants: {error}') from None

    for case in invariants.cases(lock):
        yield str(case), _InvariantTest(case, examples)
    for release in lock.releases:
        if not golden.path_of(path, release).exists():
            continue
        yield (
            f'golden-{release}',
            _GoldenTest(
                golden.read(path, release), lock.at(release).manifest()
            ),
        )


class _InvariantTest:
    def __init__(self, case: object, examples: int) -> None:
        self._case, self._examples = case, examples

    def __call__(self, exempt: Exempt) -> tuple[int, int, int]:
        from vobjects.testing import invariants

        case = self._case
        assert isinstance(case, invariants.Case)
        case.exempt = exempt
        case.check(self._examples)
        return (
            len(case.changes & case.exercised),
            len(case.changes),
            len(case.exempted),
        )


class _GoldenTest:
    def __init__(
        self, primitives: list[dict[str, object]], manifest: dict[str, str]
    ) -> None:
        self._primitives, self._manifest = primitives, manifest

    def __call__(self, exempt: Exempt) -> tuple[int, int, int]:
        from vobjects.testing import golden_checks

        for primitive in self._primitives:
            golden_checks.check(primitive, self._manifest)
        return 0, 0, 0
