# SPDX-License-Identifier: Apache-2.0
"""Run a command with the RabbitMQ driver of oslo.messaging.

::

    python -m tests.functional.oslo_driver engine --config-file=vobjects.conf

Everything else is the code under test, with the same options.
"""

from __future__ import annotations

# Import first: this selects threads instead of eventlet.
import vobjects.objects  # noqa: F401  # isort: skip

import stevedore

from vobjects.__main__ import main
from vobjects.rpc.drivers.pyamqp import driver

if __name__ == '__main__':
    # oslo.messaging loads this package's driver by the name of its class.
    driver.PyAmqpDriver = stevedore.DriverManager(
        'oslo.messaging.drivers', 'rabbit'
    ).driver
    raise SystemExit(main())
