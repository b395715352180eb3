# SPDX-License-Identifier: Apache-2.0
"""What a cloud must be able to do.

An entry point of the group ``vobjects.providers`` names a class called with
``(conf, database)``. Every operation may be asked for again after the engine
that asked first has died, so each leads to the same end when repeated.

Beside servers there may be more that a cloud can do, see :class:`Provider`;
policies that need what a cloud lacks are refused when they are attached.

::

    ProviderError              it could not do it; the message is for users
    ├── NotDelegated           it may not do it for this user any more
    └── NotFound               there is no such thing
        ├── ServerNotFound
        ├── StackNotFound
        └── ContainerNotFound
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from oslo_config import cfg
from stevedore import extension

from engine.db import database
from engine.providers import balancing, lifecycle, placing
from vobjects import exceptions

NAMESPACE = 'vobjects.providers'


class UnknownProviderError(exceptions.VobjectsError):
    """The configuration names a provider that is not installed."""


class ProviderError(Exception):
    """The cloud could not do what it was asked."""


class NotDelegated(ProviderError):
    """The cloud does not let us act for a user."""


class RegionNotFound(ProviderError):
    """The cloud has no such region."""


class NotFound(ProviderError):
    """The cloud has no such thing."""


class ServerNotFound(NotFound):
    """The cloud has no such server."""


class StackNotFound(NotFound):
    """The cloud has no such stack."""


class ContainerNotFound(NotFound):
    """The host has no such container."""


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server as its cloud describes it.

    :ivar id: the cloud's name for it
    :ivar status: Nova's: ACTIVE, ERROR, SHUTOFF, ...
    :ivar details: what users are shown of it, as JSON
    """

    id: str
    name: str
    status: str
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Stack:
    """A stack as its cloud describes it.

    :ivar id: the cloud's name for it
    :ivar status: Heat's: CREATE_COMPLETE, UPDATE_FAILED, ...
    :ivar reason: why it has that status
    :ivar outputs: what its template says it gives
    :ivar details: what users are shown of it, as JSON
    """

    id: str
    name: str
    status: str
    reason: str
    outputs: Mapping[str, Any]
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Container:
    """A container as its host describes it.

    :ivar id: the host's name for it
    :ivar status: Docker's: running, paused, exited, ...
    :ivar details: what users are shown of it, as JSON
    """

    id: str
    name: str
    status: str
    details: Mapping[str, Any]


class Servers(Protocol):
    """The servers of a cloud. Every method may raise ProviderError."""

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> Server:
        """Make a server, or return the one that ``key`` has already."""

    def find(self, key: str) -> Server | None:
        """Return the server that was created for ``key``."""

    def get(self, server_id: str) -> Server:
        """Return a server.

        :raises ServerNotFound: there is none
        """

    def update(
        self,
        key: str,
        server_id: str,
        name: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> Server:
        """Give a server other properties.

        :param key: what it was created for, if it was
        :param old: what it has, or some of ``new`` already
        :raises ServerNotFound: there is none
        """

    def tell(self, server_id: str, metadata: Mapping[str, str | None]) -> None:
        """Set keys of a server's metadata, and remove those of None.

        :raises ServerNotFound: there is none
        """

    def delete(
        self,
        server_id: str,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Remove a server; fine if it is gone.

        :param force: whether it is made sure that it runs no more, even if
            its host does not answer
        :param timeout: seconds in which it has to be gone; None: as the
            cloud likes
        """

    def disown(self, key: str) -> None:
        """Let ``key`` have another server, and leave the one that it has."""

    def release(self, key: str) -> None:
        """Remove what was made beside the server that ``key`` had."""

    def reboot(self, server_id: str, *, hard: bool) -> Server:
        """Restart a server.

        :raises ServerNotFound: there is none
        """

    def rebuild(self, server_id: str) -> Server:
        """Make a server anew from its image, keeping its ID.

        :raises ServerNotFound: there is none
        """

    def operate(
        self, server_id: str, operation: str, parameters: Mapping[str, Any]
    ) -> Server:
        """Do something to a server.

        :param operation: a key of
            :data:`engine.profiles.nova_server.OPERATIONS`
        :raises ServerNotFound: there is none
        """

    def described(self, server_id: str) -> Mapping[str, Any]:
        """Return the properties by which a server could be made.

        :raises ServerNotFound: there is none
        """

    def snapshot(self, server_id: str, name: str) -> str:
        """Make an image of a server and return its ID.

        :raises ServerNotFound: there is none
        """


class Stacks(Protocol):
    """The stacks of a cloud. Every method may raise ProviderError."""

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> Stack:
        """Make a stack, or return the one that ``key`` has already."""

    def find(self, key: str) -> Stack | None:
        """Return the stack that was created for ``key``."""

    def get(self, stack_id: str) -> Stack:
        """Return a stack.

        :raises StackNotFound: there is none
        """

    def update(self, stack_id: str, properties: Mapping[str, Any]) -> Stack:
        """Give a stack other properties.

        :raises StackNotFound: there is none
        """

    def delete(self, stack_id: str) -> None:
        """Remove a stack; fine if it is gone."""

    def check(self, stack_id: str) -> Stack:
        """Have a cloud look at what a stack is made of; return what it saw.

        :raises StackNotFound: there is none
        """

    def abandon(self, stack_id: str) -> None:
        """Forget a stack without removing what it is made of."""

    def described(self, stack_id: str) -> Mapping[str, Any]:
        """Return the properties by which a stack could be made.

        :raises StackNotFound: there is none
        """


class Containers(Protocol):
    """The containers of any host. Every method may raise ProviderError.

    A host is named by the URL of its Docker daemon.
    """

    def create(
        self, host: str, key: str, name: str, properties: Mapping[str, Any]
    ) -> Container:
        """Run a container, or return the one that ``key`` has already."""

    def find(self, host: str, key: str) -> Container | None:
        """Return the container that was created for ``key``."""

    def get(self, host: str, container_id: str) -> Container:
        """Return a container.

        :raises ContainerNotFound: there is none
        """

    def rename(self, host: str, container_id: str, name: str) -> Container:
        """Give a container another name.

        :raises ContainerNotFound: there is none
        """

    def delete(self, host: str, container_id: str) -> None:
        """Stop and remove a container; fine if it is gone."""

    def operate(
        self,
        host: str,
        container_id: str,
        operation: str,
        parameters: Mapping[str, Any],
    ) -> Container:
        """Do something to a container.

        :param operation: a key of
            :data:`engine.profiles.docker_container.OPERATIONS`
        :raises ContainerNotFound: there is none
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Delegation:
    """The right to act for a user in a project.

    :ivar id: no other one has it
    :ivar auth: a plugin of keystoneauth, which raises ProviderError
    """

    id: str
    auth: Any


class Provider(Protocol):
    """A cloud, or one region of it. What it lacks is None.

    :ivar delegated: returns the cloud as a user sees it in a project, and
        raises ProviderError; None: it is the same for everybody
    """

    servers: Servers
    stacks: Stacks
    containers: Containers
    server_groups: placing.ServerGroups | None
    places: placing.Places | None
    hosts: placing.Hosts | None
    load_balancers: balancing.LoadBalancers | None
    lifecycle: lifecycle.Events | None
    delegated: Callable[[Delegation], Provider] | None

    def in_region(self, name: str) -> Provider:
        """Return another region of the same cloud.

        :raises RegionNotFound: it has none of that name
        """


def load(conf: cfg.ConfigOpts, target: database.Database) -> Provider:
    """Return the provider that ``[engine] provider`` names.

    :raises UnknownProviderError: nobody brought one of that name
    :raises vobjects.exceptions.VobjectsError: what else the provider needs
        that the operator can mend
    """
    found: extension.ExtensionManager[Any] = extension.ExtensionManager(
        NAMESPACE
    )
    name = conf.engine.provider
    if name not in found:
        raise UnknownProviderError(
            f'[engine] provider: there is no {name}; there are'
            f' {", ".join(sorted(found.names()))}'
        )
    return cast(Provider, found[name].plugin(conf, target))
