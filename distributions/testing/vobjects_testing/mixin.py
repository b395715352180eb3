# SPDX-License-Identifier: Apache-2.0
"""Checks of a lock for services that test with unittest or testtools.

::

    class TestLock(LockMixin, base.TestCase):
        lock = pathlib.Path(__file__).parents[2] / 'vobjects.lock'

It is the fixture ``vobjects_invariants`` of the pytest plugin, and ``vobjects
lock check``, as two test methods, which stestr finds.
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, ClassVar

from vobjects_testing import lock_checks

if TYPE_CHECKING:
    import unittest

    _Base = unittest.TestCase
else:
    _Base = object


class LockMixin(_Base):
    """Two tests of a lock; put it before the class of test cases.

    :cvar lock: the lock file; a relative path begins at the working directory
    :cvar examples: instances that hypothesis draws for each type and version
    :cvar exempt: ``INVARIANT Type.field`` -> the reason for which the field
        may violate the invariant
    """

    lock: ClassVar[pathlib.Path] = pathlib.Path('vobjects.lock')
    examples: ClassVar[int] = 5
    exempt: ClassVar[lock_checks.Exempt] = {}

    def test_code_matches_the_lock(self) -> None:
        """Fail with the findings of ``vobjects lock check``."""
        lock = lock_checks.load(self.lock)
        report = lock_checks.differences(lock, self.lock)
        if report:
            self.fail(report)

    def test_invariants_of_types(self) -> None:
        """Fail with every violated invariant of every type."""
        lock = lock_checks.load(self.lock)
        failures = []
        # Not subTest(), which testtools does not report.
        for name, check in lock_checks.cases(lock, self.lock, self.examples):
            try:
                check(self.exempt)
            except AssertionError as error:
                failures.append(f'{name}: {error}')
        if failures:
            self.fail('\n'.join(failures))
