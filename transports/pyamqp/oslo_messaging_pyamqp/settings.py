# SPDX-License-Identifier: Apache-2.0
"""The hosts of a URL, and the options of ``[oslo_messaging_rabbit]``."""

from __future__ import annotations

import dataclasses
import random
import ssl
from typing import Any

from oslo_config import cfg
from oslo_messaging import opts

from oslo_messaging_driverlib import oslo_api
from oslo_messaging_pyamqp import errors

GROUP = 'oslo_messaging_rabbit'
PORT = 5672

OPTS = [
    cfg.IntOpt(
        'rabbit_directed_queue_ttl',
        default=0,
        min=0,
        help='Seconds after which RabbitMQ deletes an unused queue for'
        ' messages to one server. 0: never. While servers with the driver of'
        ' oslo.messaging use these queues, keep 0: that driver cannot consume'
        ' from a queue that expires.',
    ),
]


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [(GROUP, list(OPTS))]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options of oslo.messaging's driver and of this one."""
    for group, options in opts.list_opts():
        if str(group) == GROUP:
            conf.register_opts(options, GROUP)
    conf.register_opts(OPTS, GROUP)


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """A broker, and the user to log in as."""

    name: str
    port: int
    user: str
    password: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        name = f'[{self.name}]' if ':' in self.name else self.name
        return f'{name}:{self.port}'


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """The settings from the URL and the configuration.

    Durations are in seconds.

    :ivar hosts: brokers of one cluster, in the order of the first attempts
    :ivar shuffle: whether to change the order after each failed round
    :ivar heartbeat: silence after which a connection counts as lost; 0: never
    :ivar retry_start: pause after the first failed round of attempts
    :ivar retry_step: increment of the pause after each further round
    :ivar retry_max: longest pause
    :ivar tls: arguments for py-amqp's TLS transport; None: no TLS
    :ivar verify_hostname: whether the broker's certificate must name its host
    :ivar prefetch: unacknowledged messages per consumer; 0: unlimited
    :ivar missing_queue_timeout: maximum time to send a response to a queue
        that does not exist
    :ivar compression: kombu's name of a compression method; empty: none
    :ivar transient_durable: whether reply and fanout queues are quorum queues
    :ivar topic_arguments: arguments of the queues of topics
    :ivar directed_arguments: arguments of the queues of single servers
    :ivar transient_arguments: arguments of reply and fanout queues
    """

    hosts: tuple[Host, ...]
    virtual_host: str
    login_method: str
    shuffle: bool
    heartbeat: int
    retry_start: float
    retry_step: float
    retry_max: float
    tls: dict[str, Any] | None
    verify_hostname: bool
    prefetch: int
    missing_queue_timeout: float
    compression: str
    durable: bool
    auto_delete: bool
    transient_durable: bool
    topic_arguments: dict[str, Any]
    directed_arguments: dict[str, Any]
    transient_arguments: dict[str, Any]
    consumer_arguments: dict[str, Any]

    @classmethod
    def load(cls, conf: cfg.ConfigOpts, url: Any) -> Settings:
        """Read the settings of a URL.

        :param conf: configuration; this function registers the options
        :param url: a ``TransportURL``; options in its query override those of
            the configuration
        :raises oslo_messaging_pyamqp.errors.BadOption: an option is not
            supported
        :raises oslo_config.cfg.NoSuchOptError: the query of the URL names an
            unknown option
        """
        register(conf)
        options = oslo_api.ConfigOptsProxy(conf, url, GROUP)[GROUP]
        quorum = options.rabbit_quorum_queue
        transient_quorum = options.rabbit_transient_quorum_queue
        if quorum and options.rabbit_ha_queues:
            raise errors.BadOption(
                f'[{GROUP}] rabbit_quorum_queue and rabbit_ha_queues exclude'
                ' each other; set one of them to false'
            )
        topic_arguments = _queue_arguments(options, quorum, 0)
        return cls(
            hosts=_hosts(url),
            virtual_host=url.virtual_host or '/',
            login_method=options.rabbit_login_method,
            shuffle=options.kombu_failover_strategy == 'shuffle',
            heartbeat=options.heartbeat_timeout_threshold,
            retry_start=options.rabbit_retry_interval,
            retry_step=options.rabbit_retry_backoff,
            retry_max=options.rabbit_interval_max,
            tls=_tls_arguments(options) if options.ssl else None,
            # Not only with ssl_ca_file: the authorities of the system sign
            # certificates of anybody's hosts.
            # oslo.messaging 17.0 lacks the option.
            verify_hostname=getattr(
                options, 'ssl_enforce_hostname_verification', True
            ),
            prefetch=options.rabbit_qos_prefetch_count,
            missing_queue_timeout=options.kombu_missing_consumer_retry_timeout,
            compression=options.kombu_compression or '',
            durable=quorum or options.amqp_durable_queues,
            auto_delete=options.amqp_auto_delete,
            transient_durable=transient_quorum,
            topic_arguments=topic_arguments,
            directed_arguments=_queue_arguments(
                options, quorum, options.rabbit_directed_queue_ttl
            ),
            transient_arguments=_queue_arguments(
                options, transient_quorum, options.rabbit_transient_queues_ttl
            ),
            consumer_arguments={'x-cancel-on-ha-failover': True}
            if options.enable_cancel_on_failover
            else {},
        )


def _hosts(url: Any) -> tuple[Host, ...]:
    """Return the hosts of a URL in random order, to spread connections."""
    hosts = [
        Host(
            host.hostname or 'localhost',
            host.port or PORT,
            host.username or '',
            host.password or '',
        )
        for host in url.hosts
    ] or [Host('localhost', PORT, 'guest', 'guest')]
    random.shuffle(hosts)
    return tuple(hosts)


def _tls_arguments(options: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        'keyfile': options.ssl_key_file or None,
        'certfile': options.ssl_cert_file or None,
        # None: the certificate authorities of the system.
        'ca_certs': options.ssl_ca_file or None,
        'cert_reqs': ssl.CERT_REQUIRED,
    }
    if options.ssl_version:
        name = f'PROTOCOL_{options.ssl_version.upper()}'.replace(
            'TLSV', 'TLSv'
        )
        version = getattr(ssl, name, None)
        if version is None:
            raise errors.BadOption(
                f'[{GROUP}] ssl_version = {options.ssl_version} is not'
                ' supported by this Python; leave it empty'
            )
        arguments['ssl_version'] = version
    return arguments


def _queue_arguments(options: Any, quorum: bool, ttl: int) -> dict[str, Any]:
    """Return the arguments that oslo.messaging's driver declares queues with.

    :param quorum: whether it is a quorum queue
    :param ttl: seconds after which an unused queue expires; 0: never
    """
    arguments: dict[str, Any] = {}
    if options.rabbit_ha_queues:
        arguments['x-ha-policy'] = 'all'
    if quorum:
        arguments['x-queue-type'] = 'quorum'
        for name, option in (
            ('x-delivery-limit', 'rabbit_quorum_delivery_limit'),
            ('x-max-in-memory-length', 'rabbit_quorum_max_memory_length'),
            ('x-max-in-memory-bytes', 'rabbit_quorum_max_memory_bytes'),
        ):
            if options[option]:
                arguments[name] = options[option]
    if ttl:
        arguments['x-expires'] = ttl * 1000
    return arguments
