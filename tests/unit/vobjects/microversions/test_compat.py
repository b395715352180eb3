# SPDX-License-Identifier: Apache-2.0
"""Differences from microversion-parse."""

from __future__ import annotations

import pytest

from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import compat
from vobjects.microversions.compat.middleware import MicroversionMiddleware
from vobjects.testing import api_sig

VERSIONS = ['1.0', '1.1', '1.3', '2.0']
HEADER = 'openstack-api-version'


@pytest.mark.parametrize(
    'text', ['1.03', '+1.3', '1.1_0', '0.1', '1.', '1.3.4', 'latest', None]
)
def test_version_is_parsed_strictly(text):
    with pytest.raises(TypeError, match='invalid version string'):
        compat.parse_version_string(text)


def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [str(environ['cats.microversion']).encode()]


class Gone(Exception):
    """An exception that answers, as those of WebOb and Werkzeug do."""

    def __call__(self, environ, start_response):
        start_response('410 Gone', [('Content-Type', 'text/plain')])
        return [b'gone']


def send(app, value=None, **options):
    headers = {} if value is None else {HEADER: value}
    return wsgi.call(app, '/cats', headers=headers, **options)


def middleware(app=application, **options):
    return MicroversionMiddleware(app, 'cats', VERSIONS, **options)


@pytest.mark.parametrize(
    ('value', 'status', 'shown'),
    [
        (None, 200, '1.0'),
        ('cats 1.3', 200, '1.3'),
        ('cats latest', 200, '2.0'),
        ('cats 1.2', 406, '1.0'),
        ('cats 1.03', 400, '1.0'),
    ],
)
def test_every_response_has_version_and_vary(value, status, shown):
    response = send(middleware(), value)

    assert response.status == status
    assert response.headers[HEADER] == f'cats {shown}'
    assert response.headers['vary'] == HEADER
    if status == 200:
        assert response.body == shown.encode()
    else:
        api_sig.assert_error_document(response.json, status)


def test_error_for_head_has_no_body():
    assert send(middleware(), 'cats 1.03', method='HEAD').body == b''


def test_wsgi_exception_has_the_headers_and_others_propagate():
    def raise_gone(environ, start_response):
        raise Gone

    def raise_error(environ, start_response):
        raise RuntimeError('boom')

    response = send(middleware(raise_gone), 'cats 1.3')

    assert (response.status, response.headers[HEADER]) == (410, 'cats 1.3')
    with pytest.raises(RuntimeError, match='boom'):
        send(middleware(raise_error))


def test_formatter_formats_the_body_as_for_placement():
    def formatter(*, body, status, title, environ):
        return {'said': body, 'status': status, 'title': title}

    response = send(middleware(json_error_formatter=formatter), 'cats 9.9')

    assert response.json == {
        'said': 'Invalid microversion: Unacceptable version header: 9.9',
        'status': '406 Not Acceptable',
        'title': 'Not Acceptable',
    }
