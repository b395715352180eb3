# SPDX-License-Identifier: Apache-2.0
"""Run the tests of oslo.versionedobjects on compiled classes.

    python -m tests.functional.vobjects.compiled_suite

The script replaces the methods of VersionedObject itself, so the tests need
no change. With the argument ``plain``, it does not replace them.
"""

from __future__ import annotations

import sys
import unittest
import warnings

from tests.functional import library_suites
from vobjects.objects.codec import ovo_methods

from oslo_versionedobjects import base as ovo_base  # isort: skip - after ours

MODULES = ('test_objects', 'test_fields', 'test_fixture', 'test_exception')


def compile_all() -> None:
    """Replace the methods of VersionedObject."""
    ovo_methods.install(ovo_base.VersionedObject, replace=True)


def main() -> int:
    """Run and print."""
    warnings.simplefilter('ignore', DeprecationWarning)
    if 'plain' not in sys.argv[1:]:
        compile_all()
    tests = unittest.defaultTestLoader.loadTestsFromNames(
        [f'oslo_versionedobjects.tests.{module}' for module in MODULES]
    )
    library_suites.run_tests(tests)
    return 0


if __name__ == '__main__':
    sys.exit(main())
