# SPDX-License-Identifier: Apache-2.0
"""Real processes under test: start, watch, end, and leave none behind.

Every process a :class:`Group` starts, and whatever those start in turn, has
the group's mark in its environment. By it they are found, whoever their
parent is by then; and by their command lines, because some write over their
environment to change their title. If the tests themselves are killed, the
kernel kills what they have started.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import psutil

MARK = 'VOBJECTS_TEST_GROUP'

#: Seconds after which something that should happen counts as failed to. It
#: is long: the machine may be slow and busy, and success does not wait.
PATIENCE = 240

#: Lines that a failed test shows of each log: of warnings and errors, and
#: of its end.
COMPLAINTS = 8
TAIL = 12

#: Characters of such a line.
WIDTH = 240

#: Bytes at the end of a log that are looked at.
LOOKED_AT = 500_000

#: Below those that Linux gives to connections unless it is told otherwise.
PORTS = range(20_000, 32_000)

_CLAIMS: list[socket.socket] = []

_COMPLAINT = re.compile(r' (WARNING|ERROR|CRITICAL) |^\w+(\.\w+)*Error\b')

#: Becomes what is to be started, tied to the life of the tests.
_TIED = pathlib.Path(__file__).with_name('tied.py')

T = TypeVar('T')


def wait_for(
    what: str,
    look: Callable[[], T],
    *,
    within: float = PATIENCE,
    every: float = 0.05,
) -> T:
    """Return what ``look`` returns once that is true.

    :param what: is waited for, in the message
    :param within: seconds; the last look is after them
    :raises AssertionError: it did not become true
    """
    until = time.monotonic() + within
    while True:
        late = time.monotonic() > until
        found = look()
        if found:
            return found
        assert not late, f'{what}: not within {within:g} s, last {found!r}'
        time.sleep(every)


def is_alive(pid: int) -> bool:
    """Return whether a process runs: a zombie does not."""
    try:
        status = psutil.Process(pid).status()
    except psutil.NoSuchProcess:
        return False
    return status not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def tied(command: Sequence[str]) -> list[str]:
    """Return a command that the kernel kills when the tests are killed."""
    starter = [sys.executable, '-I', '-S', str(_TIED), str(os.getpid())]
    return [*starter, *command]


def free_port() -> int:
    """Return a port of 127.0.0.1 that is ours until this process ends.

    It is none that the kernel gives to connections, or somebody's next one
    might have it before the process under test does; and other tests on this
    host are kept off it by a name that only one of them can bind.
    """
    for port in random.sample(PORTS, len(PORTS)):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f'\0vobjects-test-port-{port}')
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(('127.0.0.1', port))
        except OSError:
            claim.close()
            continue
        _CLAIMS.append(claim)
        return port
    raise AssertionError('no port is free')


class Process:
    """A process whose output goes to a file.

    :ivar ends: processes with a lower number end earlier
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: pathlib.Path,
        environment: dict[str, str],
        ends: int = 0,
    ) -> None:
        self.name = name
        self.log = log
        self.ends = ends
        with log.open('ab') as output:
            self._popen = subprocess.Popen(
                tied(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process itself."""
        self._popen.send_signal(number)

    def wait(self, within: float = PATIENCE) -> int:
        """Return the exit code.

        :raises AssertionError: it has not ended after ``within`` seconds
        """
        try:
            return self._popen.wait(within)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f'{self.name} has not ended within {within:g} s'
            ) from None

    def stop(self, within: float = PATIENCE) -> int:
        """Ask the process to end; return the exit code."""
        self.send(signal.SIGTERM)
        return self.wait(within)

    def kill(self) -> None:
        """Kill the process, as `kill -9` does."""
        self.send(signal.SIGKILL)
        self.wait()


class Group:
    """Processes that end together.

    :param directory: for their logs
    :param sign: a part of a command line that only they have
    """

    def __init__(self, directory: pathlib.Path, sign: str) -> None:
        self.directory = directory
        self.sign = sign
        self.mark = uuid.uuid4().hex
        self.processes: list[Process] = []

    def start(self, name: str, *command: str, ends: int = 0) -> Process:
        """Start a process; its log is ``NAME.log``.

        :param ends: see :class:`Process`
        """
        process = Process(
            name,
            command,
            self.directory / f'{name}.log',
            self.environment(),
            ends,
        )
        self.processes.append(process)
        return process

    def environment(self) -> dict[str, str]:
        """Return the environment that marks a process as ours."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(('OS_', 'XDG_'))
        }
        return {**clean, MARK: self.mark, 'PYTHONUNBUFFERED': '1'}

    def check_alive(self) -> None:
        """Assert that no process has ended by itself."""
        for process in self.processes:
            code = process._popen.poll()
            assert code is None, (
                f'{process.name} has ended with exit code {code}'
            )

    def forget(self, process: Process) -> None:
        """Leave a process that has ended out of what is to be closed."""
        self.processes.remove(process)

    def close(self, within: float = PATIENCE) -> list[str]:
        """End all in order, by force where necessary.

        :returns: what did not end as it should
        """
        problems = []
        for stage in sorted({process.ends for process in self.processes}):
            processes = [p for p in self.processes if p.ends == stage]
            alive = [p for p in processes if p.is_alive]
            problems += [
                f'{p.name} had ended with {p.wait()} by itself'
                for p in processes
                if p not in alive
            ]
            for process in alive:
                process.send(signal.SIGTERM)
            problems += filter(None, [_end(p, within) for p in alive])
        self.processes.clear()
        for orphan in self.members():
            with contextlib.suppress(psutil.Error):
                line = ' '.join(orphan.cmdline())
                orphan.kill()
                problems.append(f'orphan process {orphan.pid}: {line}')
        return problems

    def members(self) -> list[psutil.Process]:
        """Return every live process that is ours."""
        return [p for p in psutil.process_iter() if self._owns(p)]

    def _owns(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return process.environ().get(
                MARK
            ) == self.mark or self.sign in ' '.join(process.cmdline())
        except psutil.Error:
            return False

    def logs(self) -> Iterator[tuple[str, pathlib.Path]]:
        """Yield the name and path of every log, the groups' own included."""
        for path in sorted(self.directory.rglob('*.log')):
            yield path.stem, path


def excerpt(path: pathlib.Path) -> str:
    """Return of a log what is likely to matter: few lines.

    The last warnings and errors, and what was said last of all.
    """
    text = path.read_bytes()[-LOOKED_AT:].decode(errors='replace')
    lines = [line[:WIDTH] for line in text.splitlines()]
    earlier = [line for line in lines[:-TAIL] if _COMPLAINT.search(line)]
    shown = [*earlier[-COMPLAINTS:], '...'] if earlier else []
    return '\n'.join(shown + lines[-TAIL:])


def _end(process: Process, within: float) -> str:
    """Wait for a process; return what was wrong with it, if anything."""
    try:
        code = process.wait(within)
    except AssertionError as error:
        process.kill()
        return str(error)
    return f'{process.name} ended with exit code {code}' if code else ''
