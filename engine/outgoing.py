# SPDX-License-Identifier: Apache-2.0
"""Calls of addresses that users name: bounded, and not everywhere.

A name is resolved once a connection, and what it leads to is looked at before
anybody is connected to: a second look could find another address.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import requests
import urllib3
from oslo_config import cfg
from requests import adapters, utils
from urllib3 import connection
from urllib3.util.connection import create_connection

from vobjects import exceptions

Result = TypeVar('Result')

#: Calls of one process that are under way: an answer that is sent byte by
#: byte keeps a thread, and those must not become ever more.
_CALLS = threading.BoundedSemaphore(128)


class OutgoingError(Exception):
    """A call was not made, or took too long; the message is for users."""


class ConfigError(exceptions.VobjectsError):
    """A bad value of ``forbidden_networks``."""


def check(conf: cfg.ConfigOpts, group: str) -> None:
    """Refuse ``[group] forbidden_networks`` that are none.

    :raises ConfigError: naming one
    """
    try:
        for network in conf[group].forbidden_networks:
            ipaddress.ip_network(network)
    except ValueError as error:
        raise ConfigError(f'[{group}] forbidden_networks: {error}') from None


def refuse_forbidden(networks: Sequence[str], url: str, what: str) -> None:
    """Refuse to call where operators do not want anything to be called.

    :param networks: as CIDR; see :func:`check`
    :param what: is called, such as ``the webhook``, for messages
    :raises OutgoingError: it is in one of the networks, or nowhere
    """
    _addresses(networks, urllib.parse.urlsplit(url).hostname or '', what)


def session(networks: Sequence[str], what: str) -> requests.Session:
    """Return a session that connects to nothing forbidden.

    Its calls raise :class:`OutgoingError`, as :func:`refuse_forbidden` does.
    Where a proxy calls for us, it resolves the name anew.
    """
    made = requests.Session()
    for scheme in ('http://', 'https://'):
        made.mount(scheme, _Adapter(networks, what))
    return made


def _addresses(networks: Sequence[str], host: str, what: str) -> list[str]:
    """Return where a host is.

    :raises OutgoingError: as :func:`refuse_forbidden`
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise OutgoingError(f'the host of {what} is unknown') from None
    forbidden = [ipaddress.ip_network(network) for network in networks]
    addresses = [str(address[0]) for *_, address in found]
    for address in addresses:
        ip = ipaddress.ip_address(address.partition('%')[0])
        if any(ip in network for network in forbidden):
            raise OutgoingError(f'{what} is in a forbidden network')
    return addresses


class _Adapter(adapters.HTTPAdapter):
    """Has connections that know what is forbidden.

    :param what: is called, for messages
    """

    def __init__(self, networks: Sequence[str], what: str) -> None:
        self._networks = networks
        self._what = what
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Make the pools, with connections of our own."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = {
            'http': self._pool(
                urllib3.HTTPConnectionPool, connection.HTTPConnection
            ),
            'https': self._pool(
                urllib3.HTTPSConnectionPool, connection.HTTPSConnection
            ),
        }

    def send(
        self,
        request: requests.PreparedRequest,
        *arguments: Any,
        **options: Any,
    ) -> requests.Response:
        """Send; what a proxy sends is looked at here."""
        url = request.url or ''
        if utils.select_proxy(url, options.get('proxies')):
            refuse_forbidden(self._networks, url, self._what)
        return super().send(request, *arguments, **options)

    def _pool(self, pool: type[Any], plain: type[Any]) -> type[Any]:
        networks, what = self._networks, self._what

        class Connection(plain):  # type: ignore[misc]
            """Keeps its host's name for TLS, whatever it connects to."""

            def _new_conn(self) -> socket.socket:
                return _connect(self, _addresses(networks, self.host, what))

        return type('Pool', (pool,), {'ConnectionCls': Connection})


def _connect(
    made: connection.HTTPConnection, addresses: Sequence[str]
) -> socket.socket:
    """Return a socket that is connected to one of the addresses."""
    error = OSError('no address')
    for address in addresses:
        try:
            return create_connection(
                (address, made.port),
                made.timeout,
                socket_options=made.socket_options,
            )
        except OSError as failure:
            error = failure
    raise urllib3.exceptions.NewConnectionError(made, str(error)) from error


def within(seconds: float, call: Callable[[], Result], what: str) -> Result:
    """Return what a call returns, and wait no longer than it may take.

    A timeout of requests is for each read: an answer that comes byte by byte
    would keep the caller for as long as its sender likes.

    :param what: is called, for messages
    :raises OutgoingError: it took too long
    """
    if not _CALLS.acquire(blocking=False):
        raise OutgoingError('too many calls are under way')
    results: list[Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            errors.append(error)
        finally:
            _CALLS.release()

    thread = threading.Thread(target=run, name='outgoing', daemon=True)
    thread.start()
    thread.join(seconds)
    for error in list(errors):
        raise error
    if not results:
        raise OutgoingError(f'{what} did not answer within {seconds} seconds')
    return results[0]
