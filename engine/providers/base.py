# SPDX-License-Identifier: Apache-2.0
"""What a cloud must be able to do.

An entry point of the group ``vobjects.providers`` names a class called with
``(conf, database)``. Every operation may be asked for again after the engine
that asked first has died, so each leads to the same end when repeated.

Beside servers there may be more that a cloud can do, see :class:`Provider`;
policies that need what a cloud lacks are refused when they are attached.

::

    ProviderError        the cloud could not do it; the message is for users
    └── ServerNotFound   there is no such server
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, cast

from oslo_config import cfg
from stevedore import driver

from engine.db import database
from engine.providers import balancing, lifecycle, placing

NAMESPACE = 'vobjects.providers'


class ProviderError(Exception):
    """The cloud could not do what it was asked."""


class ServerNotFound(ProviderError):
    """The cloud has no such server."""


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
        self, server_id: str, name: str, properties: Mapping[str, Any]
    ) -> Server:
        """Give a server other properties.

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

    def snapshot(self, server_id: str, name: str) -> str:
        """Make an image of a server and return its ID.

        :raises ServerNotFound: there is none
        """


class Provider(Protocol):
    """A cloud, or one region of it. What it lacks is None."""

    servers: Servers
    server_groups: placing.ServerGroups | None
    places: placing.Places | None
    hosts: placing.Hosts | None
    load_balancers: balancing.LoadBalancers | None
    lifecycle: lifecycle.Events | None

    def in_region(self, name: str) -> Provider:
        """Return another region of the same cloud.

        :raises ProviderError: it has none of that name
        """


def load(conf: cfg.ConfigOpts, target: database.Database) -> Provider:
    """Return the provider that ``[engine] provider`` names.

    :raises stevedore.exception.NoMatches: nobody brought one of that name
    """
    manager: driver.DriverManager[Any] = driver.DriverManager(
        NAMESPACE,
        conf.engine.provider,
        invoke_on_load=True,
        invoke_args=(conf, target),
    )
    return cast(Provider, manager.driver)
