# SPDX-License-Identifier: Apache-2.0
"""Fake Keystone: tokens of one user, trusts, and a catalog of two regions.

Other users can create trusts: the token of user u is ``token of u``.
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
    """Add the API to an application."""

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
        body = flask.request.get_json()['auth']
        user = body['identity']['password']['user']
        if (user['name'], user['password']) != (fake.USER, fake.PASSWORD):
            fake.abort(401, 'The request requires authentication.')
        subject, user_id, project = cloud.token, 'u', fake.OWN_PROJECT
        trust = (body.get('scope') or {}).get('OS-TRUST:trust')
        if trust is not None:
            stored_trust = fake.get_or_404(cloud.trusts, trust['id'], 'Trust')
            if stored_trust['trustor_user_id'] in cloud.disabled_users:
                fake.abort(403, 'Trustor is disabled.')
            user_id, project = (
                stored_trust['trustor_user_id'],
                stored_trust['project_id'],
            )
            subject = f'{cloud.token}.{project}.{trust["id"]}'
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
        token = flask.request.headers['X-Auth-Token']
        if token != f'token of {trust["trustor_user_id"]}':
            fake.abort(403, 'You are not authorized.')
        created = {'id': fake.new_id().replace('-', ''), **trust}
        cloud.trusts[created['id']] = created
        return {'trust': created}, 201

    @app.delete('/identity/v3/OS-TRUST/trusts/<id_>')
    def delete_trust(id_: str) -> Any:
        fake.get_or_404(cloud.trusts, id_, 'Trust')
        del cloud.trusts[id_]
        return '', 204
