# SPDX-License-Identifier: Apache-2.0
"""Fake Docker daemon that serves the Engine API and runs nothing."""

from __future__ import annotations

import contextlib
import functools
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

    :ivar images: local images
    :ivar registry: images that it can pull
    :ivar waits: timeouts in requests to stop or restart a container
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

    :param tls: None: plain HTTP
    """
    daemon = Daemon()
    app = fake.bound(application(), daemon)
    with fake.listening(app, tls) as port:
        daemon.port = port
        yield daemon


@functools.cache
def application() -> flask.Flask:
    """Return the API of all daemons."""
    daemon: Daemon = fake.state_of_request()
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
        query = flask.request.args
        name = query['fromImage']
        if query.get('tag', 'latest') != 'latest':
            name = f'{name}:{query["tag"]}'
        if name not in daemon.registry:
            return abort(404, f'pull access denied for {name}')
        daemon.images.add(name)
        return '{"status": "Pull complete"}'

    @app.get(f'{root}/containers/json')
    def containers() -> Any:
        requested = json.loads(flask.request.args.get('filters', '{}'))
        labels = dict(
            text.split('=', 1) for text in requested.get('label', ())
        )
        return flask.jsonify(
            [
                {'Id': id_}
                for id_, container in daemon.containers.items()
                if labels.items() <= container['Config']['Labels'].items()
            ]
        )

    @app.post(f'{root}/containers/create')
    def create() -> Any:
        body = flask.request.get_json()
        name = f'/{flask.request.args["name"]}'
        if body['Image'] not in daemon.images:
            return abort(404, f'No such image: {body["Image"]}')
        if name in [
            container['Name'] for container in daemon.containers.values()
        ]:
            return abort(409, f'Conflict. The name {name} is in use')
        id_ = uuid.uuid4().hex * 2
        daemon.containers[id_] = {
            'Id': id_,
            'Name': name,
            'Created': '2026-01-01T00:00:00Z',
            'State': {'Status': 'created', 'ExitCode': 0},
            'Config': {
                'Image': body['Image'],
                'Cmd': body.get('Cmd'),
                'Labels': body.get('Labels') or {},
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
        container = daemon.containers.get(id_)
        if container is None:
            return abort(404, f'No such container: {id_}')
        status = container['State']['Status']
        if action == 'rename':
            container['Name'] = f'/{flask.request.args["name"]}'
        elif action == 'pause' and status != 'running':
            return abort(409, f'Container {id_} is not running')
        else:
            daemon.waits.append(flask.request.args.get('t'))
            container['State']['Status'] = {
                'start': 'running',
                'restart': 'running',
                'unpause': 'running',
                'pause': 'paused',
                'stop': 'exited',
            }[action]
        return '', 204

    return app


def abort(status: int, message: str) -> Any:
    """Return an error in the format of Docker."""
    return {'message': message}, status
