# SPDX-License-Identifier: Apache-2.0
"""Compare the dispatch of a service with that of the same service ported.

    python benchmarks/dispatch.py [nova] [magnum]

Installs the services as ``make test-ports`` does. Two processes, one with the
original package and one with the edited one, take turns, so that other load on
the machine affects both. Each measures calls of controller methods that do
nothing, in microseconds:

version      ``api_version`` and nothing else
method       all decorators of Nova's ``ServersController.create``: its errors
             and schemas of 104 microversions, with a valid body
negotiation  the version of a request from its headers
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import timeit
from typing import Any

_REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

#: Turns of each process, measurements in a turn, and the seconds of one: less
#: than a busy machine lets a process run.
TURNS, REPEAT, SECONDS = 30, 20, 0.001

SERVER = {
    'server': {
        'name': 'x',
        'imageRef': '70a599e0-31e7-49b7-b260-868f441e862b',
        'flavorRef': '1',
        'networks': 'auto',
    }
}

#: A statement for each kind of call, and the names that statements use.
Calls = tuple[dict[str, str], dict[str, Any]]


def nova() -> Calls:
    """Return the calls that the benchmark measures in Nova."""
    from nova import config
    from nova.api import validation
    from nova.api.openstack import wsgi
    from nova.api.openstack.compute import servers

    config.parse_args(['nova'], default_config_files=[])
    config.CONF.set_override('response_validation', 'ignore', 'api')
    real = servers.ServersController.create

    class Controller(wsgi.Controller):
        @wsgi.api_version('2.10', '2.90')
        def show(self, req, name):
            return None

        @wsgi.api_version('2.1')
        @wsgi.response(202)
        @wsgi.expected_errors((400, 403, 409))
        @_schemas(real.request_body_schemas, validation.schema)
        @_schemas(real.response_body_schemas, validation.response_body_schema)
        def create(self, req, body):
            return None

    controller = Controller()
    request = wsgi.Request.blank('/servers')
    request.headers['OpenStack-API-Version'] = 'compute 2.88'
    request.set_api_version_request()
    return {
        'version': "controller.show(req=request, name='x')",
        'method': 'controller.create(req=request, body=server)',
        'negotiation': 'request.set_api_version_request()',
    }, {'controller': controller, 'request': request, 'server': SERVER}


def _schemas(schemas, decorator):
    """Return a decorator with all schemas of another method."""

    def decorate(function):
        for schema, first, last in reversed(schemas._schemas):
            function = decorator(
                schema, *(_text(version) for version in (first, last))
            )(function)
        return function

    return decorate


def _text(version):
    text = getattr(version, 'get_string', version.__str__)
    return None if version.is_null() else text()


def magnum() -> Calls:
    """Return the calls that the benchmark measures in Magnum."""
    import pecan
    import webob
    from magnum.api.controllers import base, v1

    class Controller(base.Controller):
        @base.Controller.api_version('1.1', '1.3')
        def show(self):
            return None

        @base.Controller.api_version('1.4', '1.8')
        def show(self):  # noqa: F811
            return None

        @base.Controller.api_version('1.9')
        def show(self):  # noqa: F811
            return None

    request = webob.Request.blank('/v1/mservices')
    request.headers['OpenStack-API-Version'] = 'container-infra 1.10'
    request.pecan = {}
    pecan.Pecan(None)  # creates the state of the current request
    pecan.core.state.request = request
    pecan.core.state.response = webob.Response()
    pecan.core.state.arguments = []
    v1.Controller()._route(['mservices'], request)  # negotiates
    return {'version': 'controller.show()'}, {'controller': Controller()}


SERVICES = {'nova': nova, 'magnum': magnum}


def work(name: str) -> None:
    """Print the microseconds of each call for each line of the input."""
    calls, names = SERVICES[name]()
    timers = {
        key: timeit.Timer(call, globals=names) for key, call in calls.items()
    }
    numbers = {
        key: max(1, int(SECONDS / min(timer.repeat(20, 1))))
        for key, timer in timers.items()
    }
    print('ready', flush=True)
    for _ in sys.stdin:
        print(
            *(
                f'{key}={best / numbers[key] * 1e6:.3f}'
                for key, timer in timers.items()
                for best in [min(timer.repeat(REPEAT, numbers[key]))]
            ),
            flush=True,
        )


def compare(name: str, cache: pathlib.Path) -> None:
    """Print the best times of both packages, and their ratios."""
    from ports import __main__ as ports

    port = importlib.import_module(f'ports.{name}').PORT
    with tempfile.TemporaryDirectory() as folder:
        workers = []
        for kind in ('original', 'port'):
            root = pathlib.Path(folder) / kind
            python = ports.prepare(port, cache, root, edit=kind == 'port')
            workers.append(
                subprocess.Popen(
                    [python, __file__, '--worker', name],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    cwd=root,
                    env={
                        **os.environ,
                        'PYTHONPATH': f'{root}:{_REPOSITORY}',
                    },
                )
            )
        results = [_measure(worker, 'ready') for worker in workers]
        for _ in range(TURNS):
            for best, worker in zip(results, workers, strict=True):
                for key, value in _measure(worker).items():
                    best[key] = min(value, best.get(key, value))
        for worker in workers:
            worker.communicate()
    original, ported = results
    for key, value in original.items():
        print(
            f'{name:8} {key:12} original {value:8.2f} us,'
            f' port {ported[key]:8.2f} us, ratio {value / ported[key]:6.1f}'
        )


def _measure(
    worker: subprocess.Popen[str], until: str = ''
) -> dict[str, float]:
    assert worker.stdin
    assert worker.stdout
    if until:
        for line in worker.stdout:
            if line.strip() == until:
                return {}
        raise RuntimeError('the worker ended; run it with --worker')
    worker.stdin.write('\n')
    worker.stdin.flush()
    pairs = (item.split('=') for item in worker.stdout.readline().split())
    return {key: float(value) for key, value in pairs}


def main() -> None:
    """Run the benchmark, or a worker of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help=f'of {", ".join(SERVICES)}')
    parser.add_argument('--worker', help=argparse.SUPPRESS)
    parser.add_argument('--cache', type=pathlib.Path)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return
    sys.path.insert(0, str(_REPOSITORY))
    from ports import __main__ as ports

    for name in options.names or SERVICES:
        compare(name, options.cache or ports.DEFAULT_CACHE)


if __name__ == '__main__':
    main()
