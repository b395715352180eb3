# SPDX-License-Identifier: Apache-2.0
"""Run microversion-parse's own tests on our module (a script).

    python -m tests.functional.vobjects.parse_suite

Its test modules are loaded from where the package is installed, while the
name ``microversion_parse`` stands for ours. Prints, as JSON, how many tests
ran and which of them failed. With the argument ``original``, the name stands
for what it always does.
"""

from __future__ import annotations

import importlib.util
import io
import json
import pathlib
import sys
import unittest
import warnings

MODULES = (
    'test_extract_version',
    'test_get_version',
    'test_headers_from_wsgi_environ',
    'test_middleware',
    'test_webob',
)


def installed_tests() -> pathlib.Path:
    """Return the directory of the tests that the package ships."""
    spec = importlib.util.find_spec('microversion_parse')
    assert spec is not None
    assert spec.origin is not None
    return pathlib.Path(spec.origin).parent / 'tests'


def alias() -> None:
    """Let the name of the library stand for our module."""
    # Their middleware imports it, and their tests count on that.
    importlib.import_module('webob.exc')

    from vobjects.microversions import compat
    from vobjects.microversions.compat import middleware

    sys.modules['microversion_parse'] = compat
    sys.modules['microversion_parse.middleware'] = middleware


def load(directory: pathlib.Path) -> unittest.TestSuite:
    """Return the tests of every module."""
    loader, suite = unittest.TestLoader(), unittest.TestSuite()
    for name in MODULES:
        spec = importlib.util.spec_from_file_location(
            f'parse_tests_{name}', directory / f'{name}.py'
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        suite.addTests(loader.loadTestsFromModule(module))
    return suite


def main() -> int:
    """Run and print."""
    warnings.simplefilter('ignore', DeprecationWarning)
    directory = installed_tests()
    if 'original' not in sys.argv[1:]:
        alias()
    result = unittest.TextTestRunner(stream=io.StringIO()).run(load(directory))
    failed = {
        test.id(): trace for test, trace in result.failures + result.errors
    }
    json.dump({'ran': result.testsRun, 'failed': failed}, sys.stdout)
    return 0


if __name__ == '__main__':
    sys.exit(main())
