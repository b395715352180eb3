# SPDX-License-Identifier: Apache-2.0
"""The service under measurement: its processes, and what CPU they took."""

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

import load
import psutil

# What tests make databases and virtual hosts with.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests import databases
from tests.functional import brokers
from tests.functional.processes import free_port

#: Seconds for a state to come about.
PATIENCE = 300.0

#: What all requests ask for.
VERSION = 'clustering 1.14'

#: What clusters are made of. Senlin fails on a server without networks.
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

#: Database or transport -> name of its server's processes. Others have none.
_SERVERS = {
    'postgresql': 'postgres',
    'mysql': 'mariadbd',
    'rabbit': 'beam.smp',
}


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows databases.

    :param description: of which the first line counts
    """
    made = argparse.ArgumentParser(
        description=(description or '').split('\n')[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    made.add_argument(
        '--database',
        choices=['sqlite', 'postgresql', 'mysql'],
        default='sqlite',
    )
    return made


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows what a service runs on."""
    made = parser(description)
    made.add_argument(
        '--transport', choices=['embedded', 'rabbit'], default='embedded'
    )
    made.add_argument('--workers', type=int, default=1, help='of the API')
    made.add_argument('--engines', type=int, default=1)
    made.add_argument(
        '--peer', choices=['senlin'], help='measure it in the same run'
    )
    made.add_argument(
        '--rst', action='store_true', help='print a table for documentation'
    )
    return made


class Service:
    """A service that runs: ours, or a peer with the same API.

    :ivar address: where its API is
    """

    def __init__(
        self,
        processes: Sequence[psutil.Process],
        port: int,
        database: str,
        transport: str,
        identity: Mapping[str, str] = {},
    ) -> None:
        """Note where a service is.

        :param processes: these and their children are the service
        :param port: of its API
        :param identity: headers that say who asks
        """
        self.address = ('127.0.0.1', port)
        self._processes = processes
        self._servers = {
            _SERVERS.get(database): 'database',
            _SERVERS.get(transport): 'rpc',
        }
        self._headers = {'OpenStack-API-Version': VERSION, **identity}

    def request(self, verb: str, path: str, body: Any = None) -> bytes:
        """Return the bytes of a request, for :func:`load.run`."""
        content = None if body is None else json.dumps(body).encode()
        return load.request(verb, path, self._headers, content)

    def ask(
        self, verb: str, path: str, body: Any = None, within: float = PATIENCE
    ) -> Any:
        """Send one request and return what the answer holds.

        :param within: seconds
        :raises OSError: no answer, or an error
        """
        asked = urllib.request.Request(
            f'http://127.0.0.1:{self.address[1]}{path}',
            method=verb,
            data=None if body is None else json.dumps(body).encode(),
            headers={'Content-Type': 'application/json', **self._headers},
        )
        with urllib.request.urlopen(asked, timeout=within) as answer:
            return json.loads(answer.read() or b'null')

    def begin(self) -> None:
        """Wait until the API and what it asks have started.

        :raises RuntimeError: they take too long
        """
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                # What is asked before anybody listens may never be answered.
                self.ask('GET', '/v1/build-info', within=5)
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError('the service did not start; see its output')

    def settle(self) -> None:
        """Wait until the clusters that were asked for are made."""
        for status in ('INIT', 'CREATING'):
            path = f'/v1/clusters?limit=1&status={status}'
            while self.ask('GET', path)['clusters']:
                time.sleep(0.1)

    def wait(self, action: str) -> None:
        """Wait until an action has succeeded.

        :raises RuntimeError: it failed, or takes too long
        """
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.ask('GET', f'/v1/actions/{action}')['action']
            if found['status'] == 'SUCCEEDED':
                return
            if found['status'] in ('FAILED', 'CANCELLED'):
                raise RuntimeError(found['status_reason'])
            time.sleep(0.01)
        raise RuntimeError(f'action {action} takes too long')

    def cpu(self) -> dict[int, tuple[str, float]]:
        """Return part and seconds of CPU so far of each process, by its ID.

        Database and broker are all such processes of this machine.
        """
        found = {}
        ours = {
            child.pid: child
            for one in self._processes
            for child in (one, *one.children(True))
        }
        for one in psutil.process_iter(['name', 'pid', 'cpu_times']):
            part = self._servers.get(one.info['name'])
            if one.info['pid'] in ours:
                part = _part(ours[one.info['pid']].cmdline())
            if part and one.info['cpu_times']:
                times = one.info['cpu_times']
                found[one.info['pid']] = (part, times.user + times.system)
        return found


def spent(
    before: Mapping[int, tuple[str, float]],
    after: Mapping[int, tuple[str, float]],
) -> dict[str, float]:
    """Return seconds of CPU by part of the deployment.

    What ended in between does not count: its last seconds are unknown.

    :param before: of :meth:`Service.cpu`
    :param after: the same, later
    """
    seconds = dict.fromkeys(('api', 'engine', 'rpc', 'database'), 0.0)
    for process, (part, total) in after.items():
        seconds[part] += total - before.get(process, (part, 0.0))[1]
    return seconds


def _part(command: Sequence[str]) -> str:
    """Return which part of a service a process is."""
    does = any(word.endswith(('engine', 'conductor')) for word in command)
    return 'engine' if does else 'api'


@contextlib.contextmanager
def service(chosen: argparse.Namespace) -> Iterator[Service]:
    """Yield a service of its own that serves; end it after.

    :param chosen: of :func:`options`
    """
    # Who ends a benchmark does not want to clean up after it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with (
        tempfile.TemporaryDirectory(prefix='vobjects-bench-') as state,
        databases.temporary(chosen.database, pathlib.Path(state)) as database,
        brokers.temporary(chosen.transport) as transport,
    ):
        port = free_port()
        config = pathlib.Path(state) / 'bench.conf'
        config.write_text(
            '[engine]\nmax_clusters_per_project = 1000000\n'
            'max_nodes_per_cluster = 20000\n[simulated]\nlatency = 0\n'
        )
        process = psutil.Popen(
            (
                *(sys.executable, '-m', 'vobjects.cli', 'up'),
                *('--port', str(port), '--state-dir', state),
                *('--engines', str(chosen.engines)),
                *('--workers', str(chosen.workers)),
                *('--database', database, '--transport-url', transport),
                *('--config-file', str(config)),
            ),
            stdout=subprocess.DEVNULL,
        )
        try:
            found = Service([process], port, chosen.database, chosen.transport)
            found.begin()
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
