# SPDX-License-Identifier: Apache-2.0
"""Run a real OpenStack on this machine; see ``tools/openstack --help``."""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import subprocess
import sys
import time

from tests.real_cloud import cloud, environment, services, storage
from tests.real_cloud.processes import ProcessError
from tests.real_cloud.settings import Settings, free_ports

#: Exit code if MariaDB, RabbitMQ or Redis is missing.
MISSING_SERVER = 3

ERRORS = (
    cloud.CloudError,
    environment.InstallError,
    storage.StorageError,
    ProcessError,
)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='tools/openstack',
        description='Run a real OpenStack on this machine. It needs MariaDB,'
        f' RabbitMQ and Redis, and "up" exits with {MISSING_SERVER} without'
        ' them: see tools/services.',
    )
    parser.add_argument(
        '--state-dir',
        type=pathlib.Path,
        default=pathlib.Path('.state/openstack'),
        help='configuration, logs and data (default: %(default)s)',
    )
    commands = parser.add_subparsers(dest='command', required=True)
    up = commands.add_parser('up', help='start it; create it the first time')
    up.add_argument(
        '--cache',
        type=pathlib.Path,
        default=environment.default_cache(),
        help='directory of the installed packages (default: %(default)s)',
    )
    up.add_argument(
        '--first-port',
        type=int,
        metavar='PORT',
        help='port of the first API (default: the first of'
        f' {len(services.SERVICES)} free ports)',
    )
    up.add_argument(
        '--prefix',
        help='of the databases and the virtual host (default: made from the'
        ' path of the state directory)',
    )
    up.add_argument(
        '--redis',
        metavar='URL',
        help='an empty database of Redis (default: one of'
        f' {storage.REDIS_SERVER})',
    )
    up.add_argument(
        '--driver',
        default='rabbit',
        choices=['rabbit', 'pyamqp'],
        help='driver of all services for RabbitMQ: that of oslo.messaging, or'
        ' that of this repository (default: %(default)s)',
    )
    commands.add_parser('down', help='stop it, and delete all it has made')
    commands.add_parser('status', help='list processes, ports and logs')
    logs = commands.add_parser('logs', help='show the end of logs')
    logs.add_argument('names', nargs='*', metavar='PROCESS')
    logs.add_argument('--follow', action='store_true')
    return parser.parse_args()


def main() -> int:
    """Run a command and return its exit code."""
    arguments = _arguments()
    state = arguments.state_dir.resolve()
    settings = Settings.load(state)
    if arguments.command == 'up':
        return _up(arguments, state, settings)
    if settings is None:
        print(f'there is no cloud in {state}: run "up" first', file=sys.stderr)
        return 0 if arguments.command == 'down' else 2
    running = cloud.Cloud(settings)
    if arguments.command == 'down':
        running.down()
        return 0
    if arguments.command == 'status':
        return _status(running)
    return _logs(running, arguments)


def _up(
    arguments: argparse.Namespace,
    state: pathlib.Path,
    settings: Settings | None,
) -> int:
    if settings is None:
        # Several clouds may run on one machine.
        digest = hashlib.sha256(str(state).encode()).hexdigest()[:8]
        default = Settings(
            str(state),
            '',
            f'vobjects_openstack_{digest}',
            free_ports(len(services.SERVICES)),
            storage.empty_redis(),
        )
    else:
        default = settings
    wanted = Settings(
        str(state),
        str(arguments.cache.resolve()),
        arguments.prefix or default.prefix,
        arguments.first_port or default.first_port,
        arguments.redis or default.redis,
        arguments.driver,
    )
    if settings is not None and settings != wanted:
        print(
            f'the cloud in {state} has other options: run "down" first',
            file=sys.stderr,
        )
        return 2
    start = time.monotonic()
    try:
        storage.check(wanted)
        wanted.save()
        cloud.Cloud(wanted).up()
    except storage.MissingServer as error:
        print(f'{error}; see tools/services', file=sys.stderr)
        return MISSING_SERVER
    except ERRORS as error:
        print(f'error: {error}', file=sys.stderr)
        return 1
    print(
        f'OpenStack runs at {wanted.auth_url}'
        f' ({time.monotonic() - start:.0f} s). Use it with\n'
        f'  export OS_CLIENT_CONFIG_FILE={wanted.clouds_yaml} OS_CLOUD=demo'
    )
    return 0


def _status(running: cloud.Cloud) -> int:
    states = running.status()
    for name, state in states.items():
        print(f'{name:20} {state:10} {running.processes.log(name)}')
    return 0 if set(states.values()) == {'ready'} else 1


def _logs(running: cloud.Cloud, arguments: argparse.Namespace) -> int:
    names = arguments.names or list(services.PROCESSES)
    unknown = set(names) - set(services.PROCESSES)
    if unknown:
        print(
            f'unknown processes: {", ".join(sorted(unknown))}; known:'
            f' {", ".join(services.PROCESSES)}',
            file=sys.stderr,
        )
        return 2
    follow = ['--follow'] if arguments.follow else []
    logs = [running.processes.log(name) for name in names]
    return subprocess.run(('tail', *follow, *logs), check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
