# SPDX-License-Identifier: Apache-2.0
"""Load balancers of the simulated cloud."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import orm

from engine import storage
from engine.providers import base, load_balancing
from vobjects_simulated import state, tables

BALANCER = 'load_balancer'
MEMBER = 'member'


class LoadBalancers:
    """Implement :class:`engine.providers.load_balancing.LoadBalancers`.

    A change is complete when its method returns. It fails if ``latency`` is
    longer than ``timeout``.
    """

    def __init__(self, cloud: state.Simulation) -> None:
        self._cloud = cloud

    def check(self, spec: load_balancing.Spec) -> None:
        options = self._cloud.options
        subnets = [f'{name}-subnet' for name in options.networks]
        for kind, name, names in (
            ('subnet', spec.pool.get('subnet'), subnets),
            ('subnet', spec.vip.get('subnet'), subnets),
            ('network', spec.vip.get('network'), options.networks),
            ('availability zone', spec.availability_zone, options.zones),
            ('flavor', spec.flavor_id, options.load_balancer_flavors),
        ):
            if name and name not in names:
                raise base.ProviderError(f'there is no {kind} {name}')

    def get(
        self, name_or_id: str, pool_id: str, monitor_id: str | None
    ) -> load_balancing.Balancer:
        part = tables.SimulatedPart
        with self._cloud.database.reader() as session:
            rows = session.scalars(
                sqlalchemy.select(part).where(part.kind == BALANCER)
            ).all()
        for row in rows:
            if name_or_id in (row.id, row.data['name']):
                balancer = _balancer(row)
                break
        else:
            raise base.ProviderError(f'there is no load balancer {name_or_id}')
        if balancer.pool_id != pool_id:
            raise base.ProviderError(
                f'load balancer {name_or_id} has no pool {pool_id}'
            )
        if monitor_id is not None and balancer.monitor_id != monitor_id:
            raise base.ProviderError(
                f'pool {pool_id} has no health monitor {monitor_id}'
            )
        return balancer

    def create(
        self, key: str, spec: load_balancing.Spec, *, timeout: float
    ) -> load_balancing.Balancer:
        """Create the load balancer for ``key``, or return the existing one."""
        self.check(spec)
        self._work(key, 'create', f'the load balancer {spec.name}', timeout)

        def insert(session: orm.Session) -> load_balancing.Balancer:
            row = session.scalar(
                sqlalchemy.select(tables.SimulatedPart).where(
                    tables.SimulatedPart.kind == BALANCER,
                    tables.SimulatedPart.name == key,
                )
            )
            if row is None:
                row = tables.SimulatedPart(
                    kind=BALANCER, name=key, data=self._data(key, spec)
                )
                session.add(row)
                session.flush()
            return _balancer(row)

        return self._cloud.write(insert)

    def delete(
        self, balancer: load_balancing.Balancer, *, timeout: float
    ) -> None:
        resource = f'the load balancer {balancer.id}'
        self._work(balancer.id, 'delete', resource, timeout)
        part = tables.SimulatedPart

        def remove(session: orm.Session) -> None:
            for condition in (
                (part.kind == MEMBER) & (part.owner == balancer.pool_id),
                (part.kind == BALANCER) & (part.id == balancer.id),
            ):
                storage.change(
                    session, sqlalchemy.delete(part).where(condition)
                )

        self._cloud.database.write(remove)

    def add_member(
        self,
        balancer: load_balancing.Balancer,
        server_id: str,
        *,
        port: int,
        subnet: str,
        timeout: float,
    ) -> str:
        resource = f'the member of server {server_id}'
        self._work(server_id, 'add', resource, timeout)

        def insert(session: orm.Session) -> str:
            self._check_pool(session, balancer)
            if session.get(tables.SimulatedServer, server_id) is None:
                raise base.ServerNotFound(f'there is no server {server_id}')
            row = session.scalar(
                sqlalchemy.select(tables.SimulatedPart).where(
                    tables.SimulatedPart.kind == MEMBER,
                    tables.SimulatedPart.owner == balancer.pool_id,
                    tables.SimulatedPart.name == server_id,
                )
            )
            if row is None:
                row = tables.SimulatedPart(
                    kind=MEMBER,
                    owner=balancer.pool_id,
                    name=server_id,
                    data={'protocol_port': port, 'subnet': subnet},
                )
                session.add(row)
                session.flush()
            return row.id

        return self._cloud.write(insert)

    def remove_member(
        self,
        balancer: load_balancing.Balancer,
        member_id: str,
        *,
        timeout: float,
    ) -> None:
        resource = f'the member {member_id}'
        self._work(member_id, 'remove', resource, timeout)
        self._cloud.database.write(
            lambda session: storage.change(
                session,
                sqlalchemy.delete(tables.SimulatedPart).where(
                    tables.SimulatedPart.kind == MEMBER,
                    tables.SimulatedPart.id == member_id,
                ),
            )
        )

    def _work(
        self, key: str, operation: str, resource: str, timeout: float
    ) -> None:
        if self._cloud.options.latency > timeout:
            raise base.ProviderError(
                f'{resource} was not ready within {timeout:g} seconds'
            )
        self._cloud.work(key, operation, resource)

    def _check_pool(
        self, session: orm.Session, balancer: load_balancing.Balancer
    ) -> None:
        # Lock the row, so that no member is added during a deletion.
        row = session.get(
            tables.SimulatedPart, balancer.id, with_for_update=True
        )
        if row is None or row.data['pool_id'] != balancer.pool_id:
            raise base.ProviderError(
                f'the pool {balancer.pool_id} of load balancer'
                f' {balancer.id} is gone'
            )

    def _data(self, key: str, spec: load_balancing.Spec) -> dict[str, Any]:
        number = int(self._cloud.chance(key, 'address') * 2**16)
        address = spec.vip.get('address')
        return {
            'name': spec.name,
            'vip': dict(spec.vip),
            'pool': dict(spec.pool),
            'monitor': None if spec.monitor is None else dict(spec.monitor),
            'availability_zone': spec.availability_zone,
            'flavor_id': spec.flavor_id,
            'pool_id': storage.new_id(),
            'listener_id': storage.new_id(),
            'monitor_id': None if spec.monitor is None else storage.new_id(),
            'vip_address': address or f'10.0.{number // 256}.{number % 256}',
        }


def _balancer(row: tables.SimulatedPart) -> load_balancing.Balancer:
    return load_balancing.Balancer(
        id=row.id,
        pool_id=row.data['pool_id'],
        listener_id=row.data['listener_id'],
        monitor_id=row.data['monitor_id'],
        vip_address=row.data['vip_address'],
    )
