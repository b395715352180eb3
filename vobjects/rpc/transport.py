# SPDX-License-Identifier: Apache-2.0
"""Configure oslo.messaging as the rest of this package requires.

The scheme of the URL selects the driver, which may be of any package.
:func:`has_broker` discovers what the driver can do.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
from collections.abc import Callable
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_messaging import opts
from oslo_messaging.rpc import server as rpc_server
from oslo_utils import importutils, strutils

from vobjects import exceptions, sensitive, tls_files
from vobjects.rpc import wakeups
from vobjects.rpc.dispatcher import Dispatcher

LOG = logging.getLogger(__name__)

#: Modules whose errors the caller raises again, with their class.
ERROR_MODULES = (
    'oslo_messaging.exceptions',
    'oslo_messaging.rpc.dispatcher',
    'oslo_versionedobjects.exception',
    'vobjects.exceptions',
)

#: Group of the entry points of drivers; a name is the scheme of URLs.
_DRIVERS = 'oslo.messaging.drivers'

#: Options of all drivers for RabbitMQ.
_RABBIT = 'oslo_messaging_rabbit'

#: Longest interval between attempts to reconnect to RabbitMQ, in seconds.
RECONNECT_INTERVAL = 4

#: Defaults of this package for [oslo_messaging_rabbit]. All drivers that read
#: this section then declare the same queues.
_RABBIT_DEFAULTS = {
    # A classic queue is lost with the broker that holds it.
    'rabbit_quorum_queue': True,
    # Reply queues must exist again soon after the broker restarts, before the
    # responses to them are dropped.
    'rabbit_interval_max': RECONNECT_INTERVAL,
    'kombu_missing_consumer_retry_timeout': 10,
    # Twice the default of the threads of a server. What a server has received
    # waits in its memory, and for no other server.
    'rabbit_qos_prefetch_count': 128,
}

#: Server name of clients. A broker keeps the queue of a name when its server
#: leaves, so unique names would leave a queue behind at each start.
SHARED_NAME = 'any'

#: Groups that oslo.messaging reads from every configuration but registers on
#: the process-wide one only.
_GLOBAL_GROUPS = {
    'oslo_messaging_metrics': 'oslo_messaging._metrics.client',
    'oslo_messaging_tracing': 'oslo_messaging._tracing.client',
}


#: Errors about a URL. Those about an option of a driver are cfg.Error.
_BAD_URL = (
    oslo_messaging.InvalidTransportURL,
    oslo_messaging.DriverLoadFailure,
    ImportError,
    ValueError,  # a malformed port, for instance
)

#: Errors about a value that refers to an option, as in ``$PASSWORD``.
_BAD_REFERENCE = (cfg.NoSuchOptError, cfg.TemplateSubstitutionError)

_OPTION = '[DEFAULT] transport_url'


class BadTransport(exceptions.VobjectsError):
    """A URL names no message bus that this process can use."""


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

    Some options for RabbitMQ have other defaults than in oslo.messaging: see
    :data:`_RABBIT_DEFAULTS`.

    :param conf: configuration with its files read
    :param exchange: control exchange of the service
    :param error_modules: modules whose errors may be raised at the caller
    :param url: URL to use instead of the configured ``transport_url``
    :returns: an ``oslo_messaging.Transport``
    :raises BadTransport: the URL is malformed, its driver is not installed, or
        the driver rejects an option
    :raises vobjects.exceptions.TlsConfigError: a certificate or a key is
        unusable
    """
    oslo_messaging.set_transport_defaults(exchange)
    register_global_groups(conf)
    _set_rabbit_defaults(conf)
    try:
        _check_tls(conf, url, f'[{_RABBIT}]')
        return oslo_messaging.get_rpc_transport(
            conf,
            url,
            allowed_remote_exmods=[*ERROR_MODULES, *error_modules],
        )
    except (cfg.Error, *_BAD_URL) as error:
        setting = url or _configured(conf)
        raise _bad_transport(_OPTION, setting, error) from error


def check_connection(conf: cfg.ConfigOpts, transport: Any, topic: str) -> None:
    """Connect to the message bus, and fail quickly if that is impossible.

    Servers retry forever instead, and clients until their timeout.

    :param conf: configuration with its files read
    :param transport: an ``oslo_messaging.Transport``
    :param topic: topic of the servers; they receive a wakeup and ignore it
    :raises vobjects.exceptions.Unreachable: the message bus does not respond,
        or rejects the user, the password or the virtual host
    """
    hosts = oslo_messaging.TransportURL.parse(conf).hosts
    url = _configured(conf)
    try:
        wakeups.probe(transport, topic, retry=max(len(hosts) - 1, 0))
    except Exception as error:  # drivers of other packages raise any error
        raise exceptions.Unreachable(
            f'the message bus {_setting(_OPTION, url)} cannot be used:'
            f' {_reason(error, url)}; start it, or correct transport_url'
        ) from error


def open_notifications(url: str, option: str) -> Any:
    """Return the transport for another service's notifications.

    It ignores this process's configuration, because
    ``[oslo_messaging_rabbit]`` describes the broker for RPC. Put options in
    the query of the URL.

    :param url: URL of the message bus
    :param option: the option that contains the URL, for errors
    :returns: an ``oslo_messaging.Transport``
    :raises BadTransport: see :func:`open_transport`
    """
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    register_global_groups(conf)
    try:
        _check_tls(conf, url, f'{option}:')
        return oslo_messaging.get_notification_transport(conf, url)
    except (cfg.Error, *_BAD_URL) as error:
        raise _bad_transport(option, url, error) from error


def _configured(conf: cfg.ConfigOpts) -> str:
    """Return ``transport_url``.

    :raises BadTransport: it refers to an option that does not exist
    """
    try:
        return str(conf.transport_url)
    except _BAD_REFERENCE:
        # The name of the option may be a part of the password.
        raise BadTransport(
            f'{_OPTION} contains "$" before a name that is no option; write'
            ' "$$"'
        ) from None


def _setting(option: str, url: str) -> str:
    return f'{option} = {sensitive.mask_url(url)}'


def _bad_transport(option: str, url: str, error: Exception) -> BadTransport:
    text = f'{_setting(option, url)} is not usable: {_reason(error, url)}'
    if not isinstance(error, cfg.Error):
        points = importlib.metadata.entry_points(group=_DRIVERS)
        text += (
            '; write DRIVER://USER:PASSWORD@HOST:PORT/VHOST, with the special'
            ' characters of the password escaped, such as %2F for /, or'
            ' DRIVER:///ABSOLUTE/PATH with an installed driver, one of'
            f' {", ".join(sorted(points.names))}'
        )
    return BadTransport(text)


def _reason(error: Exception, url: str) -> str:
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    return sensitive.mask_text(lines[0].rstrip('.'), url)


def register_global_groups(conf: cfg.ConfigOpts) -> None:
    for group, module_name in _GLOBAL_GROUPS.items():
        module = importutils.try_import(module_name)
        if module is not None:  # older releases lack one of the two
            conf.register_opts(getattr(module, group), group)


def _register_rabbit_options(conf: cfg.ConfigOpts) -> None:
    for group, options in opts.list_opts():
        if str(group) == _RABBIT:
            conf.register_opts(options, _RABBIT)


def _set_rabbit_defaults(conf: cfg.ConfigOpts) -> None:
    _register_rabbit_options(conf)
    for name, value in _RABBIT_DEFAULTS.items():
        conf.set_default(name, value, _RABBIT)


def _check_tls(conf: cfg.ConfigOpts, url: str | None, where: str) -> None:
    """Check the files for connections to RabbitMQ, as its drivers read them.

    :param where: the place of the options, for errors
    :raises vobjects.exceptions.TlsConfigError: one is unusable
    """
    _register_rabbit_options(conf)
    query = oslo_messaging.TransportURL.parse(conf, url).query
    options = {
        name: query.get(name, value) for name, value in conf[_RABBIT].items()
    }
    if strutils.bool_from_string(options['ssl']):
        tls_files.check(where, options)


def has_broker(conf: cfg.ConfigOpts, url: str | None = None) -> bool:
    """Return whether the processes of a transport need a broker.

    Without a broker, no queue remains when a server leaves, and a server can
    listen at once. The class of such a driver has the attribute ``has_broker =
    False``.

    :param conf: configuration with its files read
    :param url: URL to use instead of the configured ``transport_url``
    """
    scheme = oslo_messaging.TransportURL.parse(conf, url).transport
    points = importlib.metadata.entry_points(group=_DRIVERS, name=scheme)
    return all(getattr(point.load(), 'has_broker', True) for point in points)


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
    :param name: server name, which servers share: messages to it go to them
        in turn
    :param endpoints: the RPC endpoints
    :param slots: number of messages handled concurrently
    :returns: an ``oslo_messaging.RPCServer``; the caller calls its methods
        ``start``, ``stop`` and ``wait``
    """
    return DrainedServer(
        transport,
        oslo_messaging.Target(topic=topic, server=name),
        Dispatcher(endpoints, slots),
    )


class DrainedServer(rpc_server.RPCServer):  # type: ignore[misc]
    """An RPC server that handles all messages it receives before it stops."""

    def drain(self) -> None:
        """Receive only messages to all servers of the topic from now on.

        A driver that cannot do this stops receiving. The listener of one that
        can has a method ``drain``.
        """
        if not self.listener.drain():
            self.stop()
            self.wait()

    def _create_listener(self) -> Any:
        return _DrainedListener(super()._create_listener())


class _DrainedListener:
    """A listener that passes on all messages it receives before it stops.

    The driver ``rabbit`` of oslo.messaging (18.3) only stops reading. The
    broker continues to send, and what arrives while the connection is closed
    is acknowledged and dropped: the callers wait for their timeouts.

    :param listener: the listener of a driver
    """

    def __init__(self, listener: Any) -> None:
        self._listener = listener
        self.prefetch_size = listener.prefetch_size
        self.cleanup = listener.cleanup

    def start(self, on_incoming_callback: Callable[[list[Any]], None]) -> None:
        self._on_incoming = on_incoming_callback
        self._listener.start(on_incoming_callback)

    def drain(self) -> bool:
        drain = getattr(self._listener, 'drain', None)
        if drain is not None:
            drain()
        return drain is not None

    def stop(self) -> None:
        self._listener.stop()
        for message in _remaining_messages(self._listener):
            self._on_incoming([message])


def _remaining_messages(listener: Any) -> list[Any]:
    """Cancel the consumers of the driver ``rabbit``; other drivers do it.

    The names are private to oslo.messaging, which has no public ones.

    :returns: the messages that no thread reads any more
    """
    polling = getattr(listener, '_poll_style_listener', None)
    connection = getattr(polling, 'conn', None)
    try:
        for consumer, tag in getattr(connection, '_consumers', {}).items():
            consumer.cancel(tag)
    except Exception as error:  # noqa: BLE001 - the broker redelivers them
        LOG.info('Cannot cancel consumption: %s', error)
    return list(getattr(polling, 'incoming', ()))
