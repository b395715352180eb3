# SPDX-License-Identifier: Apache-2.0
"""Run the tests of microversion-parse on the compatible module.

    python -m tests.functional.vobjects.parse_suite

The test modules of the installed package import
``vobjects.microversions.compat`` as ``microversion_parse``; with the argument
``original``, they import the package itself.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import unittest
import warnings

from tests.functional import library_suites

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
    """Import the compatible module under the name of the library."""
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
    library_suites.run_tests(load(directory))
    return 0


if __name__ == '__main__':
    sys.exit(main())
