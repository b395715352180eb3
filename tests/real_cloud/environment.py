# SPDX-License-Identifier: Apache-2.0
"""The virtual environment of the cloud, in a cache directory.

All services share one environment, as in DevStack. ``constraints.txt`` pins
all packages.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

from tests import installation
from tests.real_cloud import services
from tests.real_cloud.processes import log_end

ROOT = pathlib.Path(__file__).parents[2]

#: The driver, and its requirements that OpenStack does not have.
DRIVER_PACKAGES = (
    str(ROOT / 'transports' / 'driverlib'),
    str(ROOT / 'transports' / 'pyamqp'),
    'msgspec',
    'orjson',
)

CONSTRAINTS = pathlib.Path(__file__).with_name('constraints.txt')


class InstallError(Exception):
    """Raised when the packages could not be installed."""


def default_cache() -> pathlib.Path:
    """Return the directory that is used unless another one is given."""
    root = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    return pathlib.Path(root) / 'vobjects' / 'openstack'


def path(cache: pathlib.Path) -> pathlib.Path:
    """Return the directory of the environment, which may not exist yet."""
    digest = hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest()[:12]
    python = f'py{sys.version_info.major}.{sys.version_info.minor}'
    return cache / f'{digest}-{python}' / 'venv'


def ensure(cache: pathlib.Path) -> None:
    """Create the environment, unless it exists.

    :raises InstallError: an installation failed; the message names its log
    """
    venv = path(cache)
    directory = venv.parent
    directory.mkdir(parents=True, exist_ok=True)
    marker = directory / 'installed'
    # Two test runs may install it at the same time.
    with (directory / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            print(f'installing OpenStack below {directory} (once)', flush=True)
            _install(venv, directory / 'install.log')
            marker.touch()


def install_driver(venv: pathlib.Path, target: pathlib.Path) -> None:
    """Install the driver ``pyamqp`` where services find it.

    :param venv: the virtual environment of the cloud, which is not changed
    :param target: directory of ``PYTHONPATH``
    :raises InstallError: the installation failed
    """
    options = ['--target', str(target), '--upgrade', '--no-deps']
    _run(
        [_installer(venv, *options, *DRIVER_PACKAGES)],
        target.with_name('install-driver.log'),
    )


def _install(venv: pathlib.Path, log: pathlib.Path) -> None:
    packages = [service.package for service in services.SERVICES]
    packages += services.EXTRA_PACKAGES
    options = ['--constraint', str(CONSTRAINTS), *packages]
    # Debian's python3 may lack ensurepip.
    create = [
        *(sys.executable, '-m', 'venv', '--clear', '--without-pip'),
        str(venv),
    ]
    _run([create, _installer(venv, *options)], log)


def _installer(venv: pathlib.Path, *arguments: str) -> list[str]:
    """Return a command that installs packages for an environment."""
    python = venv / 'bin' / 'python'
    return [*installation.command(python), *arguments]


def _run(commands: list[list[str]], log: pathlib.Path) -> None:
    with log.open('w') as output:
        for command in commands:
            completed = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if completed.returncode:
                raise InstallError(
                    f'installing packages failed: {log_end(log)}'
                )
