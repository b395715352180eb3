# SPDX-License-Identifier: Apache-2.0
"""Configure oslo.messaging as the rest of this package requires."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_messaging import opts
from oslo_utils import importutils

from vobjects import exceptions, sensitive
from vobjects.rpc import late_ack, outage_log, wakeups
from vobjects.rpc.dispatcher import Dispatcher

LOG = logging.getLogger(__name__)

#: Maximum time to cancel consumption when a server stops, in seconds; longer
#: than the reading thread sleeps between operations.
CANCEL_TIMEOUT = 6.0

#: Initial sleep of the threads that read from RabbitMQ, in seconds, while no
#: message arrives; it doubles up to 5. A message wakes them immediately, but
#: an acknowledgement waits for the end of the sleep or for the next message.
INITIAL_SLEEP = 0.1

#: Modules whose errors the caller raises again, with their class.
ERROR_MODULES = (
    'oslo_messaging.exceptions',
    'oslo_messaging.rpc.dispatcher',
    'oslo_versionedobjects.exception',
    'vobjects.exceptions',
    'vobjects.rpc.drivers.errors',
)

_RABBIT = late_ack.OPTIONS

_RABBIT_SCHEMES = {'rabbit', 'kombu'}

#: Longest interval between attempts to reconnect to RabbitMQ, in seconds.
RECONNECT_INTERVAL = 4

#: Defaults of this package for [oslo_messaging_rabbit].
_RABBIT_DEFAULTS = {
    # A classic queue is lost with the broker that holds it.
    'rabbit_quorum_queue': True,
    # Reply queues must exist again soon after the broker restarts, before the
    # responses to them are dropped.
    'rabbit_interval_max': RECONNECT_INTERVAL,
    'kombu_missing_consumer_retry_timeout': 10,
    # More connections than sending threads: a thread without one waits without
    # limit, and logs a line each time.
    'rpc_conn_pool_size': 128,
}

#: Server name of every process on RabbitMQ. oslo.messaging declares a durable
#: queue for each name and never deletes it, so unique names would leave a
#: queue behind at each start.
SHARED_NAME = 'any'

_DRIVER = 'oslo_messaging._drivers.amqpdriver'
_SLEEP = 'ACK_REQUEUE_EVERY_SECONDS_MIN'

#: Groups that oslo.messaging reads from every configuration but registers on
#: the process-wide one only.
_GLOBAL_GROUPS = {
    'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
    'oslo_messaging_tracing': 'oslo_messaging._tracing.client',
}


class BadTransport(exceptions.VobjectsError):
    """``transport_url`` names no message bus that this process can use."""


def configured_url(conf: cfg.ConfigOpts) -> str | None:
    """Return ``transport_url``, or None if it is not configured.

    The default of oslo.messaging is RabbitMQ on this host, as user guest.

    :param conf: configuration with its files read
    """
    with contextlib.suppress(oslo_messaging.InvalidTransportURL, ValueError):
        # This registers the option; open_transport() reports a malformed URL.
        oslo_messaging.TransportURL.parse(conf)
    source = conf.get_location('transport_url')
    if source is None or source.location is cfg.Locations.opt_default:
        return None
    return str(conf.transport_url)


def open_transport(
    conf: cfg.ConfigOpts,
    exchange: str,
    error_modules: tuple[str, ...] = (),
    url: str | None = None,
) -> Any:
    """Return the RPC transport for ``transport_url``.

    With RabbitMQ, some options have other defaults than in oslo.messaging: see
    :data:`_RABBIT_DEFAULTS`.

    :param conf: configuration with its files read
    :param exchange: control exchange of the service
    :param error_modules: modules whose errors may be raised at the caller
    :param url: URL to use instead of the configured ``transport_url``
    :returns: an ``oslo_messaging.Transport``
    :raises BadTransport: the URL is malformed, or its driver is not installed
    """
    oslo_messaging.set_transport_defaults(exchange)
    register_global_groups(conf)
    try:
        if _is_rabbitmq(conf, url):
            _reduce_wakeups()
            _retry_refused_logins()
            outage_log.install()
            _set_rabbit_defaults(conf)
        return oslo_messaging.get_rpc_transport(
            conf, url, allowed_remote_exmods=[*ERROR_MODULES, *error_modules]
        )
    except (
        oslo_messaging.InvalidTransportURL,
        oslo_messaging.DriverLoadFailure,
        ImportError,
        ValueError,  # a malformed port, for instance
    ) as error:
        raise BadTransport(
            f'{_describe_url(conf, url)} is not usable: {_reason(error)};'
            ' write rabbit://USER:PASSWORD@HOST:5672/VHOST or'
            ' embedded:///ABSOLUTE/PATH'
        ) from error


def check_connection(conf: cfg.ConfigOpts, transport: Any, topic: str) -> None:
    """Connect to the message bus, and fail quickly if that is impossible.

    Servers and clients of oslo.messaging retry forever instead.

    :param conf: configuration with its files read
    :param transport: an ``oslo_messaging.Transport``
    :param topic: topic of the servers; they receive a wakeup and ignore it
    :raises vobjects.exceptions.Unreachable: the message bus does not respond,
        or rejects the user, the password or the virtual host
    """
    hosts = oslo_messaging.TransportURL.parse(conf).hosts
    try:
        # Drivers raise the errors of their client libraries.
        wakeups.probe(transport, topic, retry=max(len(hosts) - 1, 0))
    except Exception as error:
        raise exceptions.Unreachable(
            f'the message bus {_describe_url(conf, None)} cannot be used:'
            f' {_reason(error)}; start it, or correct transport_url'
        ) from error


def _describe_url(conf: cfg.ConfigOpts, url: str | None) -> str:
    configured = url or str(conf.transport_url)
    return f'[DEFAULT] transport_url = {sensitive.mask_url(configured)}'


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip('.') if lines else type(error).__name__


def open_notifications(url: str) -> Any:
    """Return the transport for another service's notifications.

    It ignores this process's configuration, because
    ``[oslo_messaging_rabbit]`` describes the broker for RPC. Put options in
    the query of the URL.

    :param url: URL of the message bus
    :returns: an ``oslo_messaging.Transport``
    """
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    register_global_groups(conf)
    if _is_rabbitmq(conf, url):
        _retry_refused_logins()
        outage_log.install()
    return oslo_messaging.get_notification_transport(conf, url)


def register_global_groups(conf: cfg.ConfigOpts) -> None:
    for group, module_name in _GLOBAL_GROUPS.items():
        module = importutils.try_import(module_name)
        if module is not None:  # older releases lack one of the two
            conf.register_opts(getattr(module, group), group)


def _is_rabbitmq(conf: cfg.ConfigOpts, url: str | None) -> bool:
    scheme = oslo_messaging.TransportURL.parse(conf, url).transport
    return scheme.partition('+')[0] in _RABBIT_SCHEMES


def _set_rabbit_defaults(conf: cfg.ConfigOpts) -> None:
    # Register the options before the driver does: it reads some of them when
    # it is loaded.
    for group, options in opts.list_opts():
        if str(group) == _RABBIT:
            conf.register_opts(options, _RABBIT)
    for name, value in _RABBIT_DEFAULTS.items():
        conf.set_default(name, value, group=_RABBIT)


def _reduce_wakeups() -> None:
    """Reduce needless wakeups of the threads that wait for RabbitMQ.

    After each message, oslo.messaging (18.3) starts with a sleep of one
    millisecond: during a call of five, the threads on both sides wake up three
    times.
    """
    driver = importutils.import_module(_DRIVER)
    if hasattr(driver, _SLEEP):
        setattr(driver, _SLEEP, INITIAL_SLEEP)


def _retry_refused_logins() -> None:
    """Let kombu use :mod:`vobjects.rpc.rabbitmq_login` for RabbitMQ."""
    aliases = importutils.import_module('kombu.transport').TRANSPORT_ALIASES
    aliases['amqp'] = 'vobjects.rpc.rabbitmq_login:Transport'


def build_server(
    transport: Any,
    topic: str,
    name: str,
    endpoints: list[Any],
    slots: int,
) -> Any:
    """Return an RPC server that handles messages in a thread pool.

    :param transport: an ``oslo_messaging.Transport``
    :param topic: topic to serve
    :param name: server name, unique on its topic; unused on RabbitMQ, see
        :data:`SHARED_NAME`
    :param endpoints: the RPC endpoints
    :param slots: number of messages handled concurrently
    :returns: an ``oslo_messaging.RPCServer``; the caller calls its methods
        ``start``, ``stop`` and ``wait``
    """
    missing_after = 0.0
    if late_ack.on_rabbitmq(transport):
        name = SHARED_NAME
        rabbit = transport.conf.oslo_messaging_rabbit
        missing_after = rabbit.kombu_missing_consumer_retry_timeout
    return late_ack.LateAckServer(
        transport,
        oslo_messaging.Target(topic=topic, server=name),
        Dispatcher(endpoints, slots),
        missing_after,
    )


def reconnects_within(timeout: float) -> int:
    """Return the number of RabbitMQ reconnects within a timeout.

    :param timeout: in seconds
    """
    return max(1, int(timeout / RECONNECT_INTERVAL))


def stop_server(server: Any, wake: Callable[[], None]) -> None:
    """Stop an RPC server after it has handled the messages it received.

    On RabbitMQ oslo.messaging only stops reading (17.4): the broker continues
    to send, and messages that arrive while the connection is closed are
    acknowledged and dropped, so that their callers wait for the timeout. This
    function first cancels consumption, in the reading thread, which then
    handles the remaining messages.

    :param server: an ``oslo_messaging.RPCServer``
    :param wake: sends the server a message, so that its reading thread wakes
        up
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
            except Exception as error:  # noqa: BLE001 - stop anyway
                LOG.warning('Could not cancel consumption: %s', error)
            finally:
                cancelled.set()

        operations.do(cancel)
        wake()
        cancelled.wait(CANCEL_TIMEOUT)
    server.stop()
    server.wait()
