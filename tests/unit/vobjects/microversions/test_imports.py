# SPDX-License-Identifier: Apache-2.0
"""The core stays usable without a web framework or a message bus."""

from __future__ import annotations

import subprocess
import sys

import pytest

FORBIDDEN = {
    'eventlet',
    'falcon',
    'flask',
    'oslo_messaging',
    'oslo_service',
    'pecan',
    'prometheus_client',
    'routes',
    'webob',
}


@pytest.mark.parametrize(
    'name',
    [
        'asked',
        'availability',
        'bodies',
        'actions',
        'body',
        'client',
        'compat',
        'compat.middleware',
        'discovery',
        'dispatch',
        'errors',
        'header',
        'middleware',
        'policy',
        'presets',
        'query',
        'retirement',
        'schema',
        'facts',
        'outcomes',
        'ranges',
        'validation',
        'version_request',
        'versioned_request',
    ],
)
def test_import_of_a_module_loads_no_framework(name):
    assert_loads_no_framework(f'vobjects.microversions.{name}')


def test_import_of_the_core_loads_no_framework():
    assert_loads_no_framework('vobjects.versions, vobjects.microversions')


def assert_loads_no_framework(modules):
    code = (
        f'import sys, {modules};'
        f'print(sorted({FORBIDDEN!r} & set(sys.modules)))'
    )

    output = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', code],
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert output.strip() == '[]'
