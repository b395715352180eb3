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

VERSIONS = [f'1.{minor}' for minor in range(15)]
negotiator = header.Negotiator(presets.SENLIN)
MAXIMUM = presets.SENLIN.limit()
HEADERS = {'openstack-api-version': 'compute 2.1,clustering 1.7'}
RAW = HEADERS['openstack-api-version']


def microseconds(call: Callable[[], object], seconds: float) -> float:
    """Return the time of one call: the best of five tries."""
    timer = timeit.Timer(call)
    number, took = timer.autorange()
    number = max(1, int(number * seconds / 5 / took))
    return min(timer.repeat(repeat=5, number=number)) / number * 1e6


def report(name: str, ours: float, theirs: float, rival: str) -> None:
    ratio = theirs / ours
    print(
        f'{name:<34} {ours:9.3f} us   {rival:<22} {theirs:9.3f} us'
        f'   {ratio:6.1f}x'
    )


def negotiation(seconds: float) -> None:
    def ours() -> Version:
        return negotiator.negotiate(RAW, MAXIMUM)

    def library() -> Any:
        return microversion_parse.extract_version(
            HEADERS, 'clustering', VERSIONS
        )

    def library_get() -> Any:
        return microversion_parse.get_version(HEADERS, 'clustering')

    assert str(ours()) == str(library()) == library_get() == '1.7'
    repeated = microseconds(ours, seconds)
    report(
        'header to version, repeated',
        repeated,
        microseconds(library, seconds),
        'extract_version',
    )
    report(
        '',
        repeated,
        microseconds(library_get, seconds),
        'get_version (text only)',
    )

    counter = itertools.count()

    def new() -> str:
        return f'x{next(counter)} 1.1,clustering 1.7'

    report(
        'header to version, always new',
        microseconds(lambda: negotiator.negotiate(new(), MAXIMUM), seconds),
        microseconds(
            lambda: microversion_parse.extract_version(
                {'openstack-api-version': new()}, 'clustering', VERSIONS
            ),
            seconds,
        ),
        'extract_version',
    )


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
    report(
        'middleware, a whole request',
        microseconds(lambda: ours(dict(environ), start_response), seconds),
        microseconds(lambda: theirs(dict(environ), start_response), seconds),
        'microversion_parse',
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
        report(
            f'dispatch among {count} version(s)',
            microseconds(ours, seconds),
            microseconds(theirs, seconds),
            "Senlin's scheme",
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
