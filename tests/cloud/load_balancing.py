# SPDX-License-Identifier: Apache-2.0
"""Octavia: one change of a load balancer at a time."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

ROOT = '/balancing/v2.0/lbaas'

#: Flavors and availability zones of load balancers.
FLAVORS = ('flavor-small',)
ZONES = ('lb-zone',)


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API."""
    there = cloud.balancing
    for kind in ('loadbalancers', 'listeners', 'pools', 'healthmonitors'):
        there[kind] = {}
    there['members'] = {}

    @app.get('/balancing')
    def balancing_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/balancing/v2.0'}
        version = {'id': 'v2.27', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}

    @app.get(f'{ROOT}/<any(loadbalancers,pools,listeners):kind>')
    def listed(kind: str) -> Any:
        wanted = flask.request.args
        found = [
            one
            for one in there[kind].values()
            if all(one.get(key) == value for key, value in wanted.items())
        ]
        return {kind: found}

    @app.get(f'{ROOT}/loadbalancers/<id_>')
    def balancer(id_: str) -> Any:
        with cloud.lock:
            found = fake.get_or_404(there['loadbalancers'], id_, 'Balancer')
            step(cloud, found)
            fake.get_or_404(there['loadbalancers'], id_, 'Balancer')
            return {'loadbalancer': found}

    @app.get(f'{ROOT}/pools/<id_>')
    def pool(id_: str) -> Any:
        return {'pool': fake.get_or_404(there['pools'], id_, 'Pool')}

    @app.get(f'{ROOT}/pools/<id_>/members')
    def members(id_: str) -> Any:
        fake.get_or_404(there['pools'], id_, 'Pool')
        found = [m for m in there['members'].values() if m['pool_id'] == id_]
        return {'members': found}

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
    there = cloud.balancing

    def added(kind: str, owner: fake.Json, values: fake.Json) -> fake.Json:
        begin(cloud, owner, 'ACTIVE')
        made = {'id': fake.new_id(), **values}
        there[kind][made['id']] = made
        return made

    def of_pool(pool_id: str) -> fake.Json:
        pool = fake.get_or_404(there['pools'], pool_id, 'Pool')
        found: fake.Json = there['loadbalancers'][
            pool['loadbalancers'][0]['id']
        ]
        return found

    @app.post(f'{ROOT}/loadbalancers')
    def create_balancer() -> Any:
        sent = flask.request.get_json()['loadbalancer']
        with cloud.lock:
            made = {
                'id': fake.new_id(),
                'vip_address': '192.0.2.100',
                'listeners': [],
                'pools': [],
                'provisioning_status': 'ACTIVE',
                **sent,
            }
            there['loadbalancers'][made['id']] = made
            begin(cloud, made, 'ERROR' if cloud.ends_in_error else 'ACTIVE')
        return {'loadbalancer': made}, 201

    @app.delete(f'{ROOT}/loadbalancers/<id_>')
    def delete_balancer(id_: str) -> Any:
        with cloud.lock:
            found = fake.get_or_404(there['loadbalancers'], id_, 'Balancer')
            begin(cloud, found, 'DELETED')
            for kind in ('listeners', 'pools', 'healthmonitors', 'members'):
                there[kind].clear()
        return '', 204

    @app.post(f'{ROOT}/listeners')
    def create_listener() -> Any:
        sent = flask.request.get_json()['listener']
        with cloud.lock:
            owner = there['loadbalancers'][sent['loadbalancer_id']]
            made = added('listeners', owner, sent)
            owner['listeners'].append({'id': made['id']})
        return {'listener': made}, 201

    @app.post(f'{ROOT}/pools')
    def create_pool() -> Any:
        sent = flask.request.get_json()['pool']
        with cloud.lock:
            listener = there['listeners'][sent['listener_id']]
            owner = there['loadbalancers'][listener['loadbalancer_id']]
            made = added('pools', owner, {**sent, 'healthmonitor_id': None})
            made['loadbalancers'] = [{'id': owner['id']}]
            owner['pools'].append({'id': made['id']})
        return {'pool': made}, 201

    @app.post(f'{ROOT}/healthmonitors')
    def create_monitor() -> Any:
        sent = flask.request.get_json()['healthmonitor']
        with cloud.lock:
            made = added('healthmonitors', of_pool(sent['pool_id']), sent)
            there['pools'][sent['pool_id']]['healthmonitor_id'] = made['id']
        return {'healthmonitor': made}, 201

    @app.post(f'{ROOT}/pools/<id_>/members')
    def create_member(id_: str) -> Any:
        sent = flask.request.get_json()['member']
        with cloud.lock:
            made = added('members', of_pool(id_), {**sent, 'pool_id': id_})
        return {'member': made}, 201

    @app.delete(f'{ROOT}/pools/<id_>/members/<member_id>')
    def delete_member(id_: str, member_id: str) -> Any:
        with cloud.lock:
            fake.get_or_404(there['members'], member_id, 'Member')
            begin(cloud, of_pool(id_), 'ACTIVE')
            del there['members'][member_id]
        return '', 204


def begin(cloud: fake.Cloud, balancer: fake.Json, leads_to: str) -> None:
    """Begin a change that takes a few looks, or refuse it during another."""
    if balancer['provisioning_status'] not in ('ACTIVE', 'ERROR'):
        fake.abort(409, f'Load Balancer {balancer["id"]} is immutable.')
    balancer.update(
        provisioning_status='PENDING_UPDATE',
        left=cloud.steps,
        leads_to=leads_to,
    )


def step(cloud: fake.Cloud, balancer: fake.Json) -> None:
    """Have a balancer come closer to the end of its change."""
    if not balancer['left']:
        return
    balancer['left'] -= 1
    if balancer['left']:
        return
    balancer['provisioning_status'] = balancer['leads_to']
    if balancer['leads_to'] == 'DELETED':
        del cloud.balancing['loadbalancers'][balancer['id']]
