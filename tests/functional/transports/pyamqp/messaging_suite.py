# SPDX-License-Identifier: Apache-2.0
"""Run oslo.messaging's own functional tests with the driver on py-amqp.

    python -m tests.functional.transports.pyamqp.messaging_suite URL PART PARTS

The tests skip some cases unless the URL has the scheme ``rabbit``. When they
open a transport, the scheme is that of this package's driver.

Most of the tests wait. Run PARTS processes at a time, each with another PART
from 0.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import types
import unittest
import unittest.mock
import warnings
from collections.abc import Iterator
from typing import Any

import oslo_messaging

from tests.functional import library_suites

MODULES = ('test_functional', 'notify.test_logger')

#: Functions whose last argument or option is an executor.
WITH_EXECUTOR = (
    'get_rpc_server',
    'get_notification_listener',
    'get_batch_notification_listener',
)


def load_without_eventlet() -> None:
    """Import the package of the tests without its patches for eventlet."""
    name = 'oslo_messaging.tests'
    spec = importlib.util.find_spec('oslo_messaging')
    assert spec is not None
    assert spec.submodule_search_locations is not None
    package = types.ModuleType(name)
    package.__path__ = [
        os.path.join(folder, 'tests')
        for folder in spec.submodule_search_locations
    ]
    sys.modules[name] = package
    oslo_messaging.tests = package


def select_driver() -> None:
    """Open each transport for RabbitMQ with the driver of this package."""
    parse = oslo_messaging.TransportURL.parse

    def parse_url(*args: Any, **kwargs: Any) -> Any:
        url = parse(*args, **kwargs)
        if url.transport == 'rabbit':
            url.transport = 'pyamqp'
        return url

    oslo_messaging.TransportURL.parse = parse_url


def without_executor(
    function: Any, *args: Any, executor: str = '', **kwargs: Any
) -> Any:
    """Call a function without the executor, which is eventlet."""
    return function(*[each for each in args if each != 'eventlet'], **kwargs)


def with_one_thread(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a function that makes a server; the server gets one thread."""
    server = function(*args, **kwargs)
    server.start = functools.partial(server.start, override_pool_size=1)
    return server


def execute_casts_in_order() -> None:
    """Give one thread to the servers of the tests of casts.

    The tests take a cast that a server has executed as a sign that it has
    executed those before, as with eventlet. With several threads, a cast may
    overtake another.
    """
    module = importlib.import_module(
        'oslo_messaging.tests.functional.test_functional'
    )
    set_up = module.CastTestCase.setUp

    def set_up_with_one_thread(case: Any) -> None:
        set_up(case)
        patch = unittest.mock.patch.object(
            oslo_messaging,
            'get_rpc_server',
            functools.partial(with_one_thread, oslo_messaging.get_rpc_server),
        )
        case.enterContext(patch)

    module.CastTestCase.setUp = set_up_with_one_thread


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from cases(each)
        else:
            yield each


def main() -> None:
    """Run the tests of one part and print the results."""
    warnings.simplefilter('ignore', DeprecationWarning)
    url, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.environ['RPC_TRANSPORT_URL'] = os.environ['NOTIFY_TRANSPORT_URL'] = url
    load_without_eventlet()
    select_driver()
    for function_name in WITH_EXECUTOR:
        function = getattr(oslo_messaging, function_name)
        setattr(
            oslo_messaging,
            function_name,
            functools.partial(without_executor, function),
        )
    execute_casts_in_order()
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        [f'oslo_messaging.tests.functional.{name}' for name in MODULES]
    )
    library_suites.run_tests(unittest.TestSuite([*cases(suite)][part::parts]))


if __name__ == '__main__':
    main()
