# SPDX-License-Identifier: Apache-2.0
"""Methods that may still change: only for those who ask for such ones."""

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


def ask(policy, version, **headers):
    app = middleware.Microversions(application, policy)
    return wsgi.call(
        app,
        headers={
            'OpenStack-API-Version': f'clustering {version}',
            **{name.replace('_', '-'): v for name, v in headers.items()},
        },
    )


@pytest.mark.parametrize('said', ['true', 'True', ' TRUE '])
def test_who_asks_is_served_and_told_so(said):
    answer = ask(POLICY, '1.5', **{HEADER: said})

    assert (answer.status, answer.body) == (200, b'new')
    assert answer.headers[HEADER.lower()] == 'true'
    assert HEADER in answer.headers['vary']


@pytest.mark.parametrize('headers', [{}, {HEADER: 'false'}, {HEADER: '1'}])
def test_who_does_not_ask_gets_404_that_says_how(headers):
    answer = ask(POLICY, '1.5', **headers)

    assert answer.status == 404
    (error,) = answer.json['errors']
    assert error['code'] == 'clustering.microversion-method-experimental'
    assert f"'{HEADER}: true'" in error['detail']
    assert HEADER.lower() not in answer.headers
    assert HEADER in answer.headers['vary']


def test_other_methods_need_no_word():
    answer = ask(POLICY, '1.4')

    assert (answer.status, answer.body) == (200, b'old')
    assert HEADER.lower() not in answer.headers


def test_service_without_such_a_header_does_not_offer_them():
    answer = ask(presets.SENLIN, '1.5', **{HEADER: 'true'})

    assert answer.status == 404
    assert 'not offered' in answer.json['errors'][0]['detail']
    assert HEADER.lower() not in answer.headers
    assert answer.headers['vary'] == 'OpenStack-API-Version'


def test_tools_can_see_it():
    old, new = (candidate.function for candidate in shrink.candidates)

    assert not method_spec.facts_of(old).experimental
    assert method_spec.facts_of(new).experimental


def test_policy_refuses_what_is_no_header():
    with pytest.raises(ValueError, match='not the name of a header'):
        dataclasses.replace(POLICY, experimental_header='no header')
