# SPDX-License-Identifier: Apache-2.0
"""Settings of the cloud: directories, ports, servers, accounts."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import socket
from typing import Any, Self

from tests import databases
from tests.functional import brokers
from tests.real_cloud import services

REGION = 'RegionOne'

#: Password of all accounts.
PASSWORD = 'secret'

#: User -> project. The users of the services are in the project service.
USERS = {'admin': 'admin', 'demo': 'demo', 'other': 'other'}

#: Ports below the ephemeral range, and below the range of the other tests.
PORTS = range(19_350, 20_000)

#: Sockets that reserve ports until this process ends.
_RESERVATIONS: list[socket.socket] = []


def free_ports(count: int) -> int:
    """Return the first of some consecutive ports that are free.

    :raises OSError: there are none
    """
    for first in PORTS[::count]:
        with contextlib.suppress(OSError):
            # Another cloud may be starting.
            reservation = socket.socket(socket.AF_UNIX)
            reservation.bind(f'\0vobjects-openstack-{first}')
            _RESERVATIONS.append(reservation)
            for port in range(first, first + count):
                socket.create_server(('127.0.0.1', port)).close()
            return first
    raise OSError(f'no free ports from {PORTS[0]} to {PORTS[-1]}')


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """Where the cloud is, and which servers it uses.

    :ivar state: directory of its configuration, logs and data
    :ivar cache: directory of its virtual environment
    :ivar prefix: of the names of its databases, and the name of its virtual
        host in RabbitMQ
    :ivar first_port: the APIs listen on this port and those after it
    :ivar redis: URL of a Redis database that nothing else uses
    :ivar driver: scheme of ``transport_url``; it selects a driver of
        oslo.messaging
    """

    state: str
    cache: str
    prefix: str
    first_port: int
    redis: str
    driver: str = 'rabbit'

    @classmethod
    def load(cls, state: pathlib.Path) -> Self | None:
        """Return the settings of the cloud in a directory, if any."""
        try:
            text = (state / 'settings.json').read_text()
        except FileNotFoundError:
            return None
        return cls(**json.loads(text))

    def save(self) -> None:
        """Store the settings in the directory of the cloud."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / 'settings.json'
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1))

    @property
    def directory(self) -> pathlib.Path:
        return pathlib.Path(self.state)

    @property
    def logs(self) -> pathlib.Path:
        return self.directory / 'log'

    @property
    def clouds_yaml(self) -> pathlib.Path:
        return self.directory / 'clouds.yaml'

    def etc(self, service: str) -> pathlib.Path:
        """Return the directory with the configuration of a service."""
        return self.directory / 'etc' / service

    def port(self, service: str) -> int:
        """Return the port of the API of a service."""
        return self.first_port + list(services.BY_NAME).index(service)

    def url(self, service: str) -> str:
        """Return the root URL of the API of a service."""
        return f'http://127.0.0.1:{self.port(service)}'

    @property
    def auth_url(self) -> str:
        return f'{self.url("keystone")}/v3'

    def database_name(self, name: str) -> str:
        """Return the name of a database."""
        return f'{self.prefix}_{name}'

    def database_url(self, name: str) -> str:
        """Return the URL of a database."""
        url = databases.server_url('mysql').set(
            database=self.database_name(name), query={'charset': 'utf8mb4'}
        )
        return url.render_as_string(hide_password=False)

    @property
    def transport_url(self) -> str:
        """The URL of the message bus."""
        url = (
            brokers.broker_url()
            if brokers.VARIABLE in os.environ
            else f'rabbit://{brokers.LOCAL}{self.prefix}'
        )
        return url.replace('rabbit', self.driver, 1)

    def account(self, user: str) -> dict[str, Any]:
        """Return keystoneauth's options for a user in its project."""
        return {
            'auth_url': self.auth_url,
            'username': user,
            'password': PASSWORD,
            'project_name': USERS.get(user, 'service'),
            'user_domain_name': 'Default',
            'project_domain_name': 'Default',
        }
