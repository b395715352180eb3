# SPDX-License-Identifier: Apache-2.0
"""Fake Docker daemon that serves the Engine API and runs nothing."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import ssl
import uuid
from collections.abc import Iterator
from typing import Any

import flask

from tests import cloud as fake

VERSION = '1.44'

#: Action -> the status after it.
_ACTIONS = {
    'start': 'running',
    'restart': 'running',
    'unpause': 'running',
    'pause': 'paused',
    'stop': 'exited',
}

_NAME = re.compile('[a-zA-Z0-9][a-zA-Z0-9_.-]+')
_IMAGE = re.compile('[a-z0-9][a-z0-9._/:@-]*')
_INVALID_NAME = (
    'Invalid container name ({}), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed'
)
_CONFLICT = (
    'Conflict. The container name "/{}" is already in use by container "{}".'
    ' You have to remove (or rename) that container to be able to reuse that'
    ' name.'
)
_BROKEN = 'filesystem layer verification failed for digest sha256:0123'


class Daemon:
    """The state of a daemon.

    :ivar images: local images
    :ivar registry: images that it can pull
    :ivar broken: images whose layers it cannot read
    :ivar removing: IDs of containers that another caller is removing
    :ivar removals: options of requests to remove a container
    :ivar waits: timeouts in requests to stop or restart a container
    """

    def __init__(self) -> None:
        self.containers: dict[str, fake.Json] = {}
        self.images = {'nginx'}
        self.registry = {'nginx', 'redis:7'}
        self.broken: set[str] = set()
        self._unlisted: dict[str, int] = {}
        self._unknown: dict[str, int] = {}
        self.removing: set[str] = set()
        self.removals: list[dict[str, str]] = []
        self.port = 0
        self.waits: list[str | None] = []

    def create_slowly(self, container_id: str, requests: int) -> None:
        """Act as if the daemon were still creating a container.

        It first reserves the name, then lists the container, and can describe
        it last.

        :param requests: number of requests for lists before it lists the
            container, and as many for descriptions before it describes it
        """
        self._unlisted[container_id] = requests
        self._unknown[container_id] = requests

    def lists(self, container_id: str) -> bool:
        """Count a request for a list; tell whether it has the container."""
        return self._is_over(self._unlisted, container_id)

    def describes(self, container_id: str) -> bool:
        """Count a request; tell whether the daemon knows the container."""
        return container_id in self.containers and self._is_over(
            self._unknown, container_id
        )

    def _is_over(self, requests: dict[str, int], container_id: str) -> bool:
        left = requests.get(container_id, 0)
        requests[container_id] = max(left - 1, 0)
        return not left


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
        if not _IMAGE.fullmatch(name):
            return abort(
                400, f'no such image: {name}: invalid reference format'
            )
        if name not in daemon.images:
            tagged = name if ':' in name else f'{name}:latest'
            return abort(
                404, f'no such image: {name}: No such image: {tagged}'
            )
        return {'Id': name}

    @app.post(f'{root}/images/create')
    def pull() -> Any:
        query = flask.request.args
        name = query['fromImage']
        if query.get('tag', 'latest') != 'latest':
            name = f'{name}:{query["tag"]}'
        if name in daemon.broken:
            # The daemon has sent the status with its first message.
            messages = [{'status': f'Pulling {name}'}, _error(_BROKEN)]
            return '\r\n'.join(map(json.dumps, messages))
        if name not in daemon.registry:
            return abort(
                404,
                f'pull access denied for {name}, repository does not exist or'
                " may require 'docker login'",
            )
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
                and daemon.lists(id_)
            ]
        )

    @app.post(f'{root}/containers/create')
    def create() -> Any:
        body = flask.request.get_json()
        name = flask.request.args['name']
        if not _NAME.fullmatch(name):
            return abort(400, _INVALID_NAME.format(name))
        if body['Image'] not in daemon.images:
            return abort(404, f'No such image: {body["Image"]}')
        if used := _named(daemon, name):
            return abort(409, _CONFLICT.format(name, used))
        id_ = uuid.uuid4().hex * 2
        daemon.containers[id_] = {
            'Id': id_,
            'Name': f'/{name}',
            'Created': '2026-01-01T00:00:00.123456789Z',
            'State': {'Status': 'created', 'ExitCode': 0},
            'Config': {
                'Image': body['Image'],
                'Cmd': body.get('Cmd'),
                'Labels': body.get('Labels') or {},
                'Env': body.get('Env') or [],
            },
            'HostConfig': body.get('HostConfig') or {},
        }
        return {'Id': id_, 'Warnings': []}, 201

    @app.get(f'{root}/containers/<id_>/json')
    def inspect(id_: str) -> Any:
        id_ = _named(daemon, id_) or id_
        if not daemon.describes(id_):
            return abort(404, f'No such container: {id_}')
        return daemon.containers[id_]

    @app.delete(f'{root}/containers/<id_>')
    def remove(id_: str) -> Any:
        daemon.removals.append(dict(flask.request.args))
        if id_ in daemon.removing:
            return abort(
                409, f'removal of container {id_} is already in progress'
            )
        if daemon.containers.pop(id_, None) is None:
            return abort(404, f'No such container: {id_}')
        return '', 204

    @app.post(f'{root}/containers/<id_>/wait')
    def wait(id_: str) -> Any:
        if id_ in daemon.removing:
            daemon.removing.remove(id_)
            del daemon.containers[id_]
        return {'StatusCode': 0}

    @app.post(f'{root}/containers/<id_>/<action>')
    def act(id_: str, action: str) -> Any:
        container = daemon.containers.get(id_)
        if container is None:
            return abort(404, f'No such container: {id_}')
        if action == 'rename':
            return _rename(daemon, container, flask.request.args['name'])
        daemon.waits.append(flask.request.args.get('t'))
        status = container['State']['Status']
        if action in ('start', 'stop') and _ACTIONS[action] == status:
            return '', 304
        if refusal := _refusal(id_, action, status):
            return refusal
        container['State']['Status'] = _ACTIONS[action]
        return '', 204

    return app


def _rename(daemon: Daemon, container: fake.Json, name: str) -> Any:
    prefix = 'Error when allocating new name: '
    if container['Name'] == f'/{name}':
        return abort(
            400, 'Renaming a container with the same name as its current name'
        )
    if not _NAME.fullmatch(name):
        return abort(400, prefix + _INVALID_NAME.format(f'/{name}'))
    if used := _named(daemon, name):
        return abort(409, prefix + _CONFLICT.format(name, used))
    container['Name'] = f'/{name}'
    return '', 204


def _named(daemon: Daemon, name: str) -> str | None:
    """Return the ID of the container with a name, if any."""
    for id_, container in daemon.containers.items():
        if container['Name'] == f'/{name}':
            return id_
    return None


def _refusal(id_: str, action: str, status: str) -> Any:
    """Return the daemon's error about an action in a status, if any."""
    if action == 'start' and status == 'paused':
        return abort(
            409, 'cannot start a paused container, try unpause instead'
        )
    if action == 'pause' and status == 'paused':
        return abort(409, f'Container {id_} is already paused')
    if action == 'pause' and status != 'running':
        return abort(409, f'Container {id_} is not running')
    if action == 'unpause' and status != 'paused':
        return abort(500, f'Container {id_} is not paused')
    return None


def _error(message: str) -> fake.Json:
    return {'errorDetail': {'message': message}, 'error': message}


def abort(status: int, message: str) -> Any:
    """Return an error in the format of Docker."""
    return {'message': message}, status
