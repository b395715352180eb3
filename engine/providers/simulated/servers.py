# SPDX-License-Identifier: Apache-2.0
"""Servers of the simulated cloud, stored in a table.

The table is in the engine's database, so that all engines see the same cloud.
An operation takes ``[simulated] latency`` seconds. For a server,
``simulated_wait_time`` in its metadata adds seconds. Operations fail at the
rate ``[simulated] failure_rate``. Only the seed, the server's key and the
operation determine which of them fail, so that you can repeat a run exactly.
"""

from __future__ import annotations

import dataclasses
import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from oslo_db import exception as oslo_db_exception
from sqlalchemy import orm

from engine.db import clock, health, models
from engine.providers import base
from engine.providers.simulated import locations, state

#: Key in a server's metadata: additional seconds for each operation.
WAIT_TIME = 'simulated_wait_time'

#: Operation -> the required status (None: any), and the new status.
TRANSITIONS: Mapping[str, tuple[str | None, str]] = {
    'reboot': (None, 'ACTIVE'),
    'rebuild': (None, 'ACTIVE'),
    'evacuate': (None, 'ACTIVE'),
    'migrate': ('ACTIVE', 'ACTIVE'),
    'restore': (None, 'ACTIVE'),
    'start': ('SHUTOFF', 'ACTIVE'),
    'stop': ('ACTIVE', 'SHUTOFF'),
    'pause': ('ACTIVE', 'PAUSED'),
    'unpause': ('PAUSED', 'ACTIVE'),
    'suspend': ('ACTIVE', 'SUSPENDED'),
    'resume': ('SUSPENDED', 'ACTIVE'),
    'rescue': ('ACTIVE', 'RESCUE'),
    'unrescue': ('RESCUE', 'ACTIVE'),
}


#: Operation on a server -> the type of its event.
EVENT_TYPES: Mapping[str, str] = {
    'stop': 'compute.instance.power_off.end',
    'pause': 'compute.instance.pause.end',
}


class SimulatedServers:
    """The simulated servers; see :class:`engine.providers.base.Servers`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._cloud = cloud
        self._database = cloud.database

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Server:
        """Create a server, or return the existing server of ``key``."""
        self._work(key, 'create', properties)

        def insert(session: orm.Session) -> base.Server:
            where = locations.new_location(
                self._cloud, session, key, properties
            )
            row = models.SimulatedServer(
                node_id=key,
                name=name,
                status='ACTIVE',
                properties=dict(properties),
                **dataclasses.asdict(where),
            )
            session.add(row)
            session.flush()
            return _server(row)

        try:
            return self.find(key) or self._database.write(insert)
        except oslo_db_exception.DBDuplicateEntry:
            # Another engine, which took over the node, was faster.
            existing = self.find(key)
            if existing is None:
                raise base.ProviderError(
                    f'server of {key} vanished while it was created'
                ) from None
            return existing

    def find(self, key: str) -> base.Server | None:
        """Return the server that was created for ``key``, if any."""
        with self._database.reader() as session:
            row = session.scalar(
                sqlalchemy.select(models.SimulatedServer).where(
                    models.SimulatedServer.node_id == key
                )
            )
            is_here = row is not None and self._is_here(row)
            return _server(row) if row is not None and is_here else None

    def get(self, server_id: str) -> base.Server:
        """Return a server."""
        with self._database.reader() as session:
            return _server(self._existing(session, server_id))

    def update(
        self,
        key: str,
        server_id: str,
        name: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> base.Server:
        """Update the properties of a server."""
        return self._change(
            server_id, 'update', name=name, properties=dict(new)
        )

    def set_metadata(
        self, server_id: str, metadata: Mapping[str, str | None]
    ) -> None:
        """Set keys of a server's metadata, and delete those that are None."""

        def change(session: orm.Session) -> None:
            row = self._existing(session, server_id)
            merged = {**(row.properties.get('metadata') or {}), **metadata}
            changed = {k: v for k, v in merged.items() if v is not None}
            row.properties = {**row.properties, 'metadata': changed}

        self._database.write(change)

    def delete(
        self,
        server_id: str,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Delete a server, if it exists."""
        try:
            key, properties = self._known(server_id)
        except base.ServerNotFound:
            return
        seconds = self._cloud.options.latency + self._wait_time(properties)
        if timeout is not None and timeout < seconds:
            raise base.ProviderError(
                f'server {server_id} was not gone within {timeout:g} seconds'
            )
        self._work(key, 'force-delete' if force else 'delete', properties)
        self._database.write(
            lambda session: session.execute(
                sqlalchemy.delete(models.SimulatedServer).where(
                    models.SimulatedServer.id == server_id
                )
            )
        )

    def detach(self, key: str) -> None:
        """Detach the server of ``key``, so that it can get a new one."""
        table = models.SimulatedServer
        self._database.write(
            lambda session: session.execute(
                sqlalchemy.update(table)
                .where(table.node_id == key)
                .values(node_id=table.id)
            )
        )

    def profile_properties(self, server_id: str) -> Mapping[str, Any]:
        """Return the profile properties that describe a server."""
        with self._database.reader() as session:
            row = self._existing(session, server_id)
            defaults = {'name': row.name, 'availability_zone': row.zone}
            return {**defaults, **row.properties}

    def node_data(self, server_id: str) -> Mapping[str, Any]:
        """Return the zone and the ports of a server."""
        with self._database.reader() as session:
            row = self._existing(session, server_id)
            data: dict[str, Any] = {'placement': {'zone': row.zone}}
            if ports := _ports(row):
                data['internal_ports'] = ports
            return data

    def delete_related(self, key: str) -> None:
        """Do nothing: there are no other resources."""

    def reboot(self, server_id: str, *, hard: bool) -> base.Server:
        """Reboot a server."""
        return self._change(server_id, 'reboot', status='ACTIVE')

    def rebuild(self, server_id: str) -> base.Server:
        """Rebuild a server, keeping its ID."""
        return self._change(server_id, 'rebuild', status='ACTIVE')

    def operate(
        self, server_id: str, operation: str, parameters: Mapping[str, Any]
    ) -> base.Server:
        """Run an operation on a server, which may change its status."""
        if operation not in TRANSITIONS:
            return self._change(server_id, operation)
        before, after = TRANSITIONS[operation]
        status = self.get(server_id).status
        # An engine that died may have done this already.
        if before is not None and status not in (before, after):
            raise base.ProviderError(
                f'cannot {operation} server {server_id} while it is {status}'
            )
        return self._change(server_id, operation, status=after)

    def snapshot(self, server_id: str, name: str) -> str:
        """Return the name; the simulated cloud stores no images."""
        self._change(server_id, 'snapshot')
        return name

    def _change(
        self, server_id: str, operation: str, **values: Any
    ) -> base.Server:
        key, properties = self._known(server_id)
        self._work(key, operation, properties)

        def change(session: orm.Session) -> base.Server:
            row = self._existing(session, server_id)
            for name, value in values.items():
                setattr(row, name, value)
            row.updated_at = clock.utcnow()
            _record_event(session, server_id, operation)
            session.flush()
            return _server(row)

        return self._database.write(change)

    def _known(self, server_id: str) -> tuple[str, Mapping[str, Any]]:
        """Return the key of a server and its properties."""
        with self._database.reader() as session:
            row = self._existing(session, server_id)
            return row.node_id, row.properties

    def _existing(
        self, session: orm.Session, server_id: str
    ) -> models.SimulatedServer:
        row = session.get(
            models.SimulatedServer, server_id, populate_existing=True
        )
        if row is None or not self._is_here(row):
            raise base.ServerNotFound(f'there is no server {server_id}')
        return row

    def _is_here(self, row: models.SimulatedServer) -> bool:
        default = self._cloud.options.regions[0]
        return (row.region or default) == self._cloud.region

    def _work(
        self, key: str, operation: str, properties: Mapping[str, Any]
    ) -> None:
        self._cloud.work(
            key,
            operation,
            f'the server of node {key}',
            seconds=self._wait_time(properties),
        )

    def _wait_time(self, properties: Mapping[str, Any]) -> float:
        """Return the seconds in a server's metadata, limited by an option."""
        metadata: Mapping[str, Any] = properties.get('metadata') or {}
        try:
            seconds = float(metadata.get(WAIT_TIME, 0))
        except (TypeError, ValueError, OverflowError):
            return 0.0
        if not seconds > 0:  # false for NaN
            return 0.0
        return min(seconds, float(self._cloud.options.max_wait_time))


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
            'addresses': _addresses(row),
            'region': row.region,
            'availability_zone': row.zone,
            'hypervisor_hostname': row.host,
            'server_groups': [row.group_id] if row.group_id else [],
            **{
                name: row.properties[name]
                for name in ('flavor', 'image', 'metadata', 'networks')
                if name in row.properties
            },
        },
    )


def _addresses(row: models.SimulatedServer) -> dict[str, Any]:
    """Return the addresses of a server, by network name."""
    by_network: dict[str, Any] = {}
    for network in row.properties.get('networks') or [{}]:
        name = network.get('network') or 'private'
        addresses = by_network.setdefault(name, [])
        fixed = network.get('fixed_ip') or _address(f'{row.id}/{name}', '10')
        addresses.append(_ip(fixed, 'fixed'))
        pool = network.get('floating_network')
        floating = network.get('floating_ip')
        if pool or floating:
            floating = floating or _address(f'{row.id}/{pool}', '172')
            addresses.append(_ip(floating, 'floating'))
    return by_network


def _ports(row: models.SimulatedServer) -> list[dict[str, Any]]:
    """Return the ports of a server in the form of Senlin's node data."""
    ports = []
    for network in row.properties.get('networks') or ():
        name = network.get('network') or 'private'
        key = f'{row.id}/{name}'
        fixed = network.get('fixed_ip') or _address(key, '10')
        port: dict[str, Any] = {
            'id': network.get('port') or _id(key),
            'network_id': name,
            'security_group_ids': network.get('security_groups') or [],
            'fixed_ips': [
                {
                    'ip_address': fixed,
                    'subnet_id': network.get('subnet') or f'{name}-subnet',
                }
            ],
        }
        if not network.get('port'):
            port['remove'] = True
        pool = network.get('floating_network')
        address = network.get('floating_ip')
        if pool or address:
            address = address or _address(f'{row.id}/{pool}', '172')
            port['floating'] = {
                'id': _id(f'{row.id}/{address}'),
                'floating_ip_address': address,
                'floating_network_id': pool,
                **({'remove': True} if pool else {}),
            }
        ports.append(port)
    return ports


def _id(key: str) -> str:
    """Return an ID derived from a key."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def _address(key: str, first: str) -> str:
    """Return an address derived from a key."""
    digest = hashlib.sha256(key.encode()).digest()
    return f'{first}.{digest[0]}.{digest[1]}.{digest[2]}'


def _ip(address: str, kind: str) -> dict[str, Any]:
    version = 6 if ':' in address else 4
    return {'addr': address, 'version': version, 'OS-EXT-IPS:type': kind}


def _record_event(
    session: orm.Session, server_id: str, operation: str
) -> None:
    """Store the event of an operation, if it has one."""
    type_ = EVENT_TYPES.get(operation)
    if type_ is not None:
        health.delete_old_events(session, models.SimulatedEvent)
        session.add(models.SimulatedEvent(server_id=server_id, type=type_))
