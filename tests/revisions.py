# SPDX-License-Identifier: Apache-2.0
"""Install an older revision of this repository in an environment.

An emulated release uses today's code for everything except the wire format. An
installed revision runs the old code itself. Its virtual environment also finds
the packages of the running environment: pip installs the revision and only
those dependencies that the running environment lacks. Environments are cached
by commit.
"""

from __future__ import annotations

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
from collections.abc import Sequence

#: The repository.
ROOT = pathlib.Path(__file__).parents[1]

#: Timeout of a program, in seconds.
TIMEOUT = 900

#: File that is created when an environment is complete.
_READY = 'ready'


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


def environment(revision: str, projects: Sequence[str]) -> Environment:
    """Return the environment of a revision; install it if necessary.

    :param revision: any git revision that names a commit
    :param projects: directories of the Python projects to install, relative to
        the root of the repository
    :raises subprocess.CalledProcessError: the repository has no such revision,
        as in a shallow clone, or it cannot be installed
    """
    commit = _git('rev-parse', '--verify', f'{revision}^{{commit}}').strip()
    root = pathlib.Path.home() / '.cache' / 'vobjects' / 'revisions'
    root.mkdir(parents=True, exist_ok=True)
    # It uses the packages of this Python environment, so the name has both.
    current = _distributions_of_repository()
    parent = hashlib.sha256(
        '\0'.join([sys.version, sys.prefix, *current, *projects[1:]]).encode()
    ).hexdigest()
    directory = root.resolve() / f'{commit[:16]}-{parent[:8]}'
    with directory.with_suffix('.lock').open('ab') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (directory / _READY).exists():
            shutil.rmtree(directory, ignore_errors=True)
            _install(commit, directory, projects)
            _hide(current, directory)
            (directory / _READY).touch()
    return Environment(commit, directory)


def _install(
    commit: str, directory: pathlib.Path, projects: Sequence[str]
) -> None:
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / 'bin' / 'python'
    (site_packages,) = directory.glob('lib/python*/site-packages')
    shared = sysconfig.get_path('purelib')
    (site_packages / 'shared.pth').write_text(f'{shared}\n')
    archive, source = directory / 'source.tar', directory / 'source'
    _git('archive', f'--output={archive}', commit)
    with tarfile.open(archive) as tar:
        tar.extractall(source, filter='data')
    _run(
        [
            *(sys.executable, '-m', 'pip', '--disable-pip-version-check'),
            *('--python', str(python), 'install', '--quiet'),
            *(str(source / project) for project in projects),
        ]
    )
    archive.unlink()
    shutil.rmtree(source)


def _distributions_of_repository() -> list[str]:
    """Return the installed distributions that are built from it."""
    root = ROOT.resolve().as_uri()
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


def _git(*arguments: str) -> str:
    return _run(['git', '-C', str(ROOT), *arguments])


def _run(command: list[str]) -> str:
    """Run a program and return its standard output."""
    # Inside a git hook, GIT_ variables would select another repository.
    dropped = ('GIT_', 'PYTHONPATH')
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(dropped)
    }
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT,
        env=environ,
        check=True,
    ).stdout
