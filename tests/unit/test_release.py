# SPDX-License-Identifier: Apache-2.0
"""``tools/release`` refuses a commit that is not a release.

The versions of sources agree with the schema lock.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tomllib

import pytest
from packaging.version import Version

from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]


def test_source_without_git_is_newer_than_the_newest_release() -> None:
    lock = tomllib.loads((ROOT / 'vobjects.lock').read_text())
    projects = [ROOT / 'pyproject.toml', *ROOT.glob('*/*/pyproject.toml')]
    fallbacks = {
        tool['uv-dynamic-versioning']['fallback-version']
        for path in projects
        if (tool := tomllib.loads(path.read_text())['tool']).get(
            'uv-dynamic-versioning'
        )
    }
    assert len(fallbacks) == 1
    assert Version(*fallbacks) > Version(lock['releases'][-1])


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository with one commit and the lock of release 0.1.0."""
    script = tmp_path / 'tools/release'
    script.parent.mkdir()
    script.write_text((ROOT / 'tools/release').read_text())
    (tmp_path / 'vobjects.lock').write_text(
        'format = 1\nreleases = ["0.0.1", "0.1.0"]\n'
    )
    git(tmp_path, 'init', '--quiet')
    git(tmp_path, 'add', '.')
    git(tmp_path, 'commit', '--quiet', '--message=first')
    return tmp_path


def git(source: pathlib.Path, *arguments: str) -> None:
    person = ('-c', 'user.name=a', '-c', 'user.email=a@example.org')
    subprocess.run(
        ['git', '-C', source, *person, *arguments],
        check=True,
    )


def refusal(source: pathlib.Path, *arguments: str) -> str:
    """Run the tool, which must refuse; return the reason."""
    done = run_program(
        [sys.executable, source / 'tools/release', *arguments], timeout=60
    )
    assert done.returncode == 2, done.stderr
    assert not (source / 'dist').exists()
    return done.stderr


def test_commit_without_a_tag_is_refused(source: pathlib.Path) -> None:
    assert 'git tag --sign' in refusal(source)


def test_commit_after_the_tag_is_refused(source: pathlib.Path) -> None:
    git(source, 'tag', 'v0.1.0')
    git(source, 'commit', '--quiet', '--allow-empty', '--message=second')
    assert 'has no tag' in refusal(source)


def test_changed_work_tree_is_refused(source: pathlib.Path) -> None:
    git(source, 'tag', 'v0.1.0')
    (source / 'new').write_text('')
    assert 'has changes' in refusal(source)


def test_type_that_no_release_freezes_is_refused(
    source: pathlib.Path,
) -> None:
    with (source / 'vobjects.lock').open('a') as lock:
        for name, release in (('Old', 'release = "0.0.1"'), ('New', '')):
            lock.write(f'[type.{name}."1.0"]\nkind = "request"\n{release}\n')
    git(source, 'commit', '--quiet', '--all', '--message=lock update')
    git(source, 'tag', 'v0.1.0')
    reason = refusal(source)
    assert 'in no release: New 1.0; run' in reason
    assert '"vobjects lock release 0.1.0 --again"' in reason


@pytest.mark.parametrize('version', ['0.2.0', '0.0.1', '0.2.0rc1'])
def test_version_that_the_lock_lacks_is_refused(
    source: pathlib.Path, version: str
) -> None:
    git(source, 'tag', f'v{version}')
    assert f'vobjects lock release {version}' in refusal(source)
    assert f'vobjects lock release {version}' in refusal(
        source, '--rehearse', version
    )
