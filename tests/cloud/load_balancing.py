# SPDX-License-Identifier: Apache-2.0
"""Fake Octavia, which allows one change of a load balancer at a time."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

ROOT = '/balancing/v2.0/lbaas'

#: Flavors and availability zones of load balancers.
FLAVORS = ('flavor-small',)
ZONES = ('lb-zone',)


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API to an application."""

    @app.get('/balancing')
    def balancing_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/balancing/v2.0'}
        version = {'id': 'v2.27', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}

    @app.get(f'{ROOT}/<any(loadbalancers,pools,listeners):kind>')
    def listed(kind: str) -> Any:
        requested = flask.request.args
        matches = [
            resource
            for resource in cloud.balancing[kind].values()
            if all(
                resource.get(key) == value for key, value in requested.items()
            )
        ]
        return {kind: matches}

    @app.get(f'{ROOT}/loadbalancers/<id_>')
    def balancer(id_: str) -> Any:
        with cloud.lock:
            balancer = fake.get_or_404(
                cloud.balancing['loadbalancers'], id_, 'Balancer'
            )
            step(cloud, balancer)
            fake.get_or_404(cloud.balancing['loadbalancers'], id_, 'Balancer')
            return {'loadbalancer': balancer}

    @app.get(f'{ROOT}/pools/<id_>')
    def pool(id_: str) -> Any:
        return {'pool': fake.get_or_404(cloud.balancing['pools'], id_, 'Pool')}

    @app.get(f'{ROOT}/pools/<id_>/members')
    def members(id_: str) -> Any:
        fake.get_or_404(cloud.balancing['pools'], id_, 'Pool')
        matches = [
            m
            for m in cloud.balancing['members'].values()
            if m['pool_id'] == id_
        ]
        return {'members': matches}

    @app.get(f'{ROOT}/flavors/<id_>')
    def balancer_flavor(id_: str) -> Any:
        if id_ not in FLAVORS:
            fake.abort(404, f'Flavor {id_} not found.')
        return {'flavor': {'id': id_}}

    @app.get(f'{ROOT}/availabilityzones/<name>')
    def balancer_zone(name: str) -> Any:
        if name not in ZONES:
            fake.abort(404, f'Availability Zone {name} not found.')
        return {'availability_zone': {'name': name}}

    _serve_changes(app, cloud)


def _serve_changes(app: flask.Flask, cloud: fake.Cloud) -> None:
    def added(kind: str, owner: fake.Json, values: fake.Json) -> fake.Json:
        begin(cloud, owner, 'ACTIVE')
        created = {'id': fake.new_id(), **values}
        cloud.balancing[kind][created['id']] = created
        return created

    def of_pool(pool_id: str) -> fake.Json:
        pool = fake.get_or_404(cloud.balancing['pools'], pool_id, 'Pool')
        matches: fake.Json = cloud.balancing['loadbalancers'][
            pool['loadbalancers'][0]['id']
        ]
        return matches

    @app.post(f'{ROOT}/loadbalancers')
    def create_balancer() -> Any:
        body = flask.request.get_json()['loadbalancer']
        with cloud.lock:
            created = {
                'id': fake.new_id(),
                'vip_address': '192.0.2.100',
                'listeners': [],
                'pools': [],
                'provisioning_status': 'ACTIVE',
                **body,
            }
            cloud.balancing['loadbalancers'][created['id']] = created
            begin(cloud, created, 'ERROR' if cloud.ends_in_error else 'ACTIVE')
        return {'loadbalancer': created}, 201

    @app.delete(f'{ROOT}/loadbalancers/<id_>')
    def delete_balancer(id_: str) -> Any:
        with cloud.lock:
            balancer = fake.get_or_404(
                cloud.balancing['loadbalancers'], id_, 'Balancer'
            )
            begin(cloud, balancer, 'DELETED')
            for kind in ('listeners', 'pools', 'healthmonitors', 'members'):
                cloud.balancing[kind].clear()
        return '', 204

    @app.post(f'{ROOT}/listeners')
    def create_listener() -> Any:
        body = flask.request.get_json()['listener']
        with cloud.lock:
            owner = cloud.balancing['loadbalancers'][body['loadbalancer_id']]
            created = added('listeners', owner, body)
            owner['listeners'].append({'id': created['id']})
        return {'listener': created}, 201

    @app.post(f'{ROOT}/pools')
    def create_pool() -> Any:
        body = flask.request.get_json()['pool']
        with cloud.lock:
            listener = cloud.balancing['listeners'][body['listener_id']]
            owner = cloud.balancing['loadbalancers'][
                listener['loadbalancer_id']
            ]
            created = added('pools', owner, body)
            created['loadbalancers'] = [{'id': owner['id']}]
            owner['pools'].append({'id': created['id']})
        return {'pool': created}, 201

    @app.post(f'{ROOT}/healthmonitors')
    def create_monitor() -> Any:
        body = flask.request.get_json()['healthmonitor']
        with cloud.lock:
            created = added('healthmonitors', of_pool(body['pool_id']), body)
            cloud.balancing['pools'][body['pool_id']]['healthmonitor_id'] = (
                created['id']
            )
        return {'healthmonitor': created}, 201

    @app.post(f'{ROOT}/pools/<id_>/members')
    def create_member(id_: str) -> Any:
        body = flask.request.get_json()['member']
        with cloud.lock:
            created = added('members', of_pool(id_), {**body, 'pool_id': id_})
        return {'member': created}, 201

    @app.delete(f'{ROOT}/pools/<id_>/members/<member_id>')
    def delete_member(id_: str, member_id: str) -> Any:
        with cloud.lock:
            fake.get_or_404(cloud.balancing['members'], member_id, 'Member')
            begin(cloud, of_pool(id_), 'ACTIVE')
            del cloud.balancing['members'][member_id]
        return '', 204


def begin(cloud: fake.Cloud, balancer: fake.Json, final_status: str) -> None:
    """Start a change, or reject it with 409 during another change."""
    if balancer['provisioning_status'] not in ('ACTIVE', 'ERROR'):
        step(cloud, balancer)
        fake.abort(409, f'Load Balancer {balancer["id"]} is immutable.')
    balancer.update(
        provisioning_status=(
            'PENDING_DELETE' if final_status == 'DELETED' else 'PENDING_UPDATE'
        ),
        steps_left=cloud.steps,
        final_status=final_status,
    )


def step(cloud: fake.Cloud, balancer: fake.Json) -> None:
    """Advance the change of a load balancer by one step."""
    if not balancer['steps_left']:
        return
    balancer['steps_left'] -= 1
    if balancer['steps_left']:
        return
    balancer['provisioning_status'] = balancer['final_status']
    if balancer['final_status'] == 'DELETED':
        del cloud.balancing['loadbalancers'][balancer['id']]
