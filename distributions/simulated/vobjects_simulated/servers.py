# SPDX-License-Identifier: Apache-2.0
"""Servers of the simulated cloud, stored in a table.

The table is in the engine's database, so that all engines see the same cloud.
An operation takes ``[simulated] latency`` seconds. For a server,
``simulated_wait_time`` in its metadata adds seconds. Operations fail at the
rate ``[simulated] failure_rate``. Only the seed, the server's key and the
operation determine which of them fail, so that you can repeat a run exactly.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine.providers import base
from vobjects_simulated import locations, rows, tables

#: Key in a server's metadata: additional seconds for each operation.
WAIT_TIME = 'simulated_wait_time'

#: Operation on a server -> the type of its event.
EVENT_TYPES: Mapping[str, str] = {
    'stop': 'compute.instance.power_off.end',
    'pause': 'compute.instance.pause.end',
}


class SimulatedServers(rows.ResourceTable[base.Server]):
    """The simulated servers; see :class:`engine.providers.base.Servers`."""

    model = tables.SimulatedServer
    noun = 'server'
    not_found = base.ServerNotFound
    transitions: rows.Transitions = {
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

    def create(
        self, key: str, name: str, properties: Mapping[str, Any]
    ) -> base.Server:
        return self.add(key, name, 'ACTIVE', properties)

    def update(
        self,
        key: str,
        server_id: str,
        name: str,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
    ) -> base.Server:
        return self.change(
            server_id, 'update', name=name, properties=dict(new)
        )

    def set_metadata(
        self, server_id: str, metadata: Mapping[str, str | None]
    ) -> None:

        def change(session: orm.Session) -> None:
            row = self.existing(session, server_id)
            merged = {**(row.properties.get('metadata') or {}), **metadata}
            changed = {k: v for k, v in merged.items() if v is not None}
            row.properties = {**row.properties, 'metadata': changed}

        self.database.write(change)

    def delete(
        self,
        server_id: str,
        *,
        force: bool = False,
        timeout: float | None = None,
    ) -> None:
        if timeout is not None:
            self._check_timeout(server_id, timeout)
        self.remove(server_id, 'force-delete' if force else 'delete')

    def _check_timeout(self, server_id: str, timeout: float) -> None:
        with contextlib.suppress(base.ServerNotFound):
            _, _, properties = self.known(server_id, 'delete')
            seconds = self.cloud.options.latency + self.wait_time(properties)
            if timeout < seconds:
                raise base.ProviderError(
                    f'server {server_id} was not gone within {timeout:g}'
                    ' seconds'
                )

    def detach(self, key: str) -> None:
        table = tables.SimulatedServer
        self.database.write(
            lambda session: session.execute(
                sqlalchemy.update(table)
                .where(table.node_id == key)
                .values(node_id=table.id)
            )
        )

    def profile_properties(self, server_id: str) -> Mapping[str, Any]:
        with self.database.reader() as session:
            row = self.existing(session, server_id)
            defaults = {'name': row.name, 'availability_zone': row.zone}
            return {**defaults, **row.properties}

    def node_data(self, server_id: str) -> Mapping[str, Any]:
        """Return the zone and the ports of a server."""
        with self.database.reader() as session:
            row = self.existing(session, server_id)
            data: dict[str, Any] = {'placement': {'zone': row.zone}}
            if ports := _ports(row):
                data['internal_ports'] = ports
            return data

    def delete_related(self, key: str) -> None:
        """Do nothing: there are no other resources."""

    def snapshot(self, server_id: str, name: str) -> str:
        """Return the name; the simulated cloud stores no images."""
        self.change(server_id, 'snapshot')
        return name

    def is_here(self, row: tables.SimulatedServer) -> bool:
        """Return whether a server is in this region."""
        default = self.cloud.options.regions[0]
        return (row.region or default) == self.cloud.region

    def columns(
        self, session: orm.Session, key: str, properties: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Return the location of a new server."""
        return dataclasses.asdict(
            locations.new_location(self.cloud, session, key, properties)
        )

    def after_change(
        self, session: orm.Session, row: tables.SimulatedServer, operation: str
    ) -> None:
        """Store the event of an operation, if it has one."""
        type_ = EVENT_TYPES.get(operation)
        if type_ is not None:
            self.cloud.events.add(session, row.id, type_)

    def wait_time(self, properties: Mapping[str, Any]) -> float:
        """Return the seconds in a server's metadata, limited by an option."""
        metadata: Mapping[str, Any] = properties.get('metadata') or {}
        try:
            seconds = float(metadata.get(WAIT_TIME, 0))
        except (TypeError, ValueError, OverflowError):
            return 0.0
        if not seconds > 0:  # false for NaN
            return 0.0
        return min(seconds, float(self.cloud.options.max_wait_time))

    def described(self, row: tables.SimulatedServer) -> base.Server:
        """Return a server with its addresses and location."""
        return base.Server(
            row.id,
            row.name,
            row.status,
            {
                **rows.identity(row),
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


def _addresses(row: tables.SimulatedServer) -> dict[str, Any]:
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


def _ports(row: tables.SimulatedServer) -> list[dict[str, Any]]:
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
    return str(uuid.uuid5(uuid.NAMESPACE_URL, key))


def _address(key: str, first: str) -> str:
    digest = hashlib.sha256(key.encode()).digest()
    return f'{first}.{digest[0]}.{digest[1]}.{digest[2]}'


def _ip(address: str, kind: str) -> dict[str, Any]:
    version = 6 if ':' in address else 4
    return {'addr': address, 'version': version, 'OS-EXT-IPS:type': kind}
