# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU time to authenticate a caller, by strategy.

The script runs in one process, without an engine::

    python benchmarks/identity.py [--calls 20000] [--keystone]

With ``--keystone``, the script starts a real Keystone (``tools/keystone``
installs it). keystonemiddleware caches the token after the first call, so the
figure is the time of keystonemiddleware in this process.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import logging
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import bcrypt
from oslo_config import cfg
from oslo_middleware import basic_auth

from api import authentication, policy
from api import conf as api_conf

ROOT = pathlib.Path(__file__).parents[1]


def main() -> int:
    """Run the benchmark and print the results."""
    parser = argparse.ArgumentParser(
        description='CPU time that it takes to know a caller.'
    )
    parser.add_argument('--calls', type=int, default=20_000)
    parser.add_argument('--keystone', action='store_true')
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(f'{"strategy":12} {"us per call":>12}')
    with contextlib.ExitStack() as stack:
        directory = pathlib.Path(
            stack.enter_context(tempfile.TemporaryDirectory())
        )
        for name, environ, conf in _cases(directory, options.keystone, stack):
            authenticate = authentication.strategy(conf)
            took = _best(authenticate, environ, options.calls)
            print(f'{name:12} {took:12.1f}')
    took = _best(_rule(_configured('none')), {}, options.calls)
    print(f'{"a rule":12} {took:12.1f}')
    return 0


def _rule(conf: cfg.ConfigOpts) -> Any:
    """Return a function that checks a policy rule."""
    enforcer = policy.Enforcer(conf)
    caller = authentication.strategy(conf)({})
    return lambda _: enforcer.check(caller, 'clusters:get')


def _best(call: Any, environ: dict[str, Any], calls: int) -> float:
    return min(_timed(call, environ, calls) for _ in range(3))


def _timed(call: Any, environ: dict[str, Any], calls: int) -> float:
    """Return the CPU time of one call in microseconds."""
    call(dict(environ))
    environs = [dict(environ) for _ in range(calls)]
    began = time.process_time()
    for copy in environs:
        call(copy)
    return (time.process_time() - began) / calls * 1e6


def _cases(
    directory: pathlib.Path, with_keystone: bool, stack: contextlib.ExitStack
) -> Iterator[tuple[str, dict[str, Any], cfg.ConfigOpts]]:
    environ = {
        'REQUEST_METHOD': 'GET',
        'PATH_INFO': '/v1/clusters',
        'SERVER_NAME': 'localhost',
        'SERVER_PORT': '80',
        'SERVER_PROTOCOL': 'HTTP/1.1',
        'wsgi.url_scheme': 'http',
        'REMOTE_ADDR': '127.0.0.1',
    }
    yield 'none', environ, _configured('none')

    users = directory / 'users'
    users.write_text(f'u:{bcrypt.hashpw(b"p", bcrypt.gensalt(4)).decode()}\n')
    conf = _configured('http_basic')
    conf.register_opts(basic_auth.OPTS, group='oslo_middleware')
    conf.set_override(
        'http_basic_auth_user_file', str(users), 'oslo_middleware'
    )
    header = f'Basic {base64.b64encode(b"u:p").decode()}'
    yield 'http_basic', environ | {'HTTP_AUTHORIZATION': header}, conf

    if with_keystone:
        sys.path.insert(0, str(ROOT))
        from tests.functional import keystone

        keystone_server = stack.enter_context(keystone.running(directory))
        file = directory / 'api.conf'
        file.write_text(
            ''.join(
                f'[{group}]\n'
                + ''.join(
                    f'{key} = {value}\n' for key, value in values.items()
                )
                for group, values in keystone_server.settings().items()
            )
        )
        token = keystone_server.token(keystone.SERVICE_USER, 'service')
        yield (
            'keystone',
            environ | {'HTTP_X_AUTH_TOKEN': token},
            _configured('keystone', str(file)),
        )


def _configured(strategy: str, *files: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    conf([], project='vobjects', default_config_files=list(files))
    conf.set_override('auth_strategy', strategy, 'api')
    return conf


if __name__ == '__main__':
    raise SystemExit(main())
