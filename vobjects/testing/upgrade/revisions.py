# SPDX-License-Identifier: Apache-2.0
"""An older revision of a repository, installed in an environment of its own.

What a release really does, an emulated one does not show: behaviour besides
the wire is today's. So here is the old code itself. Its environment is a
virtual one that finds the packages of the running environment behind its
own: pip installs the revision, and of its dependencies what the running one
lacks. It is kept in a cache, by commit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator

from vobjects import exceptions

#: Seconds that git, and that pip may take.
GIT_WITHIN = 120
PIP_WITHIN = 900

#: Lines of what a program said that an error repeats.
SAID = 8

#: Written when an environment is complete.
_READY = 'ready'


class RevisionError(exceptions.VobjectsError):
    """A revision cannot be had; the message says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """An installed revision.

    :ivar commit: its full hash
    :ivar directory: of the virtual environment
    """

    commit: str
    directory: pathlib.Path

    def program(self, name: str) -> str:
        """Return the path of a program of the revision.

        Better than ``python -m``, which looks into the working directory
        first, where today's code may be.
        """
        return str(self.directory / 'bin' / name)


def environment(
    repository: str | os.PathLike[str],
    revision: str,
    cache: str | os.PathLike[str] | None = None,
) -> Environment:
    """Return an installed revision; made the first time, in some seconds.

    :param repository: a directory in a git repository of a Python project
    :param revision: whatever git takes for a commit
    :param cache: where environments are kept; None: below
        ``XDG_CACHE_HOME``, or ``~/.cache``
    :raises RevisionError: there is no such revision here, or it cannot be
        installed
    """
    commit = _commit(repository, revision)
    kept = pathlib.Path(cache) if cache is not None else _cache()
    kept.mkdir(parents=True, exist_ok=True)
    # Its packages are looked up in ours: another one, another environment.
    ours = hashlib.sha256(
        '\0'.join([sys.version, sys.prefix]).encode()
    ).hexdigest()
    directory = kept.resolve() / f'{commit[:16]}-{ours[:8]}'
    with _locked(directory.with_suffix('.lock')):
        if not (directory / _READY).exists():
            shutil.rmtree(directory, ignore_errors=True)
            _install(repository, commit, directory)
            (directory / _READY).touch()
    return Environment(commit, directory)


def before(repository: str | os.PathLike[str], path: str) -> str:
    """Return the last commit that was without a file.

    Named so, a revision survives that commits get other hashes.

    :param path: of a file that the history adds, from the repository's root
    :raises RevisionError: the history does not reach back so far
    """
    added = _git(
        repository,
        *('log', '--diff-filter=A', '--first-parent', '--format=%H'),
        *('--', f':/{path}'),
    ).split()
    if not added:
        raise RevisionError(
            f'{repository} has no commit that adds {path}' + _hint(repository)
        )
    return _commit(repository, f'{added[-1]}^')


def _commit(repository: str | os.PathLike[str], revision: str) -> str:
    try:
        return _git(
            repository,
            *('rev-parse', '--verify', '--quiet', '--end-of-options'),
            f'{revision}^{{commit}}',
        ).strip()
    except RevisionError:
        _git(repository, 'rev-parse', '--git-dir')  # or says what is wrong
        raise RevisionError(
            f'{repository} has no revision {exceptions.cut(revision)}'
            + _hint(repository)
        ) from None


def _hint(repository: str | os.PathLike[str]) -> str:
    shallow = _git(repository, 'rev-parse', '--is-shallow-repository')
    if shallow.strip() == 'true':
        return (
            ': its history was cut off when it was cloned; "git fetch'
            ' --unshallow" brings the rest'
        )
    return ''


def _install(
    repository: str | os.PathLike[str], commit: str, directory: pathlib.Path
) -> None:
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / 'bin' / 'python'
    (where,) = directory.glob('lib/python*/site-packages')
    shared = sysconfig.get_path('purelib')
    (where / 'shared.pth').write_text(f'{shared}\n')
    archive, source = directory / 'source.tar', directory / 'source'
    _git(repository, 'archive', f'--output={archive}', commit)
    with tarfile.open(archive) as opened:
        opened.extractall(source, filter='data')
    _run(
        [
            *(sys.executable, '-m', 'pip', '--disable-pip-version-check'),
            *('--python', str(python), 'install', '--quiet', str(source)),
        ],
        PIP_WITHIN,
    )
    archive.unlink()
    shutil.rmtree(source)


def _git(repository: str | os.PathLike[str], *words: str) -> str:
    return _run(['git', '-C', os.fspath(repository), *words], GIT_WITHIN)


def _run(command: list[str], within: float) -> str:
    """Return what a program printed.

    :raises RevisionError: it failed, or is not there
    """
    # A hook of git's would have us look at another repository.
    outer = ('GIT_', 'PYTHONPATH')
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(outer)
    }
    line = ' '.join(command[:4])
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and our own words
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=within,
            env=clean,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RevisionError(f'{line} ...: {error}') from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-SAID:]
        raise RevisionError(
            '\n'.join([f'{line} ... failed with {done.returncode}', *said])
        )
    return done.stdout


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Keep other processes out of a block."""
    with path.open('ab') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _cache() -> pathlib.Path:
    root = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(root) / 'vobjects' / 'revisions'
