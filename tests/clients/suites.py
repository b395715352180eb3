# SPDX-License-Identifier: Apache-2.0
"""The suites in ``suites.toml`` and their installation."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import sys
import tomllib
import venv
from collections.abc import Mapping, Sequence

from tests import installation
from tests.programs import run_program

TABLE = pathlib.Path(__file__).with_name('suites.toml')

#: Seconds that one call of pip, or of Go's compiler, may take.
INSTALLATION = 900

#: Where Debian installs the sources of Go packages.
GO_PATH = pathlib.Path('/usr/share/gocode')

#: Debian packages with Go and gophercloud.
GO_PACKAGES = 'golang-go golang-github-gophercloud-gophercloud-dev'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite; ``suites.toml`` describes the fields."""

    name: str
    version: str
    language: str = 'python'
    packages: list[str] = dataclasses.field(default_factory=list)
    alone: list[str] = dataclasses.field(default_factory=list)
    tests: str
    core: str = ''
    workers: int = 1
    by_class: bool = False
    environment: dict[str, str]

    @property
    def missing(self) -> str:
        """What this machine lacks to run the suite; empty: nothing."""
        if self.language == 'python' or (
            shutil.which('go') and (GO_PATH / 'src' / self.tests).is_dir()
        ):
            return ''
        return f'needs Go and gophercloud (apt-get install {GO_PACKAGES})'


def load() -> list[Suite]:
    """Return the suites in the order of the table."""
    table = tomllib.loads(TABLE.read_text())
    return [Suite(name=name, **fields) for name, fields in table.items()]


def cache() -> pathlib.Path:
    """Return the folder below which the suites are installed."""
    base = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(base) / 'vobjects' / 'clients'


def install(suite: Suite) -> pathlib.Path:
    """Install a suite if needed; return the folder with its programs' bin.

    :raises RuntimeError: with the end of the output of pip or Go, or with
        what this machine lacks
    """
    if suite.missing:
        raise RuntimeError(suite.missing)
    directory = cache() / '{}-py{}.{}'.format(
        suite.name, *sys.version_info[:2]
    )
    directory.mkdir(parents=True, exist_ok=True)
    stamp = directory / 'installed'
    packages = json.dumps([suite.packages, suite.alone, suite.tests])
    with (directory / 'lock').open('w') as lock:
        # Two runs may install the suite at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = directory / 'venv'
        if stamp.exists() and stamp.read_text() == packages:
            return environment
        stamp.unlink(missing_ok=True)
        shutil.rmtree(environment, ignore_errors=True)
        if suite.language == 'go':
            _compile(suite, environment / 'bin' / 'suite')
        else:
            # Debian's python3 may lack ensurepip; the pip of this Python
            # works.
            venv.create(environment, with_pip=False, symlinks=True)
            _pip(environment, *suite.packages)
            if suite.alone:
                _pip(environment, '--no-deps', *suite.alone)
        stamp.write_text(packages)
    return environment


def _compile(suite: Suite, program: pathlib.Path) -> None:
    """Compile the tests of a Go package to a program."""
    program.parent.mkdir(parents=True)
    go = ('go', 'test', '-c', '-tags', 'acceptance', '-o', program)
    _run(
        (*go, suite.tests),
        # Without modules, so that Go downloads nothing.
        {**os.environ, 'GOPATH': str(GO_PATH), 'GO111MODULE': 'off'},
    )


def _pip(environment: pathlib.Path, *words: str) -> None:
    _run(
        (
            *installation.command(environment / 'bin' / 'python'),
            *('--only-binary=:all:', *words),
        )
    )


def _run(
    command: Sequence[str | pathlib.Path],
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run a command.

    :raises RuntimeError: with the end of its output
    """
    result = run_program(command, env=variables, timeout=INSTALLATION)
    if result.returncode:
        raise RuntimeError(f'{command[0]} failed: {result.stderr[-2000:]}')


def site_packages(environment: pathlib.Path) -> pathlib.Path:
    """Return the folder with the packages of an environment."""
    (directory,) = environment.glob('lib/python*/site-packages')
    return directory
