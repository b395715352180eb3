# SPDX-License-Identifier: Apache-2.0
"""Octavia's load balancers; see :mod:`engine.providers.load_balancing`.

The description of a load balancer holds the key that it was created for.
Octavia runs one change of a load balancer at a time, and rejects other changes
with 409. A rejected change is repeated until it succeeds or times out.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Mapping
from typing import Any

import openstack.exceptions

from engine.providers import base, load_balancing
from engine.providers.openstack import sdk_errors
from engine.providers.openstack.connection import Cloud

LOG = logging.getLogger(__name__)

_ROOT = '/lbaas'

#: Seconds in which a load balancer whose creation failed is deleted.
CLEAN_UP_TIMEOUT = 60.0

#: Statuses of a load balancer that was deleted.
_GONE = ('PENDING_DELETE', 'DELETED')

#: Keys of a pool's session persistence that Octavia supports.
_PERSISTENCE = ('type', 'cookie_name')

#: Keys of a health monitor that are sent to Octavia unchanged.
_MONITOR = (
    'type',
    'delay',
    'timeout',
    'max_retries',
    'admin_state_up',
    'http_method',
    'url_path',
    'expected_codes',
)


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """A change of a load balancer with a deadline.

    :ivar description: the change, for messages
    :ivar end: the deadline, as a value of ``time.monotonic``
    """

    description: str
    end: float

    @classmethod
    def start(cls, description: str, timeout: float) -> Task:
        """Return a change with a timeout in seconds."""
        return cls(description, time.monotonic() + timeout)

    def remaining(self) -> float:
        """Return the remaining seconds."""
        return max(self.end - time.monotonic(), 0)


class LoadBalancers:
    """The load balancers of one region."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def check(self, spec: load_balancing.Spec) -> None:
        self._subnet(spec.pool['subnet'])
        self._vip(spec.vip)
        for path, name in (
            ('availabilityzones', spec.availability_zone),
            ('flavors', spec.flavor_id),
        ):
            if name:
                with sdk_errors.converted(f'find {name} of the {path}'):
                    self._get(f'{path}/{name}')

    def get(
        self, name_or_id: str, pool_id: str, monitor_id: str | None
    ) -> load_balancing.Balancer:
        description = f'find the load balancer {name_or_id}'
        with sdk_errors.converted(description):
            balancer = self._find(name_or_id)
            pool = self._get(f'pools/{pool_id}')['pool']
        if {'id': balancer['id']} not in pool['loadbalancers']:
            raise base.ProviderError(
                f'load balancer {name_or_id} has no pool {pool_id}'
            )
        if monitor_id and pool.get('healthmonitor_id') != monitor_id:
            raise base.ProviderError(
                f'pool {pool_id} has no health monitor {monitor_id}'
            )
        return _balancer(balancer, pool_id, pool.get('healthmonitor_id'))

    def create(
        self, key: str, spec: load_balancing.Spec, *, timeout: float
    ) -> load_balancing.Balancer:
        task = Task.start(f'create the load balancer {spec.name}', timeout)
        with sdk_errors.converted(task.description):
            balancer = self._find_by_key(key)
        try:
            with sdk_errors.converted(task.description):
                if balancer is None:
                    balancer = self._add_balancer(key, spec)
                return self._ensure_parts(balancer['id'], spec, task)
        except base.ProviderError:
            self._clean_up(key)
            raise

    def delete(
        self, balancer: load_balancing.Balancer, *, timeout: float
    ) -> None:
        task = Task.start(f'delete load balancer {balancer.id}', timeout)
        path = f'loadbalancers/{balancer.id}?cascade=true'
        try:
            self._retry_on_conflict(task, 'DELETE', path)
            self._wait(balancer.id, task, 'DELETED')
        except base.NotFound:
            return

    def add_member(
        self,
        balancer: load_balancing.Balancer,
        server_id: str,
        *,
        port: int,
        subnet: str,
        timeout: float,
    ) -> str:
        description = f'add server {server_id} to load balancer {balancer.id}'
        task = Task.start(description, timeout)
        subnet_details = self._subnet(subnet)
        server, address = self._address(server_id, subnet_details, subnet)
        path = f'pools/{balancer.pool_id}/members'
        with sdk_errors.converted(description):
            for member in self._get(path)['members']:
                if (member['address'], member['protocol_port']) == (
                    address,
                    port,
                ):
                    return str(member['id'])
        values = {
            'name': server['name'],
            'address': address,
            'protocol_port': port,
            'subnet_id': subnet_details.id,
        }
        response = self._retry_on_conflict(
            task, 'POST', path, {'member': values}
        )
        self._wait(balancer.id, task)
        return str(response.json()['member']['id'])

    def remove_member(
        self,
        balancer: load_balancing.Balancer,
        member_id: str,
        *,
        timeout: float,
    ) -> None:
        description = (
            f'remove member {member_id} of load balancer {balancer.id}'
        )
        task = Task.start(description, timeout)
        path = f'pools/{balancer.pool_id}/members/{member_id}'
        try:
            self._retry_on_conflict(task, 'DELETE', path)
            self._wait(balancer.id, task)
        except base.NotFound:
            return

    # Creation

    def _add_balancer(
        self, key: str, spec: load_balancing.Spec
    ) -> dict[str, Any]:
        values = {
            'name': spec.name,
            'description': _description(key),
            'admin_state_up': spec.vip.get('admin_state_up', True),
            **self._vip(spec.vip),
        }
        if spec.availability_zone:
            values['availability_zone'] = spec.availability_zone
        if spec.flavor_id:
            values['flavor_id'] = spec.flavor_id
        return sdk_errors.create_once(
            self._cloud.options,
            lambda: self._post(
                'loadbalancers', 'loadbalancer', values, connect_retries=0
            ),
            lambda: self._find_by_key(key),
        )

    def _ensure_parts(
        self, id_: str, spec: load_balancing.Spec, task: Task
    ) -> load_balancing.Balancer:
        """Create the missing parts of a load balancer, and return it."""
        balancer = self._wait(id_, task)
        if not balancer['listeners']:
            self._post('listeners', 'listener', _listener(id_, spec))
            balancer = self._wait(id_, task)
        if not balancer['pools']:
            listener = balancer['listeners'][0]['id']
            self._post('pools', 'pool', _pool(listener, spec))
            balancer = self._wait(id_, task)
        pool_id = balancer['pools'][0]['id']
        # Octavia omits the key if the pool has no health monitor.
        pool = self._get(f'pools/{pool_id}')['pool']
        monitor_id = pool.get('healthmonitor_id')
        if spec.monitor is not None and not monitor_id:
            values = {
                key: spec.monitor[key]
                for key in _MONITOR
                if spec.monitor.get(key) is not None
            }
            monitor = self._post(
                'healthmonitors',
                'healthmonitor',
                {'pool_id': pool_id, **values},
            )
            monitor_id = monitor['id']
            self._wait(id_, task)
        return _balancer(balancer, pool_id, monitor_id)

    def _clean_up(self, key: str) -> None:
        """Delete what exists of a load balancer whose creation failed."""
        description = f'delete the load balancer of {key}'
        task = Task.start(description, CLEAN_UP_TIMEOUT)
        try:
            with sdk_errors.converted(description):
                balancers = self._list_by_key(key)
            for balancer in balancers:
                path = f'loadbalancers/{balancer["id"]}?cascade=true'
                self._retry_on_conflict(task, 'DELETE', path)
        except base.ProviderError as error:
            LOG.warning('A load balancer is left: %s', error)

    # Lookup

    def _vip(self, vip: Mapping[str, Any]) -> dict[str, Any]:
        values = {}
        if vip.get('subnet'):
            values['vip_subnet_id'] = self._subnet(vip['subnet']).id
        elif vip.get('network'):
            with sdk_errors.converted(f'find the network {vip["network"]}'):
                values['vip_network_id'] = self._cloud.network.find_network(
                    vip['network'], ignore_missing=False
                ).id
        if vip.get('address'):
            values['vip_address'] = vip['address']
        return values

    def _subnet(self, name_or_id: str) -> Any:
        with sdk_errors.converted(f'find the subnet {name_or_id}'):
            return self._cloud.network.find_subnet(
                name_or_id, ignore_missing=False
            )

    def _address(
        self, server_id: str, subnet: Any, name: str
    ) -> tuple[dict[str, Any], str]:
        description = f'show server {server_id}'
        with sdk_errors.converted(description, base.ServerNotFound):
            network = self._cloud.network.get_network(subnet.network_id)
            response = self._cloud.send(
                'GET', 'compute', f'/servers/{server_id}'
            )
        server: dict[str, Any] = response.json()['server']
        for address in (server.get('addresses') or {}).get(network.name, ()):
            is_fixed = address.get('OS-EXT-IPS:type', 'fixed') == 'fixed'
            if is_fixed and address['version'] == subnet.ip_version:
                return server, str(address['addr'])
        raise base.ProviderError(
            f'server {server_id} has no address in the subnet {name}'
        )

    def _find(self, name_or_id: str) -> dict[str, Any]:
        balancers = self._list('loadbalancers', name=name_or_id)
        if len(balancers) > 1:
            raise base.ProviderError(
                f'{len(balancers)} load balancers are called {name_or_id}'
            )
        if balancers:
            return balancers[0]
        balancer: dict[str, Any] = self._get(f'loadbalancers/{name_or_id}')[
            'loadbalancer'
        ]
        return balancer

    def _find_by_key(self, key: str) -> dict[str, Any] | None:
        balancers = self._list_by_key(key)
        return balancers[0] if balancers else None

    def _list_by_key(self, key: str) -> list[dict[str, Any]]:
        """Return the load balancers for a key that are not being deleted."""
        return [
            balancer
            for balancer in self._list(
                'loadbalancers', description=_description(key)
            )
            if balancer['provisioning_status'] not in _GONE
        ]

    # Requests to Octavia

    def _request(
        self, method: str, path: str, body: Any = None, **options: Any
    ) -> Any:
        return self._cloud.send(
            method, 'load_balancer', f'{_ROOT}/{path}', json=body, **options
        )

    def _get(self, path: str) -> dict[str, Any]:
        content: dict[str, Any] = self._request('GET', path).json()
        return content

    def _list(self, collection: str, **filters: str) -> list[dict[str, Any]]:
        response = self._request('GET', collection, params=filters)
        items: list[dict[str, Any]] = response.json()[collection]
        return items

    def _post(
        self, path: str, key: str, values: Mapping[str, Any], **options: Any
    ) -> dict[str, Any]:
        created: dict[str, Any] = self._request(
            'POST', path, {key: values}, **options
        ).json()[key]
        return created

    def _retry_on_conflict(
        self, task: Task, method: str, path: str, body: Any = None
    ) -> Any:
        """Send a request until no other change conflicts with it."""

        def attempt() -> Any:
            with sdk_errors.converted(task.description):
                try:
                    return self._request(method, path, body)
                except openstack.exceptions.ConflictException:
                    return None

        return self._cloud.wait_until(
            attempt, task.description, task.remaining()
        )

    def _wait(
        self, id_: str, task: Task, wanted: str = 'ACTIVE'
    ) -> dict[str, Any]:
        """Return a load balancer once it has a provisioning status."""

        def poll() -> dict[str, Any] | None:
            with sdk_errors.converted(task.description):
                balancer: dict[str, Any] = self._get(f'loadbalancers/{id_}')[
                    'loadbalancer'
                ]
            status = balancer['provisioning_status']
            if status == 'ERROR':
                raise base.ProviderError(
                    f'could not {task.description}: load balancer {id_} is'
                    ' in ERROR'
                )
            return balancer if status == wanted else None

        return self._cloud.wait_until(poll, task.description, task.remaining())


def _description(key: str) -> str:
    return f'vobjects {key}'


def _listener(balancer_id: str, spec: load_balancing.Spec) -> dict[str, Any]:
    vip = spec.vip
    values = {
        'name': spec.name,
        'loadbalancer_id': balancer_id,
        'protocol': vip['protocol'],
        'protocol_port': vip['protocol_port'],
        'admin_state_up': vip.get('admin_state_up', True),
    }
    if vip.get('connection_limit') is not None:
        values['connection_limit'] = vip['connection_limit']
    return values


def _pool(listener_id: str, spec: load_balancing.Spec) -> dict[str, Any]:
    pool = spec.pool
    persistence = {
        key: value
        for key, value in (pool.get('session_persistence') or {}).items()
        if key in _PERSISTENCE and value is not None
    }
    values = {
        'name': spec.name,
        'listener_id': listener_id,
        'protocol': pool['protocol'],
        'lb_algorithm': pool['lb_method'],
        'admin_state_up': pool.get('admin_state_up', True),
    }
    if persistence.get('type') not in (None, 'NONE'):
        values['session_persistence'] = persistence
    return values


def _balancer(
    balancer: Mapping[str, Any], pool_id: str, monitor_id: str | None
) -> load_balancing.Balancer:
    listeners = balancer['listeners']
    return load_balancing.Balancer(
        id=balancer['id'],
        pool_id=pool_id,
        listener_id=listeners[0]['id'] if listeners else None,
        monitor_id=monitor_id,
        vip_address=balancer.get('vip_address'),
    )
