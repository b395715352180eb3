# SPDX-License-Identifier: Apache-2.0
"""``set_version`` of seed 004, for the test clients there are."""

from __future__ import annotations

import flask
import httpx
import pytest
import requests
import webtest

from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import middleware, policy, presets
from vobjects.testing.client_version import set_version

PATH = '/v1/things'


def of_webtest(app):
    client = webtest.TestApp(app)
    return client, lambda: client.get(PATH).text


def of_flask(app):
    server = flask.Flask(__name__)

    @server.get(PATH)
    def things():
        return str(flask.request.environ[policy.MICROVERSION])

    server.wsgi_app = middleware.Microversions(
        server.wsgi_app, presets.BARBICAN
    )
    client = server.test_client()
    return client, lambda: client.get(PATH).text


@pytest.fixture(params=[of_webtest, of_flask])
def client(request):
    return request.param(wsgi.Service(presets.BARBICAN).app)


def test_version_once_set_is_asked_for_until_another_is(client):
    app, answered = client

    assert answered() == '1.0'
    set_version(app, '1.1')
    assert [answered(), answered()] == ['1.1', '1.1']
    set_version(app, 'latest')
    assert answered() == '1.2'
    set_version(app, None)
    assert answered() == '1.0'


def test_version_is_read_as_a_clients_is():
    app = webtest.TestApp(wsgi.Service(presets.BARBICAN).app)

    set_version(app, '1.01')

    assert app.get(PATH, status=400).json['errors'][0]['status'] == 400


def test_session_sends_the_version_beside_those_of_other_services():
    name = 'OpenStack-API-Version'
    with requests.Session() as old, httpx.Client() as new:
        for session in (old, new):
            session.headers[name] = 'compute 2.1, key-manager 1.0'
            set_version(session, '1.1', 'key-manager')
            assert session.headers[name] == 'compute 2.1, key-manager 1.1'


def test_service_that_is_not_known_must_be_named():
    def bare(environ, start_response):
        raise AssertionError('never called')

    with pytest.raises(LookupError, match='pass the service type'):
        set_version(webtest.TestApp(bare, lint=False), '1.1')


def test_client_that_keeps_no_headers_is_refused():
    with pytest.raises(TypeError, match='extra_environ'):
        set_version(object(), '1.1', 'key-manager')
