# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import flask
import httpx
import pytest
import requests
import webtest

from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import middleware, presets, version_policy
from vobjects.testing.client_version import set_version

PATH = '/v1/things'


def webtest_client(app):
    client = webtest.TestApp(app)
    return client, lambda: client.get(PATH).text


def flask_client(app):
    server = flask.Flask(__name__)

    @server.get(PATH)
    def things():
        return str(flask.request.environ[version_policy.MICROVERSION])

    server.wsgi_app = middleware.Microversions(
        server.wsgi_app, presets.BARBICAN
    )
    client = server.test_client()
    return client, lambda: client.get(PATH).text


@pytest.fixture(params=[webtest_client, flask_client])
def client(request):
    return request.param(wsgi.Service(presets.BARBICAN).app)


def test_set_version_applies_until_the_next_call(client):
    app, request_version = client

    assert request_version() == '1.0'
    set_version(app, '1.1')
    assert [request_version(), request_version()] == ['1.1', '1.1']
    set_version(app, 'latest')
    assert request_version() == '1.2'
    set_version(app, None)
    assert request_version() == '1.0'


def test_set_version_when_malformed_is_rejected_by_the_server():
    app = webtest.TestApp(wsgi.Service(presets.BARBICAN).app)

    set_version(app, '1.01')

    assert app.get(PATH, status=400).json['errors'][0]['status'] == 400


def test_set_version_of_session_keeps_versions_of_other_services():
    name = 'OpenStack-API-Version'
    with requests.Session() as old, httpx.Client() as new:
        for session in (old, new):
            session.headers[name] = 'compute 2.1, key-manager 1.0'
            set_version(session, '1.1', 'key-manager')
            assert session.headers[name] == 'compute 2.1, key-manager 1.1'


def test_set_version_without_middleware_requires_service_type():
    def app(environ, start_response):
        raise AssertionError('never called')

    with pytest.raises(LookupError, match='pass the service type'):
        set_version(webtest.TestApp(app, lint=False), '1.1')


def test_set_version_of_client_without_headers_raises():
    with pytest.raises(TypeError, match='extra_environ'):
        set_version(object(), '1.1', 'key-manager')
