# SPDX-License-Identifier: Apache-2.0
"""``vobjects up``: the API and its engines on this machine, in one command.

Everything it needs is made below the state directory. Other databases and
brokers come in by URL alone.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from vobjects import exceptions
from vobjects.cli import logs, state, supervisor, terminal

DEFAULT_PORT = 8777
MAX_PROCESSES = 64

#: Seconds that a start waits for what a killed run has left to end.
_PATIENCE = 30.0

#: More than what the API takes to end its requests, and an engine its work.
_TIMING = supervisor.Timing(grace=40, ready_within=300)

_ENGINES, _API = range(2)  # stages: engines start first and stop last

_FORMAT = '%(asctime)s.%(msecs)03d %(levelname)s %(name)s'

_READY = """\
{title} (ready after {seconds:.1f} s)

  look at it: {url}/ui

  try, in another shell:
    curl -s {url}/v1/profile-types -H 'OpenStack-API-Version: clustering 1.14'
    {openstack} --os-auth-type none --os-endpoint {url} cluster list
    {python} -c "{script}"

  state and logs are in {state}
  Ctrl-C stops everything"""

_SCRIPT = (
    "import openstack; c = openstack.connect(auth_type='none',"
    " endpoint='{url}'); print(list(c.clustering.clusters()))"
)


def main(argv: list[str]) -> int:
    """Run until SIGINT or SIGTERM.

    :param argv: the arguments after ``up``
    :returns: 0 after a clean stop, 1 when starting failed
    :raises vobjects.exceptions.VobjectsError: for what the caller can mend
    :raises SystemExit: from argparse
    """
    began = time.monotonic()
    options = _parser().parse_args(argv)
    # Until there is something to stop in order, all of these are Ctrl-C.
    for number in _stop_signals():
        signal.signal(number, signal.default_int_handler)
    os.umask(0o077)  # databases, sockets and logs are the owner's alone
    screen = terminal.Terminal(sys.stdout)
    directory = state.StateDirectory(options.state_dir)
    lock = directory.lock(within=_PATIENCE)
    port = _free_port(options.host, options.port)
    configuration = directory.write_configuration(
        _configuration(options, directory, port)
    )
    files = [configuration, *(f.absolute() for f in options.config_file)]
    if failure := _prepare_database(directory, files, screen):
        return failure
    url = f'http://{_in_url(options.host)}:{port}'
    children = _children(directory, files, options.engines, url)
    watch = supervisor.Supervisor(
        children, screen.say, timing=_TIMING, keep_open=[lock]
    )
    with _stopping_on_signals(watch), _following(options, children, screen):
        code = watch.run(
            lambda: screen.say(
                _welcome(screen, url, directory, time.monotonic() - began)
            )
        )
    if code == 0:
        screen.say('stopped')
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects up',
        description='Run the API and its engines on this machine.',
    )
    parser.add_argument(
        '--port',
        type=_number(0, 65535),
        default=DEFAULT_PORT,
        help='where the API listens; 0 picks a free port'
        ' (default: %(default)s)',
    )
    parser.add_argument(
        '--host',
        type=_loopback,
        default='127.0.0.1',
        help='a loopback address: nobody is authenticated here'
        ' (default: %(default)s)',
    )
    parser.add_argument(
        '--engines',
        type=_number(1, MAX_PROCESSES),
        default=2,
        help='engine processes (default: %(default)s)',
    )
    parser.add_argument(
        '--workers',
        type=_number(1, MAX_PROCESSES),
        default=1,
        help='API processes (default: %(default)s)',
    )
    parser.add_argument(
        '--state-dir',
        type=pathlib.Path,
        metavar='DIR',
        default=state.default(),
        help='where database, sockets and logs are (default: %(default)s)',
    )
    parser.add_argument(
        '--database',
        metavar='URL',
        help='an SQLAlchemy URL; SQLite in the state directory if not given',
    )
    parser.add_argument(
        '--transport-url',
        metavar='URL',
        help='an oslo.messaging URL; local sockets if not given',
    )
    parser.add_argument(
        '--config-file',
        type=_file,
        metavar='FILE',
        action='append',
        default=[],
        help='more settings, over those of this command; may be repeated',
    )
    parser.add_argument(
        '--logs',
        action='store_true',
        help='show what all processes log',
    )
    return parser


def _number(lowest: int, highest: int) -> type[int]:
    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = lowest - 1
        if not lowest <= number <= highest:
            raise argparse.ArgumentTypeError(
                f'{exceptions.cut(text)} is not a whole number from {lowest}'
                f' to {highest}'
            )
        return number

    return read  # type: ignore[return-value]


def _loopback(text: str) -> str:
    address = '127.0.0.1' if text == 'localhost' else text
    try:
        if ipaddress.ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f'{exceptions.cut(text)} is not a loopback address such as 127.0.0.1'
        ' or ::1; to serve others, run `vobjects api` with authentication'
    )


def _file(text: str) -> pathlib.Path:
    path = pathlib.Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f'{text} is not a file')
    return path


def _free_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0.

    :raises vobjects.cli.state.StateError: somebody listens there
    """
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As the server does: what an earlier run left in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise state.StateError(
                f'cannot listen on {host} port {port}: {error.strerror};'
                ' choose another with --port'
            ) from None
        return int(probe.getsockname()[1])


def _configuration(
    options: argparse.Namespace, directory: state.StateDirectory, port: int
) -> dict[str, dict[str, object]]:
    home = directory.path
    return {
        'DEFAULT': {
            'transport_url': (
                options.transport_url or f'embedded://{home / "rpc"}'
            ),
            'logging_default_format_string': f'{_FORMAT}: %(message)s',
            'logging_context_format_string': (
                f'{_FORMAT} [%(request_id)s]: %(message)s'
            ),
        },
        'database': {
            'connection': (
                options.database or f'sqlite:///{home / "vobjects.sqlite"}'
            ),
            # Whoever waits at a terminal wants to know soon.
            'max_retries': 3,
            'retry_interval': 2,
        },
        'api': {
            'host': options.host,
            'port': port,
            'workers': options.workers,
            'metrics_directory': home / 'metrics',
        },
        'receivers': {'encryption_keys': directory.key()},
    }


def _command(files: list[pathlib.Path], *words: str) -> tuple[str, ...]:
    """Return a `vobjects` command with its configuration."""
    configured = [f'--config-file={file}' for file in files]
    return (sys.executable, '-m', 'vobjects.cli', *words, *configured)


def _prepare_database(
    directory: state.StateDirectory,
    files: list[pathlib.Path],
    screen: terminal.Terminal,
) -> int:
    """Return the exit code of `vobjects db sync`."""
    log = directory.log('db')
    start = logs.size(log)
    screen.say('preparing the database')
    with log.open('ab') as output:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            _command(files, 'db', 'sync'),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode == 0:
        return 0
    screen.say(
        screen.styled('bad', 'the database could not be prepared;')
        + f' log {log}:'
    )
    for line in logs.last_lines(log, 8, start=start):
        screen.say(f'    {line}')
    return 2 if done.returncode == 2 else 1


def _children(
    directory: state.StateDirectory,
    files: list[pathlib.Path],
    engines: int,
    url: str,
) -> list[supervisor.Child]:
    names = [f'engine-{number}' for number in range(1, engines + 1)]
    return [
        *(
            supervisor.Child(
                name, _command(files, 'engine'), directory.log(name), _ENGINES
            )
            for name in names
        ),
        supervisor.Child(
            'api',
            _command(files, 'api'),
            directory.log('api'),
            _API,
            lambda: _answers(url),
        ),
    ]


def _answers(url: str) -> bool:
    """Tell whether the API serves a microversion: engines are there too."""
    # No proxy of the environment stands between a machine and itself.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f'{url}/', timeout=2) as response:
            return response.status in (200, 300)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 300
    except OSError:
        return False


def _welcome(
    screen: terminal.Terminal,
    url: str,
    directory: state.StateDirectory,
    seconds: float,
) -> str:
    here = pathlib.Path(sys.executable).parent
    return _READY.format(
        title=screen.styled('good', f'the clustering API is at {url}'),
        seconds=seconds,
        url=url,
        openstack=here / 'openstack',
        python=sys.executable,
        script=_SCRIPT.format(url=url),
        state=directory.path,
    )


def _in_url(host: str) -> str:
    return f'[{host}]' if ':' in host else host


def _stop_signals() -> list[signal.Signals]:
    found = [signal.SIGINT, signal.SIGTERM]
    # `nohup` ignores it for good reason.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return found


@contextlib.contextmanager
def _stopping_on_signals(watch: supervisor.Supervisor) -> Iterator[None]:
    """Stop on Ctrl-C, SIGTERM, or when the terminal is closed."""
    before = {
        number: signal.signal(number, lambda *_: watch.stop())
        for number in _stop_signals()
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _following(
    options: argparse.Namespace,
    children: list[supervisor.Child],
    screen: terminal.Terminal,
) -> Iterator[None]:
    if not options.logs:
        yield
        return
    width = max(len(child.name) for child in children)
    follower = logs.Follower(
        {child.name: child.log for child in children},
        lambda name, line: screen.say(
            f'{screen.styled("dim", name.ljust(width))} | {line}'
        ),
    )
    follower.start()
    try:
        yield
    finally:
        follower.stop()
