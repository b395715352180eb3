# SPDX-License-Identifier: Apache-2.0
"""Run oslo.messaging's own functional tests with the driver on py-amqp.

    python -m tests.functional.vobjects.rpc.messaging_suite URL

The tests skip cases unless the URL begins with ``rabbit://``, so the driver
takes the place of the one for that scheme.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
import unittest
import warnings
from typing import Any

from tests.functional.vobjects import library_suites
from vobjects.rpc.drivers.pyamqp.driver import PyAmqpDriver

import oslo_messaging  # isort: skip - after ours, which selects threads
from oslo_messaging._drivers import impl_rabbit

MODULES = ('test_functional', 'notify.test_logger')


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


def without_executor(function: Any) -> Any:
    """Return a function that ignores the executor, which is eventlet."""

    def call(*args: Any, executor: str = '', **kwargs: Any) -> Any:
        return function(
            *[each for each in args if each != 'eventlet'], **kwargs
        )

    return call


def main() -> None:
    """Run the tests and print the results."""
    warnings.simplefilter('ignore', DeprecationWarning)
    (url,) = sys.argv[1:]
    os.environ['RPC_TRANSPORT_URL'] = os.environ['NOTIFY_TRANSPORT_URL'] = url
    load_without_eventlet()
    impl_rabbit.RabbitDriver = PyAmqpDriver
    for name in (
        'get_rpc_server',
        'get_notification_listener',
        'get_batch_notification_listener',
    ):
        function = getattr(oslo_messaging, name)
        setattr(oslo_messaging, name, without_executor(function))
    library_suites.run_tests(
        unittest.defaultTestLoader.loadTestsFromNames(
            [f'oslo_messaging.tests.functional.{name}' for name in MODULES]
        )
    )


if __name__ == '__main__':
    main()
