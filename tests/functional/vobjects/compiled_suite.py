# SPDX-License-Identifier: Apache-2.0
"""Run o.vo's own tests with every VersionedObject compiled (a script).

    python -m tests.functional.vobjects.compiled_suite

The methods of VersionedObject itself are replaced, so the tests need no
change. Prints, as JSON, how many tests ran
and which of them failed.
"""

from __future__ import annotations

import io
import json
import sys
import unittest
import warnings

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
    result = unittest.TextTestRunner(stream=io.StringIO()).run(tests)
    failed = {
        test.id(): trace for test, trace in result.failures + result.errors
    }
    json.dump({'ran': result.testsRun, 'failed': failed}, sys.stdout)
    return 0


if __name__ == '__main__':
    sys.exit(main())
