# SPDX-License-Identifier: Apache-2.0
"""Fake Nova: servers, actions, flavors, keypairs, groups and hosts."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

MAXIMUM = 96

#: Action -> statuses in which it is allowed, and its final status.
ACTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    'reboot': (('ACTIVE', 'SHUTOFF', 'ERROR'), 'ACTIVE'),
    'os-start': (('SHUTOFF',), 'ACTIVE'),
    'os-stop': (('ACTIVE', 'ERROR'), 'SHUTOFF'),
    'pause': (('ACTIVE',), 'PAUSED'),
    'unpause': (('PAUSED',), 'ACTIVE'),
    'suspend': (('ACTIVE',), 'SUSPENDED'),
    'resume': (('SUSPENDED',), 'ACTIVE'),
    'rescue': (('ACTIVE', 'SHUTOFF'), 'RESCUE'),
    'unrescue': (('RESCUE',), 'ACTIVE'),
    'rebuild': (('ACTIVE', 'SHUTOFF', 'ERROR'), 'ACTIVE'),
    'evacuate': (('ACTIVE', 'SHUTOFF', 'ERROR'), 'ACTIVE'),
    'migrate': (('ACTIVE', 'SHUTOFF'), 'VERIFY_RESIZE'),
    'resize': (('ACTIVE', 'SHUTOFF'), 'VERIFY_RESIZE'),
    'confirmResize': (('VERIFY_RESIZE',), 'ACTIVE'),
    'lock': ((), ''),
    'unlock': ((), ''),
    'changePassword': (('ACTIVE',), ''),
    'createImage': (('ACTIVE', 'SHUTOFF'), ''),
    'forceDelete': ((), ''),
}

#: Field of a request for a server -> first microversion.
FIELDS: dict[str, int] = {
    'name': 1,
    'imageRef': 1,
    'flavorRef': 1,
    'adminPass': 1,
    'OS-DCF:diskConfig': 1,
    'availability_zone': 1,
    'block_device_mapping_v2': 1,
    'config_drive': 1,
    'key_name': 1,
    'metadata': 1,
    'networks': 1,
    'personality': 1,
    'security_groups': 1,
    'user_data': 1,
    'tags': 52,
}

ZONES = ('nova', 'nova-2')


def microversion() -> int:
    """Return the minor version of the request."""
    header = flask.request.headers.get('OpenStack-API-Version', 'compute 2.1')
    minor = int(header.removeprefix('compute 2.'))
    if minor > MAXIMUM:
        fake.abort(406, f'Version 2.{minor} is not supported by the API.')
    return minor


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API to an application."""

    @app.get('/compute/v2.1')
    def compute_version() -> Any:
        version = {
            'id': 'v2.1',
            'status': 'CURRENT',
            'version': f'2.{MAXIMUM}',
            'min_version': '2.1',
            'links': [{'rel': 'self', 'href': f'{cloud.url}/compute/v2.1/'}],
        }
        return {'version': version}

    @app.post('/compute/v2.1/servers')
    def create_server() -> Any:
        body = flask.request.get_json()
        requested = body['server']
        minor = microversion()
        for field in requested:
            if FIELDS.get(field, 1000) > minor:
                fake.abort(400, f"Additional property '{field}'")
        if 'networks' not in requested and minor >= 37:
            fake.abort(400, "'networks' is a required property")
        if requested['flavorRef'] not in cloud.flavors:
            fake.abort(400, 'Flavor could not be found.')
        with cloud.lock:
            id_ = fake.new_id()
            server = _server(id_, requested)
            server['hints'] = body.get('os:scheduler_hints')
            server['tenant_id'] = flask.g.project
            cloud.servers[id_] = server
            _join(cloud, server, requested['networks'])
            end = 'ERROR' if cloud.ends_in_error else 'ACTIVE'
            begin(cloud, server, 'BUILD', end)
        return {'server': {'id': id_, 'links': []}}, 202

    @app.get('/compute/v2.1/servers/detail')
    def servers() -> Any:
        tags = set(flask.request.args.get('tags', '').split(',')) - {''}
        with cloud.lock:
            matches = [
                shown(server)
                for server in cloud.servers.values()
                if tags <= set(server['tags']) and is_visible(server)
            ]
        return {'servers': matches}

    @app.get('/compute/v2.1/servers/<id_>')
    def server(id_: str) -> Any:
        with cloud.lock:
            server = visible_server(cloud, id_)
            step(cloud, server)
            visible_server(cloud, id_)
            return {'server': shown(server)}

    @app.put('/compute/v2.1/servers/<id_>')
    def update_server(id_: str) -> Any:
        server = visible_server(cloud, id_)
        server.update(flask.request.get_json()['server'])
        return {'server': shown(server)}

    @app.delete('/compute/v2.1/servers/<id_>')
    def delete_server(id_: str) -> Any:
        with cloud.lock:
            _delete(cloud, visible_server(cloud, id_))
        return '', 204

    @app.post('/compute/v2.1/servers/<id_>/metadata')
    def add_metadata(id_: str) -> Any:
        server = visible_server(cloud, id_)
        for key, value in flask.request.get_json()['metadata'].items():
            if not isinstance(value, str):
                fake.abort(400, f'{key}: {value!r} is not of type string')
            server['metadata'][key] = value
        return {'metadata': server['metadata']}

    @app.delete('/compute/v2.1/servers/<id_>/metadata/<key>')
    def delete_metadata(id_: str, key: str) -> Any:
        server = visible_server(cloud, id_)
        fake.get_or_404(server['metadata'], key, 'Metadata item')
        del server['metadata'][key]
        return '', 204

    @app.post('/compute/v2.1/servers/<id_>/action')
    def act(id_: str) -> Any:
        ((name, content),) = flask.request.get_json().items()
        if name not in ACTIONS:
            fake.abort(400, f'There is no such action: {name}')
        with cloud.lock:
            server = visible_server(cloud, id_)
            return _act(cloud, server, name, content)

    @app.get('/compute/v2.1/servers/<id_>/os-interface')
    def interfaces(id_: str) -> Any:
        visible_server(cloud, id_)
        matches = [
            {'port_id': port['id'], 'net_id': port['network_id']}
            for port in cloud.ports.values()
            if port['device_id'] == id_
        ]
        return {'interfaceAttachments': matches}

    @app.post('/compute/v2.1/servers/<id_>/os-interface')
    def attach(id_: str) -> Any:
        server = visible_server(cloud, id_)
        body = flask.request.get_json()['interfaceAttachment']
        _join(cloud, server, [{'port': body['port_id']}])
        return {'interfaceAttachment': body}

    @app.delete('/compute/v2.1/servers/<id_>/os-interface/<port_id>')
    def detach(id_: str, port_id: str) -> Any:
        port = fake.get_or_404(cloud.ports, port_id, 'Port')
        if port['device_id'] != id_:
            fake.abort(404, f'Port {port_id} is not attached.')
        port['device_id'] = port['device_owner'] = ''
        return '', 202

    _serve_rest(app, cloud)


def _serve_rest(app: flask.Flask, cloud: fake.Cloud) -> None:
    @app.get('/compute/v2.1/flavors/<id_>')
    def flavor(id_: str) -> Any:
        fake.get_or_404(cloud.flavors, id_, 'Flavor')
        return {'flavor': {'id': id_, 'name': cloud.flavors[id_]}}

    @app.get('/compute/v2.1/flavors/detail')
    @app.get('/compute/v2.1/flavors')
    def flavors() -> Any:
        matches = [{'id': id_, 'name': n} for id_, n in cloud.flavors.items()]
        return {'flavors': matches}

    @app.get('/compute/v2.1/os-availability-zone')
    def zones() -> Any:
        return {
            'availabilityZoneInfo': [
                {
                    'zoneName': name,
                    'zoneState': {'available': name != 'broken'},
                    'hosts': None,
                }
                for name in (*ZONES, 'broken')
            ]
        }

    @app.post('/compute/v2.1/os-keypairs')
    def create_keypair() -> Any:
        body = flask.request.get_json()['keypair']
        cloud.keypairs.add((flask.g.project, body['name']))
        return {'keypair': {**body, 'public_key': 'ssh-rsa AAAA'}}

    @app.delete('/compute/v2.1/os-keypairs/<name>')
    def delete_keypair(name: str) -> Any:
        if (flask.g.project, name) not in cloud.keypairs:
            fake.abort(404, f'Keypair {name} could not be found.')
        cloud.keypairs.discard((flask.g.project, name))
        return '', 202

    @app.get('/compute/v2.1/os-server-groups')
    def groups() -> Any:
        return {'server_groups': list(cloud.server_groups.values())}

    @app.get('/compute/v2.1/os-server-groups/<id_>')
    def group(id_: str) -> Any:
        group = fake.get_or_404(cloud.server_groups, id_, 'Server group')
        return {'server_group': group}

    @app.post('/compute/v2.1/os-server-groups')
    def create_group() -> Any:
        body = flask.request.get_json()['server_group']
        if 'policy' not in body or microversion() < 64:
            fake.abort(400, "'policy' needs microversion 2.64")
        created = {'id': fake.new_id(), 'members': [], **body}
        cloud.server_groups[created['id']] = created
        return {'server_group': created}

    @app.delete('/compute/v2.1/os-server-groups/<id_>')
    def delete_group(id_: str) -> Any:
        fake.get_or_404(cloud.server_groups, id_, 'Server group')
        del cloud.server_groups[id_]
        return '', 204

    @app.get('/compute/v2.1/os-hypervisors')
    @app.get('/compute/v2.1/os-hypervisors/detail')
    def hypervisors() -> Any:
        return {
            'hypervisors': [
                {
                    'id': fake.new_id(),
                    'hypervisor_hostname': name,
                    'state': state,
                    'status': status,
                }
                for name, state, status in (
                    ('host-1', 'up', 'enabled'),
                    ('host-2', 'down', 'enabled'),
                    ('host-3', 'up', 'disabled'),
                )
            ]
        }


def is_visible(server: fake.Json) -> bool:
    """Return whether the caller may see a server."""
    owner = server.get('tenant_id', flask.g.project)
    return flask.g.project in (owner, fake.OWN_PROJECT)


def visible_server(cloud: fake.Cloud, id_: str) -> fake.Json:
    """Return a server that the caller may see, or end the request."""
    server: fake.Json = fake.get_or_404(cloud.servers, id_, 'Instance')
    if not is_visible(server):
        fake.abort(404, f'Instance {id_} could not be found.')
    return server


def shown(server: fake.Json) -> fake.Json:
    """Return a server in the format of the requested microversion."""
    minor = microversion()
    hidden = {
        *('flavor_id', 'hints', 'sent'),
        *('is_changing', 'steps_left', 'final_status'),
    }
    result = {k: v for k, v in server.items() if k not in hidden}
    flavor = server['flavor_id']
    result['flavor'] = (
        {'id': flavor, 'links': []} if minor < 47 else {'original_name': '?'}
    )
    if minor < 26:
        del result['tags']
    if flask.g.project != fake.OWN_PROJECT:
        # Only administrators see the host.
        result.pop('OS-EXT-SRV-ATTR:hypervisor_hostname', None)
    return result


def begin(
    cloud: fake.Cloud,
    server: fake.Json,
    status: str,
    final_status: str,
    task: str | None = 'working',
) -> None:
    """Start a change of a server."""
    server.update(
        {
            'status': status,
            'OS-EXT-STS:task_state': task,
            'is_changing': True,
            'steps_left': cloud.steps,
            'final_status': final_status,
        }
    )


def step(cloud: fake.Cloud, server: fake.Json) -> None:
    """Advance the change of a server by one step."""
    if not server.get('is_changing'):
        return
    server['steps_left'] -= 1
    if server['steps_left'] > 0:
        return
    server['is_changing'] = False
    server['status'] = server['final_status']
    server['OS-EXT-STS:task_state'] = None
    if server['status'] == 'DELETED':
        del cloud.servers[server['id']]
        for port in list(cloud.ports.values()):
            if port['device_id'] == server['id'] and not cloud.keeps_ports:
                port['device_id'] = port['device_owner'] = ''
                if port['by_nova']:
                    del cloud.ports[port['id']]
    if server['status'] == 'ERROR':
        server['fault'] = {
            'code': 500,
            'message': 'No valid host was found.',
        }


def _server(id_: str, requested: fake.Json) -> fake.Json:
    image = requested.get('imageRef')
    return {
        'id': id_,
        'name': requested['name'],
        'status': 'BUILD',
        'flavor_id': requested['flavorRef'],
        'image': {'id': image, 'links': []} if image else '',
        'metadata': dict(requested.get('metadata') or {}),
        'tags': list(requested.get('tags') or ()),
        'key_name': requested.get('key_name'),
        'created': '2026-01-01T00:00:00Z',
        'updated': '2026-01-01T00:00:00Z',
        'addresses': {},
        'hostId': 'h',
        'locked': False,
        'config_drive': 'True' if requested.get('config_drive') else '',
        'security_groups': requested.get('security_groups')
        or [{'name': 'default'}],
        'os-extended-volumes:volumes_attached': [],
        'OS-DCF:diskConfig': requested.get('OS-DCF:diskConfig', 'MANUAL'),
        'OS-EXT-AZ:availability_zone': requested.get(
            'availability_zone', ZONES[0]
        ),
        'OS-EXT-SRV-ATTR:hypervisor_hostname': 'host-1',
        'OS-EXT-STS:task_state': None,
        'OS-EXT-STS:vm_state': 'building',
        'OS-EXT-STS:power_state': 1,
        'sent': requested,
    }


def _join(cloud: fake.Cloud, server: fake.Json, networks: Any) -> None:
    """Connect a server with networks or existing ports."""
    from tests.cloud import network

    if networks == 'auto':
        networks = [{'uuid': cloud.id_of('networks', 'private')}]
    for requested in networks:
        if 'port' in requested:
            port = fake.get_or_404(cloud.ports, requested['port'], 'Port')
            if port['device_id']:
                fake.abort(409, f'Port {port["id"]} is still in use.')
        else:
            port = network.new_port(cloud, {'network_id': requested['uuid']})
            port['by_nova'] = True
        port['device_id'] = server['id']
        port['device_owner'] = 'compute:nova'
        name = cloud.networks[port['network_id']]
        server['addresses'].setdefault(name, []).append(
            {
                'addr': port['fixed_ips'][0]['ip_address'],
                'version': 4,
                'OS-EXT-IPS:type': 'fixed',
                'OS-EXT-IPS-MAC:mac_addr': port['mac_address'],
            }
        )


def _delete(cloud: fake.Cloud, server: fake.Json) -> None:
    final_status = 'DELETED'
    if cloud.failing_deletions:
        cloud.failing_deletions -= 1
        final_status = 'ERROR'
    begin(cloud, server, server['status'], final_status)


def _act(cloud: fake.Cloud, server: fake.Json, name: str, content: Any) -> Any:
    allowed, final_status = ACTIONS[name]
    busy = server['OS-EXT-STS:task_state'] is not None
    if allowed and (busy or server['status'] not in allowed):
        fake.abort(
            409,
            f"Cannot '{name}' instance {server['id']} while it is in"
            f' vm_state {server["status"].lower()}',
        )
    if name == 'forceDelete':
        _delete(cloud, server)
    elif name == 'confirmResize':
        # Nova sets no task meanwhile.
        begin(cloud, server, server['status'], final_status, None)
    elif name in ('lock', 'unlock'):
        server['locked'] = name == 'lock'
    elif name == 'createImage':
        id_ = fake.new_id()
        cloud.images[id_] = content['name']
        return {'image_id': id_}, 202
    elif name == 'rebuild':
        server['image'] = {'id': content['imageRef'], 'links': []}
        server['name'] = content.get('name', server['name'])
        if server['status'] == 'SHUTOFF':
            final_status = 'SHUTOFF'
        begin(cloud, server, 'REBUILD', final_status)
    elif name == 'resize':
        if cloud.refuses_resize:
            final_status = server['status']
        else:
            server['flavor_id'] = content['flavorRef']
        begin(cloud, server, 'RESIZE', final_status)
    elif final_status:
        begin(cloud, server, server['status'], final_status)
    return '', 202
