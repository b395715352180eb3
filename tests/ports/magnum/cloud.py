# SPDX-License-Identifier: Apache-2.0
"""The services that Magnum calls, in one process.

Stacks are not built. Each change of a stack is recorded, so that a test can
compare the changes with the requests to Magnum.
"""

from __future__ import annotations

import base64
import collections
import contextlib
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import flask

from tests import cloud as fake
from tests.ports import keystone

TOKEN = 'member'
IMAGE = str(uuid.uuid4())
FLAVOR = 'm1.small'
KEYPAIR = 'key'
NETWORK = 'public'

_SERVICES = {
    'identity': '/identity/v3',
    'image': '/image',
    'network': '/network',
    'compute': '/compute/v2.1',
    'orchestration': '/heat/v1',
    'key-manager': '/keys',
    'container-infra': '/magnum',
}


class Cloud:
    """The state of the services.

    :ivar changes: change of a stack, such as ``('create', 'a')`` -> how often
        it was requested
    """

    def __init__(self) -> None:
        self.url = ''
        self.changes: collections.Counter[tuple[str, ...]] = (
            collections.Counter()
        )
        self._lock = threading.Lock()
        self._documents: dict[str, dict[str, Any]] = {}

    def count(self, *change: str) -> int:
        """Return how often a change was requested."""
        with self._lock:
            return self.changes[change]

    def record(self, *change: str) -> None:
        """Count a change."""
        with self._lock:
            self.changes[change] += 1

    def store(self, document: dict[str, Any]) -> str:
        """Store a document; return its ID."""
        id_ = str(uuid.uuid4())
        with self._lock:
            self._documents[id_] = document
        return id_

    def find(self, id_: str) -> dict[str, Any]:
        """Return a document, or end the request with 404."""
        with self._lock:
            found: dict[str, Any] = fake.get_or_404(
                self._documents, id_, 'document'
            )
        return found

    def remove(self, id_: str) -> None:
        """Remove a document."""
        with self._lock:
            self._documents.pop(id_, None)


@contextlib.contextmanager
def serving() -> Iterator[Cloud]:
    """Serve the services on a port of 127.0.0.1."""
    cloud = Cloud()
    app = flask.Flask('magnum-cloud')
    app.url_map.strict_slashes = False
    for serve in (_identity, _compute_and_images, _stacks, _secrets):
        serve(app, cloud)
    with fake.listening(app) as port:
        cloud.url = f'http://127.0.0.1:{port}'
        yield cloud


def _identity(app: flask.Flask, cloud: Cloud) -> None:
    member = keystone.User('project', ('member', 'reader'))
    keystone.serve(
        app,
        lambda: {name: cloud.url + path for name, path in _SERVICES.items()},
        {'magnum': member, TOKEN: member},
    )

    @app.post('/identity/v3/users')
    def create_user() -> Any:
        user = flask.request.get_json()['user']
        user.pop('password')
        return {'user': {**user, 'id': cloud.store(user)}}, 201

    @app.post('/identity/v3/OS-TRUST/trusts')
    def create_trust() -> Any:
        trust = flask.request.get_json()['trust']
        return {'trust': {**trust, 'id': cloud.store(trust)}}, 201

    @app.delete('/identity/v3/users/<id_>')
    @app.delete('/identity/v3/OS-TRUST/trusts/<id_>')
    def delete_trustee(id_: str) -> Any:
        cloud.remove(id_)
        return '', 204


def _compute_and_images(app: flask.Flask, cloud: Cloud) -> None:
    image = {
        'id': IMAGE,
        'name': 'linux',
        'status': 'active',
        'os_distro': 'linux',
    }

    @app.get('/image')
    def image_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/image/v2/'}
        version = {'id': 'v2.15', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}, 300

    @app.get('/image/v2/schemas/image')
    def schema() -> Any:
        properties = {key: {'type': 'string'} for key in image}
        return {'name': 'image', 'properties': properties}

    @app.get('/image/v2/images/<id_>')
    def show_image(id_: str) -> Any:
        if id_ != IMAGE:
            fake.abort(404, 'no such image')
        return image

    @app.get('/image/v2/images')
    def images() -> Any:
        return {'images': [image]}

    @app.get('/compute/v2.1')
    def compute_version() -> Any:
        return {
            'version': {
                'id': 'v2.1',
                'status': 'CURRENT',
                'version': '2.1',
                'min_version': '2.1',
                'links': [
                    {'rel': 'self', 'href': f'{cloud.url}/compute/v2.1/'}
                ],
            }
        }

    @app.get('/compute/v2.1/flavors/detail')
    def flavors() -> Any:
        flavor = {'id': '1', 'name': FLAVOR, 'disk': 20, 'ram': 1024}
        return {'flavors': [{**flavor, 'vcpus': 1, 'links': []}]}

    @app.get('/network')
    def network_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/network/v2.0/'}
        version = {'id': 'v2.0', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}

    @app.get('/network/v2.0/networks')
    def networks() -> Any:
        return {'networks': [{'id': NETWORK, 'name': NETWORK}]}

    @app.get(f'/compute/v2.1/os-keypairs/{KEYPAIR}')
    def keypair() -> Any:
        return {'keypair': {'name': KEYPAIR, 'id': KEYPAIR}}


def _stacks(app: flask.Flask, cloud: Cloud) -> None:
    @app.post('/heat/v1/stacks')
    def create_stack() -> Any:
        body = flask.request.get_json()
        cloud.record('create', body['stack_name'])
        return {'stack': {'id': cloud.store(body)}}, 201

    @app.put('/heat/v1/stacks/<id_>')
    def update_stack(id_: str) -> Any:
        name = cloud.find(id_)['stack_name']
        cloud.record('update', name, flask.request.get_json()['change'])
        return '', 202

    @app.delete('/heat/v1/stacks/<id_>')
    def delete_stack(id_: str) -> Any:
        cloud.record('delete', cloud.find(id_)['stack_name'])
        return '', 204


def _secrets(app: flask.Flask, cloud: Cloud) -> None:
    base = '/keys/v1'

    @app.get('/keys')
    @app.get(base)
    def secret_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}{base}/'}
        version = {'id': 'v1', 'status': 'STABLE', 'links': [link]}
        return {'versions': {'values': [version]}}, 300

    def ref(kind: str, id_: str) -> dict[str, str]:
        return {f'{kind}_ref': f'{cloud.url}{base}/{kind}s/{id_}'}

    @app.post(f'{base}/secrets')
    def create_secret() -> Any:
        id_ = cloud.store(flask.request.get_json())
        return ref('secret', id_), 201

    @app.get(f'{base}/secrets/<id_>')
    def show_secret(id_: str) -> Any:
        content = {'content_types': {'default': 'text/plain'}}
        metadata = dict(cloud.find(id_), status='ACTIVE')
        metadata.pop('payload', None)
        return {**metadata, **content, **ref('secret', id_)}

    @app.get(f'{base}/secrets/<id_>/payload')
    def payload(id_: str) -> Any:
        secret = cloud.find(id_)
        text = secret['payload']
        if secret.get('payload_content_encoding') == 'base64':
            text = base64.b64decode(text)
        return text, 200, {'Content-Type': 'text/plain'}

    @app.delete(f'{base}/secrets/<id_>')
    @app.delete(f'{base}/containers/<id_>')
    def delete_document(id_: str) -> Any:
        cloud.remove(id_)
        return '', 204

    @app.post(f'{base}/containers')
    def create_container() -> Any:
        id_ = cloud.store(flask.request.get_json())
        return ref('container', id_), 201

    @app.get(f'{base}/containers/<id_>')
    @app.post(f'{base}/containers/<id_>/consumers')
    def show_container(id_: str) -> Any:
        container = {'status': 'ACTIVE', 'consumers': [], **cloud.find(id_)}
        return {**container, **ref('container', id_)}
