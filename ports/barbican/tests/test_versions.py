# SPDX-License-Identifier: Apache-2.0
"""Negotiation of Barbican on the library, through its middleware."""

import pytest
import webtest
from barbican.api.controllers import versions
from barbican.api.middleware import microversion


def application(environ, start_response):
    """Respond with the version and whether consumers are supported."""
    request = type('Request', (), {'environ': environ})
    supported = versions.is_supported(request, min_version='1.1')
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [str(supported).encode()]


@pytest.fixture
def app():
    return webtest.TestApp(
        microversion.MicroversionMiddleware.factory({})(application)
    )


@pytest.mark.parametrize(
    ('requested', 'served', 'supported'),
    [
        (None, '1.0', 'False'),
        ('compute 2.1', '1.0', 'False'),
        ('key-manager 1.0', '1.0', 'False'),
        ('key-manager 1.1', '1.1', 'True'),
        ('key-manager latest', '1.2', 'True'),
    ],
)
def test_version_when_served_selects_the_behaviour(
    app, requested, served, supported
):
    headers = {'OpenStack-API-Version': requested} if requested else {}

    response = app.get('/v1/secrets', headers=headers)

    assert response.text == supported
    assert response.headers['OpenStack-API-Version'] == f'key-manager {served}'
    assert response.headers['Vary'] == 'OpenStack-API-Version'


@pytest.mark.parametrize(
    ('requested', 'status'),
    [
        ('key-manager 1.3', 406),
        ('key-manager 2.0', 406),
        ('key-manager x', 400),
        ('key-manager', 400),
        ('key-manager 1.01', 400),
    ],
)
def test_version_when_not_served_is_rejected(app, requested, status):
    response = app.get(
        '/v1/secrets',
        headers={'OpenStack-API-Version': requested},
        expect_errors=True,
    )

    assert response.status_int == status
    assert {'message', 'code', 'title'} <= response.json.keys()
