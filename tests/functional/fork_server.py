# SPDX-License-Identifier: Apache-2.0
"""Start `vobjects` commands in forks of a process that has imported them.

To import the modules of an engine takes longer than most of what a test does
with it. A fork has them at once. So have forks of the scripts that
:func:`offer` names, such as those of the installed examples. Processes that
`vobjects up`, the pages of the documentation and the images start are executed
as usual.

The server and its forks end with the process that started the server.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pathlib
import pkgutil
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from tests import entry_points
from tests.functional import exec_command
from tests.programs import run_program

#: What commands import and compute when they run: modules, and functions as
#: ``module:function``.
_COMMANDS = ('vobjects.cli.main', f'{__package__}.fork_server:load_options')
MODULES = (
    'engine.cli',
    'engine.service',
    'engine.db.migrations',
    'engine.events.database',
    'engine.policies.base:Registry.load',
    'engine.profiles.base:Registry.load',
    'vobjects_simulated.provider',
    'vobjects_simulated.queues',
    'sqlalchemy.dialects.mysql',
    'sqlalchemy.dialects.postgresql',
    'sqlalchemy.dialects.sqlite',
    'sqlalchemy.orm:configure_mappers',
    *_COMMANDS,
)

#: Those of an API, which must not import prometheus_client before it has set a
#: variable, as an engine does.
API_MODULES = ('api.cli', 'api.serving', 'api.wsgi', *_COMMANDS)

ROOT = pathlib.Path(__file__).resolve().parents[2]

_COMMAND = [sys.executable, '-m', 'vobjects']

#: Code that starts a server. In another environment, processes must not find
#: the packages of this repository.
_CODE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.functional import fork_server
if sys.executable != {sys.executable!r}:
    sys.path.pop(0)
fork_server.main()
"""

#: Bytes of a request, most of which are environment variables.
_REQUEST_BYTES = 1 << 20


class ForkedProcess:
    """A fork, with the methods of :class:`subprocess.Popen` that tests use.

    :param reports: receives the process ID with a descriptor of the process,
        and the exit code at the end
    """

    def __init__(self, reports: socket.socket) -> None:
        message, descriptors, _, _ = socket.recv_fds(reports, 32, 1)
        # A descriptor, because a socket in a cycle of references that is
        # collected warns that it was not closed.
        self._reports = reports.detach()
        assert message, 'the fork server has ended'
        self.pid = int(message)
        (self._descriptor,) = descriptors
        self._code: int | None = None

    def __del__(self) -> None:
        os.close(self._reports)
        os.close(self._descriptor)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None: it is running."""
        if self._code is None and self._has_report(0):
            message = os.read(self._reports, 32)
            assert message, 'the fork server has ended'
            self._code = int(message)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code.

        :param timeout: in seconds
        :raises subprocess.TimeoutExpired: the process is still running
        """
        if self._code is None:
            self._has_report(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired('fork', timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def _has_report(self, timeout: float | None) -> bool:
        return bool(select.select([self._reports], [], [], timeout)[0])


class ForkServer:
    """A process that imports modules and forks.

    :param names: of modules, and of functions that it calls, as
        ``module:function``
    :param python: interpreter, which may be that of another environment
    """

    def __init__(
        self, names: Sequence[str], python: str = sys.executable
    ) -> None:
        self._lock = threading.Lock()
        self._control, control = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET
        )
        descriptor = control.fileno()
        words = [str(os.getpid()), str(descriptor), *names]
        with control:
            self._process = subprocess.Popen(
                [python, '-P', '-c', _CODE, *words],
                stdin=subprocess.DEVNULL,
                cwd=ROOT,
                pass_fds=[descriptor],
                start_new_session=True,
            )

    def close(self) -> None:
        """End the server and its forks."""
        self._control.close()
        self._process.wait()

    def start(
        self,
        program: str,
        arguments: Sequence[str],
        environment: dict[str, str],
        files: Sequence[int],
    ) -> ForkedProcess:
        """Start a program in a new session, in the working directory.

        :param program: module with a function ``main`` that returns the exit
            code
        :param files: descriptors of its standard input, output and error
        """
        request = {
            'program': program,
            'arguments': list(arguments),
            'environment': environment,
            'directory': os.getcwd(),
        }
        mine, reports = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET
        )
        with reports, self._lock:
            socket.send_fds(
                self._control,
                [json.dumps(request).encode()],
                [*files, reports.fileno()],
            )
        return ForkedProcess(mine)


@functools.cache
def server_with(*names: str, python: str = sys.executable) -> ForkServer:
    """Return a server that ends with this process.

    :param names: see :class:`ForkServer`
    :param python: see :class:`ForkServer`
    """
    server = ForkServer(names, python)
    atexit.register(server.close)
    return server


def _settings_of_python(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Python reads when it starts."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith('PYTHON') and name != 'PYTHONUNBUFFERED'
    }


#: Those of the servers, before tests change the environment.
_PYTHON = _settings_of_python(os.environ)


#: Script of another environment -> interpreter, modules to import, its module.
_SCRIPTS: dict[str, tuple[str, tuple[str, ...], str]] = {}


def offer(python: str, scripts: Mapping[str, str]) -> None:
    """Let :func:`start` start the scripts of another environment.

    :param python: its interpreter
    :param scripts: path of a script -> its module, whose function ``main`` it
        calls
    """
    modules = tuple(sorted(scripts.values()))
    for path, module in scripts.items():
        _SCRIPTS[path] = python, modules, module


def is_forkable(command: Sequence[str], environment: dict[str, str]) -> bool:
    """Return whether :func:`start` can start a command."""
    return _settings_of_python(environment) == _PYTHON and (
        command[0] in _SCRIPTS
        or (list(command[:3]) == _COMMAND and command[3] != 'up')
    )


def start(
    command: Sequence[str],
    environment: dict[str, str],
    output: IO[bytes],
    errors: IO[bytes],
) -> ForkedProcess:
    """Start a command for which :func:`is_forkable` is true."""
    if command[0] in _SCRIPTS:
        python, names, program = _SCRIPTS[command[0]]
        arguments = command[1:]
    else:
        python, program, arguments = (
            _COMMAND[0],
            'vobjects.__main__',
            command[3:],
        )
        names = API_MODULES if arguments[0] == 'api' else MODULES
    with open(os.devnull, 'rb') as empty:
        return server_with(*names, python=python).start(
            program,
            arguments,
            environment,
            [file.fileno() for file in (empty, output, errors)],
        )


def run(
    command: Sequence[str], environment: dict[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command until its end, in a fork if possible.

    :param timeout: in seconds
    :raises subprocess.TimeoutExpired: it is still running
    """
    if not is_forkable(command, environment):
        return run_program(command, timeout=timeout, env=environment)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = start(command, environment, out, err)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(list(command), code, *texts)


# The server


def load_options() -> None:
    """Load the options of all libraries, as each check of a file does."""
    from vobjects.clustering.run import config_check

    config_check.check([])


def _serve(control: socket.socket) -> Callable[[], int] | None:
    """Fork on request until the other end closes the socket.

    :returns: in a fork, what it must run; in the server, None
    """
    server = os.getpid()
    selector = selectors.DefaultSelector()
    selector.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is not control:
                _report_end(selector, key)
                continue
            message, descriptors, _, _ = socket.recv_fds(
                control, _REQUEST_BYTES, 4
            )
            if not message:
                return None
            *files, descriptor = descriptors
            reports = socket.socket(fileno=descriptor)
            pid = os.fork()
            if pid == 0:
                reports.close()
                for other in list(selector.get_map().values()):
                    _close(other)
                selector.close()
                return _prepare(server, json.loads(message), files)
            for file in files:
                os.close(file)
            process = os.pidfd_open(pid)
            socket.send_fds(reports, [str(pid).encode()], [process])
            selector.register(process, selectors.EVENT_READ, (pid, reports))


def _report_end(
    selector: selectors.BaseSelector, key: selectors.SelectorKey
) -> None:
    """Send the exit code of a fork that has ended."""
    pid, reports = key.data
    _, status = os.waitpid(pid, 0)
    selector.unregister(key.fileobj)
    # The test may have forgotten the process.
    with contextlib.suppress(BrokenPipeError):
        reports.send(str(os.waitstatus_to_exitcode(status)).encode())
    _close(key)


def _close(key: selectors.SelectorKey) -> None:
    if key.data is None:
        key.fileobj.close()  # type: ignore[union-attr]
    else:
        os.close(key.fd)
        key.data[1].close()


def _prepare(
    server: int, request: dict[str, Any], files: Sequence[int]
) -> Callable[[], int]:
    """Make this fork like a process that has just been executed."""
    exec_command.end_with_parent(server)
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request['environment'])
    os.chdir(request['directory'])
    program = importlib.import_module(request['program'])
    sys.argv = [str(program.__file__), *request['arguments']]
    function: Callable[[], int] = program.main
    return function


def main() -> None:
    """Run a server; its arguments are those of :class:`ForkServer`."""
    parent, descriptor, *names = sys.argv[1:]
    exec_command.end_with_parent(int(parent))
    entry_points.read_once().start()
    for name in names:
        found = pkgutil.resolve_name(name)
        if ':' in name:
            found()
    # Objects that no collection examines stay shared by all forks.
    gc.freeze()
    program = _serve(socket.socket(fileno=int(descriptor)))
    if program is not None:
        sys.exit(program())
