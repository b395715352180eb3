# SPDX-License-Identifier: Apache-2.0
"""Fake Neutron: networks, subnets, security groups, ports, floating IPs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import flask

from tests import cloud as fake

#: Resource with only a name -> attribute of the cloud.
NAMED = {
    'networks': 'networks',
    'subnets': 'subnets',
    'security-groups': 'security_groups',
}


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API to an application."""

    @app.get('/network')
    def network_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/network/v2.0/'}
        version = {'id': 'v2.0', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}

    @app.get('/network/v2.0/<any(networks,subnets,"security-groups"):kind>')
    def named(kind: str) -> Any:
        key = NAMED[kind]
        names: dict[str, str] = getattr(cloud, key)
        rows = [shown(cloud, key, id_, names[id_]) for id_ in names]
        return {key: matching(rows)}

    @app.get(
        '/network/v2.0/<any(networks,subnets,"security-groups"):kind>/<id_>'
    )
    def one_named(kind: str, id_: str) -> Any:
        key = NAMED[kind]
        name = fake.get_or_404(getattr(cloud, key), id_, key)
        return {key[:-1]: shown(cloud, key, id_, name)}

    @app.post('/network/v2.0/<any(networks,subnets):kind>')
    def create_named(kind: str) -> Any:
        body = flask.request.get_json()[kind[:-1]]
        with cloud.lock:
            id_ = fake.new_id()
            getattr(cloud, kind)[id_] = body['name']
            if kind == 'subnets':
                cloud.networks_of_subnets[id_] = body['network_id']
        return {kind[:-1]: {**body, 'id': id_}}, 201

    @app.delete('/network/v2.0/<any(networks,subnets):kind>/<id_>')
    def delete_named(kind: str, id_: str) -> Any:
        fake.get_or_404(getattr(cloud, kind), id_, kind)
        del getattr(cloud, kind)[id_]
        return '', 204

    @app.get('/network/v2.0/ports')
    def ports() -> Any:
        return {'ports': matching(cloud.ports.values())}

    @app.post('/network/v2.0/ports')
    def create_port() -> Any:
        with cloud.lock:
            port = new_port(cloud, flask.request.get_json()['port'])
        return {'port': port}, 201

    @app.get('/network/v2.0/ports/<id_>')
    def port(id_: str) -> Any:
        return {'port': fake.get_or_404(cloud.ports, id_, 'Port')}

    @app.put('/network/v2.0/ports/<id_>')
    def update_port(id_: str) -> Any:
        port = fake.get_or_404(cloud.ports, id_, 'Port')
        port.update(flask.request.get_json()['port'])
        return {'port': port}

    @app.delete('/network/v2.0/ports/<id_>')
    def delete_port(id_: str) -> Any:
        port = fake.get_or_404(cloud.ports, id_, 'Port')
        if port['device_owner'].startswith('compute:'):
            fake.abort(403, 'rule:delete_port is disallowed by policy')
        del cloud.ports[id_]
        for address in cloud.floating_ips.values():
            if address['port_id'] == id_:
                address['port_id'] = None
        return '', 204

    @app.get('/network/v2.0/floatingips')
    def addresses() -> Any:
        return {'floatingips': matching(cloud.floating_ips.values())}

    @app.post('/network/v2.0/floatingips')
    def create_address() -> Any:
        body = flask.request.get_json()['floatingip']
        with cloud.lock:
            number = next(cloud.numbers)
            created = {
                'id': fake.new_id(),
                'floating_ip_address': f'203.0.113.{number}',
                'port_id': None,
                'description': '',
                **body,
            }
            cloud.floating_ips[created['id']] = created
        return {'floatingip': created}, 201

    @app.put('/network/v2.0/floatingips/<id_>')
    def update_address(id_: str) -> Any:
        floating_ip = fake.get_or_404(cloud.floating_ips, id_, 'Floating IP')
        floating_ip.update(flask.request.get_json()['floatingip'])
        return {'floatingip': floating_ip}

    @app.delete('/network/v2.0/floatingips/<id_>')
    def delete_address(id_: str) -> Any:
        fake.get_or_404(cloud.floating_ips, id_, 'Floating IP')
        del cloud.floating_ips[id_]
        return '', 204


def shown(cloud: fake.Cloud, key: str, id_: str, name: str) -> fake.Json:
    """Return a resource that has only a name."""
    matches: fake.Json = {'id': id_, 'name': name}
    if key == 'subnets':
        network = cloud.networks_of_subnets.get(id_) or cloud.id_of(
            'networks', name.removesuffix('-subnet')
        )
        matches.update(network_id=network, ip_version=4)
    return matches


def matching(rows: Iterable[fake.Json]) -> list[fake.Json]:
    """Return the rows that match the query."""
    requested = {
        key: value
        for key, value in flask.request.args.items()
        if key not in ('limit', 'marker', 'fields')
    }
    return [
        row
        for row in rows
        if all(row.get(key) == value for key, value in requested.items())
    ]


def new_port(cloud: fake.Cloud, body: fake.Json) -> fake.Json:
    """Add a port and return it."""
    fake.get_or_404(cloud.networks, body['network_id'], 'Network')
    number = next(cloud.numbers)
    subnet = next(iter(cloud.subnets))
    (requested,) = body.get('fixed_ips') or [{}]
    port = {
        'id': fake.new_id(),
        'name': '',
        'description': '',
        'status': 'DOWN',
        'device_id': '',
        'device_owner': '',
        'mac_address': f'fa:16:3e:00:00:{number % 256:02x}',
        'security_groups': [],
        'by_nova': False,
        **body,
        'fixed_ips': [
            {
                'subnet_id': subnet,
                'ip_address': f'127.0.1.{number}',
                **requested,
            }
        ],
    }
    cloud.ports[port['id']] = port
    return port
