# SPDX-License-Identifier: Apache-2.0
"""Errors of revisions; ``tests/upgrade/test_revision.py`` runs one."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from vobjects.testing.upgrade import revisions


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
    """Three commits; the second adds a file, the third changes it."""
    directory = tmp_path / 'repository'
    directory.mkdir()
    git(directory, 'init', '--quiet')
    for number in (1, 2, 3):
        name = 'first' if number == 1 else 'second'
        (directory / name).write_text(f'{number}\n')
        git(directory, 'add', '.')
        git(directory, 'commit', '--quiet', '--message', str(number))
    return directory


def test_commit_before_file_is_found(repository: pathlib.Path) -> None:
    commit = revisions.commit_before(repository, 'second')

    assert commit == git(repository, 'rev-parse', 'HEAD~2')


@pytest.mark.parametrize('path', ['first', 'third'])
def test_commit_before_when_history_does_not_reach_back_raises(
    repository: pathlib.Path, path: str
) -> None:
    with pytest.raises(revisions.RevisionError) as raised:
        revisions.commit_before(repository, path)

    assert str(repository) in str(raised.value)
    assert 'shallow' not in str(raised.value)


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

    for call in (
        lambda: revisions.environment(clone, commit, tmp_path / 'cache'),
        lambda: revisions.commit_before(clone, 'second'),
    ):
        with pytest.raises(
            revisions.RevisionError, match='git fetch --unshallow'
        ):
            call()


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
