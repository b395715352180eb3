# SPDX-License-Identifier: Apache-2.0
"""The interface of clouds.

An entry point of the group ``vobjects.providers`` names a class, which is
called with ``(conf, database)``. If an engine dies during an operation,
another engine repeats it, so every operation must be idempotent. Features
besides servers are optional, see :class:`Provider`. A policy cannot be
attached if the cloud lacks a feature that it needs.

::

    ProviderError                the operation failed; message for users
    ├── NotAuthorized            not allowed to act for this user
    └── NotFound                 the resource does not exist
        ├── ServerNotFound
        ├── StackNotFound
        └── ContainerNotFound
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn, Protocol, cast

from oslo_config import cfg

from engine import plugins
from engine.db import database
from engine.providers import load_balancing, server_events
from vobjects import exceptions
from vobjects.clustering import run

NAMESPACE = 'vobjects.providers'

#: Containers on hosts: classes that are called with ``(conf)``.
CONTAINERS = 'vobjects.containers'

#: Host of containers that run where the operator has configured it.
NO_HOST = ''


class ProviderError(Exception):
    """Raised when an operation of the cloud failed.

    :param message: for users; characters that a database or UTF-8 cannot hold
        are replaced, because it may quote the cloud
    """

    def __init__(self, message: str) -> None:
        super().__init__(exceptions.storable_text(message))


class NotAuthorized(ProviderError):
    """Raised when the service is not allowed to act for a user."""


class RegionNotFound(ProviderError):
    """Raised when the cloud has no such region."""


class NotFound(ProviderError):
    """Raised when the cloud has no such resource."""


class ServerNotFound(NotFound):
    """Raised when the cloud has no such server."""


class StackNotFound(NotFound):
    """Raised when the cloud has no such stack."""


class ContainerNotFound(NotFound):
    """Raised when the host has no such container."""


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server as described by its cloud.

    :ivar id: the cloud's ID of the server
    :ivar status: a status of Nova: ACTIVE, ERROR, SHUTOFF, ...
    :ivar details: the description for users, as JSON
    """

    id: str
    name: str
    status: str
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Stack:
    """A stack as described by its cloud.

    :ivar id: the cloud's ID of the stack
    :ivar status: a status of Heat: CREATE_COMPLETE, UPDATE_FAILED, ...
    :ivar reason: the reason of the status
    :ivar outputs: the values of the template's outputs
    :ivar details: the description for users, as JSON
    """

    id: str
    name: str
    status: str
    reason: str
    outputs: Mapping[str, Any]
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Container:
    """A container as described by its host.

    :ivar id: the host's ID of the container
    :ivar status: a status of Docker: running, paused, exited, ...
    :ivar details: the description for users, as JSON
    """

    id: str
    name: str
    status: str
    details: Mapping[str, Any]


class Servers(Protocol):
    """The servers of a cloud. Every method may raise ProviderError.

    An optional method ``node_data(server_id)`` returns what the data of a node
    contains about a new server: ``placement`` and ``internal_ports``, which
    clients of Senlin read.
    """

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> Server:
        """Create a server, or return the existing server of ``key``."""

    def find(self, key: str) -> Server | None:
        """Return the server that was created for ``key``, if any."""

    def get(self, server_id: str) -> Server:
        """Return a server.

        :raises ServerNotFound: the server does not exist
        """

    def update(
        self,
        key: str,
        server_id: str,
        name: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> Server:
        """Update the properties of a server.

        :param key: the key that the server was created for, if any
        :param old: the current properties; some may have been changed to
            ``new`` already
        :raises ServerNotFound: the server does not exist
        """

    def set_metadata(
        self, server_id: str, metadata: Mapping[str, str | None]
    ) -> None:
        """Set keys of a server's metadata, and delete those that are None.

        :raises ServerNotFound: the server does not exist
        """

    def delete(
        self,
        server_id: str,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Delete a server, if it exists.

        :param force: whether to ensure that it no longer runs, even if its
            host does not respond
        :param timeout: seconds that the deletion may take; None: the cloud's
            default
        """

    def detach(self, key: str) -> None:
        """Detach the server of ``key``, so that it can get a new one."""

    def delete_related(self, key: str) -> None:
        """Delete the resources created besides the server of ``key``."""

    def operate(
        self, server_id: str, operation: str, parameters: Mapping[str, Any]
    ) -> Server:
        """Run an operation on a server.

        :param operation: a key of
            :attr:`engine.profiles.nova_server.NovaServer.operations`
        :raises ServerNotFound: the server does not exist
        """

    def profile_properties(self, server_id: str) -> Mapping[str, Any]:
        """Return the profile properties that describe a server.

        :raises ServerNotFound: the server does not exist
        """

    def snapshot(self, server_id: str, name: str) -> str:
        """Create an image of a server, and return the image's ID.

        :raises ServerNotFound: the server does not exist
        """


class Stacks(Protocol):
    """The stacks of a cloud. Every method may raise ProviderError."""

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> Stack:
        """Create a stack, or return the existing stack of ``key``."""

    def find(self, key: str) -> Stack | None:
        """Return the stack that was created for ``key``, if any."""

    def get(self, stack_id: str) -> Stack:
        """Return a stack.

        :raises StackNotFound: the stack does not exist
        """

    def update(self, stack_id: str, properties: Mapping[str, Any]) -> Stack:
        """Update the properties of a stack.

        :raises StackNotFound: the stack does not exist
        """

    def delete(self, stack_id: str) -> None:
        """Delete a stack, if it exists."""

    def check(self, stack_id: str) -> Stack:
        """Start the cloud's check of a stack; return the stack after it.

        :raises StackNotFound: the stack does not exist
        """

    def abandon(self, stack_id: str) -> None:
        """Delete a stack, but keep its resources."""

    def profile_properties(self, stack_id: str) -> Mapping[str, Any]:
        """Return the profile properties that describe a stack.

        :raises StackNotFound: the stack does not exist
        """


class Containers(Protocol):
    """The containers of any host. Every method may raise ProviderError.

    A host is identified by the URL of its Docker daemon, or :data:`NO_HOST`.
    """

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> Container:
        """Run a container, or return the existing container of ``key``."""

    def find(self, host: str, key: str) -> Container | None:
        """Return the container that was created for ``key``, if any."""

    def get(self, host: str, container_id: str) -> Container:
        """Return a container.

        :raises ContainerNotFound: the container does not exist
        """

    def rename(self, host: str, container_id: str, name: str) -> Container:
        """Rename a container.

        :raises ContainerNotFound: the container does not exist
        """

    def delete(self, host: str, container_id: str) -> None:
        """Stop and delete a container, if it exists."""

    def operate(
        self,
        host: str,
        container_id: str,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> Container:
        """Run an operation on a container.

        :param operation: a key of
            :attr:`~engine.profiles.base.ProfileType.operations` of containers
        :raises ContainerNotFound: the container does not exist
        """


class Unavailable:
    """Resources that cannot be used: each operation raises ProviderError.

    :param message: for users
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        def fail(*arguments: Any, **options: Any) -> NoReturn:
            raise ProviderError(self._message)

        return fail


@dataclasses.dataclass(frozen=True, slots=True)
class ServerGroup:
    """Servers that are kept on the same host, or on different hosts.

    :ivar policy: a policy of Nova: affinity, anti-affinity, soft-affinity or
        soft-anti-affinity
    """

    id: str
    name: str
    policy: str


class ServerGroups(Protocol):
    """The server groups of a cloud. Every method may raise ProviderError."""

    def find(self, name_or_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""

    def create(self, name: str, policy: str) -> ServerGroup:
        """Create a group, or return the one with that name and policy.

        :raises ProviderError: also if a group of that
            name has another policy
        """

    def delete(self, group_id: str) -> None:
        """Delete a group, if it exists."""


class Places(Protocol):
    """The locations of a cloud. Every method may raise ProviderError."""

    def zones(self) -> Collection[str]:
        """Return the names of the available zones."""

    def regions(self) -> Collection[str]:
        """Return the names of the regions."""


class Hosts(Protocol):
    """The hosts of servers."""

    def problem(self, server_id: str) -> str:
        """Return why a server's host fails; empty if it is up.

        :raises ServerNotFound: the server does not exist
        :raises ProviderError: the status is unknown
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Authorization:
    """The right to act for a user in a project.

    :ivar id: a unique ID
    :ivar auth: a keystoneauth plugin, which raises ProviderError
    """

    id: str
    auth: Any


class Provider:
    """Base class of clouds, or of one region. Missing features are None.

    :ivar for_user: returns the cloud with the permissions of a user in a
        project, and raises ProviderError; None: the cloud is the same for all
        users
    """

    servers: Servers
    stacks: Stacks
    containers: Containers
    server_groups: ServerGroups | None = None
    places: Places | None = None
    hosts: Hosts | None = None
    load_balancers: load_balancing.LoadBalancers | None = None
    lifecycle: server_events.EventStore | None = None
    for_user: Callable[[Authorization], Provider] | None = None

    def in_region(self, name: str) -> Provider:
        """Return another region of the same cloud.

        :raises RegionNotFound: the cloud has no such region
        """
        raise RegionNotFound(f'there is no region {name}')


def load(conf: cfg.ConfigOpts, target: database.Database) -> Provider:
    """Return the provider configured by ``[engine] provider``.

    :raises vobjects.exceptions.VobjectsError: no such provider is installed,
        or its configuration is not valid
    """
    return cast(
        Provider,
        plugins.load(
            NAMESPACE,
            conf.engine.provider,
            '[engine] provider',
            *(conf, target),
        ),
    )


def load_containers(conf: cfg.ConfigOpts) -> Containers:
    """Return the containers on hosts with a Docker daemon.

    Of several installed classes, the one with the first name is used. Without
    any, each operation raises ProviderError.

    :raises vobjects.exceptions.VobjectsError: the configuration is not valid
    """
    points = importlib.metadata.entry_points(group=CONTAINERS)
    for name in sorted(points.names):
        return cast(Containers, points[name].load()(conf))
    return cast(
        Containers,
        Unavailable(
            'containers need another package in the environment of the'
            f' engine: {run.INSTALLATIONS["docker"]}'
        ),
    )
