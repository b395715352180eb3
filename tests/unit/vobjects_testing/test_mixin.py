# SPDX-License-Identifier: Apache-2.0
"""Tests of a lock with unittest and testtools."""

from __future__ import annotations

import pathlib
import shutil
import sys
import textwrap

import pytest

from tests.programs import run_program

TYPES = """\
from oslo_versionedobjects import base, fields


@base.VersionedObjectRegistry.register
class Order(base.VersionedObject):
    VERSION = '1.0'
    fields = {'name': fields.StringField()}
"""

TESTS = """\
import pathlib
import {framework}
from vobjects_testing import mixin


class TestLock(mixin.LockMixin, {framework}.TestCase):
    lock = pathlib.Path(__file__).parent / 'vobjects.lock'
    examples = 1
"""


def run(folder: pathlib.Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of Python in a folder."""
    result = run_program([sys.executable, '-m', *arguments], cwd=folder)
    return result.returncode, result.stdout + result.stderr


@pytest.fixture(scope='module')
def release(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with the lock of a release with :data:`TYPES`."""
    folder = tmp_path_factory.mktemp('release')
    (folder / 'order_types.py').write_text(TYPES)
    for command in (('init', '--import', 'order_types'), ('release', '1.0.0')):
        code, output = run(folder, 'vobjects', 'lock', *command)
        assert code == 0, output
    return folder


@pytest.fixture(params=['unittest', 'testtools'])
def service(
    request: pytest.FixtureRequest,
    tmp_path: pathlib.Path,
    release: pathlib.Path,
) -> str:
    """Write a service with a lock; return the command of its tests."""
    pytest.importorskip(request.param)
    shutil.copytree(release, tmp_path, dirs_exist_ok=True)
    (tmp_path / 'test_lock.py').write_text(
        TESTS.format(framework=request.param)
    )
    return 'testtools.run' if request.param == 'testtools' else 'unittest'


def test_lock_when_current_passes(
    service: str, tmp_path: pathlib.Path
) -> None:
    code, output = run(tmp_path, service, 'test_lock.TestLock')

    assert code == 0, output
    assert 'Ran 2 tests' in output


@pytest.mark.parametrize('service', ['unittest'], indirect=True)
@pytest.mark.parametrize(
    ('old', 'new', 'failing', 'words'),
    [
        pytest.param(
            "{'name'",
            "{'gift': fields.StringField(), 'name'",
            'test_code_matches_the_lock',
            'FIELD_NO_ADD',
            id='difference',
        ),
        pytest.param(
            "    VERSION = '1.0'\n",
            textwrap.indent(
                textwrap.dedent(
                    """\
                    VERSION = '1.1'

                    def obj_make_compatible(self, primitive, version):
                        primitive['name'] = 1
                    """
                ),
                '    ',
            ),
            'test_invariants_of_types',
            'Order 1.0',
            id='invariant',
        ),
    ],
)
def test_lock_when_the_code_breaks_it_fails_with_the_reason(
    service: str,
    tmp_path: pathlib.Path,
    old: str,
    new: str,
    failing: str,
    words: str,
) -> None:
    (tmp_path / 'order_types.py').write_text(TYPES.replace(old, new))

    code, output = run(tmp_path, service, f'test_lock.TestLock.{failing}')

    assert code == 1, output
    assert words in output
