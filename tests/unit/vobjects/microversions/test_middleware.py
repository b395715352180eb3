# SPDX-License-Identifier: Apache-2.0
"""The middleware: what the application sees, and every response's headers."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import errors, middleware, policy, presets
from vobjects.testing import api_sig
from vobjects.versions import Maximum, Version

HEADER = 'openstack-api-version'


@pytest.fixture
def service():
    return wsgi.Service()


def ask(service, value=None, path='/v1/clusters', **options):
    headers = {} if value is None else {HEADER: value}
    return wsgi.call(service.app, path, headers=headers, **options)


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        (None, '1.0'),
        ('clustering 1.7', '1.7'),
        ('compute 2.1,clustering 1.7', '1.7'),
        ('compute 2.1', '1.0'),
        ('clustering LATEST', '1.14'),
    ],
)
def test_request_when_served_runs_at_its_version(service, value, expected):
    answer = ask(service, value)

    assert answer.status == 200
    assert answer.body == expected.encode()
    assert answer.headers[HEADER] == f'clustering {expected}'
    assert answer.headers['vary'] == 'OpenStack-API-Version'
    assert answer.headers['x-own'] == 'kept'


def test_error_of_the_application_has_the_headers_too(service):
    answer = ask(service, 'clustering 1.7', '/v1/missing')

    assert answer.status == 404
    assert answer.headers[HEADER] == 'clustering 1.7'
    assert answer.headers['vary'] == 'OpenStack-API-Version'


def test_unsupported_version_is_406_and_shows_the_requested_one(service):
    service.maximum = Maximum(Version(1, 7), 'engine-2 is older')

    answer = ask(service, 'clustering 1.8')

    assert answer.status == 406
    api_sig.assert_error_document(answer.json, 406)
    assert 'because engine-2 is older' in answer.json['errors'][0]['detail']
    assert answer.json['errors'][0]['max_version'] == '1.7'
    assert answer.headers[HEADER] == 'clustering 1.8'
    assert answer.headers['vary'] == 'OpenStack-API-Version'
    assert answer.headers['content-type'] == 'application/json'


def test_unsupported_version_when_absurdly_long_is_not_repeated(service):
    answer = ask(service, 'clustering 1.' + '9' * 4000)

    assert answer.status == 406
    assert answer.headers[HEADER] == 'clustering 1.0'
    assert len(answer.body) < 1500


def test_malformed_version_is_400_and_shows_the_minimum(service):
    answer = ask(service, 'clustering pony')

    assert answer.status == 400
    api_sig.assert_error_document(answer.json, 400)
    assert answer.headers[HEADER] == 'clustering 1.0'
    assert answer.headers['vary'] == 'OpenStack-API-Version'


def test_refusals_status_is_the_policys():
    lenient = dataclasses.replace(
        presets.SENLIN, malformed_status=406, unsupported_status=400
    )
    service = wsgi.Service(lenient)

    malformed = ask(service, 'clustering pony')
    unsupported = ask(service, 'clustering 1.99')

    assert (malformed.status, unsupported.status) == (406, 400)
    api_sig.assert_error_document(malformed.json, 406)
    api_sig.assert_error_document(unsupported.json, 400)


def test_refusal_names_the_request_id(service):
    answer = ask(
        service, 'clustering pony', **{middleware.REQUEST_ID: 'req-7'}
    )

    assert answer.json['errors'][0]['request_id'] == 'req-7'


def test_refusal_of_head_has_no_body_but_its_length(service):
    answer = ask(service, 'clustering pony', method='HEAD')

    assert answer.status == 400
    assert answer.body == b''
    assert int(answer.headers['content-length']) > 0


@pytest.mark.parametrize('path', ['/', '', '/v1', '/v1/'])
@pytest.mark.parametrize('value', ['clustering 9.9', 'clustering pony'])
def test_discovery_is_served_whatever_version_is_asked(service, path, value):
    answer = ask(service, value, path)

    assert answer.status in {200, 300}
    assert 'max_version' in answer.body.decode()
    assert answer.headers[HEADER] == 'clustering 1.0'
    assert answer.headers['vary'] == 'OpenStack-API-Version'


def test_discovery_shows_the_version_that_can_be_served(service):
    assert ask(service, 'clustering 1.7', '/').headers[HEADER] == (
        'clustering 1.7'
    )


def test_path_that_only_begins_like_discovery_is_negotiated(service):
    assert ask(service, 'clustering pony', '/v1/x').status == 400
    assert ask(service, 'clustering pony', '/v11').status == 400


def test_exception_of_the_application_passes_through(service):
    with pytest.raises(RuntimeError, match='boom'):
        ask(service, path='/boom')


def test_api_error_of_the_application_is_answered_as_its_document():
    def app(environ, start_response):
        raise errors.MethodNotAtVersion(
            'show', environ[policy.MICROVERSION], ((Version(1, 9), None),)
        )

    service = middleware.Microversions(app, presets.SENLIN)
    answer = wsgi.call(service, headers={HEADER: 'clustering 1.7'})
    head = wsgi.call(service, method='HEAD')

    assert answer.status == 404
    api_sig.assert_error_document(answer.json, 404)
    assert 'needs API version 1.9 or later' in answer.json['error']['message']
    assert answer.headers[HEADER] == 'clustering 1.7'
    assert answer.headers['vary'] == 'OpenStack-API-Version'
    assert (head.status, head.body) == (404, b'')


def test_api_error_after_the_start_takes_its_place():
    def app(environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain')])
        raise errors.ValidationError('body', 'is wrong')

    answer = wsgi.call(middleware.Microversions(app, presets.SENLIN))

    assert answer.status == 400
    api_sig.assert_error_document(answer.json, 400)


def test_maximum_when_nobody_gives_it_is_the_policys():
    service = middleware.Microversions(wsgi.echo, presets.SENLIN)

    answer = wsgi.call(service, headers={HEADER: 'clustering latest'})

    assert answer.headers[HEADER] == 'clustering 1.14'


def test_maximum_is_read_once_a_request_and_given_on():
    calls = []
    seen = []

    def maximum():
        calls.append(1)
        return Maximum(Version(1, 99), 'nothing')

    def app(environ, start_response):
        seen.append(environ[policy.MAXIMUM])
        return wsgi.echo(environ, start_response)

    wsgi.call(middleware.Microversions(app, presets.SENLIN, maximum))

    assert len(calls) == 1
    assert seen == [Maximum(Version(1, 14))]


def answering(headers):
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
    answer = wsgi.call(answering(own))

    varies = [v for name, v in answer.header_list if name.lower() == 'vary']
    assert varies == [expected]


def test_version_header_of_the_application_gives_way():
    answer = wsgi.call(answering([(HEADER, 'clustering 9.9')]))

    found = [v for name, v in answer.header_list if name.lower() == HEADER]
    assert found == ['clustering 1.0']


def test_second_start_after_an_error_has_the_headers_too():
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

    answer = wsgi.call(
        middleware.Microversions(
            app, presets.SENLIN, lambda: presets.SENLIN.limit()
        )
    )

    assert answer.status == 500
    assert answer.headers[HEADER] == 'clustering 1.0'


LEGACY = policy.VersionPolicy(
    service_types=('compute',),
    minimum=Version(2, 1),
    maximum=Version(2, 104),
    help_url='https://docs.example.org/',
    legacy_headers=('X-OpenStack-Nova-API-Version',),
    response_headers=(('X-OpenStack-Nova-API-Version', '{version}'),),
)


@pytest.mark.parametrize(
    ('headers', 'expected'),
    [
        ({'X-OpenStack-Nova-API-Version': '2.7'}, '2.7'),
        (
            {
                'X-OpenStack-Nova-API-Version': '2.7',
                'OpenStack-API-Version': 'compute 2.9',
            },
            '2.9',
        ),
        ({}, '2.1'),
    ],
)
def test_legacy_header_is_heard_and_answered(headers, expected):
    answer = wsgi.call(wsgi.Service(LEGACY).app, headers=headers)

    assert answer.body == expected.encode()
    assert answer.headers[HEADER] == f'compute {expected}'
    assert answer.headers['x-openstack-nova-api-version'] == expected
    assert answer.headers['vary'] == (
        'OpenStack-API-Version, X-OpenStack-Nova-API-Version'
    )
