# SPDX-License-Identifier: Apache-2.0
"""Keystone: a token for one user, with a catalogue of two regions.

Others trust that user: the token of user u is ``token of u``.
"""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

SERVICES = {
    'identity': '/identity',
    'image': '/image',
    'compute': '/compute/v2.1',
    'network': '/network',
    'orchestration': '/heat/v1',
    'load-balancer': '/balancing',
}


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API."""

    def version() -> fake.Json:
        return {
            'id': 'v3.14',
            'status': 'stable',
            'links': [{'rel': 'self', 'href': f'{cloud.url}/identity/v3/'}],
        }

    @app.get('/identity')
    def versions() -> Any:
        return {'versions': {'values': [version()]}}, 300

    @app.get('/identity/v3')
    def shown() -> Any:
        return {'version': version()}

    @app.post('/identity/v3/auth/tokens')
    def authenticate() -> Any:
        sent = flask.request.get_json()['auth']
        user = sent['identity']['password']['user']
        if (user['name'], user['password']) != (fake.USER, fake.PASSWORD):
            fake.abort(401, 'The request requires authentication.')
        subject, user_id, project = cloud.token, 'u', fake.OWN_PROJECT
        trust = (sent.get('scope') or {}).get('OS-TRUST:trust')
        if trust is not None:
            found = fake.get_or_404(cloud.trusts, trust['id'], 'Trust')
            user_id, project = found['trustor_user_id'], found['project_id']
            subject = f'{cloud.token}.{project}'
        token = {
            'methods': ['password'],
            'expires_at': '2099-01-01T00:00:00.000000Z',
            'issued_at': '2026-01-01T00:00:00.000000Z',
            'user': {'id': user_id, 'name': user_id, 'domain': {'id': 'd'}},
            'project': {'id': project, 'name': project, 'domain': {}},
            'roles': [{'id': 'r', 'name': 'member'}],
            'catalog': [
                {
                    'type': type_,
                    'name': type_,
                    'id': type_,
                    'endpoints': [
                        {
                            'id': f'{type_}-{region}',
                            'interface': 'public',
                            'region': region,
                            'region_id': region,
                            'url': f'{cloud.url}{path}',
                        }
                        for region in fake.REGIONS
                    ],
                }
                for type_, path in SERVICES.items()
            ],
        }
        return {'token': token}, 201, {'X-Subject-Token': subject}

    @app.post('/identity/v3/OS-TRUST/trusts')
    def create_trust() -> Any:
        trust = flask.request.get_json()['trust']
        asker = flask.request.headers['X-Auth-Token']
        if asker != f'token of {trust["trustor_user_id"]}':
            fake.abort(403, 'You are not authorized.')
        made = {'id': fake.new_id().replace('-', ''), **trust}
        cloud.trusts[made['id']] = made
        return {'trust': made}, 201

    @app.delete('/identity/v3/OS-TRUST/trusts/<id_>')
    def delete_trust(id_: str) -> Any:
        fake.get_or_404(cloud.trusts, id_, 'Trust')
        del cloud.trusts[id_]
        return '', 204
