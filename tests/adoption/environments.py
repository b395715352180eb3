# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with releases of services, in a cache directory.

``python -m tests.adoption.environments CACHE SERVICE`` installs the newest
release of a service, and prints the directory of its environment.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import sys
from collections.abc import Collection

from tests import installation
from tests.adoption import services
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]

#: Arguments of pip: the library, and its tools for tests.
LIBRARY = (
    *('--editable', str(ROOT)),
    *('--editable', str(ROOT / 'distributions' / 'testing')),
)

#: Seconds after which a command is considered hung.
TIMEOUT = 3600


class CommandFailed(Exception):
    """A command ended with an error; the message has its last lines."""


def default_cache() -> pathlib.Path:
    """Return the directory that ``make test-adopt`` uses."""
    cache = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(cache, 'vobjects/adopt')


@dataclasses.dataclass(frozen=True, slots=True)
class Environment:
    """The virtual environment of a release.

    :ivar directory: its path; :meth:`install` creates it
    """

    service: str
    release: str
    directory: pathlib.Path

    @property
    def python(self) -> pathlib.Path:
        """The interpreter."""
        return self.directory / 'bin/python'

    @property
    def packages(self) -> pathlib.Path:
        """The directory of the installed packages."""
        return next(self.directory.glob('lib/python*/site-packages'))

    def install(self) -> None:
        """Install the release once, and the current state of this library.

        :raises CommandFailed: the installation fails
        """
        stamp = self.directory / 'installed'
        if not stamp.exists():
            service = services.SERVICES[self.service]
            distribution = service.distribution or self.service
            # Debian's python3 may lack ensurepip.
            self._create('-m', 'venv', '--clear', '--without-pip')
            self._pip(
                f'{distribution}=={self.release}',
                *service.requirements.get(self.release, ()),
                *('fixtures', 'msgspec', 'orjson', 'setuptools', 'testtools'),
            )
            stamp.touch()
        self._pip(*LIBRARY)

    def _create(self, *words: str) -> None:
        run([sys.executable, *words, str(self.directory)])

    def _pip(self, *packages: str) -> None:
        run([*installation.command(self.python), *packages])

    def run(
        self,
        *words: str,
        cwd: pathlib.Path,
        exit_codes: Collection[int] = (0,),
    ) -> str:
        """Run a command of Python and return its output.

        :raises CommandFailed: the exit code is another, or it runs too long
        """
        command = [str(self.python), '-W', 'ignore', *words]
        return run(command, cwd, exit_codes)

    def version(self, distribution: str) -> str:
        """Return the version of an installed distribution."""
        code = (
            'import importlib.metadata as metadata;'
            f'print(metadata.version({distribution!r}))'
        )
        return self.run('-c', code, cwd=self.directory).strip()


def run(
    command: list[str],
    cwd: pathlib.Path | None = None,
    exit_codes: Collection[int] = (0,),
) -> str:
    """Run a command and return its output.

    :raises CommandFailed: the exit code is another, or it runs too long
    """
    try:
        result = run_program(
            command,
            cwd=cwd,
            env={**os.environ, 'PYTHONPATH': str(ROOT)},
            timeout=TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandFailed(f'{" ".join(command)}: {error}') from error
    if result.returncode not in exit_codes:
        lines = (result.stderr or result.stdout).strip().splitlines()
        raise CommandFailed('\n'.join([' '.join(command), *lines[-5:]]))
    return result.stdout


def main() -> None:
    """Install the newest release of the service that the arguments name."""
    cache, name = sys.argv[1:]
    if name not in services.SERVICES:
        sys.exit(f'{name} is none of {", ".join(services.SERVICES)}')
    release = services.SERVICES[name].releases[-1]
    environment = Environment(
        name, release, pathlib.Path(cache, f'{name}-{release}')
    )
    try:
        environment.install()
    except CommandFailed as error:
        sys.exit(str(error))
    sys.stdout.write(f'{environment.directory}\n')


if __name__ == '__main__':
    main()
