# SPDX-License-Identifier: Apache-2.0
"""Containers on the Docker daemon that the operator has configured.

Tenants share the daemon. The operator bounds the memory, processors and
processes of each container, and chooses its network and the allowed images. A
container has no devices, host paths or additional privileges.
"""

from __future__ import annotations

import contextlib
import fnmatch
import urllib.parse
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from engine.providers import base
from vobjects import exceptions
from vobjects_docker import connection, containers

#: Prefix of the labels that this service sets.
PREFIX = 'vobjects.'

CLUSTER_LABEL = f'{PREFIX}cluster'
PROJECT_LABEL = f'{PREFIX}project'

#: Size of a container's log; the daemon keeps one older log.
_LOG_SIZE = '10m'

_MIB = 2**20


def check_connection(conf: cfg.ConfigOpts) -> None:
    """Connect to the daemon of ``[provider_docker] url``.

    :raises UrlError: the URL of the daemon is not valid
    :raises vobjects.exceptions.TlsConfigError: the TLS options
        are not valid
    :raises vobjects.exceptions.Unreachable: the daemon does not answer, or
        rejects the connection
    """
    LocalContainers(conf).check_connection()


class UrlError(exceptions.VobjectsError):
    """Raised when the URL of the daemon is not valid."""


class LocalContainers(containers.Containers):
    """The containers of one daemon, whose only host is ``NO_HOST``.

    :param conf: the configuration, with ``[provider_docker]``
    :raises UrlError: the URL of the daemon is not valid
    :raises vobjects.exceptions.TlsConfigError: the TLS options
        are not valid
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__(conf)
        self._options = conf[connection.SECTION]
        self._url = _checked_url(self._options.url)
        self._daemons = connection.Daemons(conf, '')

    def check_connection(self) -> None:
        """Connect to the daemon.

        :raises vobjects.exceptions.Unreachable: the daemon does not answer,
            or rejects the connection
        """
        try:
            with self._client(base.NO_HOST, f'connect to {self._url}'):
                pass
        except base.ProviderError as error:
            raise exceptions.Unreachable(
                f'{error}; start the daemon, or set [{connection.SECTION}] url'
            ) from None

    def _client(
        self, host: str, description: str
    ) -> contextlib.AbstractContextManager[Any]:
        if host != base.NO_HOST:
            raise base.ProviderError(
                f'could not {description}: the provider docker runs no'
                ' containers on hosts'
            )
        return self._daemons.client(self._url, description)

    def _inspected(self, client: Any, container_id: str) -> base.Container:
        # Whatever the database says, do not touch containers of others.
        response = client.inspect_container(container_id)
        try:
            labels = response['Config']['Labels'] or {}
            is_own = bool(labels.get(containers.LABEL))
        except (AttributeError, LookupError, TypeError):
            is_own = False
        if not is_own:
            raise base.ContainerNotFound(
                f'container {container_id} was not created by this service'
            )
        return containers.described(response)

    def _arguments(
        self, client: Any, key: str, properties: Mapping[str, Any]
    ) -> dict[str, Any]:
        options = self._options
        image = properties['image']
        if not any(fnmatch.fnmatchcase(image, p) for p in options.images):
            raise base.ProviderError(
                f'the image {exceptions.cut(image)} is not allowed; allowed'
                f' are {", ".join(options.images)}'
            )
        memory = _limited(properties, 'memory', options.max_memory) * _MIB
        cpus = _limited(properties, 'cpus', options.max_cpus)
        # All of them: the image may have labels with these names, too.
        labels = {
            **(properties.get('labels') or {}),
            CLUSTER_LABEL: properties.get('cluster') or '',
            PROJECT_LABEL: properties.get('project') or '',
            containers.LABEL: key,
        }
        return {
            'environment': properties.get('environment') or {},
            'labels': labels,
            'host_config': client.create_host_config(
                network_mode=options.network,
                mem_limit=int(memory),
                memswap_limit=int(memory),
                nano_cpus=int(cpus * 10**9),
                pids_limit=options.max_processes,
                security_opt=['no-new-privileges'],
                # Without it, containers cannot imitate others in the network.
                cap_drop=['NET_RAW'],
                log_config={
                    'Type': 'json-file',
                    'Config': {'max-size': _LOG_SIZE, 'max-file': '2'},
                },
            ),
        }


def _limited(
    properties: Mapping[str, Any], name: str, maximum: float
) -> float:
    """Return a property; by default its maximum.

    :raises engine.providers.base.ProviderError: the value is too high
    """
    value = properties.get(name)
    if value is None:
        return maximum
    if value > maximum:
        raise base.ProviderError(
            f'{name} must be at most {maximum:g}, not {value:g}; see'
            f' [{connection.SECTION}] max_{name}'
        )
    return float(value)


def _checked_url(url: str) -> str:
    """Return the URL of a daemon.

    :raises UrlError: the URL is not valid
    """
    with contextlib.suppress(ValueError):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme == connection.UNIX and parts.path and not parts.netloc:
            return url
        if parts.scheme == 'tcp' and parts.hostname and parts.port:
            return url
    raise UrlError(
        f'[{connection.SECTION}] url: must be unix:///PATH or tcp://HOST:PORT,'
        f' not {exceptions.cut(url)}'
    )
