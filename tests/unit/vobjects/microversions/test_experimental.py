# SPDX-License-Identifier: Apache-2.0
"""Experimental methods, for requests that opt in."""

from __future__ import annotations

import dataclasses

import pytest

from tests.unit.vobjects.microversions import wsgi
from vobjects.controllers import method_spec
from vobjects.controllers.dispatch import api_version
from vobjects.controllers.responses import experimental, response
from vobjects.microversions import middleware, presets

HEADER = 'X-OpenStack-Clustering-API-Experimental'
POLICY = dataclasses.replace(presets.SENLIN, experimental_header=HEADER)


@api_version('1.0', '1.4')
def shrink(req):
    return b'old'


@shrink.api_version('1.5')
@response(202)
@experimental
def shrink(req):
    return b'new'


def application(environ, start_response):
    content = shrink(environ)
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [content]


def request(policy, version, **headers):
    app = middleware.Microversions(application, policy)
    return wsgi.call(
        app,
        headers={
            'OpenStack-API-Version': f'clustering {version}',
            **{name.replace('_', '-'): v for name, v in headers.items()},
        },
    )


@pytest.mark.parametrize('value', ['true', 'True', ' TRUE '])
def test_request_when_it_opts_in_is_served(value):
    response = request(POLICY, '1.5', **{HEADER: value})

    assert (response.status, response.body) == (200, b'new')
    assert response.headers[HEADER.lower()] == 'true'
    assert HEADER in response.headers['vary']


@pytest.mark.parametrize('headers', [{}, {HEADER: 'false'}, {HEADER: '1'}])
def test_request_without_opt_in_gets_404_that_names_the_header(headers):
    response = request(POLICY, '1.5', **headers)

    assert response.status == 404
    (error,) = response.json['errors']
    assert error['code'] == 'clustering.microversion-method-experimental'
    assert f"'{HEADER}: true'" in error['detail']
    assert HEADER.lower() not in response.headers
    assert HEADER in response.headers['vary']


def test_other_methods_need_no_opt_in():
    response = request(POLICY, '1.4')

    assert (response.status, response.body) == (200, b'old')
    assert HEADER.lower() not in response.headers


def test_service_without_the_header_disables_experimental_methods():
    response = request(presets.SENLIN, '1.5', **{HEADER: 'true'})

    assert response.status == 404
    assert 'disabled in' in response.json['errors'][0]['detail']
    assert HEADER.lower() not in response.headers
    assert response.headers['vary'] == 'OpenStack-API-Version'


def test_spec_says_whether_a_method_is_experimental():
    old, new = (entry.value for entry in shrink.functions)

    assert not method_spec.spec_of(old).is_experimental
    assert method_spec.spec_of(new).is_experimental
