# SPDX-License-Identifier: Apache-2.0
"""HTTP requests to addresses that tenants choose.

Name resolution, connection, TLS and the whole response share one deadline.
Responses are read up to a maximum size. Each connection resolves the name
once, and checks the addresses before it connects to any of them, because a
second lookup could return other addresses.
"""

from __future__ import annotations

import io
import ipaddress
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import requests
import urllib3
from oslo_config import cfg
from requests import adapters, utils
from urllib3 import connection
from urllib3.util.connection import create_connection

from vobjects import exceptions

Result = TypeVar('Result')

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Limits the name resolutions under way in one process: each occupies a thread
#: until it ends, and threads must not accumulate.
_CALL_SLOTS = threading.BoundedSemaphore(128)

#: Bytes to read from a socket at a time.
_CHUNK = 65536

#: Networks whose addresses embed an IPv4 address, to which a router or this
#: host may send: compatible, mapped (RFC 4291), translated (RFC 2765) and
#: NAT64 (RFC 6052, 8215).
_EMBEDDING = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        '::/96',
        '::ffff:0:0/96',
        '::ffff:0:0:0/96',
        '64:ff9b::/96',
        '64:ff9b:1::/48',
    )
)

#: "This host" (RFC 1122): Linux connects to itself.
_THIS_HOST = ipaddress.IPv4Network('0.0.0.0/8')


class OutgoingError(Exception):
    """A request was not sent, or timed out; the message is for users."""


class ConfigError(exceptions.VobjectsError):
    """A value of ``forbidden_networks`` is invalid."""


def check(conf: cfg.ConfigOpts, group: str) -> None:
    """Reject invalid values of ``[group] forbidden_networks``.

    :raises ConfigError: names the value
    """
    try:
        for network in conf[group].forbidden_networks:
            ipaddress.ip_network(network)
    except ValueError as error:
        raise ConfigError(f'[{group}] forbidden_networks: {error}') from None


def is_url(text: str) -> bool:
    """Tell whether a text is an http or https URL."""
    try:
        parts = urllib.parse.urlsplit(text)
        # Reading the port validates it.
        is_http = parts.scheme in ('http', 'https')
        return is_http and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def check_url(
    networks: Sequence[str], url: str, target: str, seconds: float
) -> None:
    """Reject a URL whose host is in a forbidden network.

    :param networks: in CIDR notation; see :func:`check`
    :param target: name of the target for messages, such as ``the webhook``
    :param seconds: maximum duration of the name resolution
    :raises OutgoingError: the host is forbidden or unknown
    """
    host = urllib.parse.urlsplit(url).hostname or ''
    _addresses(networks, host, target, seconds)


def session(
    networks: Sequence[str], target: str, *, limit: int
) -> requests.Session:
    """Return a session that does not connect to forbidden networks.

    The timeout of a request limits its total duration.

    :param target: name of the target for messages
    :param limit: maximum bytes of a response; the rest is cut off
    """
    new_session = _Session()
    # By default, requests sends credentials from the engine's .netrc.
    new_session.auth = no_credentials
    adapter = Adapter(networks, target, limit=limit)
    for scheme in ('http://', 'https://'):
        new_session.mount(scheme, adapter)
    return new_session


class _Session(requests.Session):
    """A session that does not even parse the target of a redirect.

    requests parses it for ``Response.next`` although redirects are off, and
    raises ValueError for targets such as ``http://[``.
    """

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Return None: there is no redirect to follow."""


def no_credentials(
    request: requests.PreparedRequest,
) -> requests.PreparedRequest:
    """Leave a request unauthenticated."""
    return request


def _effective_addresses(address: Address) -> Iterator[Address]:
    """Yield an address and those to which its packets may be delivered."""
    yield address
    if isinstance(address, ipaddress.IPv4Address):
        if address in _THIS_HOST:
            yield ipaddress.IPv4Address('127.0.0.1')
        return
    if address.is_unspecified:
        yield ipaddress.IPv6Address('::1')
    embedded = [address.sixtofour, *(address.teredo or ())]
    if any(address in network for network in _EMBEDDING):
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    for inner in embedded:
        if inner is not None:
            yield from _effective_addresses(inner)


def _addresses(
    networks: Sequence[str], host: str, target: str, seconds: float
) -> list[str]:
    """Return the addresses of a host.

    :raises OutgoingError: see :func:`check_url`
    """
    try:
        infos = call_with_timeout(
            seconds,
            lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM),
            target,
        )
    except (OSError, UnicodeError):
        raise OutgoingError(f'the host of {target} is unknown') from None
    forbidden = [ipaddress.ip_network(network) for network in networks]
    addresses = [str(address[0]) for *_, address in infos]
    for address in addresses:
        ip = ipaddress.ip_address(address.partition('%')[0])
        for meaning in _effective_addresses(ip):
            if any(meaning in network for network in forbidden):
                raise OutgoingError(f'{target} is in a forbidden network')
    return addresses


class Adapter(adapters.HTTPAdapter):
    """Transport of a session, for use by one thread.

    Its requests raise :class:`OutgoingError` for a forbidden address, and when
    the timeout expires. A proxy resolves the name again by itself.

    :param target: name of the target for messages
    :param limit: maximum bytes of a response to keep
    :param drain: whether to read and discard the rest of longer responses
    :param timeout: default timeout in seconds
    :param socket_path: path of a Unix socket to which all requests are sent,
        regardless of their host; empty: connect to the host
    """

    def __init__(
        self,
        networks: Sequence[str],
        target: str,
        *,
        limit: int,
        drain: bool = False,
        timeout: float = 60.0,
        socket_path: str = '',
    ) -> None:
        self._timeout = timeout
        self._networks = networks
        self._target_name = target
        self._limit = limit
        self._drain = drain
        self._socket_path = socket_path
        self._deadline = 0.0
        self._expired = threading.Event()
        #: Duplicates, because TLS detaches the original socket.
        self._sockets: list[socket.socket] = []
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Create the pools, with connections that check addresses."""
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools(self._networks)

    def proxy_manager_for(self, *arguments: Any, **options: Any) -> Any:
        """Create the pools of a proxy; the operator chose its address."""
        manager = super().proxy_manager_for(*arguments, **options)
        manager.pool_classes_by_scheme = self._pools(())
        return manager

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Send a request and read the response, both within the timeout."""
        timeout = self._timeout if timeout is None else timeout
        self._deadline = time.monotonic() + timeout
        url = request.url or ''
        if self._socket_path:
            proxies = None
        if utils.select_proxy(url, proxies):
            check_url(self._networks, url, self._target_name, timeout)
        # A small compressed response can be large.
        request.headers['Accept-Encoding'] = 'identity'
        timer = threading.Timer(self._seconds(), self._expire)
        timer.daemon = True
        timer.start()
        try:
            response = super().send(
                request, True, timeout, verify, cert, proxies
            )
            response.raw = io.BytesIO(self._body(response.raw))
        except (
            requests.RequestException,
            urllib3.exceptions.HTTPError,
            # From http.client, for example for a negative chunk size.
            ValueError,
        ) as e:
            self._refuse_late(timeout)
            if isinstance(e, requests.RequestException):
                raise
            raise requests.ConnectionError(e, request=request) from e
        finally:
            timer.cancel()
        # The response may seem complete because the timeout closed the
        # connection.
        self._refuse_late(timeout)
        return response

    def close(self) -> None:
        """Close all connections."""
        super().close()
        for duplicate in self._sockets:
            duplicate.close()
        self._sockets.clear()

    def _seconds(self) -> float:
        return max(0.001, self._deadline - time.monotonic())

    def _expire(self) -> None:
        """Make blocked reads and writes return."""
        self._expired.set()
        for duplicate in list(self._sockets):
            _shut_down(duplicate)

    def _refuse_late(self, seconds: float) -> None:
        if self._expired.is_set():
            raise OutgoingError(
                f'{self._target_name} did not answer within {seconds} seconds'
            )

    def _body(self, raw: Any) -> bytes:
        """Return the beginning of a response, without decoding it."""
        body = bytearray()
        try:
            while self._drain or len(body) < self._limit:
                chunk = raw.read(_CHUNK, decode_content=False)
                if not chunk:
                    break
                body += chunk[: self._limit - len(body)]
            else:
                raw.close()
        finally:
            raw.release_conn()
        return bytes(body)

    def _pools(self, networks: Sequence[str]) -> dict[str, type[Any]]:
        """Return connection pools by scheme.

        :param networks: networks to which their connections must not go
        """

        def pool(pools: type[Any], connections: type[Any]) -> type[Any]:
            def connect(
                connection_type: connection.HTTPConnection,
            ) -> socket.socket:
                return self._connect(connection_type, networks)

            # The connection keeps its host name for TLS, whatever the address.
            connection_type = type(
                'Connection', (connections,), {'_new_conn': connect}
            )
            return type('Pool', (pools,), {'ConnectionCls': connection_type})

        return {
            'http': pool(
                urllib3.HTTPConnectionPool, connection.HTTPConnection
            ),
            'https': pool(
                urllib3.HTTPSConnectionPool, connection.HTTPSConnection
            ),
        }

    def _connect(
        self,
        new_connection: connection.HTTPConnection,
        networks: Sequence[str],
    ) -> socket.socket:
        """Connect to an address of the host and return the socket."""
        error = OSError('no address')
        for address in self._targets(new_connection.host, networks):
            try:
                connected = self._open(address, new_connection)
            except OSError as failure:
                error = failure
                continue
            self._sockets.append(connected.dup())
            if self._expired.is_set():
                _shut_down(connected)
            return connected
        raise urllib3.exceptions.NewConnectionError(
            new_connection, str(error)
        ) from error

    def _targets(self, host: str, networks: Sequence[str]) -> list[str]:
        """Return the addresses of a host, or the path of the Unix socket."""
        if self._socket_path:
            return [self._socket_path]
        return _addresses(networks, host, self._target_name, self._seconds())

    def _open(
        self, address: str, new_connection: connection.HTTPConnection
    ) -> socket.socket:
        if not self._socket_path:
            return create_connection(
                (address, new_connection.port),
                self._seconds(),
                socket_options=new_connection.socket_options,
            )
        opened = socket.socket(socket.AF_UNIX)
        try:
            opened.settimeout(self._seconds())
            opened.connect(address)
        except OSError:
            opened.close()
            raise
        return opened


def _shut_down(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the peer has closed it already


def call_with_timeout(
    seconds: float, call: Callable[[], Result], description: str
) -> Result:
    """Call a function in a thread and wait for its result for a limited time.

    :param seconds: maximum duration
    :param description: name of the target for messages
    :raises OutgoingError: the call took too long, or too many are under way
    """
    if not _CALL_SLOTS.acquire(blocking=False):
        raise OutgoingError('too many calls are under way')
    results: list[Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            errors.append(error)
        finally:
            _CALL_SLOTS.release()

    thread = threading.Thread(target=run, name='outgoing', daemon=True)
    thread.start()
    thread.join(seconds)
    for error in list(errors):
        raise error
    if not results:
        raise OutgoingError(
            f'{description} did not answer within {seconds} seconds'
        )
    return results[0]
