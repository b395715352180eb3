# SPDX-License-Identifier: Apache-2.0
"""Server groups, zones and hosts of the simulated cloud.

The seed, the server's key and the existing servers determine the location of a
new server.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import storage
from engine.providers import base
from vobjects_simulated import state, tables

GROUP = 'server_group'


@dataclasses.dataclass(frozen=True, slots=True)
class Location:
    """The location of a server, as columns of its row."""

    region: str
    zone: str
    host: str
    group_id: str | None


class ServerGroups:
    """Server groups; see :class:`engine.providers.base.ServerGroups`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._cloud = cloud

    def find(self, name_or_id: str) -> base.ServerGroup | None:
        with self._cloud.database.reader() as session:
            row = _group(session, name_or_id)
            return None if row is None else _server_group(row)

    def create(self, name: str, policy: str) -> base.ServerGroup:
        self._cloud.work(name, 'create', f'the server group {name}')

        def insert(session: orm.Session) -> base.ServerGroup:
            row = _group(session, name)
            if row is None:
                row = tables.SimulatedPart(
                    kind=GROUP, name=name, data={'policy': policy}
                )
                session.add(row)
                session.flush()
            return _server_group(row)

        group = self._cloud.write(insert)
        if group.policy != policy:
            raise base.ProviderError(
                f'there is a server group {name} of policy {group.policy}'
            )
        return group

    def delete(self, group_id: str) -> None:
        self._cloud.work(group_id, 'delete', f'the server group {group_id}')
        self._cloud.database.write(
            lambda session: storage.change(
                session,
                sqlalchemy.delete(tables.SimulatedPart).where(
                    tables.SimulatedPart.kind == GROUP,
                    tables.SimulatedPart.id == group_id,
                ),
            )
        )


class Places:
    """Zones and regions; see :class:`engine.providers.base.Places`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._options = cloud.options

    def zones(self) -> Sequence[str]:
        """Return the names of the zones."""
        return list(self._options.zones)

    def regions(self) -> Sequence[str]:
        return list(self._options.regions)


class Hosts:
    """Hosts; see :class:`engine.providers.base.Hosts`."""

    def __init__(self, cloud: state.Simulation) -> None:
        self._cloud = cloud

    def problem(self, server_id: str) -> str:
        with self._cloud.database.reader() as session:
            row = session.get(
                tables.SimulatedServer, server_id, populate_existing=True
            )
        if row is None:
            raise base.ServerNotFound(f'there is no server {server_id}')
        if row.host in self._cloud.options.failed_hosts:
            return f'its host {row.host} is down'
        return ''


def new_location(
    cloud: state.Simulation,
    session: orm.Session,
    key: str,
    properties: Mapping[str, Any],
) -> Location:
    """Return the location for a new server.

    :param properties: its properties; only ``availability_zone``, which may
        include a host as in ``zone:host``, and ``scheduler_hints.group`` are
        used
    :raises engine.providers.base.ProviderError: there is no valid location
    """
    options = cloud.options
    zone_and_host = properties.get('availability_zone') or options.zones[0]
    zone, _, host = zone_and_host.partition(':')
    if zone not in options.zones:
        raise base.ProviderError(f'there is no availability zone {zone}')
    hint = (properties.get('scheduler_hints') or {}).get('group')
    group = None
    allowed: Sequence[str] = [host] if host else []
    if hint is not None:
        group = _group(session, str(hint), lock=True)
        if group is None:
            raise base.ProviderError(f'there is no server group {hint}')
        allowed = allowed or _hosts_for(options, session, group)
    chosen_host = _choose(cloud, key, allowed, restricted=bool(hint or host))
    return Location(
        cloud.region, zone, chosen_host, None if group is None else group.id
    )


def _hosts_for(
    options: Any, session: orm.Session, group: tables.SimulatedPart
) -> Sequence[str]:
    """Return the allowed hosts for a new server of a group."""
    used = set(
        session.scalars(
            sqlalchemy.select(tables.SimulatedServer.host).where(
                tables.SimulatedServer.group_id == group.id
            )
        )
    )
    usable = [
        name
        for number in range(1, options.hosts + 1)
        if (name := f'host-{number}') not in options.failed_hosts
    ]
    policy = group.data['policy']
    if policy in ('affinity', 'soft-affinity'):
        together = [name for name in usable if name in used]
        if together or (used and policy == 'affinity'):
            return together
        return usable
    apart = [name for name in usable if name not in used]
    return apart if apart or policy == 'anti-affinity' else usable


def _choose(
    cloud: state.Simulation,
    key: str,
    allowed: Sequence[str],
    *,
    restricted: bool,
) -> str:
    failed = cloud.options.failed_hosts
    share = cloud.chance(key, 'host')
    if restricted:
        candidates = [name for name in allowed if name not in failed]
        if not candidates:
            raise base.ProviderError('No valid host was found')
        return candidates[int(share * len(candidates))]
    count = cloud.options.hosts
    first = int(share * count)
    for offset in range(count):
        name = f'host-{(first + offset) % count + 1}'
        if name not in failed:
            return name
    raise base.ProviderError('No valid host was found')


def _group(
    session: orm.Session, name_or_id: str, *, lock: bool = False
) -> tables.SimulatedPart | None:
    part = tables.SimulatedPart
    query = sqlalchemy.select(part).where(
        part.kind == GROUP,
        sqlalchemy.or_(part.id == name_or_id, part.name == name_or_id),
    )
    if lock:
        query = query.with_for_update()
    return session.scalar(query)


def _server_group(row: tables.SimulatedPart) -> base.ServerGroup:
    return base.ServerGroup(row.id, row.name, row.data['policy'])
