# SPDX-License-Identifier: Apache-2.0
"""Requests per second of the running service, and how long it takes to start.

Starts ``vobjects up`` on a state directory of its own, measures, stops it::

    python benchmarks/service.py [--seconds 5] [--concurrency 1 8 32]
        [--workers 1] [--engines 2] [--database URL] [--transport-url URL]

The peer is ``GET /``, which reaches no engine: what a request costs beyond
it is dispatch, validation, RPC and database.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

HEADERS = {
    'Content-Type': 'application/json',
    'OpenStack-API-Version': 'clustering 1.7',
}
SPEC = {
    'type': 'os.nova.server',
    'version': '1.0',
    'properties': {'name': 's', 'flavor': 'f', 'image': 'i'},
}

Send = Callable[[http.client.HTTPConnection, int], None]


def main() -> int:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix='vobjects-bench-') as state:
        port = _free_port()
        began = time.perf_counter()
        service = _start(options, pathlib.Path(state), port)
        try:
            _wait(port)
            print(f'start-up {time.perf_counter() - began:.1f} s')
            _measure(options, port)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(30)
    return 0


def _measure(options: argparse.Namespace, port: int) -> None:
    connection = http.client.HTTPConnection('127.0.0.1', port)
    _post_profile(connection, 0)
    numbers = itertools.count(1)
    cases: tuple[tuple[str, Send], ...] = (
        ('GET /', _get('/')),
        ('GET /v1/profiles/NAME', _get('/v1/profiles/p-0')),
        (
            'POST /v1/profiles',
            lambda c, _: _post_profile(c, next(numbers)),
        ),
        ('GET /v1/profiles?limit=20', _get('/v1/profiles?limit=20')),
    )
    print(f'{"request":28} {"c":>3} {"req/s":>7} {"p50 ms":>8} {"p99 ms":>8}')
    peers: dict[int, float] = {}
    for name, send in cases:
        for concurrency in options.concurrency:
            rate, times = _load(port, send, concurrency, options.seconds)
            peer = peers.setdefault(concurrency, rate)
            print(
                f'{name:28} {concurrency:3} {rate:7.0f}'
                f' {_percentile(times, 50):8.2f}'
                f' {_percentile(times, 99):8.2f}   {rate / peer:.2f}x GET /'
            )


def _load(
    port: int, send: Send, concurrency: int, seconds: float
) -> tuple[float, list[float]]:
    """Return requests per second, and each one's milliseconds."""
    times: list[float] = []
    stop = time.perf_counter() + seconds

    def client(number: int) -> None:
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        while (began := time.perf_counter()) < stop:
            send(connection, number)
            times.append((time.perf_counter() - began) * 1000)
        connection.close()

    threads = [
        threading.Thread(target=client, args=(number,))
        for number in range(concurrency)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(times) / seconds, sorted(times)


def _get(path: str) -> Send:
    def send(connection: http.client.HTTPConnection, number: int) -> None:
        connection.request('GET', path, headers=HEADERS)
        _expect(connection, {200, 300})

    return send


def _post_profile(connection: http.client.HTTPConnection, number: int) -> None:
    body = json.dumps({'profile': {'name': f'p-{number}', 'spec': SPEC}})
    connection.request('POST', '/v1/profiles', body, HEADERS)
    _expect(connection, {201})


def _expect(connection: http.client.HTTPConnection, good: set[int]) -> None:
    response = connection.getresponse()
    content = response.read()
    if response.status not in good:
        raise RuntimeError(f'{response.status}: {content[:300]!r}')


def _percentile(times: list[float], percent: int) -> float:
    return times[min(len(times) - 1, len(times) * percent // 100)]


def _start(
    options: argparse.Namespace, state: pathlib.Path, port: int
) -> subprocess.Popen[bytes]:
    command = [
        *(sys.executable, '-m', 'vobjects.cli', 'up'),
        *('--port', str(port), '--state-dir', str(state)),
        *('--engines', str(options.engines)),
        *('--workers', str(options.workers)),
    ]
    for name in ('database', 'transport_url'):
        if getattr(options, name):
            command += [
                f'--{name.replace("_", "-")}',
                getattr(options, name),
            ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def _wait(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=5)
        try:
            connection.request('GET', '/')
            if connection.getresponse().status == 300:
                return
        except OSError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise RuntimeError('the service did not start; see its output')


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        number: int = probe.getsockname()[1]
        return number


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--seconds', type=float, default=5.0)
    parser.add_argument(
        '--concurrency', type=int, nargs='+', default=[1, 8, 32]
    )
    parser.add_argument('--workers', type=int, default=1)
    parser.add_argument('--engines', type=int, default=2)
    parser.add_argument('--database', metavar='URL')
    parser.add_argument('--transport-url', metavar='URL')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
