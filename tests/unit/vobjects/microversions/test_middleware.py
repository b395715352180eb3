# SPDX-License-Identifier: Apache-2.0
"""The version middleware."""

import sys
import uuid

import pytest

from tests import api_sig
from tests.unit.vobjects.microversions import wsgi
from vobjects import exceptions
from vobjects.microversions import (
    errors,
    middleware,
    negotiation,
    presets,
    version_policy,
)
from vobjects.versions import Maximum, Version

HEADER = 'openstack-api-version'


@pytest.fixture
def service():
    return wsgi.Service()


def send(service, value=None, path='/v1/clusters', **options):
    headers = {} if value is None else {HEADER: value}
    return wsgi.call(service.app, path, headers=headers, **options)


def test_unsupported_version_when_too_long_is_not_echoed(service):
    response = send(service, 'clustering 1.' + '9' * 4000)

    assert response.status == 406
    assert response.headers[HEADER] == 'clustering 1.0'
    assert len(response.body) < 1500


@pytest.mark.parametrize('value', ['clustering 1.7', 'clustering pony'])
def test_request_id_when_no_middleware_sets_one_is_in_every_response(
    service, value
):
    first, second = send(service, value), send(service, value)

    ids = [r.headers['x-openstack-request-id'] for r in (first, second)]
    assert [uuid.UUID(request_id[4:]).version for request_id in ids] == [4, 4]
    assert all(request_id.startswith('req-') for request_id in ids)
    assert ids[0] != ids[1]
    if first.status == 400:
        api_sig.assert_error_document(first.json, 400, first.headers)
        assert first.json['errors'][0]['request_id'] == ids[0]


def test_request_id_when_an_outer_middleware_set_it_is_not_sent_twice(service):
    response = send(
        service, 'clustering pony', **{negotiation.REQUEST_ID: 'req-7'}
    )

    assert response.json['errors'][0]['request_id'] == 'req-7'
    assert 'x-openstack-request-id' not in response.headers


def test_request_id_when_the_application_sends_one_is_kept():
    def application(environ, start_response):
        headers = [
            ('Content-Type', 'text/plain'),
            ('X-Openstack-Request-Id', 'req-9'),
        ]
        start_response('200 OK', headers)
        return [b'']

    app = middleware.Microversions(application, presets.SENLIN)
    response = wsgi.call(app)

    names = [name.lower() for name, _value in response.header_list]
    assert names.count('x-openstack-request-id') == 1
    assert response.headers['x-openstack-request-id'] == 'req-9'


def test_error_for_head_has_a_length_but_no_body(service):
    response = send(service, 'clustering pony', method='HEAD')

    assert response.status == 400
    assert response.body == b''
    assert int(response.headers['content-length']) > 0
    assert response.headers['content-type'] == 'application/json'


def test_path_that_only_begins_like_discovery_is_negotiated(service):
    assert send(service, 'clustering pony', '/v1/x').status == 400
    assert send(service, 'clustering pony', '/v11').status == 400


def test_api_error_after_the_start_replaces_the_response():
    def app(environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain')])
        raise errors.ValidationError('body', 'is wrong')

    response = wsgi.call(middleware.Microversions(app, presets.SENLIN))

    assert response.status == 400
    api_sig.assert_error_document(response.json, 400)


def test_maximum_is_read_once_per_request():
    calls = []
    maxima = []

    def maximum():
        calls.append(1)
        return Maximum(Version(1, 99), 'nothing')

    def app(environ, start_response):
        maxima.append(environ[version_policy.MAXIMUM])
        return wsgi.echo(environ, start_response)

    wsgi.call(middleware.Microversions(app, presets.SENLIN, maximum))

    assert len(calls) == 1
    assert maxima == [Maximum(Version(1, 14))]


def respond_with(headers):
    def app(environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain'), *headers])
        return [b'']

    return middleware.Microversions(
        app, presets.SENLIN, lambda: presets.SENLIN.limit()
    )


@pytest.mark.parametrize(
    ('own', 'expected'),
    [
        ([('Vary', 'Accept')], 'Accept, OpenStack-API-Version'),
        (
            [('Vary', 'Accept, Origin'), ('vary', 'Cookie')],
            'Accept, Origin, Cookie, OpenStack-API-Version',
        ),
        ([('Vary', 'openstack-api-version')], 'OpenStack-API-Version'),
        (
            [('Vary', 'OpenStack-API-Version,Accept')],
            'Accept, OpenStack-API-Version',
        ),
        ([('Vary', '*')], '*'),
        ([('Vary', '')], 'OpenStack-API-Version'),
    ],
)
def test_vary_of_the_application_is_merged_into_one(own, expected):
    response = wsgi.call(respond_with(own))

    varies = [v for name, v in response.header_list if name.lower() == 'vary']
    assert varies == [expected]


def test_version_header_of_the_application_is_replaced():
    response = wsgi.call(respond_with([(HEADER, 'clustering 9.9')]))

    versions = [
        v for name, v in response.header_list if name.lower() == HEADER
    ]
    assert versions == ['clustering 1.0']


def test_second_start_after_an_error_has_the_headers():
    def app(environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain')])
        try:
            raise RuntimeError('late')
        except RuntimeError:
            start_response(
                '500 Internal Server Error',
                [('Content-Type', 'text/plain')],
                sys.exc_info(),
            )
        return [b'']

    response = wsgi.call(
        middleware.Microversions(
            app, presets.SENLIN, lambda: presets.SENLIN.limit()
        )
    )

    assert response.status == 500
    assert response.headers[HEADER] == 'clustering 1.0'


def no_server(*_arguments):
    raise exceptions.NoLivePeer('no server of topic x is alive')


@pytest.mark.parametrize('path', ['/', '/v1', '/v1/clusters'])
def test_request_when_no_server_was_ever_alive_gets_503(path):
    policy = presets.MAGNUM
    app = middleware.Microversions(wsgi.echo, policy, no_server)

    response = wsgi.call(app, path, headers={HEADER: 'container-infra 1.9'})

    assert response.status == 503
    assert response.headers[HEADER] == f'{policy.service_type} 1.1'
    assert response.headers['vary'] == 'OpenStack-API-Version'
    assert response.headers['x-openstack-request-id'].startswith('req-')
    assert int(response.headers['retry-after']) > 0
    assert 'topic' not in response.body.decode()
    assert response.json['errors'][0]['code'].endswith('.engine-missing')
