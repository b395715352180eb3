# SPDX-License-Identifier: Apache-2.0
"""Fake Glance: images by ID and name."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API to an application."""

    @app.get('/image')
    def image_versions() -> Any:
        link = {'rel': 'self', 'href': f'{cloud.url}/image/v2/'}
        version = {'id': 'v2.15', 'status': 'CURRENT', 'links': [link]}
        return {'versions': [version]}, 300

    def shown(id_: str) -> fake.Json:
        return {'id': id_, 'name': cloud.images[id_], 'status': 'active'}

    @app.get('/image/v2/images/<id_>')
    def image(id_: str) -> Any:
        fake.get_or_404(cloud.images, id_, 'Image')
        return shown(id_)

    @app.get('/image/v2/images')
    def images() -> Any:
        name = flask.request.args.get('name')
        return {
            'images': [
                shown(id_)
                for id_, known in cloud.images.items()
                if name in (None, known)
            ]
        }
