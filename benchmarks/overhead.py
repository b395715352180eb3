# SPDX-License-Identifier: Apache-2.0
"""Measure the overhead of the API without RPC, compared with bare WebOb.

::

    python benchmarks/overhead.py [--rounds 20] [--version 1.14]

The complete WSGI application runs in this process. A stub replaces the RPC
client and reads recorded messages of engines. The peer is a
WebOb function that parses the body, if there is one, and writes the same
response, both with ``json``. It does not negotiate versions, validate requests
or check permissions. Figures are microseconds of processor time: the minimum
of all rounds, which alternate.
"""

from __future__ import annotations

import argparse
import io
import json
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

# The tests have helpers that build the application.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import vobjects.objects  # isort: skip  # noqa: F401 - must be imported first
import webob
import webob.dec

from api import app
from tests.unit.api import conftest
from vobjects.rpc import response_text

#: Requests in one round.
NUMBER = 50

ROWS = 100


class Response(NamedTuple):
    """Status and body of a response."""

    status: int
    body: bytes


class Case(NamedTuple):
    """A request and the expected status."""

    name: str
    method: str
    path: str
    body: Any
    status: int


class Recorded:
    """RPC client that replays the first response for each request type."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._messages: dict[type[Any], str] = {}

    def call_for_text(
        self, context: Any, request: Any, versions: Any, **options: Any
    ) -> Any:
        """Return a response, read from its recorded message."""
        message = self._messages.get(type(request))
        if message is None:
            response = self._engine.call_for_text(
                context, request, versions, **options
            )
            message = self._messages[type(request)] = response.dump()
        return response_text.load(message)


def main() -> int:
    """Run the benchmark and print the results."""
    chosen = _options()
    backend = conftest.Backend()
    ours = app.build(conftest.make_conf(), backend, backend)
    cases = _prepare(backend, ours, chosen.version)
    print(f'{"request":18} {"bytes":>6} {"ours us":>8} {"WebOb us":>9} ratio')
    for case in cases:
        environ = _environ(case, chosen.version)
        response = _send(ours, environ)
        assert response.status == case.status, response
        own, peer = _least([ours, _peer(response)], environ, chosen.rounds)
        print(
            f'{case.name:18} {len(response.body):6} {own * 1e6:8.1f}'
            f' {peer * 1e6:9.1f} {own / peer:5.1f}x',
            flush=True,
        )
    return 0


def _prepare(backend: conftest.Backend, ours: Any, version: str) -> list[Case]:
    """Create clusters and return the test cases."""
    new = {'name': 'web', 'profile_id': 'small', 'desired_capacity': 2}
    post = Case('POST cluster', 'POST', '/v1/clusters', {'cluster': new}, 202)
    for _number in range(ROWS):
        created = _send(ours, _environ(post, version))
    identity = json.loads(created.body)['cluster']['id']
    backend.engine = Recorded(backend.engine)
    cluster_path = f'/v1/clusters/{identity}'
    return [
        Case('GET /', 'GET', '/', None, 300),
        Case('GET one cluster', 'GET', cluster_path, None, 200),
        Case(f'GET {ROWS} clusters', 'GET', '/v1/clusters', None, 200),
        post,
        Case('POST, refused', 'POST', '/v1/clusters', {'cluster': {}}, 400),
    ]


def _environ(case: Case, version: str) -> dict[str, Any]:
    content = b'' if case.body is None else json.dumps(case.body).encode()
    request = webob.Request.blank(
        case.path,
        method=case.method,
        body=content,
        headers={'OpenStack-API-Version': f'clustering {version}'},
        content_type='application/json',
    )
    return {**request.environ, 'REMOTE_ADDR': '127.0.0.1', 'body': content}


def _send(application: Any, environ: dict[str, Any]) -> Response:
    """Send a copy of a request, which the application may modify."""
    statuses: list[str] = []
    parts = application(
        {**environ, 'wsgi.input': io.BytesIO(environ['body'])},
        lambda status, headers, error=None: statuses.append(status),
    )
    body = b''.join(parts)
    if close := getattr(parts, 'close', None):
        close()
    return Response(int(statuses[0][:3]), body)


def _peer(response: Response) -> Any:
    """Return a minimal application that always returns a response."""
    content = json.loads(response.body)

    @webob.dec.wsgify
    def application(request: webob.Request) -> webob.Response:
        if request.body:
            json.loads(request.body)
        return webob.Response(
            json.dumps(content).encode(),
            response.status,
            content_type='application/json',
        )

    return application


def _least(
    applications: Sequence[Any], environ: dict[str, Any], rounds: int
) -> list[float]:
    """Return the seconds per request of each application's best round."""
    best = [float('inf')] * len(applications)
    for _round in range(rounds):
        for number, application in enumerate(applications):
            began = time.process_time()
            for _ in range(NUMBER):
                _send(application, environ)
            spent = (time.process_time() - began) / NUMBER
            best[number] = min(best[number], spent)
    return best


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or '').split('\n')[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument('--rounds', type=int, default=20)
    parser.add_argument('--version', default='1.14')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(main())
