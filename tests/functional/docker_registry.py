# SPDX-License-Identifier: Apache-2.0
"""A registry of images, from which a Docker daemon can pull.

https://distribution.github.io/distribution/spec/api/ describes its API.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import flask

from tests import cloud as fake

_TYPE = 'application/vnd.docker.distribution.manifest.v2+json'
_CONFIG = 'application/vnd.docker.container.image.v1+json'
_LAYER = 'application/vnd.docker.image.rootfs.diff.tar.gzip'


@contextlib.contextmanager
def serving(layer: bytes) -> Iterator[str]:
    """Serve the images ``box:1``, and ``broken`` with a broken layer.

    :param layer: tar file with the root file system
    :returns: the address of the registry; daemons use HTTP for 127.0.0.0/8
    """
    content = gzip.compress(layer, 1)
    config = json.dumps(
        {
            'architecture': 'amd64',
            'os': 'linux',
            'config': {},
            'rootfs': {'type': 'layers', 'diff_ids': [_digest(layer)]},
        }
    ).encode()
    blobs = {_digest(blob): blob for blob in (content, config)}
    manifest = json.dumps(
        {
            'schemaVersion': 2,
            'mediaType': _TYPE,
            'config': _described(config, _CONFIG),
            'layers': [_described(content, _LAYER)],
        }
    ).encode()
    app = flask.Flask('registry')

    @app.get('/v2/')
    def version() -> Any:
        return {}

    @app.get('/v2/<name>/manifests/<reference>')
    def manifests(name: str, reference: str) -> Any:
        if name not in ('box', 'broken'):
            error = {'code': 'MANIFEST_UNKNOWN', 'message': 'manifest unknown'}
            return {'errors': [error]}, 404
        response = flask.Response(manifest, content_type=_TYPE)
        response.headers['Docker-Content-Digest'] = _digest(manifest)
        return response

    @app.get('/v2/<name>/blobs/<digest>')
    def blob(name: str, digest: str) -> Any:
        if name == 'broken' and digest == _digest(content):
            return flask.Response(b'x' * len(content))
        return flask.Response(blobs[digest])

    with fake.listening(app) as port:
        yield f'127.0.0.1:{port}'


def _described(blob: bytes, media_type: str) -> dict[str, object]:
    return {
        'mediaType': media_type,
        'size': len(blob),
        'digest': _digest(blob),
    }


def _digest(blob: bytes) -> str:
    return f'sha256:{hashlib.sha256(blob).hexdigest()}'
