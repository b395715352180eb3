# SPDX-License-Identifier: Apache-2.0
"""The hook of pre-commit and the workflow that check the lock of others."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[4]
PROGRAMS = pathlib.Path(sys.executable).parent

SHOP = """\
from oslo_versionedobjects import base, fields


@base.VersionedObjectRegistry.register
class Order(base.VersionedObject):
    VERSION = '1.0'
    fields = {
        'item': fields.StringField(),
    }
"""
CHANGED = SHOP.replace(
    '    }\n', "        'gift': fields.BooleanField(default=False),\n    }\n"
)
#: The line of CHANGED that differs.
LINE = CHANGED.splitlines().index(
    "        'gift': fields.BooleanField(default=False),"
)


class Repository:
    """A repository of a service that has a lock with one release."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.environment = {
            **os.environ,
            'PATH': f'{PROGRAMS}:{os.environ["PATH"]}',
            'PRE_COMMIT_HOME': str(path.with_name('pre-commit')),
            'PYTHONDONTWRITEBYTECODE': '1',
        }
        path.mkdir()
        (path / 'shop.py').write_text(SHOP)
        for command in (
            ['vobjects', 'lock', 'init', '--import', 'shop'],
            ['vobjects', 'lock', 'release', '2026.1'],
            ['git', 'init', '--quiet'],
            ['git', 'add', '.'],
        ):
            code, printed = self.run(*command)
            assert code == 0, printed

    def run(self, *command: str, **more: str) -> tuple[int, str]:
        """Return the exit code of a command, and what it prints."""
        done = subprocess.run(
            command,
            cwd=self.path,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp('ci') / 'shop')


def test_hook_reports_a_change_of_a_released_version(
    repository: Repository,
) -> None:
    command = ['pre-commit', 'try-repo', str(ROOT), 'vobjects-lock']
    (repository.path / 'shop.py').write_text(SHOP)
    code, printed = repository.run(*command, '--all-files')
    assert code == 0, printed
    assert 'Passed' in printed
    (repository.path / 'shop.py').write_text(CHANGED)
    code, printed = repository.run(*command, '--all-files')
    assert code == 1
    assert 'error[FIELD_NO_ADD]' in printed


def test_workflow_annotates_the_changed_line(repository: Repository) -> None:
    workflow = yaml.safe_load(
        (ROOT / '.github/workflows/lock.yaml').read_text()
    )
    # YAML 1.1 reads the key "on" as true.
    inputs = workflow[True]['workflow_call']['inputs']
    check = workflow['jobs']['check']['steps'][-1]
    assert check['env'] == {'FILE': '${{ inputs.file }}'}
    step = ['bash', '-e', '-c', check['run']]
    # The service is in a folder of the repository.
    environment = {
        'FILE': inputs['file']['default'],
        'GITHUB_WORKSPACE': str(repository.path.parent),
    }
    (repository.path / 'shop.py').write_text(CHANGED)
    code, printed = repository.run(*step, **environment)
    assert code == 1
    assert printed.startswith(f'::error file=shop/shop.py,line={LINE + 1},')
    (repository.path / 'shop.py').write_text(SHOP)
    code, printed = repository.run(*step, **environment)
    assert (code, printed.count('::error')) == (0, 0)
    # An annotation of an installed copy would have no line in the repository.
    assert inputs['install']['default'].startswith('--editable ')
