# SPDX-License-Identifier: Apache-2.0
"""A Keystone with a table of users. The token of a user is its name."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import flask

from tests import cloud as fake

_DOMAIN = {'id': 'default', 'name': 'Default'}


@dataclasses.dataclass(frozen=True)
class User:
    """A user with roles in one project."""

    project: str
    roles: tuple[str, ...]


def serve(
    app: flask.Flask,
    endpoints: Callable[[], Mapping[str, str]],
    users: Mapping[str, User],
) -> None:
    """Add the API to an application, below ``/identity``.

    :param endpoints: returns service type -> URL
    :param users: name -> user; any password is right
    """

    def root() -> str:
        return endpoints()['identity']

    def version() -> dict[str, Any]:
        link = {'rel': 'self', 'href': f'{root()}/'}
        return {'id': 'v3.14', 'status': 'stable', 'links': [link]}

    @app.get('/identity')
    def identity_versions() -> Any:
        return {'versions': {'values': [version()]}}, 300

    @app.get('/identity/v3')
    def identity_version() -> Any:
        return {'version': version()}

    @app.post('/identity/v3/auth/tokens')
    def authenticate() -> Any:
        body = flask.request.get_json()['auth']
        asked = body['identity']['password']['user']
        name = asked.get('name')
        domain = (body.get('scope') or {}).get('domain')
        if domain is None and name not in users:
            fake.abort(401, 'The request requires authentication.')
        return token(name, domain), 201, {'X-Subject-Token': name or 'admin'}

    @app.get('/identity/v3/auth/tokens')
    def validate() -> Any:
        name = flask.request.headers.get('X-Subject-Token', '')
        if name not in users:
            fake.abort(404, 'This is not a valid token.')
        return token(name, None), 200, {'X-Subject-Token': name}

    def token(
        name: str | None, domain: dict[str, str] | None
    ) -> dict[str, Any]:
        user = users.get(name or '', User('', ('admin',)))
        project = {
            'id': _id(user.project),
            'name': user.project,
            'domain': _DOMAIN,
        }
        catalog = [
            {
                'type': type_,
                'name': type_,
                'id': type_,
                'endpoints': [
                    {
                        'id': f'{type_}-{interface}',
                        'interface': interface,
                        'region': 'RegionOne',
                        'region_id': 'RegionOne',
                        'url': url,
                    }
                    for interface in ('public', 'internal', 'admin')
                ],
            }
            for type_, url in endpoints().items()
        ]
        return {
            'token': {
                'methods': ['password'],
                'expires_at': '2099-01-01T00:00:00.000000Z',
                'issued_at': '2026-01-01T00:00:00.000000Z',
                'user': {
                    'id': _id(name or 'admin'),
                    'name': name or 'admin',
                    'domain': _DOMAIN,
                },
                'roles': [{'id': role, 'name': role} for role in user.roles],
                'catalog': catalog,
                **(
                    {'domain': {'name': domain['id'], **domain}}
                    if domain
                    else {'project': project}
                ),
            }
        }


def _id(name: str) -> str:
    """Return an ID in the form of Keystone's."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]
