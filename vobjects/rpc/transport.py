# SPDX-License-Identifier: Apache-2.0
"""oslo.messaging, configured the way the rest of this package relies on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_utils import importutils

from vobjects.rpc import redelivery
from vobjects.rpc.dispatcher import Dispatcher

LOG = logging.getLogger(__name__)

#: Seconds that cancelling consumption may take when a server stops: longer
#: than it sleeps between looks for something to do.
CANCEL_WITHIN = 6.0

#: Seconds for which the threads that read from RabbitMQ sleep at first, when
#: no message comes; then twice as long, and so on up to 5. A message wakes
#: them at once, whatever this is. An acknowledgement waits for as long, if no
#: other message comes first.
SLEEP_AT_FIRST = 0.1

#: Errors of these modules are raised again, with their class, at the caller.
ERROR_MODULES = (
    'oslo_messaging.exceptions',
    'oslo_messaging.rpc.dispatcher',
    'oslo_versionedobjects.exception',
    'vobjects.exceptions',
    'vobjects.rpc.drivers.errors',
)

_RABBIT = 'oslo_messaging_rabbit'
_DRIVER = 'oslo_messaging._drivers.amqpdriver'
_SLEEP = 'ACK_REQUEUE_EVERY_SECONDS_MIN'

#: Groups that oslo.messaging reads from every configuration but registers on
#: the process-wide one only.
_GLOBAL_GROUPS = {
    'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
    'oslo_messaging_tracing': 'oslo_messaging._tracing.client',
}


def open_transport(
    conf: cfg.ConfigOpts,
    exchange: str,
    error_modules: tuple[str, ...] = (),
    url: str | None = None,
) -> Any:
    """Return the RPC transport that ``transport_url`` names.

    Queues on RabbitMQ are quorum queues unless the configuration says
    otherwise: a classic queue is lost with the broker that holds it.

    :param exchange: the control exchange, one a service
    :param error_modules: modules whose exceptions may come back
    :param url: instead of the configured ``transport_url``
    :returns: an ``oslo_messaging.Transport``
    """
    oslo_messaging.set_transport_defaults(exchange)
    _register_global_groups(conf)
    transport = oslo_messaging.get_rpc_transport(
        conf, url, allowed_remote_exmods=[*ERROR_MODULES, *error_modules]
    )
    if _RABBIT in conf:
        _sleep_longer()
        # The driver registers its options when it is loaded, and reads this
        # one when it opens its first connection, which is later.
        conf.set_default('rabbit_quorum_queue', True, group=_RABBIT)
    return transport


def open_notifications(url: str) -> Any:
    """Return the transport of somebody else's notifications.

    Nothing of our own configuration counts: ``[oslo_messaging_rabbit]`` is
    about our broker. What is not as by default is in the query of the URL.

    :returns: an ``oslo_messaging.Transport``
    """
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    _register_global_groups(conf)
    return oslo_messaging.get_notification_transport(conf, url)


def _register_global_groups(conf: cfg.ConfigOpts) -> None:
    for group, module_name in _GLOBAL_GROUPS.items():
        module = importutils.try_import(module_name)
        if module is not None:  # older releases lack one of them
            conf.register_opts(getattr(module, group), group)


def _sleep_longer() -> None:
    """Have threads that wait for RabbitMQ not wake up for nothing.

    oslo.messaging (18.3) begins with a millisecond after each message: while
    a call takes five, the threads on both sides wake up three times.
    """
    driver = importutils.import_module(_DRIVER)
    if hasattr(driver, _SLEEP):
        setattr(driver, _SLEEP, SLEEP_AT_FIRST)


def build_server(
    transport: Any,
    topic: str,
    name: str,
    endpoints: list[Any],
    places: int,
) -> Any:
    """Return an RPC server; each message is handled in a thread of a pool.

    :param name: of the server, unique on its topic
    :param places: how many messages are handled at a time
    :returns: an ``oslo_messaging.RPCServer``; ``start``, ``stop`` and
        ``wait`` it
    """
    return redelivery.Server(
        transport,
        oslo_messaging.Target(topic=topic, server=name),
        Dispatcher(endpoints, places),
    )


def stop_server(server: Any, nudge: Callable[[], None]) -> None:
    """Stop an RPC server; what it was sent is handled first.

    On RabbitMQ oslo.messaging only stops to read (17.4): the broker goes on
    sending, and what arrives while the connection is closed is acknowledged
    and dropped, so that callers wait for their timeout. Here consumption is
    cancelled first, in the thread that reads, which then handles the rest.

    :param nudge: sends the server something, so that it does not sleep on
    """
    listener = getattr(server.listener, '_poll_style_listener', None)
    operations = getattr(listener, '_message_operations_handler', None)
    consumers = getattr(getattr(listener, 'conn', None), '_consumers', None)
    if operations is not None and consumers:
        cancelled = threading.Event()

        def cancel() -> None:
            try:
                for consumer, tag in consumers.items():
                    consumer.cancel(tag)
            except Exception as error:  # noqa: BLE001 - no reason to go on
                LOG.warning('Could not cancel consumption: %s', error)
            finally:
                cancelled.set()

        operations.do(cancel)
        nudge()
        cancelled.wait(CANCEL_WITHIN)
    server.stop()
    server.wait()
