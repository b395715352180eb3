# SPDX-License-Identifier: Apache-2.0
"""Fetch the source of other projects, and environments to import it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shlex
import shutil
import sys
import urllib.parse

from recall.adapters import Project
from recall.bugs import Bug
from tests import installation
from tests.adoption import environments
from tests.adoption.environments import CommandFailed, Environment

#: All Python files, without tests.
_CODE = (
    ':(glob)**/*.py',
    ':(exclude,glob)**/tests/**',
    ':(exclude,glob)tests/**',
)

_HOOK = pathlib.Path(__file__).with_name('hook')


@dataclasses.dataclass(frozen=True, slots=True)
class Trees:
    """The trees of projects, below a cache directory.

    :ivar repositories: folder with a clone ``OWNER/NAME`` of each repository;
        None: clone from upstream's address into the cache
    """

    cache: pathlib.Path
    repositories: pathlib.Path | None = None

    def clone(self, bug: Bug) -> pathlib.Path:
        """Return a clone of the bug's repository.

        :raises CommandFailed: there is none, and it cannot be made
        """
        name = urllib.parse.urlsplit(bug.repository).path.strip('/')
        if self.repositories is not None:
            if not (self.repositories / name).exists():
                raise CommandFailed(f'{self.repositories} has no {name}')
            return self.repositories / name
        clone = self.cache / 'clones' / name
        if not clone.exists():
            clone.parent.mkdir(parents=True, exist_ok=True)
            partial = clone.with_name(f'{clone.name}.partial')
            shutil.rmtree(partial, ignore_errors=True)
            environments.run(
                [
                    *('git', 'clone', '--bare', '--filter=blob:none'),
                    *(bug.repository, str(partial)),
                ]
            )
            partial.rename(clone)
        return clone

    def commits(self, bug: Bug) -> tuple[str, str]:
        """Return the parent of the fix, and the fix.

        :raises CommandFailed: the clone has no such commit
        """
        if not bug.pull:
            return bug.parent, bug.fix
        clone = self.clone(bug)
        found = _git(
            clone, 'log', '--format=%H', '-F', f'--grep=(#{bug.pull})', 'HEAD'
        ).split()
        if not found:
            raise CommandFailed(f'no commit of {clone} names #{bug.pull}')
        return f'{found[-1]}^', found[-1]

    def code(self, bug: Bug, revision: str) -> pathlib.Path:
        """Return a directory with all Python code of a revision but tests.

        :raises CommandFailed: the revision does not exist
        """
        clone, commit = self._commit(bug, revision)
        directory = self.cache / 'code' / f'{bug.project}-{commit[:12]}'
        if not directory.exists():
            partial = directory.with_name(f'{directory.name}.partial')
            _extract(clone, commit, partial, *_CODE)
            partial.rename(directory)
        return directory

    def _commit(self, bug: Bug, revision: str) -> tuple[pathlib.Path, str]:
        clone = self.clone(bug)
        try:
            found = _git(
                clone,
                *('rev-parse', '--verify', '--quiet', '--end-of-options'),
                f'{revision}^{{commit}}',
            )
        except CommandFailed as error:
            raise CommandFailed(f'{clone} has no commit {revision}') from error
        return clone, found.strip()

    def tree(self, bug: Bug, project: Project, revision: str) -> Environment:
        """Return an environment that imports the types of a revision.

        :raises CommandFailed: the revision or its packages do not exist
        """
        python = self._environment(bug.project, project)
        clone, commit = self._commit(bug, revision)
        directory = self.cache / 'trees' / f'{bug.project}-{commit[:12]}'
        source = directory / 'source'
        if not source.exists():
            partial = directory / 'partial'
            package = os.path.join(project.source, project.package)
            _extract(clone, commit, partial, package)
            partial.rename(source)
        _write_python(directory, source, python, project)
        return Environment(bug.project, revision, directory)

    def _environment(self, name: str, project: Project) -> pathlib.Path:
        """Install the dependencies of a project, until they change."""
        directory = self.cache / 'environments' / name
        python = directory / 'bin' / 'python'
        stamp = directory / 'installed'
        packages = (*project.requirements, *environments.LIBRARY)
        wanted = '\n'.join(packages)
        if not stamp.exists() or stamp.read_text() != wanted:
            environments.run(
                [
                    *(sys.executable, '-m', 'venv', '--clear'),
                    *('--without-pip', str(directory)),
                ]
            )
            environments.run([*installation.command(python), *packages])
            stamp.write_text(wanted)
        return python


def _extract(
    clone: pathlib.Path, commit: str, directory: pathlib.Path, *paths: str
) -> None:
    """Write files of a commit into a new directory.

    :raises CommandFailed: the commit has no such files
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    words = ['git', '-C', str(clone), 'archive', commit, '--', *paths]
    try:
        environments.run(
            [
                *('bash', '-o', 'pipefail', '-c'),
                f'{shlex.join(words)} | tar -x -C'
                f' {shlex.quote(str(directory))}',
            ]
        )
    except CommandFailed as error:
        if 'did not match any files' in str(error):
            raise CommandFailed(
                f'commit {commit[:12]} of {clone} has no files {paths[0]}'
            ) from error
        raise


def _git(clone: pathlib.Path, *words: str) -> str:
    return environments.run(['git', '-C', str(clone), *words])


def _write_python(
    directory: pathlib.Path,
    source: pathlib.Path,
    python: pathlib.Path,
    project: Project,
) -> None:
    """Write ``bin/python``, which imports the packages of the tree."""
    path = os.pathsep.join(
        map(str, (_HOOK, (source / project.source).resolve()))
    )
    program = directory / 'bin' / 'python'
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        '#!/bin/sh\n'
        f'export RECALL_PACKAGE={project.package}\n'
        f'export RECALL_KEEP={shlex.quote(" ".join(project.keep))}\n'
        f'export PYTHONPATH={shlex.quote(path)}:"$PYTHONPATH"\n'
        f'exec {shlex.quote(str(python))} "$@"\n'
    )
    program.chmod(0o755)
