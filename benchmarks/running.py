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
from collections.abc import Iterator
from typing import Any

import psutil

# What tests make databases and virtual hosts with.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tests import databases
from tests.functional import brokers
from tests.functional.processes import free_port

#: Seconds for a state to come about.
PATIENCE = 300.0

#: Name of a process -> part of the deployment.
_SERVERS = {'postgres': 'database', 'mariadbd': 'database', 'beam.smp': 'rpc'}


def options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows what a service runs on."""
    parser = argparse.ArgumentParser(
        description=(description or '').split('\n')[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        '--database',
        choices=['sqlite', 'postgresql', 'mysql'],
        default='sqlite',
    )
    parser.add_argument(
        '--transport', choices=['embedded', 'rabbit'], default='embedded'
    )
    parser.add_argument('--workers', type=int, default=1, help='of the API')
    parser.add_argument('--engines', type=int, default=1)
    return parser


class Service:
    """A running ``vobjects up``.

    :ivar address: where its API is
    """

    def __init__(self, process: psutil.Process, port: int) -> None:
        self.address = ('127.0.0.1', port)
        self._process = process

    def ask(self, verb: str, path: str, body: Any = None) -> Any:
        """Send one request at 1.14 and return what the answer holds."""
        asked = urllib.request.Request(
            f'http://127.0.0.1:{self.address[1]}{path}',
            method=verb,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                'Content-Type': 'application/json',
                'OpenStack-API-Version': 'clustering 1.14',
            },
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b'null')

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

    def cpu(self) -> dict[str, float]:
        """Return seconds of CPU so far by part of the deployment.

        Database and broker are all such processes of this machine.
        """
        spent = {'api': 0.0, 'engine': 0.0, 'rpc': 0.0, 'database': 0.0}
        ours = {one.pid: one for one in self._process.children(True)}
        for one in psutil.process_iter(['name', 'pid', 'cpu_times']):
            part = _SERVERS.get(one.info['name'])
            if one.info['pid'] in ours:
                words = ours[one.info['pid']].cmdline()
                part = 'engine' if 'engine' in words else 'api'
            if part and one.info['cpu_times']:
                times = one.info['cpu_times']
                spent[part] += times.user + times.system
        return spent


@contextlib.contextmanager
def service(chosen: argparse.Namespace) -> Iterator[Service]:
    """Yield a service of its own that serves; end it after.

    :param chosen: of :func:`options`
    """
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
            found = Service(process, port)
            _wait(found)
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _wait(found: Service) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            found.ask('GET', '/v1/build-info')
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError('the service did not start; see its output')
