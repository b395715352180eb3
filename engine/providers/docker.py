# SPDX-License-Identifier: Apache-2.0
"""Containers on hosts whose Docker daemon answers to us.

A container carries the key that it was made for as a label. The package
``docker`` is an optional one: it is asked for with the first container.
Daemons are spoken to in the clear, or all of them by TLS.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import logging
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, Self

from oslo_config import cfg

from engine import outgoing
from engine.providers import base
from vobjects import exceptions
from vobjects.rpc import gate

LOG = logging.getLogger(__name__)

SECTION = 'provider_docker'

LABEL = 'vobjects.node'

#: Seconds that a container has for ending by itself.
STOP_WITHIN = 10


class TlsConfigError(exceptions.VobjectsError):
    """The options of TLS do not go together, or name no file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tls:
    """How daemons are known, and we to them.

    :ivar verify: whether a daemon's certificate is checked
    :ivar ca_file: who may have signed it; None: whom this machine trusts
    :ivar client: our certificate and its key; None: we show none
    """

    verify: bool
    ca_file: str | None
    client: tuple[str, str] | None

    @classmethod
    def configured(cls, conf: cfg.ConfigOpts) -> Self | None:
        """Return what ``[provider_docker]`` says; None: there is no TLS.

        :raises TlsConfigError: naming an option
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
    """See :class:`engine.providers.base.Containers`.

    :param conf: ``[provider_docker]``
    :raises engine.outgoing.ConfigError: a forbidden network is none
    :raises TlsConfigError: the options of TLS cannot be used
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        options = conf[SECTION]
        self._timeout = options.timeout
        outgoing.check(conf, SECTION)
        self._forbidden = options.forbidden_networks
        self._tls = Tls.configured(conf)

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Container:
        """Run a container, or return the one that ``key`` has already."""
        with self._client(host, f'run the container of node {key}') as client:
            found = _find(client, key)
            if found is None:
                found = _created(client, key, name, properties)
            client.start(found)
            return _container(client.inspect_container(found))

    def find(self, host: str, key: str) -> base.Container | None:
        """Return the container that was created for ``key``."""
        what = f'look for the container of node {key}'
        with self._client(host, what) as client:
            found = _find(client, key)
            if found is None:
                return None
            return _container(client.inspect_container(found))

    def get(self, host: str, container_id: str) -> base.Container:
        """Return a container."""
        with self._client(host, f'show container {container_id}') as client:
            return _container(client.inspect_container(container_id))

    def rename(
        self, host: str, container_id: str, name: str
    ) -> base.Container:
        """Give a container another name."""
        with self._client(host, f'rename container {container_id}') as client:
            shown = _container(client.inspect_container(container_id))
            if shown.name != name:
                client.rename(container_id, name)
            return _container(client.inspect_container(container_id))

    def delete(self, host: str, container_id: str) -> None:
        """Stop and remove a container; fine if it is gone."""
        try:
            with self._client(
                host, f'remove container {container_id}'
            ) as client:
                client.stop(container_id, timeout=STOP_WITHIN)
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
        """Do something to a container."""
        what = f'{operation} container {container_id}'
        with self._client(host, what) as client:
            status = _container(client.inspect_container(container_id)).status
            if operation == 'restart':
                wait = parameters.get('wait_time')
                seconds = STOP_WITHIN if wait is None else wait
                client.restart(container_id, timeout=seconds)
            # Somebody who died may have done it already.
            elif operation == 'pause' and status != 'paused':
                client.pause(container_id)
            elif operation == 'unpause' and status != 'running':
                client.unpause(container_id)
            return _container(client.inspect_container(container_id))

    @contextlib.contextmanager
    def _client(self, host: str, what: str) -> Iterator[Any]:
        """Yield a client of a host, and have errors told as a provider's.

        :raises engine.providers.base.ProviderError: with the host's status
            and message
        """
        try:
            outgoing.refuse_forbidden(self._forbidden, host, 'its host')
        except outgoing.OutgoingError as error:
            raise base.ProviderError(f'could not {what}: {error}') from None
        try:
            docker: Any = importlib.import_module('docker')
        except ImportError:
            raise base.ProviderError(
                f'could not {what}: the engine lacks the package docker:'
                " pip install 'vobjects[docker]'"
            ) from None
        import requests

        try:
            with gate.waiting():
                client = _client_type(docker)(
                    base_url=host,
                    version='auto',
                    timeout=self._timeout,
                    tls=self._tls and _config(docker, self._tls),
                )
                with contextlib.closing(client):
                    yield client
        except docker.errors.NotFound as error:
            raise base.ContainerNotFound(
                f'could not {what}: 404: {error.explanation}'
            ) from None
        except docker.errors.APIError as error:
            raise base.ProviderError(
                f'could not {what}: {error.status_code}: {error.explanation}'
            ) from None
        except (
            docker.errors.DockerException,
            requests.RequestException,
        ) as error:
            LOG.warning('Could not %s on %s: %s', what, host, error)
            distrust = _distrust(error)
            if distrust:
                raise base.ProviderError(
                    f'could not {what}: no TLS with the Docker daemon of its'
                    f' host: {distrust}'
                ) from None
            raise base.ProviderError(
                f'could not {what}: the Docker daemon of its host does not'
                f' answer ({exceptions.cut(type(error).__name__)})'
            ) from None


def _client_type(docker: Any) -> Any:
    """Return the library's client, which trusts whom it is told to trust."""

    class Client(docker.APIClient):  # type: ignore[misc]
        def merge_environment_settings(
            self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
        ) -> Any:
            # requests would take REQUESTS_CA_BUNDLE for what it was not
            # told with each request.
            known = self.verify if verify is None else verify
            return super().merge_environment_settings(
                url, proxies, stream, known, cert
            )

    return Client


def _config(docker: Any, tls: Tls) -> Any:
    """Return how TLS is spoken, as the library wants to be told."""
    return docker.tls.TLSConfig(
        client_cert=tls.client, ca_cert=tls.ca_file, verify=tls.verify
    )


def _distrust(error: BaseException) -> str:
    """Return why there is no TLS; '' if an error has another reason."""
    chain: list[BaseException] = [error]
    for one in chain:
        if isinstance(one, ssl.SSLError):
            return str(getattr(one, 'verify_message', '') or one.reason or one)
        # urllib3 and requests keep a reason where only they look for it.
        inner = [*one.args, getattr(one, 'reason', None), one.__cause__]
        chain += [
            found
            for found in inner
            if isinstance(found, BaseException) and found not in chain
        ]
    return ''


def _find(client: Any, key: str) -> str | None:
    found = client.containers(all=True, filters={'label': f'{LABEL}={key}'})
    return found[0]['Id'] if found else None


def _created(
    client: Any, key: str, name: str, properties: Mapping[str, Any]
) -> str:
    """Make a container, of an image that the host may have to fetch."""
    values = {
        'image': properties['image'],
        'command': properties.get('command'),
        'name': name,
        'labels': {LABEL: key},
    }
    try:
        client.inspect_image(properties['image'])
    except importlib.import_module('docker').errors.ImageNotFound:
        client.pull(properties['image'])
    return str(client.create_container(**values)['Id'])


def _container(shown: Mapping[str, Any]) -> base.Container:
    config, state = shown.get('Config') or {}, shown['State']
    name = shown['Name'].lstrip('/')
    return base.Container(
        shown['Id'],
        name,
        state['Status'],
        {
            'id': shown['Id'],
            'name': name,
            'status': state['Status'],
            'created': shown.get('Created'),
            'image': config.get('Image'),
            'command': config.get('Cmd'),
            'exit_code': state.get('ExitCode'),
        },
    )
