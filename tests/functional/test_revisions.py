# SPDX-License-Identifier: Apache-2.0
"""Errors of revisions; ``tests/upgrade/test_revision.py`` runs one."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from tests import revisions


def git(directory: pathlib.Path, *words: str) -> str:
    names = ('-c', 'user.name=a', '-c', 'user.email=a@example.org')
    return subprocess.run(
        ['git', '-C', str(directory), *names, *words],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
    """Three commits."""
    directory = tmp_path / 'repository'
    directory.mkdir()
    git(directory, 'init', '--quiet')
    for number in (1, 2, 3):
        (directory / 'file').write_text(f'{number}\n')
        git(directory, 'add', '.')
        git(directory, 'commit', '--quiet', '--message', str(number))
    return directory


def test_environment_when_clone_is_shallow_raises(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    commit = git(repository, 'rev-parse', 'HEAD~2')
    clone = tmp_path / 'clone'
    git(
        tmp_path,
        *('clone', '--quiet', '--depth=1'),
        *(repository.as_uri(), str(clone)),
    )

    with pytest.raises(revisions.RevisionError, match='git fetch --unshallow'):
        revisions.environment(clone, commit, tmp_path / 'cache')


def test_environment_without_repository_raises(
    tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(revisions.RevisionError, match='not a git repository'):
        revisions.environment(tmp_path, 'HEAD', tmp_path / 'cache')


def test_environment_when_install_fails_is_not_cached(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for _ in range(2):  # not from the cache either
        with pytest.raises(revisions.RevisionError, match='pip'):
            revisions.environment(repository, 'HEAD', tmp_path / 'cache')
