# SPDX-License-Identifier: Apache-2.0
"""A Docker daemon that runs nothing, behind the Engine API."""

from __future__ import annotations

import contextlib
import json
import ssl
import uuid
from collections.abc import Iterator
from typing import Any

import flask

from tests import cloud as fake

VERSION = '1.44'


class Daemon:
    """The state of a daemon.

    :ivar images: those that it need not fetch
    :ivar registry: those that it can fetch
    """

    def __init__(self) -> None:
        self.containers: dict[str, fake.Json] = {}
        self.images = {'nginx'}
        self.registry = {'nginx', 'redis:7'}
        self.port = 0
        self.waits: list[str | None] = []


@contextlib.contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Daemon]:
    """Serve a new daemon.

    :param tls: without, it speaks in the clear
    """
    daemon = Daemon()
    with fake.listening(application(daemon), tls) as port:
        daemon.port = port
        yield daemon


def application(daemon: Daemon) -> flask.Flask:
    """Return the daemon's API."""
    app = flask.Flask('docker')
    root = f'/v{VERSION}'

    @app.get('/version')
    def version() -> Any:
        return {'ApiVersion': VERSION, 'Version': '25.0.0'}

    @app.get(f'{root}/images/<path:name>/json')
    def image(name: str) -> Any:
        if name not in daemon.images:
            return abort(404, f'No such image: {name}')
        return {'Id': name}

    @app.post(f'{root}/images/create')
    def pull() -> Any:
        asked = flask.request.args
        name = asked['fromImage']
        if asked.get('tag', 'latest') != 'latest':
            name = f'{name}:{asked["tag"]}'
        if name not in daemon.registry:
            return abort(404, f'pull access denied for {name}')
        daemon.images.add(name)
        return '{"status": "Pull complete"}'

    @app.get(f'{root}/containers/json')
    def containers() -> Any:
        wanted = json.loads(flask.request.args.get('filters', '{}'))
        labels = dict(text.split('=', 1) for text in wanted.get('label', ()))
        return flask.jsonify(
            [
                {'Id': id_}
                for id_, one in daemon.containers.items()
                if labels.items() <= one['Config']['Labels'].items()
            ]
        )

    @app.post(f'{root}/containers/create')
    def create() -> Any:
        sent = flask.request.get_json()
        name = f'/{flask.request.args["name"]}'
        if sent['Image'] not in daemon.images:
            return abort(404, f'No such image: {sent["Image"]}')
        if name in [one['Name'] for one in daemon.containers.values()]:
            return abort(409, f'Conflict. The name {name} is in use')
        id_ = uuid.uuid4().hex * 2
        daemon.containers[id_] = {
            'Id': id_,
            'Name': name,
            'Created': '2026-01-01T00:00:00Z',
            'State': {'Status': 'created', 'ExitCode': 0},
            'Config': {
                'Image': sent['Image'],
                'Cmd': sent.get('Cmd'),
                'Labels': sent.get('Labels') or {},
            },
        }
        return {'Id': id_, 'Warnings': []}, 201

    @app.get(f'{root}/containers/<id_>/json')
    def inspect(id_: str) -> Any:
        if id_ not in daemon.containers:
            return abort(404, f'No such container: {id_}')
        return daemon.containers[id_]

    @app.delete(f'{root}/containers/<id_>')
    def remove(id_: str) -> Any:
        if daemon.containers.pop(id_, None) is None:
            return abort(404, f'No such container: {id_}')
        return '', 204

    @app.post(f'{root}/containers/<id_>/<action>')
    def act(id_: str, action: str) -> Any:
        found = daemon.containers.get(id_)
        if found is None:
            return abort(404, f'No such container: {id_}')
        status = found['State']['Status']
        if action == 'rename':
            found['Name'] = f'/{flask.request.args["name"]}'
        elif action == 'pause' and status != 'running':
            return abort(409, f'Container {id_} is not running')
        else:
            daemon.waits.append(flask.request.args.get('t'))
            found['State']['Status'] = {
                'start': 'running',
                'restart': 'running',
                'unpause': 'running',
                'pause': 'paused',
                'stop': 'exited',
            }[action]
        return '', 204

    return app


def abort(status: int, message: str) -> Any:
    """Return an error as Docker tells it."""
    return {'message': message}, status
