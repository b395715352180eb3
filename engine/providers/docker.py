# SPDX-License-Identifier: Apache-2.0
"""Containers on hosts with a Docker daemon.

A label of the container holds the key that it was created for. The package
``docker`` is optional; it is imported when it is first needed. All daemons are
accessed by TLS, or all of them without.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import logging
import ssl
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

import msgspec
import requests
from oslo_config import cfg

from engine import http_client
from engine.providers import base
from vobjects import exceptions
from vobjects.rpc import concurrency_limit

LOG = logging.getLogger(__name__)

SECTION = 'provider_docker'

LABEL = 'vobjects.node'

#: Seconds that a container has for stopping before it is killed.
STOP_TIMEOUT = 10

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

_Id = Annotated[str, msgspec.Meta(pattern='^[0-9a-zA-Z]{1,128}$')]
#: Excludes characters that a database or UTF-8 cannot hold.
_STORABLE = '^[^\\x00\\ud800-\\udfff]*$'
_Text = Annotated[str, msgspec.Meta(max_length=255, pattern=_STORABLE)]
_Command = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=4096, pattern=_STORABLE)]],
    msgspec.Meta(max_length=256),
]
_ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**32 - 1)]


# https://docs.docker.com/reference/api/engine/ defines these names.


class _ContainerId(msgspec.Struct):
    Id: _Id


class _State(msgspec.Struct):
    Status: _Text
    ExitCode: _ExitCode | None = None


class _Config(msgspec.Struct):
    Image: _Text | None = None
    Cmd: _Command | None = None


class _Inspected(msgspec.Struct):
    Id: _Id
    Name: _Text
    State: _State
    Config: _Config | None = None
    Created: _Text | None = None


class TlsConfigError(exceptions.VobjectsError):
    """Raised when the TLS options are inconsistent, or name a missing file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tls:
    """TLS settings for the connections to daemons.

    :ivar verify: whether to verify a daemon's certificate
    :ivar ca_file: path of the CA certificates; None: the system's
    :ivar client: paths of the client certificate and its key; None: no client
        certificate
    """

    verify: bool
    ca_file: str | None
    client: tuple[str, str] | None

    @classmethod
    def configured(cls, conf: cfg.ConfigOpts) -> Self | None:
        """Return the settings of ``[provider_docker]``; None without TLS.

        :raises TlsConfigError: names the invalid option
        """
        options = conf[SECTION]
        names = ('tls_ca_file', 'tls_cert_file', 'tls_key_file')
        files = {name: options[name] for name in names if options[name]}
        if not options.tls:
            for name in files:
                raise TlsConfigError(f'[{SECTION}] {name} needs tls = true')
            return None
        for name, file in files.items():
            try:
                with open(file, 'rb'):
                    pass
            except OSError as error:
                raise TlsConfigError(f'[{SECTION}] {name}: {error}') from None
        certificate, key = files.get(names[1]), files.get(names[2])
        if bool(certificate) != bool(key):
            raise TlsConfigError(
                f'[{SECTION}] tls_cert_file and tls_key_file go together'
            )
        client = (certificate, key) if certificate and key else None
        return cls(options.tls_verify, files.get(names[0]), client)


class Containers:
    """Containers on any host; see :class:`engine.providers.base.Containers`.

    :param conf: the configuration, with ``[provider_docker]``
    :raises engine.http_client.ConfigError: a forbidden network is not valid
    :raises TlsConfigError: the TLS options are not valid
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        options = conf[SECTION]
        self._timeout = options.timeout
        self._pull_timeout = options.pull_timeout
        http_client.check(conf, SECTION)
        self._forbidden = options.forbidden_networks
        self._tls = Tls.configured(conf)

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Container:
        """Run a container, or return the existing container of ``key``."""
        with self._client(host, f'run the container of node {key}') as client:
            container_id = _find(client, key)
            if container_id is None:
                container_id = self._create(client, key, name, properties)
            client.start(container_id)
            return _container(client.inspect_container(container_id))

    def find(self, host: str, key: str) -> base.Container | None:
        """Return the container that was created for ``key``, if any."""
        description = f'look for the container of node {key}'
        with self._client(host, description) as client:
            container_id = _find(client, key)
            if container_id is None:
                return None
            return _container(client.inspect_container(container_id))

    def get(self, host: str, container_id: str) -> base.Container:
        """Return a container."""
        with self._client(host, f'show container {container_id}') as client:
            return _container(client.inspect_container(container_id))

    def rename(
        self, host: str, container_id: str, name: str
    ) -> base.Container:
        """Rename a container."""
        with self._client(host, f'rename container {container_id}') as client:
            container = _container(client.inspect_container(container_id))
            if container.name != name:
                client.rename(container_id, name)
            return _container(client.inspect_container(container_id))

    def delete(self, host: str, container_id: str) -> None:
        """Stop and delete a container, if it exists."""
        try:
            with self._client(
                host, f'remove container {container_id}'
            ) as client:
                client.stop(container_id, timeout=STOP_TIMEOUT)
                client.remove_container(container_id, force=True)
        except base.ContainerNotFound:
            return

    def operate(
        self,
        host: str,
        container_id: str,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> base.Container:
        """Run an operation on a container."""
        description = f'{operation} container {container_id}'
        with self._client(host, description) as client:
            status = _container(client.inspect_container(container_id)).status
            if operation == 'restart':
                wait = parameters.get('wait_time')
                seconds = STOP_TIMEOUT if wait is None else wait
                client.restart(container_id, timeout=seconds)
            # An engine that died may have done this already.
            elif operation == 'pause' and status != 'paused':
                client.pause(container_id)
            elif operation == 'unpause' and status != 'running':
                client.unpause(container_id)
            return _container(client.inspect_container(container_id))

    @contextlib.contextmanager
    def _client(self, host: str, description: str) -> Iterator[Any]:
        """Yield a client of a host, and convert its errors.

        :param description: the operation for messages, such as 'show
            container ...'
        :raises engine.providers.base.ProviderError: with the host's status
            code and message
        """
        try:
            docker: Any = importlib.import_module('docker')
        except ImportError:
            raise base.ProviderError(
                f'could not {description}: the engine lacks the package'
                " docker: pip install 'vobjects-clustering[docker]'"
            ) from None
        # While an image is pulled, the daemon stops unless its messages are
        # read. For that request alone, the library sets no timeout.
        adapter = http_client.Adapter(
            self._forbidden,
            'its host',
            limit=_MAX_RESPONSE,
            drain=True,
            timeout=self._pull_timeout,
        )
        try:
            with contextlib.closing(adapter), concurrency_limit.released():
                client = _client_type(docker, adapter)(
                    base_url=host,
                    version='auto',
                    timeout=self._timeout,
                    tls=self._tls and _tls_config(docker, self._tls),
                )
                with contextlib.closing(client):
                    yield client
        except http_client.OutgoingError as error:
            raise base.ProviderError(
                f'could not {description}: {error}'
            ) from None
        except docker.errors.NotFound as error:
            raise base.ContainerNotFound(
                f'could not {description}: 404: {_explanation(error)}'
            ) from None
        except docker.errors.APIError as error:
            raise base.ProviderError(
                f'could not {description}: {error.status_code}:'
                f' {_explanation(error)}'
            ) from None
        except (
            docker.errors.DockerException,
            requests.RequestException,
        ) as error:
            # The library wraps exceptions of its first request.
            if isinstance(error.__cause__, http_client.OutgoingError):
                raise base.ProviderError(
                    f'could not {description}: {error.__cause__}'
                ) from None
            LOG.warning(
                'Could not %s on %s: %s', description, host, str(error)[:1000]
            )
            distrust = _tls_failure(error)
            if distrust:
                raise base.ProviderError(
                    f'could not {description}: no TLS with the Docker daemon'
                    f' of its host: {distrust}'
                ) from None
            raise base.ProviderError(
                f'could not {description}: the Docker daemon of its host does'
                f' not answer ({exceptions.cut(type(error).__name__)})'
            ) from None
        except _BAD_SHAPE as error:
            LOG.warning(
                'Could not %s on %s: %s', description, host, str(error)[:1000]
            )
            raise base.ProviderError(
                f'could not {description}: its host does not answer like a'
                ' Docker daemon'
            ) from None

    def _create(
        self, client: Any, key: str, name: str, properties: Mapping[str, Any]
    ) -> str:
        """Create a container; the host pulls the image if necessary."""
        errors = importlib.import_module('docker').errors
        try:
            client.inspect_image(properties['image'])
        except errors.ImageNotFound:
            # Without auth_config, the library would send the registry
            # credentials that it finds in ~/.docker of the engine's user.
            client.pull(properties['image'], auth_config={})
        response = client.create_container(
            image=properties['image'],
            command=properties.get('command'),
            name=name,
            labels={LABEL: key},
            # Likewise, don't use the proxies configured for the engine's user.
            use_config_proxy=False,
        )
        return msgspec.convert(response, _ContainerId).Id


def _explanation(error: Any) -> str:
    """Return a daemon's explanation of an error."""
    return str(error.explanation)[:1000]


def _client_type(docker: Any, adapter: http_client.Adapter) -> Any:
    """Return a client class with fixed TLS settings and no credentials."""

    class Client(docker.APIClient):  # type: ignore[misc]
        def get_adapter(self, url: Any) -> Any:
            # The library mounts its adapters and sends a request at once.
            return adapter

        def get_redirect_target(self, resp: Any) -> None:
            if resp.is_redirect:
                raise http_client.OutgoingError('its host redirects')

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


def _tls_config(docker: Any, tls: Tls) -> Any:
    """Return the TLS settings as an object of the library."""
    return docker.tls.TLSConfig(
        client_cert=tls.client, ca_cert=tls.ca_file, verify=tls.verify
    )


def _tls_failure(error: BaseException) -> str:
    """Return why TLS failed; empty if the error has another reason."""
    chain: list[BaseException] = [error]
    for link in chain:
        if isinstance(link, ssl.SSLError):
            return str(
                getattr(link, 'verify_message', '') or link.reason or link
            )
        # urllib3 and requests store the reason in private places.
        inner = [*link.args, getattr(link, 'reason', None), link.__cause__]
        chain += [
            cause
            for cause in inner
            if isinstance(cause, BaseException) and cause not in chain
        ]
    return ''


def _find(client: Any, key: str) -> str | None:
    containers = msgspec.convert(
        client.containers(all=True, filters={'label': f'{LABEL}={key}'}),
        list[_ContainerId],
    )
    return containers[0].Id if containers else None


def _container(response: object) -> base.Container:
    container = msgspec.convert(response, _Inspected)
    config = container.Config or _Config()
    name = container.Name.lstrip('/')
    return base.Container(
        container.Id,
        name,
        container.State.Status,
        {
            'id': container.Id,
            'name': name,
            'status': container.State.Status,
            'created': container.Created,
            'image': config.Image,
            'command': config.Cmd,
            'exit_code': container.State.ExitCode,
        },
    )
