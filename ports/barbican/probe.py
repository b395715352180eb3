# SPDX-License-Identifier: Apache-2.0
"""A Barbican API to send requests to, without a database."""

from barbican.api import app
from barbican.api.controllers import versions
from barbican.api.middleware import microversion
from paste import urlmap

SERVICE = 'key-manager'
MAJOR = '1'
PATHS = ('/', '/v1', '/v2', '/v1/no-such-resource')


def application():
    """Return a WSGI application, as Barbican's pipelines compose it."""
    root = urlmap.URLMap()
    for path, inner in (
        ('/', app.create_version_app({})),
        ('/v1', app.build_wsgi_app(versions.V1Controller())),
    ):
        root[path] = microversion.MicroversionMiddleware(inner)
    return root
