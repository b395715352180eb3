# SPDX-License-Identifier: Apache-2.0
"""Measure version negotiation, the middleware and versioned dispatch.

Each figure is compared with an alternative in the same run: the library
microversion-parse (``pip install microversion-parse``), and Senlin's dispatch
scheme, reimplemented here from its description. Compare the ratios; absolute
figures depend on the machine.

    python benchmarks/microversions.py
"""

from __future__ import annotations

import argparse
import functools
import itertools
import subprocess
import sys
import time
import timeit
import warnings
import wsgiref.util
from collections.abc import Callable
from typing import Any

from vobjects.controllers import decorators, dispatch
from vobjects.microversions import header, middleware, presets, version_policy
from vobjects.versions import Version

with warnings.catch_warnings():
    # WebOb imports a module that is deprecated since Python 3.11.
    warnings.simplefilter('ignore', DeprecationWarning)
    import microversion_parse
    import microversion_parse.middleware
    import webob

VERSIONS = [f'1.{minor}' for minor in range(15)]
negotiator = header.Negotiator(presets.SENLIN)
MAXIMUM = presets.SENLIN.limit()
HEADERS = {'openstack-api-version': 'compute 2.1,clustering 1.7'}
RAW = HEADERS['openstack-api-version']


def microseconds(*calls: Callable[[], object], seconds: float) -> list[float]:
    """Return the best time per call of each function, in microseconds.

    Runs of the functions alternate, so that other load on the machine affects
    all of them.

    :param seconds: duration of the measurement for each function
    """
    timers = [timeit.Timer(call) for call in calls]
    # About a millisecond: shorter than a time slice of a busy machine.
    number = [max(1, timer.autorange()[0] // 200) for timer in timers]
    best = [float('inf')] * len(calls)
    ends = time.monotonic() + seconds * len(calls)
    while time.monotonic() < ends or float('inf') in best:
        for index, timer in enumerate(timers):
            took = timer.timeit(number[index]) / number[index] * 1e6
            best[index] = min(best[index], took)
    return best


def report(name: str, our_time: float, other_time: float, other: str) -> None:
    ratio = other_time / our_time
    print(
        f'{name:<34} {our_time:9.3f} us   {other:<26} {other_time:9.3f} us'
        f'   {ratio:6.1f}x'
    )


def compare_negotiation(seconds: float) -> None:
    request = webob.Request.blank(
        '/v1/clusters',
        headers={
            'OpenStack-API-Version': RAW,
            'Accept': 'application/json',
            'User-Agent': 'benchmark',
            'X-Auth-Token': 'secret',
        },
    )

    def ours() -> Version:
        return negotiator.negotiate(RAW, MAXIMUM)

    def version_text_of_dict() -> Any:
        return microversion_parse.get_version(HEADERS, 'clustering')

    def version_text_of_request() -> Any:
        # Nova, Senlin and Ironic call it this way.
        return microversion_parse.get_version(request.headers, 'clustering')

    def version() -> Any:
        return microversion_parse.extract_version(
            HEADERS, 'clustering', VERSIONS
        )

    alternatives = {
        'get_version (req.headers)': version_text_of_request,
        'get_version (dict)': version_text_of_dict,
        'extract_version (dict)': version,
    }
    assert {str(call()) for call in (ours, *alternatives.values())} == {'1.7'}
    compare('header to version, repeated', ours, alternatives, seconds)

    counter = itertools.count()

    def new() -> str:
        return f'x{next(counter)} 1.1,clustering 1.7'

    compare(
        'header to version, always new',
        lambda: negotiator.negotiate(new(), MAXIMUM),
        {
            'get_version (dict)': lambda: microversion_parse.get_version(
                {'openstack-api-version': new()}, 'clustering'
            ),
            'extract_version (dict)': lambda: (
                microversion_parse.extract_version(
                    {'openstack-api-version': new()}, 'clustering', VERSIONS
                )
            ),
        },
        seconds,
    )


def compare(
    name: str,
    ours: Callable[[], object],
    alternatives: dict[str, Callable[[], object]],
    seconds: float,
) -> None:
    our_time, *other_times = microseconds(
        ours, *alternatives.values(), seconds=seconds
    )
    for other, other_time in zip(alternatives, other_times, strict=True):
        report(name, our_time, other_time, other)
        name = ''


def application(environ: Any, start_response: Any) -> list[bytes]:
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'ok']


def compare_middleware(seconds: float) -> None:
    environ: dict[str, Any] = {
        'PATH_INFO': '/v1/clusters',
        'HTTP_OPENSTACK_API_VERSION': RAW,
    }
    wsgiref.util.setup_testing_defaults(environ)

    def start_response(status: str, headers: Any, exc_info: Any = None) -> Any:
        return None

    ours = middleware.Microversions(
        application, presets.SENLIN, lambda: MAXIMUM
    )
    theirs = microversion_parse.middleware.MicroversionMiddleware(
        application, 'clustering', VERSIONS
    )
    compare(
        'middleware, a whole request',
        lambda: ours(dict(environ), start_response),
        {'microversion_parse': lambda: theirs(dict(environ), start_response)},
        seconds,
    )


@functools.total_ordering
class SenlinVersion:
    """A version like Senlin's, with comparisons in Python.

    functools derives ``<=`` from ``<`` and ``==``; Senlin does so by hand.
    """

    def __init__(self, version: Version) -> None:
        self.major, self.minor = version

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, SenlinVersion):
            raise TypeError(other)
        return (self.major, self.minor) < (other.major, other.minor)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SenlinVersion):
            raise TypeError(other)
        return (self.major, self.minor) == (other.major, other.minor)

    __hash__ = None  # type: ignore[assignment] - like Senlin

    def is_null(self) -> bool:
        return self.major == 0 and self.minor == 0

    def matches(self, low: SenlinVersion, high: SenlinVersion) -> bool:
        if self.is_null() or high.is_null() or low.is_null():
            raise ValueError('no version may be null')
        return low <= self <= high


class SenlinController:
    """Dispatch with the scheme of Senlin and Magnum.

    Every attribute access checks whether the name is versioned. Every call
    walks the candidates, newest first, compares ranges, and copies the name
    and the attributes of the selected function.
    """

    candidates: dict[str, list[tuple[SenlinVersion, SenlinVersion, Any]]]

    def __getattribute__(self, name: str) -> Any:
        def select(req: Any, *arguments: Any, **named: Any) -> Any:
            version = req.version_request
            for low, high, function in self.candidates[name]:
                if version.matches(low, high):
                    functools.update_wrapper(select, function)
                    return function(self, req, *arguments, **named)
            raise LookupError(name)

        table = object.__getattribute__(self, 'candidates')
        return select if name in table else object.__getattribute__(self, name)


def show(self: object, req: Any) -> str:
    return 'shown'


def senlin_controller(versions: list[Version]) -> SenlinController:
    controller = type('Controller', (SenlinController,), {'candidates': {}})()
    controller.candidates['show'] = [
        (SenlinVersion(version), SenlinVersion(version), show)
        for version in reversed(versions)
    ]
    return controller


def our_controller(versions: list[Version]) -> Any:
    versioned = dispatch.VersionedFunction(__name__, 'Controller.show')
    for version in versions:
        versioned.api_version(version, version)(show)
    return type('Controller', (), {'show': versioned})()


def compare_dispatch(seconds: float) -> None:
    """Compare calls of a versioned method with a WebOb request, as in Senlin.

    The last figure is the lower bound: a call of an unversioned method.
    """
    request = webob.Request.blank('/v1/clusters')
    plain = type('Plain', (), {'show': show})()
    for count in (1, 10, 100, 1000):
        versions = [Version(1, minor) for minor in range(count)]
        # The middle is neither the best nor the worst case of a walk.
        version = versions[count // 2]
        request.environ[version_policy.MICROVERSION] = version
        request.version_request = SenlinVersion(version)
        calls = {
            'ours': our_controller(versions),
            "Senlin's scheme": senlin_controller(versions),
            'a plain method': plain,
        }
        ours, *others = (
            functools.partial(_call, controller, request)
            for controller in calls.values()
        )
        assert {call() for call in (ours, *others)} == {'shown'}
        compare(
            f'dispatch among {count} version(s)',
            ours,
            dict(zip(list(calls)[1:], others, strict=True)),
            seconds,
        )


def _call(controller: Any, request: Any) -> Any:
    return controller.show(request)


BODY = {
    'type': 'object',
    'properties': {'name': {'type': 'string'}, 'size': {'type': 'integer'}},
    'required': ['name'],
    'additionalProperties': False,
}


def method_with_schemas(count: int) -> Any:
    """Return a method with a separate schema for each version."""

    def create(req: Any, body: Any) -> Any:
        return body

    for minor in range(count):
        version = Version(1, minor)
        create = decorators.schema(BODY, version, version)(create)
    return create


def measure_validation(seconds: float) -> None:
    body = {'name': 'x', 'size': 1}
    for count in (1, 1000):
        create = method_with_schemas(count)
        environ = {version_policy.MICROVERSION: Version(1, count // 2)}
        (took,) = microseconds(
            functools.partial(create, environ, body=body), seconds=seconds
        )
        print(
            f'validation among {count} schema(s)'.ljust(34), f'{took:9.3f} us'
        )


def measure_startup(routes: int = 200, count: int = 100) -> None:
    """Print the start-up time of a service: imports and dispatch tables.

    The figures are seconds of processor time, because nothing here blocks.

    :param routes: number of routes
    :param count: versions of each route
    """
    start = time.process_time()
    controllers = [
        our_controller([Version(1, minor) for minor in range(count)])
        for _ in range(routes)
    ]
    took = time.process_time() - start
    assert len(controllers) == routes
    code = (
        'import time; started = time.process_time();'
        'import vobjects.microversions.middleware;'
        'import vobjects.controllers.dispatch;'
        'print(time.process_time() - started)'
    )
    imported = min(
        float(subprocess.check_output([sys.executable, '-c', code]))
        for _ in range(5)
    )
    print(
        f'{routes} routes x {count} versions: {imported:.3f} s to import'
        f' dispatch and middleware, {took:.3f} s to build the tables'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--seconds',
        type=float,
        default=0.5,
        help='time for each figure (default: %(default)s)',
    )
    seconds = parser.parse_args().seconds
    compare_negotiation(seconds)
    compare_middleware(seconds)
    compare_dispatch(seconds)
    measure_validation(seconds)
    measure_startup()
    return 0


if __name__ == '__main__':
    sys.exit(main())
