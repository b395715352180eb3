# SPDX-License-Identifier: Apache-2.0
"""The suites in ``suites.toml`` and their installation."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
import venv

TABLE = pathlib.Path(__file__).with_name('suites.toml')

#: Seconds that one call of pip may take.
INSTALLATION = 900


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite; ``suites.toml`` describes the fields."""

    name: str
    version: str
    packages: list[str]
    alone: list[str] = dataclasses.field(default_factory=list)
    tests: str
    workers: int
    by_class: bool = False
    environment: dict[str, str]


def load() -> list[Suite]:
    """Return the suites in the order of the table."""
    table = tomllib.loads(TABLE.read_text())
    return [Suite(name=name, **fields) for name, fields in table.items()]


def cache() -> pathlib.Path:
    """Return the folder below which the suites are installed."""
    base = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(base) / 'vobjects' / 'clients'


def install(suite: Suite) -> pathlib.Path:
    """Install a suite if needed; return its virtual environment.

    :raises RuntimeError: with the end of pip's output
    """
    directory = cache() / '{}-py{}.{}'.format(
        suite.name, *sys.version_info[:2]
    )
    directory.mkdir(parents=True, exist_ok=True)
    stamp = directory / 'installed'
    packages = json.dumps([suite.packages, suite.alone])
    with (directory / 'lock').open('w') as lock:
        # Two runs may install the suite at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = directory / 'venv'
        if stamp.exists() and stamp.read_text() == packages:
            return environment
        stamp.unlink(missing_ok=True)
        shutil.rmtree(environment, ignore_errors=True)
        # Debian's python3 may lack ensurepip; the pip of this Python works.
        venv.create(environment, with_pip=False, symlinks=True)
        _pip(environment, *suite.packages)
        if suite.alone:
            _pip(environment, '--no-deps', *suite.alone)
        stamp.write_text(packages)
    return environment


def _pip(environment: pathlib.Path, *words: str) -> None:
    result = subprocess.run(
        (
            *(sys.executable, '-m', 'pip', '--disable-pip-version-check'),
            *('--quiet', '--python', environment / 'bin' / 'python'),
            *('install', '--only-binary=:all:', *words),
        ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALLATION,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f'pip failed: {result.stderr[-2000:]}')


def site_packages(environment: pathlib.Path) -> pathlib.Path:
    """Return the folder with the packages of an environment."""
    (directory,) = environment.glob('lib/python*/site-packages')
    return directory
