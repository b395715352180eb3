# SPDX-License-Identifier: Apache-2.0
"""Run a service for benchmarks and measure the CPU time of its processes."""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import load_generator
import psutil

# The tests have helpers that create databases and virtual hosts.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests import databases
from tests.functional import brokers
from tests.functional.processes import free_port

#: Timeout in seconds for a state to be reached.
TIMEOUT = 300.0

#: The API version of all requests.
VERSION = 'clustering 1.14'

#: The profile of all clusters. Senlin fails for a server without networks.
PROFILE = {
    'profile': {
        'name': 'p',
        'spec': {
            'type': 'os.nova.server',
            'version': '1.0',
            'properties': {
                'name': 's',
                'flavor': 'f',
                'image': 'i',
                'networks': [{'network': 'n'}],
            },
        },
    }
}

#: Process name of each database or transport that has a server.
_SERVERS = {
    'postgresql': 'postgres',
    'mysql': 'mariadbd',
    'pyamqp': 'beam.smp',
    'rabbit': 'beam.smp',
}


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the option for the database.

    :param description: help text; only its first line is used
    """
    result = argparse.ArgumentParser(
        description=(description or '').split('\n')[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    result.add_argument(
        '--database',
        choices=['sqlite', 'postgresql', 'mysql'],
        default='sqlite',
    )
    return result


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of a service and its peer.

    :param description: help text; only its first line is used
    """
    result = parser(description)
    result.add_argument(
        '--transport',
        choices=['embedded', 'pyamqp', 'rabbit'],
        default='embedded',
    )
    result.add_argument('--workers', type=int, default=1, help='of the API')
    result.add_argument('--engines', type=int, default=1)
    result.add_argument(
        '--peer', choices=['senlin'], help='measure it in the same run'
    )
    result.add_argument(
        '--rst', action='store_true', help='print a table for documentation'
    )
    return result


class Service:
    """A running service: ours, or a peer with the same API.

    :ivar address: host and port of its API
    """

    def __init__(
        self,
        processes: Sequence[psutil.Process],
        port: int,
        database: str,
        transport: str,
        identity: Mapping[str, str] = {},
    ) -> None:
        """Create a handle for a running service.

        :param processes: processes that, with their children, form the service
        :param port: port of its API on this host
        :param database: kind of database, an option of :func:`parser`
        :param transport: kind of transport, an option of :func:`options`
        :param identity: request headers that identify the caller
        """
        self.address = ('127.0.0.1', port)
        self._processes = processes
        self._servers = {
            _SERVERS.get(database): 'database',
            _SERVERS.get(transport): 'rpc',
        }
        self._headers = {'OpenStack-API-Version': VERSION, **identity}

    def request(self, verb: str, path: str, body: Any = None) -> bytes:
        """Return the bytes of a request, for :func:`load_generator.run`."""
        content = None if body is None else json.dumps(body).encode()
        return load_generator.request(verb, path, self._headers, content)

    def call(
        self, verb: str, path: str, body: Any = None, timeout: float = TIMEOUT
    ) -> Any:
        """Send one request and return the decoded body of the response.

        :param timeout: timeout in seconds
        :raises OSError: if there is no response, or the status is an error
        """
        request = urllib.request.Request(
            f'http://127.0.0.1:{self.address[1]}{path}',
            method=verb,
            data=None if body is None else json.dumps(body).encode(),
            headers={'Content-Type': 'application/json', **self._headers},
        )
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return json.loads(response.read() or b'null')

    def begin(self) -> None:
        """Wait until the API and the engines have started.

        :raises RuntimeError: after a timeout
        """
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            try:
                # A request sent before a server listens may get no response.
                self.call('GET', '/v1/build-info', timeout=5)
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError('the service did not start; see its output')

    def settle(self) -> None:
        """Wait until all requested clusters have been created."""
        for status in ('INIT', 'CREATING'):
            path = f'/v1/clusters?limit=1&status={status}'
            while self.call('GET', path)['clusters']:
                time.sleep(0.1)

    def wait(self, action: str) -> None:
        """Wait until an action has succeeded.

        :param action: ID of the action
        :raises RuntimeError: if the action fails, or after a timeout
        """
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            row = self.call('GET', f'/v1/actions/{action}')['action']
            if row['status'] == 'SUCCEEDED':
                return
            if row['status'] in ('FAILED', 'CANCELLED'):
                raise RuntimeError(row['status_reason'])
            time.sleep(0.01)
        raise RuntimeError(f'action {action} takes too long')

    def cpu(self) -> dict[int, tuple[str, float]]:
        """Return component and CPU seconds of each process, by process ID.

        For database and broker, this includes all such processes of the
        machine.
        """
        seconds = {}
        ours = {
            child.pid: child
            for parent in self._processes
            for child in (parent, *parent.children(True))
        }
        for process in psutil.process_iter(['name', 'pid', 'cpu_times']):
            part = self._servers.get(process.info['name'])
            if process.info['pid'] in ours:
                part = _part(ours[process.info['pid']].cmdline())
            if part and process.info['cpu_times']:
                times = process.info['cpu_times']
                seconds[process.info['pid']] = (
                    part,
                    times.user + times.system,
                )
        return seconds


def spent(
    before: Mapping[int, tuple[str, float]],
    after: Mapping[int, tuple[str, float]],
) -> dict[str, float]:
    """Return the CPU seconds of each component between two measurements.

    Processes that ended in between are ignored, because their last CPU time is
    unknown.

    :param before: an earlier result of :meth:`Service.cpu`
    :param after: a later one
    """
    seconds = dict.fromkeys(('api', 'engine', 'rpc', 'database'), 0.0)
    for process, (part, total) in after.items():
        seconds[part] += total - before.get(process, (part, 0.0))[1]
    return seconds


def _part(command: Sequence[str]) -> str:
    """Return the component of a process, given its command line."""
    does = any(word.endswith(('engine', 'conductor')) for word in command)
    return 'engine' if does else 'api'


@contextlib.contextmanager
def service(chosen: argparse.Namespace) -> Iterator[Service]:
    """Start a service, yield it when it is ready, and stop it afterwards.

    :param chosen: parsed :func:`options`
    """
    # Clean up if the benchmark is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        tempfile.TemporaryDirectory(prefix='vobjects-bench-') as state,
        databases.temporary(chosen.database, pathlib.Path(state)) as database,
        brokers.temporary(chosen.transport) as transport,
    ):
        port = free_port()
        config = pathlib.Path(state) / 'bench.conf'
        config.write_text(
            '[engine]\n'
            + ''.join(
                f'max_{resources}_per_project = 1000000\n'
                for resources in ('clusters', 'nodes', 'profiles')
            )
            + 'max_nodes_per_cluster = 20000\n[simulated]\nlatency = 0\n'
        )
        process = psutil.Popen(
            (
                *(sys.executable, '-m', 'vobjects', 'up'),
                *('--port', str(port), '--state-dir', state),
                *('--engines', str(chosen.engines)),
                *('--workers', str(chosen.workers)),
                *('--database', database, '--transport-url', transport),
                *('--config-file', str(config)),
            ),
            stdout=subprocess.DEVNULL,
        )
        try:
            running = Service(
                [process], port, chosen.database, chosen.transport
            )
            running.begin()
            yield running
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
