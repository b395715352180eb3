# SPDX-License-Identifier: Apache-2.0
"""The parts of oslo.messaging that drivers need and that it calls private.

oslo.messaging has an entry point group for drivers, but declares the classes
that they extend private. All drivers import them from this module. Its test
compares their methods with those that the drivers implement.
"""

from oslo_messaging._drivers.base import (
    BaseDriver,
    Listener,
    PollStyleListener,
    PollStyleListenerAdapter,
    RpcIncomingMessage,
    batch_poll_helper,
)
from oslo_messaging._drivers.common import (
    ConfigOptsProxy,
    deserialize_remote_exception,
    serialize_remote_exception,
)

__all__ = [
    'BaseDriver',
    'ConfigOptsProxy',
    'Listener',
    'PollStyleListener',
    'PollStyleListenerAdapter',
    'RpcIncomingMessage',
    'batch_poll_helper',
    'deserialize_remote_exception',
    'serialize_remote_exception',
]
