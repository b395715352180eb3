# SPDX-License-Identifier: Apache-2.0
"""Install an older revision of a repository in a separate environment.

An emulated release uses today's code for everything except the wire format. An
installed revision runs the old code itself. Its virtual environment also finds
the packages of the running environment: pip installs the revision and only
those dependencies that the running environment lacks. Environments are cached
by commit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator, Sequence

from vobjects import exceptions

#: Timeouts of git and of pip, in seconds.
GIT_TIMEOUT = 120
PIP_TIMEOUT = 900

#: Number of lines of a program's output that an error repeats.
OUTPUT_LINES = 8

#: File that is created when an environment is complete.
_READY = 'ready'


class RevisionError(exceptions.VobjectsError):
    """A revision is not available; the message gives the reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """An installed revision.

    :ivar commit: its full hash
    :ivar directory: its virtual environment
    """

    commit: str
    directory: pathlib.Path

    def program(self, name: str) -> str:
        """Return the path of a program of the revision.

        Prefer it to ``python -m``, which searches the working directory first,
        where today's code may be.
        """
        return str(self.directory / 'bin' / name)


def environment(
    repository: str | os.PathLike[str],
    revision: str,
    cache: str | os.PathLike[str] | None = None,
    projects: Sequence[str] = ('.',),
) -> Environment:
    """Return the environment of a revision; install it if necessary.

    The first call takes some seconds.

    :param repository: a directory in a git repository of a Python project
    :param revision: any git revision that names a commit
    :param cache: directory for the environments; None: below
        ``XDG_CACHE_HOME``, or ``~/.cache``
    :param projects: directories of the Python projects to install, relative to
        the root of the repository
    :raises RevisionError: the repository has no such revision, or it cannot be
        installed
    """
    commit = _commit(repository, revision)
    root = pathlib.Path(cache) if cache is not None else _cache()
    root.mkdir(parents=True, exist_ok=True)
    # It uses the packages of this Python environment, so the name has both.
    current = _distributions_of(repository)
    parent = hashlib.sha256(
        '\0'.join([sys.version, sys.prefix, *current, *projects[1:]]).encode()
    ).hexdigest()
    directory = root.resolve() / f'{commit[:16]}-{parent[:8]}'
    with _locked(directory.with_suffix('.lock')):
        if not (directory / _READY).exists():
            shutil.rmtree(directory, ignore_errors=True)
            _install(repository, commit, directory, projects)
            _hide(current, directory)
            (directory / _READY).touch()
    return Environment(commit, directory)


def _commit(repository: str | os.PathLike[str], revision: str) -> str:
    try:
        return _git(
            repository,
            *('rev-parse', '--verify', '--quiet', '--end-of-options'),
            f'{revision}^{{commit}}',
        ).strip()
    except RevisionError:
        _git(repository, 'rev-parse', '--git-dir')  # raises the real error
        raise RevisionError(
            f'{repository} has no revision {exceptions.cut(revision)}'
            + _hint(repository)
        ) from None


def _hint(repository: str | os.PathLike[str]) -> str:
    shallow = _git(repository, 'rev-parse', '--is-shallow-repository')
    if shallow.strip() == 'true':
        return ': it is a shallow clone; run "git fetch --unshallow"'
    return ''


def _install(
    repository: str | os.PathLike[str],
    commit: str,
    directory: pathlib.Path,
    projects: Sequence[str],
) -> None:
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / 'bin' / 'python'
    (site_packages,) = directory.glob('lib/python*/site-packages')
    shared = sysconfig.get_path('purelib')
    (site_packages / 'shared.pth').write_text(f'{shared}\n')
    archive, source = directory / 'source.tar', directory / 'source'
    _git(repository, 'archive', f'--output={archive}', commit)
    with tarfile.open(archive) as tar:
        tar.extractall(source, filter='data')
    _run(
        [
            *(sys.executable, '-m', 'pip', '--disable-pip-version-check'),
            *('--python', str(python), 'install', '--quiet'),
            *(str(source / project) for project in projects),
        ],
        PIP_TIMEOUT,
    )
    archive.unlink()
    shutil.rmtree(source)


def _distributions_of(repository: str | os.PathLike[str]) -> list[str]:
    """Return the installed distributions that are built from a repository."""
    top = _git(repository, 'rev-parse', '--show-toplevel').strip()
    root = pathlib.Path(top).resolve().as_uri()
    names = set()
    for distribution in importlib.metadata.distributions():
        origin = distribution.read_text('direct_url.json')
        url = json.loads(origin)['url'] if origin else ''
        if url == root or url.startswith(f'{root}/'):
            names.add(distribution.name)
    return sorted(names)


def _hide(names: list[str], directory: pathlib.Path) -> None:
    """Hide distributions that the old revision does not have.

    Their entry points would name today's modules. An empty distribution of the
    same name, earlier on the path, replaces each of them.
    """
    (site_packages,) = directory.glob('lib/python*/site-packages')
    installed = {
        distribution.name
        for distribution in importlib.metadata.distributions(
            path=[str(site_packages)]
        )
    }
    for name in set(names) - installed:
        file_name = name.replace('-', '_')
        metadata = site_packages / f'{file_name}-0.dist-info' / 'METADATA'
        metadata.parent.mkdir()
        metadata.write_text(
            f'Metadata-Version: 2.1\nName: {name}\nVersion: 0\n'
        )


def _git(repository: str | os.PathLike[str], *arguments: str) -> str:
    command = ['git', '-C', os.fspath(repository), *arguments]
    return _run(command, GIT_TIMEOUT)


def _run(command: list[str], timeout: float) -> str:
    """Run a program and return its standard output.

    :param timeout: timeout in seconds
    :raises RevisionError: it failed, or does not exist
    """
    # Inside a git hook, GIT_ variables would select another repository.
    dropped = ('GIT_', 'PYTHONPATH')
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(dropped)
    }
    line = ' '.join(command[:4])
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environ,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RevisionError(f'{line} ...: {error}') from None
    if result.returncode:
        output = (result.stderr or result.stdout).strip().splitlines()
        raise RevisionError(
            '\n'.join(
                [
                    f'{line} ... failed with {result.returncode}',
                    *output[-OUTPUT_LINES:],
                ]
            )
        )
    return result.stdout


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Hold an exclusive lock on a file during a block."""
    with path.open('ab') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _cache() -> pathlib.Path:
    root = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(root) / 'vobjects' / 'revisions'
