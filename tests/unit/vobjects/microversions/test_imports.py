# SPDX-License-Identifier: Apache-2.0
"""The core stays usable without a web framework or a message bus."""

from __future__ import annotations

import sys

from tests.programs import run_program

FORBIDDEN = {
    'eventlet',
    'falcon',
    'fastapi',
    'flask',
    'oslo_messaging',
    'oslo_service',
    'pecan',
    'prometheus_client',
    'routes',
    'starlette',
    'webob',
}

#: They count for Prometheus; see test_usage.
COUNT = {
    'vobjects.microversions.shared_values',
    'vobjects.microversions.usage_metrics',
}

# One interpreter for all: each module loads only allowed modules.
CODE = f"""
import importlib, pkgutil, sys
import vobjects.controllers, vobjects.microversions, vobjects.versions
names = []
for package in (vobjects.controllers, vobjects.microversions):
    name = package.__name__
    names.append(name)
    names += [
        module.name
        for module in pkgutil.walk_packages(package.__path__, name + '.')
    ]
for name in sorted({{*names}} - {COUNT!r}):
    importlib.import_module(name)
    loaded = {FORBIDDEN!r} & set(sys.modules)
    if loaded:
        sys.exit(f'{{name}} loads {{sorted(loaded)}}')
print(len(names))
"""


def test_import_of_any_module_loads_no_framework() -> None:
    result = run_program([sys.executable, '-W', 'ignore', '-c', CODE])
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 20
