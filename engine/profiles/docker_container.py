# SPDX-License-Identifier: Apache-2.0
"""The profile type ``container.dockerinc.docker-1.0``: containers.

A container runs on a host, which is another node: a server, or a stack with an
output ``fixed_ip``. The host's Docker daemon listens on the property ``port``.
The properties are those of Senlin's type of the same name.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from typing import Any

from engine import spec_schema
from engine.profiles import base
from engine.providers import base as providers
from vobjects import exceptions
from vobjects.clustering import errors

#: Names of containers that Docker accepts.
NAME = re.compile('[a-zA-Z0-9][a-zA-Z0-9_.-]+')

_NOT_IN_NAME = re.compile('[^a-zA-Z0-9_.-]')

#: Default port of a Docker daemon that listens on the network.
PORT = 2375


SCHEMA = spec_schema.load(__package__, 'docker_container')


class DockerContainer(base.ProfileType):
    """The profile type of containers."""

    name = 'container.dockerinc.docker'
    version = '1.0'
    noun = 'container'
    support_status = SCHEMA.support_status
    properties = SCHEMA.properties
    operations = SCHEMA.operations
    recoveries = ('REBOOT', 'RECREATE')
    on_hosts = True

    def check_properties(self, properties: Mapping[str, Any]) -> None:
        """Check hosts, name and command.

        There must be one host or host cluster.
        """
        hosts = [
            name
            for name in ('host_cluster', 'host_node')
            if properties.get(name)
        ]
        if len(hosts) != 1:
            both = ', but not both' if hosts else ''
            raise errors.InvalidSpec(
                f"{spec_schema.PROPERTIES}: needs either 'host_cluster' or"
                " 'host_node'",
                "Either 'host_cluster' or 'host_node' must be specified"
                f'{both}.',
            )
        check_name(properties.get('name'))
        check_command(properties.get('command'))

    def host_url(
        self, provider: providers.Provider, node: base.NodeView
    ) -> str:
        """Return the URL of the Docker daemon on the node's host.

        :raises engine.providers.base.NotFound: the host no longer exists
        :raises engine.providers.base.ProviderError: the host has no address,
            or its type is not supported
        """
        host = node.host
        if host is None or not host.physical_id:
            raise providers.NotFound(f'node {node.id} has no host')
        find_address = ADDRESSES.get(host.type)
        if find_address is None:
            raise providers.ProviderError(
                f'a node of type {host.type} cannot be a host of containers;'
                f' those of {", ".join(ADDRESSES)} can'
            )
        address_text = find_address(provider, host.physical_id)
        try:
            address = ipaddress.ip_address(str(address_text))
        except ValueError:
            raise providers.ProviderError(
                f'the host {host.physical_id} of node {node.id} has no'
                f' address: {exceptions.cut(address_text)}'
            ) from None
        url_host = f'[{address}]' if address.version == 6 else str(address)
        return f'tcp://{url_host}:{host.port}'

    def create(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
    ) -> str:
        """Run the node's container and return its ID."""
        return provider.containers.create(
            self.host_url(provider, node),
            node.id,
            container_name(node, properties),
            self.container_properties(node, properties),
        ).id

    def container_properties(
        self, node: base.NodeView, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the properties of the node's container."""
        return properties

    def apply_update(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> None:
        """Rename the container; no other property can be updated."""
        host, name = self.host_url(provider, node), container_name(node, new)
        provider.containers.rename(host, node.require_physical_id(), name)

    def delete(
        self, provider: providers.Provider, node: base.NodeView
    ) -> None:
        """Delete the container, even if its ID was not recorded."""
        try:
            host = self.host_url(provider, node)
        except providers.NotFound:
            return  # deleted with its host
        find = functools.partial(provider.containers.find, host)
        for id_ in node.object_ids(find):
            provider.containers.delete(host, id_)

    def check(self, provider: providers.Provider, node: base.NodeView) -> str:
        """Return why the container is not running; empty if it is."""
        return self._problem(provider, node, ('running',))

    def failure(
        self, provider: providers.Provider, node: base.NodeView
    ) -> str:
        """Return why the container has failed; users may have paused it."""
        return self._problem(
            provider, node, ('running', 'paused', 'restarting')
        )

    def _problem(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        healthy: Collection[str],
    ) -> str:
        """Return why the status of the container is not a healthy one."""
        if not node.physical_id:
            return 'it has no container'
        try:
            host = self.host_url(provider, node)
            container = provider.containers.get(host, node.physical_id)
        except providers.ContainerNotFound:
            return f'its container {node.physical_id} is gone'
        except providers.NotFound as error:
            return f'its container has no host: {error}'
        if container.status not in healthy:
            return f'its container {container.id} is {container.status}'
        return ''

    def recover(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        properties: Mapping[str, Any],
        operation: str,
        parameters: Mapping[str, Any],
    ) -> str:
        """Recover the container and return its (new) ID."""
        if operation == 'REBOOT':
            self.operate(provider, node, 'restart', {})
            return node.require_physical_id()
        return super().recover(
            provider, node, properties, operation, parameters
        )

    def operate(
        self,
        provider: providers.Provider,
        node: base.NodeView,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> None:
        """Run an operation on the container."""
        host = self.host_url(provider, node)
        provider.containers.operate(
            host, node.require_physical_id(), operation, parameters
        )

    def adopt(
        self, provider: providers.Provider, physical_id: str, *, snapshot: bool
    ) -> dict[str, Any]:
        """Reject the request, because the container's host is unknown."""
        raise providers.ProviderError(
            'the host of a container that no node has is not known'
        )

    def details(
        self, provider: providers.Provider, node: base.NodeView
    ) -> dict[str, Any]:
        """Return the host's description of the container."""
        host = self.host_url(provider, node)
        return dict(
            provider.containers.get(host, node.require_physical_id()).details
        )


def check_name(name: str | None) -> None:
    """Check the name of a container; None and '' mean no name.

    :raises vobjects.clustering.errors.InvalidSpec: Docker rejects the name
    """
    if name and not NAME.fullmatch(name):
        raise errors.InvalidSpec(
            f'{spec_schema.PROPERTIES}.name: must be two or more of the'
            ' characters a-z, A-Z, 0-9, "_", "." and "-", the first a letter'
            f' or digit, not {exceptions.cut(name)}'
        )


def check_command(command: str | None) -> None:
    """Check that a command can be split into words.

    :raises vobjects.clustering.errors.InvalidSpec: a quotation mark or
        escaped character is missing
    """
    try:
        shlex.split(command or '')
    except ValueError as error:
        raise errors.InvalidSpec(
            f'{spec_schema.PROPERTIES}.command: must be words as in a shell,'
            f' not {exceptions.cut(command)}: {error}'
        ) from None


def container_name(node: base.NodeView, properties: Mapping[str, Any]) -> str:
    """Return the name of a node's container, unique on its host.

    A name in the properties takes precedence; it need not be unique. Other
    characters of a node's name than Docker accepts become underscores.
    """
    end = f'-{node.id[:8]}'
    start = _NOT_IN_NAME.sub(
        '_', node.name[: spec_schema.MAX_NAME_LENGTH - len(end)]
    )
    if not start[:1].isalnum():
        start = f'n{start[1:]}'
    return str(properties.get('name') or start + end)


def _address_of_server(provider: providers.Provider, id_: str) -> Any:
    """Return the first fixed address of a server, preferring IPv4."""
    addresses = provider.servers.get(id_).details.get('addresses') or {}
    fixed = [
        address
        for network_addresses in addresses.values()
        for address in network_addresses
        if address.get('OS-EXT-IPS:type', 'fixed') == 'fixed'
    ]
    fixed.sort(key=lambda address: address.get('version') != 4)
    return fixed[0]['addr'] if fixed else None


def _address_of_stack(provider: providers.Provider, id_: str) -> Any:
    return provider.stacks.get(id_).outputs.get('fixed_ip')


#: Profile type of a host -> the function that finds its address.
ADDRESSES: Mapping[str, Callable[[providers.Provider, str], Any]] = {
    'os.nova.server': _address_of_server,
    'os.heat.stack': _address_of_stack,
}
