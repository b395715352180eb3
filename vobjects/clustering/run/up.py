# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects up``: the API and its engines on this machine.

Everything it needs is created below the state directory. Options name the URL
of another database or message bus. Functions import what the help does not
need.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import ipaddress
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from vobjects import exceptions
from vobjects.cli import settings, terminal
from vobjects.cli.parser import Command, Parser, one_of, whole_number
from vobjects.clustering.run import (
    DEFAULT_PORT,
    INSTALLATIONS,
    SERVERS,
    logs,
    state,
    supervisor,
    welcome,
)

MAX_PROCESSES = 64

#: Maximum time that a start waits for processes of a killed run, in seconds.
_PATIENCE = 30.0

#: Longer than the API needs to complete its requests, and an engine its
#: actions.
_TIMING = supervisor.Timing(grace=40, ready_within=300)

#: Maximum number of configuration mistakes that are shown.
_MOST_FINDINGS = 20

_ENGINES, _API = range(2)  # stages: engines start first and stop last

_FORMAT = '%(asctime)s.%(msecs)03d %(levelname)s %(name)s'

#: Link-local networks only: the engine's default without the loopback
#: networks.
_FORBIDDEN = '169.254.0.0/16,fe80::/10'


def _run(options: argparse.Namespace) -> int:
    """Run the service until SIGINT or SIGTERM."""
    began = time.monotonic()
    # Until children run, each of these signals acts like Ctrl-C.
    for number in _stop_signals():
        signal.signal(number, signal.default_int_handler)
    os.umask(0o077)  # databases, sockets and logs are private
    screen = terminal.Terminal(sys.stdout)
    directory = state.StateDirectory(_state_directory(options))
    lock = directory.lock(within=_PATIENCE)
    port = reserve_port(options.host, options.port)
    sections = configuration(options, directory, port)
    written = directory.write_configuration(sections)
    files = [written, *(f.absolute() for f in options.config_file)]
    provider = _configured(files, 'engine', 'provider')
    points = importlib.metadata.entry_points(group=SERVERS)
    servers = ['bus', *(points.names & {provider})]
    if failure := _prepare(directory, files, servers, screen):
        return failure
    url = f'http://{_in_url(options.host)}:{port}'
    children = _children(directory, files, options.engines, url)
    watch = supervisor.Supervisor(
        children, screen.say, timing=_TIMING, keep_open=[lock]
    )
    with _stopping_on_signals(watch), _following(options, children, screen):
        code = watch.run(
            lambda: screen.say(
                welcome.text(
                    screen,
                    url,
                    directory.path,
                    time.monotonic() - began,
                    _auth_strategy(options.config_file),
                    is_loopback_allowed='hooks' in sections,
                )
            )
        )
    if code == 0:
        screen.say('stopped')
    return code


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects up',
        description='Run the API and its engines on this machine.',
        notes='Exit codes: 0 after Ctrl-C or SIGTERM; 1 if a process or server'
        ' fails; 2 invalid arguments or configuration.',
        examples=[
            'vobjects up',
            'vobjects up --engines 3 --logs',
            'vobjects up --provider docker',
            'vobjects up --database postgresql+psycopg2://u:p@db/vobjects',
        ],
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        '--port',
        metavar='PORT',
        type=whole_number(0, 65535),
        default=DEFAULT_PORT,
        help='port of the API; 0 picks a free port (default: %(default)s)',
    )
    parser.add_argument(
        '--host',
        metavar='ADDRESS',
        type=_loopback,
        default='127.0.0.1',
        help='loopback address of the API, because callers are not'
        ' authenticated by default (default: %(default)s)',
    )
    parser.add_argument(
        '--engines',
        metavar='NUMBER',
        type=whole_number(1, MAX_PROCESSES),
        default=2,
        help='number of engine processes (default: %(default)s)',
    )
    parser.add_argument(
        '--workers',
        metavar='NUMBER',
        type=whole_number(1, MAX_PROCESSES),
        default=1,
        help='number of API processes (default: %(default)s)',
    )
    parser.add_argument(
        '--state-dir',
        type=pathlib.Path,
        metavar='DIR',
        help='directory for the database, sockets and logs (default:'
        f' ${settings.VARIABLE}, or ~/.local/state/{settings.PROJECT})',
    )
    parser.add_argument(
        '--database',
        metavar='URL',
        help='SQLAlchemy URL (default: SQLite in the state directory)',
    )
    parser.add_argument(
        '--transport-url',
        metavar='URL',
        help='oslo.messaging URL (default: local sockets)',
    )
    parser.add_argument(
        '--provider',
        metavar='PROVIDER',
        type=_provider,
        choices=_providers(),
        help='provider of the nodes, such as docker for containers on the'
        ' Docker daemon of this machine (default: simulated)',
    )
    parser.add_argument(
        '--config-file',
        type=_file,
        metavar='FILE',
        action='append',
        default=[],
        help='configuration file that overrides the settings of this command;'
        ' may be repeated',
    )
    parser.add_argument(
        '--logs',
        action='store_true',
        help='print the logs of all processes',
    )
    return parser


#: The command ``vobjects up``.
main = Command(_parser)


def _provider(text: str) -> str:
    names = _providers()
    if text in INSTALLATIONS and text not in names:
        raise argparse.ArgumentTypeError(
            f'{text} is not installed; run: {INSTALLATIONS[text]}'
        )
    return one_of(names, 'provider')(text)


def _providers() -> list[str]:
    """Return the names of the installed providers."""
    entry_points = importlib.metadata.entry_points(group='vobjects.providers')
    return sorted(entry_points.names)


def _state_directory(options: argparse.Namespace) -> pathlib.Path:
    named = options.state_dir or os.environ.get(settings.VARIABLE)
    return pathlib.Path(named or settings.default_state_directory())


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


def reserve_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0.

    A socket that does not listen keeps it until this process ends: otherwise,
    a connection of another process may take the port before the API listens.

    :raises vobjects.clustering.run.state.StateError: another process listens
        there
    """
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    reservation = socket.socket(family, socket.SOCK_STREAM)
    # As the server does: connections of an earlier run in TIME_WAIT do not
    # block the port.
    reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        reservation.bind((host, port))
    except OSError as error:
        reservation.close()
        raise state.StateError(
            f'cannot listen on {host} port {port}: {error.strerror};'
            ' choose another with --port'
        ) from None
    number = int(reservation.getsockname()[1])
    reservation.detach()
    return number


def configuration(
    options: argparse.Namespace, directory: state.StateDirectory, port: int
) -> dict[str, dict[str, object]]:
    """Return the settings of all processes, by section.

    :param options: the parsed arguments
    :param directory: the state directory
    :param port: port of the API
    """
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
            # The user waits at a terminal: report a failure soon.
            'max_retries': 3,
            'retry_interval': 2,
        },
        'api': {
            'host': options.host,
            'port': port,
            'workers': options.workers,
            'metrics_directory': home / 'metrics',
        },
        # Slow enough that a user can observe a running action.
        'simulated': {'latency': 1},
        'receivers': {'encryption_keys': directory.key()},
        **(
            {'engine': {'provider': options.provider}}
            if options.provider
            else {}
        ),
        **(
            {
                group: {'forbidden_networks': _FORBIDDEN}
                for group in ('hooks', 'health_manager')
            }
            if _auth_strategy(options.config_file) == 'none'
            else {}
        ),
    }


def _auth_strategy(files: list[pathlib.Path]) -> str:
    """Return ``[api] auth_strategy``; empty if it cannot be read."""
    return _configured(files, 'api', 'auth_strategy', 'none')


def _configured(
    files: list[pathlib.Path], section: str, name: str, default: str = ''
) -> str:
    """Return an option of the files; empty if it cannot be read."""
    from oslo_config import cfg

    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt(name, default=default), section)
    try:
        conf(
            [], default_config_files=[*map(str, files)], default_config_dirs=[]
        )
    except cfg.Error:
        return ''  # the processes report the error
    return str(conf[section][name])


def _command(files: list[pathlib.Path], *words: str) -> tuple[str, ...]:
    """Return a `vobjects` command with its configuration files."""
    configured = [f'--config-file={file}' for file in files]
    return (sys.executable, '-m', 'vobjects', *words, *configured)


#: Name -> exit codes after which the start continues; 1 of `config check`
#: means that some options are unknown.
_HARMLESS = {'config': (0, 1), 'db': (0,)}


def _prepare(
    directory: state.StateDirectory,
    files: list[pathlib.Path],
    servers: list[str],
    screen: terminal.Terminal,
) -> int:
    """Check the configuration and the servers; prepare the database.

    :param servers: names of servers for ``config check --connect``
    :returns: 0; 2 if the configuration is invalid, 1 if a server does not
        answer
    """
    screen.say('checking the configuration, preparing the database')
    connections = [f'--connect={name}' for name in servers]
    # These commands run concurrently.
    commands = {
        'config': ('config', 'check', '--quiet', *connections),
        'db': ('db', 'sync'),
    }
    started = []
    with contextlib.ExitStack() as unfinished:
        for name, words in commands.items():
            log = directory.log(name)
            start = logs.size(log)
            with log.open('ab') as output:
                process = subprocess.Popen(  # noqa: S603 - a fixed command
                    _command(files, *words),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            unfinished.callback(process.terminate)
            started.append((name, log, start, process))
        for *_, process in started:
            process.wait()
    failures = []
    for name, log, start, process in started:
        code = process.returncode
        lines = logs.last_lines(log, _MOST_FINDINGS, start=start)
        is_fine = code in _HARMLESS[name]
        if not is_fine:
            failures.append(code)
        if name == 'db':
            # Its log has other lines, too; the error is the last one.
            lines = [] if is_fine else lines[-1:] or [f'see {log}']
        style = 'dim' if is_fine else 'bad'
        if 2 not in failures[:-1]:  # db may fail for the same reason
            for line in lines:
                screen.say(screen.styled(style, line))
    if not failures:
        return 0
    return 2 if 2 in failures else 1


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
    """Return whether the API serves a microversion, so engines are up, too."""
    import urllib.error
    import urllib.request

    # Ignore proxies of the environment: the API is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f'{url}/', timeout=2) as response:
            return response.status in (200, 300)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 300
    except OSError:
        return False


def _in_url(host: str) -> str:
    return f'[{host}]' if ':' in host else host


def _stop_signals() -> list[signal.Signals]:
    signals = [signal.SIGINT, signal.SIGTERM]
    # `nohup` ignores SIGHUP; respect that.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


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
