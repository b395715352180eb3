# SPDX-License-Identifier: Apache-2.0
"""Tests of the library run where only the library is installed."""

from __future__ import annotations

import grimp
import pytest

LIBRARY = tuple(
    f'tests.unit.vobjects{name}'
    for name in ('', '_client', '_contract', '_testing')
)

#: The service, its tests, and packages that only its distribution installs.
OF_SERVICE = (
    'api',
    'engine',
    'granian',
    'keystonemiddleware',
    'openstackclient',
    'oslo_messaging_driverlib',
    'oslo_messaging_embedded',
    'oslo_messaging_pyamqp',
    'osc_lib',
    'senlinclient',
    'tests.unit.api',
    'tests.unit.engine',
    'tests.unit.transports',
    'tests.unit.vobjects.clustering',
    'tests.unit.vobjects_docker',
    'tests.unit.vobjects_simulated',
    'tests.unit.vobjects_testing.clustering',
    'vobjects.clustering',
    'vobjects_docker',
    'vobjects_releases',
    'vobjects_simulated',
)


@pytest.fixture(scope='module')
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        'tests',
        'vobjects',
        'api',
        'engine',
        include_external_packages=True,
        cache_dir=None,
    )


def is_in(module: str, package: str) -> bool:
    return f'{module}.'.startswith(f'{package}.')


def test_tests_of_the_library_import_nothing_of_the_service(
    graph: grimp.ImportGraph,
) -> None:
    modules = [
        module
        for package in LIBRARY
        for module in graph.modules
        if is_in(module, package)
        and not is_in(module, f'{package}.clustering')
    ]
    assert {
        'tests.unit.vobjects.rpc.test_client_server',
        'tests.unit.vobjects_testing.test_mixin',
    } <= set(modules)

    found = {
        (module, imported)
        for module in modules
        for imported in graph.find_modules_directly_imported_by(module)
        if any(is_in(imported, package) for package in OF_SERVICE)
    }

    assert not found
