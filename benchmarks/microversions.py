# SPDX-License-Identifier: Apache-2.0
"""What negotiation, the middleware and versioned dispatch cost.

Each figure stands beside what the field does in the same run: the library
microversion-parse (``pip install microversion-parse``), and Senlin's scheme
of dispatch, written anew here after its description. Ratios count; absolute
figures depend on the machine.

    python benchmarks/microversions.py
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
import time
import timeit
import warnings
import wsgiref.util
from collections.abc import Callable
from typing import Any

from vobjects.microversions import (
    dispatch,
    header,
    middleware,
    policy,
    presets,
)
from vobjects.versions import Version

with warnings.catch_warnings():
    # WebOb imports a module of Python 3.11 that is deprecated.
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
    """Return the time of one call of each: the best of many short tries.

    The calls take turns, so that a machine that is busy for a while is so
    for all of them.
    """
    timers = [timeit.Timer(call) for call in calls]
    number = [max(1, timer.autorange()[0] // 20) for timer in timers]
    best = [float('inf')] * len(calls)
    ends = time.monotonic() + seconds * len(calls)
    while time.monotonic() < ends or float('inf') in best:
        for index, timer in enumerate(timers):
            took = timer.timeit(number[index]) / number[index] * 1e6
            best[index] = min(best[index], took)
    return best


def report(name: str, ours: float, theirs: float, rival: str) -> None:
    ratio = theirs / ours
    print(
        f'{name:<34} {ours:9.3f} us   {rival:<26} {theirs:9.3f} us'
        f'   {ratio:6.1f}x'
    )


def negotiation(seconds: float) -> None:
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

    def text_of_dict() -> Any:
        return microversion_parse.get_version(HEADERS, 'clustering')

    def of_request() -> Any:
        # As Nova, Senlin and Ironic call it.
        return microversion_parse.get_version(request.headers, 'clustering')

    def version() -> Any:
        return microversion_parse.extract_version(
            HEADERS, 'clustering', VERSIONS
        )

    rivals = {
        'get_version (req.headers)': of_request,
        'get_version (dict)': text_of_dict,
        'extract_version (dict)': version,
    }
    assert {str(call()) for call in (ours, *rivals.values())} == {'1.7'}
    compare('header to version, repeated', ours, rivals, seconds)

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
    rivals: dict[str, Callable[[], object]],
    seconds: float,
) -> None:
    took, *others = microseconds(ours, *rivals.values(), seconds=seconds)
    for rival, theirs in zip(rivals, others, strict=True):
        report(name, took, theirs, rival)
        name = ''


def application(environ: Any, start_response: Any) -> list[bytes]:
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'ok']


def whole_middleware(seconds: float) -> None:
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


class Walking:
    """Dispatch as Senlin and Magnum do it.

    Every attribute access asks whether the name is versioned; every call
    walks the candidates, newest first, and compares ranges.
    """

    candidates: dict[str, list[tuple[Version, Version, Any]]]

    def __getattribute__(self, name: str) -> Any:
        table = object.__getattribute__(self, 'candidates')
        if name not in table:
            return object.__getattribute__(self, name)

        def select(req: Any, *arguments: Any, **named: Any) -> Any:
            version = req[policy.MICROVERSION]
            for low, high, function in table[name]:
                if version.matches(low, high):
                    return function(self, req, *arguments, **named)
            raise LookupError(name)

        return select


def show(self: object, req: Any) -> str:
    return 'shown'


def walking(versions: list[Version]) -> Walking:
    found = Walking()
    found.candidates = {
        'show': [(version, version, show) for version in reversed(versions)]
    }
    return found


def indexed(versions: list[Version]) -> Any:
    versioned = dispatch.Versioned(__name__, 'Indexed.show')
    for version in versions:
        versioned.api_version(version, version)(show)
    return type('Indexed', (), {'show': versioned})()


def versioned_dispatch(seconds: float) -> None:
    for count in (1, 10, 100, 1000):
        versions = [Version(1, minor) for minor in range(count)]
        # The middle: neither the best nor the worst case of a walk.
        environ = {policy.MICROVERSION: versions[count // 2]}
        ours, theirs = (
            functools.partial(_call, make(versions), environ)
            for make in (indexed, walking)
        )
        assert ours() == theirs() == 'shown'
        compare(
            f'dispatch among {count} version(s)',
            ours,
            {"Senlin's scheme": theirs},
            seconds,
        )


def _call(controller: Any, environ: Any) -> Any:
    return controller.show(environ)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--seconds',
        type=float,
        default=0.5,
        help='time for each figure (default: %(default)s)',
    )
    seconds = parser.parse_args().seconds
    negotiation(seconds)
    whole_middleware(seconds)
    versioned_dispatch(seconds)
    return 0


if __name__ == '__main__':
    sys.exit(main())
