# SPDX-License-Identifier: Apache-2.0
"""WSGI applications for tests, called in process or over loopback."""

import contextlib
import json
import threading
import wsgiref.simple_server
import wsgiref.util
import wsgiref.validate

from vobjects.microversions import (
    middleware,
    presets,
    version_policy,
)


class Response:
    """The response of a WSGI application."""

    def __init__(self, status, headers, body):
        self.status = int(status.split()[0])
        self.header_list = headers
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


def call(app, path='/v1/clusters', *, method='GET', headers=None, **extra):
    """Call an application and validate that both sides follow PEP 3333."""
    environ = {
        'REQUEST_METHOD': method,
        'PATH_INFO': path,
        'SCRIPT_NAME': '',
        'QUERY_STRING': '',
        **{
            'HTTP_' + name.upper().replace('-', '_'): value
            for name, value in (headers or {}).items()
        },
        **extra,
    }
    wsgiref.util.setup_testing_defaults(environ)
    started = []

    def start_response(status, headers, exc_info=None):
        started[:] = [status, headers]
        return lambda data: None

    parts = wsgiref.validate.validator(app)(environ, start_response)
    try:
        body = b''.join(parts)
    finally:
        parts.close()
    return Response(*started, body)


def echo(environ, start_response):
    """Return the version; ``/v1/missing`` is not found."""
    if environ['PATH_INFO'] == '/v1/missing':
        start_response('404 Not Found', [('Content-Type', 'text/plain')])
        return [b'missing']
    headers = [('Content-Type', 'text/plain'), ('X-Own', 'kept')]
    start_response('200 OK', headers)
    return [str(environ[version_policy.MICROVERSION]).encode()]


class Service:
    """Discovery and :func:`echo`, behind the middleware.

    :ivar maximum: highest version served now; a test may change it
    """

    def __init__(self, service_policy=presets.SENLIN):
        self.policy = service_policy
        self.maximum = service_policy.limit()
        self.app = middleware.Microversions(
            middleware.Discovery(echo, service_policy),
            service_policy,
            lambda: self.maximum,
        )


class _QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *arguments):
        """Keep the test output clean."""


@contextlib.contextmanager
def serve(app):
    """Serve an application on loopback; yield the URL, without a slash."""
    with wsgiref.simple_server.make_server(
        '127.0.0.1', 0, app, handler_class=_QuietHandler
    ) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={'poll_interval': 0.01}
        )
        thread.start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()
            thread.join()
