# SPDX-License-Identifier: Apache-2.0
"""A cloud whose servers are rows of a table.

The table is in the engine's database, so that all engines see one cloud.
Operations take ``[simulated] latency`` seconds, and a share of them fails:
``[simulated] failure_rate``. Which ones follows from the seed, the server's
key and the operation alone, so that a run can be repeated exactly.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from oslo_config import cfg
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, database, models
from engine.providers import base

#: What an operation leads to, and from which status it can be done; None:
#: from any.
TRANSITIONS: Mapping[str, tuple[str | None, str]] = {
    'reboot': (None, 'ACTIVE'),
    'rebuild': (None, 'ACTIVE'),
    'evacuate': (None, 'ACTIVE'),
    'start': ('SHUTOFF', 'ACTIVE'),
    'stop': ('ACTIVE', 'SHUTOFF'),
    'pause': ('ACTIVE', 'PAUSED'),
    'unpause': ('PAUSED', 'ACTIVE'),
    'suspend': ('ACTIVE', 'SUSPENDED'),
    'resume': ('SUSPENDED', 'ACTIVE'),
    'rescue': ('ACTIVE', 'RESCUE'),
    'unrescue': ('RESCUE', 'ACTIVE'),
}


class SimulatedProvider:
    """See the module's docstring."""

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self.servers: base.Servers = SimulatedServers(conf, target)


class SimulatedServers:
    """The servers; see :class:`engine.providers.base.Servers`."""

    def __init__(
        self, conf: cfg.ConfigOpts, target: database.Database
    ) -> None:
        self._options = conf.simulated
        self._database = target

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Server:
        """Make a server, or return the one that ``key`` has already."""
        self._work(key, 'create')

        def insert(session: orm.Session) -> base.Server:
            row = models.SimulatedServer(
                node_id=key,
                name=name,
                status='ACTIVE',
                properties=dict(properties),
            )
            session.add(row)
            session.flush()
            return _server(row)

        try:
            return self.find(key) or self._database.write(insert)
        except oslo_db_exception.DBDuplicateEntry:
            # Another engine, which took the node over, was faster.
            found = self.find(key)
            if found is None:
                raise base.ProviderError(
                    f'server of {key} vanished while it was created'
                ) from None
            return found

    def find(self, key: str) -> base.Server | None:
        """Return the server that was created for ``key``."""
        with self._database.reader() as session:
            row = session.scalar(
                sqlalchemy.select(models.SimulatedServer).where(
                    models.SimulatedServer.node_id == key
                )
            )
            return None if row is None else _server(row)

    def get(self, server_id: str) -> base.Server:
        """Return a server."""
        with self._database.reader() as session:
            return _server(_existing(session, server_id))

    def update(
        self, server_id: str, name: str, properties: Mapping[str, Any]
    ) -> base.Server:
        """Give a server other properties."""
        return self._change(
            server_id, 'update', name=name, properties=dict(properties)
        )

    def delete(self, server_id: str) -> None:
        """Remove a server; fine if it is gone."""
        try:
            key = self._key(server_id)
        except base.ServerNotFound:
            return
        self._work(key, 'delete')
        self._database.write(
            lambda session: session.execute(
                sqlalchemy.delete(models.SimulatedServer).where(
                    models.SimulatedServer.id == server_id
                )
            )
        )

    def reboot(self, server_id: str, *, hard: bool) -> base.Server:
        """Restart a server."""
        return self._change(server_id, 'reboot', status='ACTIVE')

    def rebuild(self, server_id: str) -> base.Server:
        """Make a server anew, keeping its ID."""
        return self._change(server_id, 'rebuild', status='ACTIVE')

    def operate(
        self, server_id: str, operation: str, parameters: Mapping[str, Any]
    ) -> base.Server:
        """Do something to a server: it gets another status, or none."""
        if operation not in TRANSITIONS:
            return self._change(server_id, operation)
        before, after = TRANSITIONS[operation]
        status = self.get(server_id).status
        # Somebody who died may have done it already.
        if before is not None and status not in (before, after):
            raise base.ProviderError(
                f'cannot {operation} server {server_id} while it is {status}'
            )
        return self._change(server_id, operation, status=after)

    def snapshot(self, server_id: str, name: str) -> str:
        """Return the name: the simulated cloud keeps no images."""
        self._change(server_id, 'snapshot')
        return name

    def _change(
        self, server_id: str, operation: str, **values: Any
    ) -> base.Server:
        self._work(self._key(server_id), operation)

        def change(session: orm.Session) -> base.Server:
            row = _existing(session, server_id)
            for name, value in values.items():
                setattr(row, name, value)
            row.updated_at = clock.utcnow()
            session.flush()
            return _server(row)

        return self._database.write(change)

    def _key(self, server_id: str) -> str:
        with self._database.reader() as session:
            return _existing(session, server_id).node_id

    def _work(self, key: str, operation: str) -> None:
        """Take the time an operation takes, and perhaps fail."""
        time.sleep(self._options.latency)
        text = f'{self._options.seed}/{key}/{operation}'
        digest = hashlib.sha256(text.encode()).digest()
        if int.from_bytes(digest[:8]) / 2**64 < self._options.failure_rate:
            raise base.ProviderError(
                f'the simulated cloud failed to {operation} the server of'
                f' node {key}'
            )


def _existing(session: orm.Session, server_id: str) -> models.SimulatedServer:
    row = session.get(
        models.SimulatedServer, server_id, populate_existing=True
    )
    if row is None:
        raise base.ServerNotFound(f'there is no server {server_id}')
    return row


def _server(row: models.SimulatedServer) -> base.Server:
    return base.Server(
        row.id,
        row.name,
        row.status,
        {
            'id': row.id,
            'name': row.name,
            'status': row.status,
            'created': row.created_at.isoformat(),
            **{
                name: row.properties[name]
                for name in ('flavor', 'image', 'metadata', 'networks')
                if name in row.properties
            },
        },
    )
