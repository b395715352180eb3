# SPDX-License-Identifier: Apache-2.0
"""Connections to Docker daemons, and the errors that daemons return.

:class:`Daemons` yields clients; all TCP daemons are accessed by TLS, or all of
them without.
"""

from __future__ import annotations

import contextlib
import logging
import re
import ssl
import urllib.parse
from collections.abc import Iterator
from typing import Any

import docker
import docker.errors
import docker.tls
import msgspec
import requests
from oslo_config import cfg

from engine import http_client
from engine.providers import base
from vobjects import exceptions, tls_files
from vobjects.rpc import concurrency_limit

LOG = logging.getLogger(__name__)

SECTION = 'provider_docker'

#: Scheme of the URL of a daemon that listens on a Unix socket.
UNIX = 'unix'

#: Maximum size of a response in bytes.
_MAX_RESPONSE = 1 << 20

#: Exceptions of the library for malformed responses.
_BAD_SHAPE = (
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    msgspec.ValidationError,
)


#: A daemon's message about a container that does not exist.
_NO_CONTAINER = re.compile('no such container', re.IGNORECASE)


class Daemons:
    """Connections to any Docker daemon.

    :param conf: the configuration, with ``[provider_docker]``
    :param host: name of a daemon's host for messages, such as ``its host``;
        empty: the operator chooses the daemon, in any network
    :raises engine.http_client.ConfigError: a forbidden network is not valid
    :raises vobjects.exceptions.TlsConfigError: the TLS options are not valid
    """

    def __init__(self, conf: cfg.ConfigOpts, host: str) -> None:
        options = conf[SECTION]
        self._timeout = options.timeout
        self._pull_timeout = options.pull_timeout
        http_client.check(conf, SECTION)
        self._forbidden = options.forbidden_networks if host else []
        self._tls = tls_options(conf)
        self._daemon = 'the Docker daemon'
        self._log_level = logging.INFO
        if host:
            self._daemon += f' of {host}'
            self._log_level = logging.WARNING
        self._target = host or self._daemon

    @contextlib.contextmanager
    def client(self, url: str, description: str) -> Iterator[Any]:
        """Yield a client of a daemon, and convert its errors.

        :param url: ``tcp://HOST:PORT`` or ``unix:///PATH``
        :param description: the operation for messages, such as 'show
            container ...'
        :raises engine.providers.base.ProviderError: with the daemon's status
            code and message
        """
        try:
            with self._connected(url) as client:
                yield client
        except (
            http_client.OutgoingError,
            docker.errors.DockerException,
            requests.RequestException,
            *_BAD_SHAPE,
        ) as error:
            raise self._converted(error, url, description) from None

    @contextlib.contextmanager
    def _connected(self, url: str) -> Iterator[Any]:
        socket_path = _socket_path(url)
        tls = None if socket_path else self._tls
        # While an image is pulled, the daemon stops unless its messages are
        # read. For that request alone, the library sets no timeout.
        adapter = http_client.Adapter(
            self._forbidden,
            self._target,
            limit=_MAX_RESPONSE,
            drain=True,
            timeout=self._pull_timeout,
            socket_path=socket_path,
        )
        with contextlib.closing(adapter), concurrency_limit.released():
            client = _client_type(adapter, self._target)(
                # The library would use its own adapter for unix://.
                base_url='tcp://localhost:2375' if socket_path else url,
                version='auto',
                timeout=self._timeout,
                tls=tls and docker.tls.TLSConfig(**tls),
            )
            with contextlib.closing(client):
                yield client

    def _converted(
        self, error: Exception, url: str, description: str
    ) -> base.ProviderError:
        """Return the error for users."""
        # The library wraps the exceptions of its first request.
        if (
            type(error) is docker.errors.DockerException
            and error.__cause__ is not None
        ):
            error = error.__cause__  # type: ignore[assignment]
        failure = f'could not {description}'
        if isinstance(error, http_client.OutgoingError):
            return base.ProviderError(f'{failure}: {error}')
        if isinstance(error, docker.errors.APIError):
            explanation = exceptions.message_text(str(error.explanation))
            kind = base.ProviderError
            # Networks and images may be missing, too.
            if error.status_code == 404 and _NO_CONTAINER.search(explanation):
                kind = base.ContainerNotFound
            return kind(f'{failure}: {error.status_code}: {explanation}')
        # The message for users does not contain the URL of a tenant's daemon.
        LOG.log(
            self._log_level,
            'Could not %s on %s: %s',
            description,
            url,
            exceptions.message_text(str(error)),
        )
        if isinstance(error, requests.JSONDecodeError) or not isinstance(
            error, docker.errors.DockerException | requests.RequestException
        ):
            return base.ProviderError(
                f'{failure}: {self._target} does not answer like a Docker'
                ' daemon'
            )
        reason, is_tls = _reason(error)
        if is_tls:
            return base.ProviderError(
                f'{failure}: no TLS with {self._daemon}: {reason}'
            )
        return base.ProviderError(
            f'{failure}: {self._daemon} does not answer: {reason}'
        )


def _socket_path(url: str) -> str:
    """Return the path of a Unix socket; empty for other URLs."""
    parts = urllib.parse.urlsplit(url)
    return parts.path if parts.scheme == UNIX else ''


def _client_type(adapter: http_client.Adapter, target: str) -> Any:
    """Return a client class with fixed TLS settings and no credentials."""

    class Client(docker.APIClient):  # type: ignore[misc]
        def get_adapter(self, url: Any) -> Any:
            # The library mounts its adapters and sends a request at once.
            return adapter

        def get_redirect_target(self, resp: Any) -> None:
            if resp.is_redirect:
                raise http_client.OutgoingError(f'{target} redirects')

        def prepare_request(self, request: Any) -> Any:
            request.auth = http_client.no_credentials
            return super().prepare_request(request)

        def merge_environment_settings(
            self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
        ) -> Any:
            # requests would use REQUESTS_CA_BUNDLE if a request does not
            # specify the verification.
            verification = self.verify if verify is None else verify
            return super().merge_environment_settings(
                url, proxies, stream, verification, cert
            )

    return Client


def tls_options(conf: cfg.ConfigOpts) -> dict[str, Any] | None:
    """Return the arguments of the library's TLSConfig; None without TLS.

    :raises vobjects.exceptions.TlsConfigError: names the invalid option
    """
    options = conf[SECTION]
    names = ('tls_ca_file', 'tls_cert_file', 'tls_key_file')
    files = {name: options[name] for name in names if options[name]}
    if not options.tls:
        for name in files:
            raise exceptions.TlsConfigError(
                f'[{SECTION}] {name} needs tls = true'
            )
        return None
    certificate, key = files.get(names[1]), files.get(names[2])
    if bool(certificate) != bool(key):
        raise exceptions.TlsConfigError(
            f'[{SECTION}] tls_cert_file and tls_key_file go together'
        )
    tls_files.check(f'[{SECTION}]', options)
    return {
        'client_cert': (certificate, key) if certificate else None,
        'ca_cert': files.get(names[0]),
        'verify': options.tls_verify,
    }


def _reason(error: BaseException) -> tuple[str, bool]:
    """Return why a request failed, without addresses; and whether TLS did."""
    chain: list[BaseException] = [error]
    reason = ''
    for link in chain:
        if isinstance(link, ssl.SSLError):
            text = getattr(link, 'verify_message', '') or link.reason or link
            return exceptions.message_text(str(text)), True
        if isinstance(link, OSError) and link.strerror:
            reason = link.strerror
        # urllib3 and requests store the reason in private places.
        inner = [*link.args, getattr(link, 'reason', None), link.__cause__]
        chain += [
            cause
            for cause in inner
            if isinstance(cause, BaseException) and cause not in chain
        ]
    return reason or exceptions.cut(type(chain[-1]).__name__), False
