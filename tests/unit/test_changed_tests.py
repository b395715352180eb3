# SPDX-License-Identifier: Apache-2.0
"""``make quick`` runs the tests of what changed."""

import importlib.machinery
import importlib.util
import pathlib

import pytest

PATH = pathlib.Path(__file__).parents[2] / 'tools/changed-tests'
LOADER = importlib.machinery.SourceFileLoader('changed_tests', str(PATH))


@pytest.fixture(scope='module')
def script():
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader('changed_tests', LOADER)
    )
    LOADER.exec_module(module)
    return module


@pytest.mark.parametrize(
    ('file', 'expected'),
    [
        ('vobjects/rpc/expiry.py', 'tests/unit/vobjects/rpc/test_expiry.py'),
        ('vobjects/versions.py', 'tests/unit/vobjects/test_versions.py'),
        (
            'distributions/testing/vobjects_testing/mixin.py',
            'tests/unit/vobjects_testing/test_mixin.py',
        ),
        (
            'distributions/testing/vobjects_testing/strategies.py',
            'tests/unit/vobjects/objects/codec/test_json_text.py',
        ),
        (
            'distributions/sql/vobjects_sql/stored/column.py',
            'tests/unit/vobjects_sql/stored/test_stored.py',
        ),
        (
            'transports/pyamqp/oslo_messaging_pyamqp/x.py',
            'tests/unit/transports',
        ),
        (
            'distributions/docker/vobjects_docker/local.py',
            'tests/unit/vobjects_docker/test_local.py',
        ),
        ('tests/http_server.py', 'tests/unit/engine/health/test_probes.py'),
        ('tests/unit/test_maps.py', 'tests/unit/test_maps.py'),
        ('tests/unit/api/conftest.py', 'tests/unit/api'),
        ('tests/conftest.py', 'tests/unit'),
        ('doc/source/index.rst', 'tests/unit/doc'),
        ('pyproject.toml', 'tests/unit'),
    ],
)
def test_changed_file_selects_its_tests(script, file, expected):
    assert expected in script.tests_of([file])


@pytest.mark.parametrize(
    'file', ['releasenotes/notes/x.yaml', 'CHANGELOG.md', 'benchmarks/x.py']
)
def test_other_file_selects_none(script, file):
    assert script.tests_of([file]) == set()


def test_module_does_not_select_unrelated_tests(script):
    tests = script.tests_of(['vobjects/rpc/expiry.py'])

    assert not [test for test in tests if '/rpc/' not in test]


def test_module_that_many_import_selects_its_direct_importers(script):
    few = script.tests_of(['vobjects/exceptions.py'])

    assert 'tests/unit/engine/db/test_database.py' in few
    assert len(few) < 100
