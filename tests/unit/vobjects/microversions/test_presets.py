# SPDX-License-Identifier: Apache-2.0
"""Each preset answers as its service does, but for the differences we own.

The whole matrix goes through a WSGI application that WebOb asks.
"""

from __future__ import annotations

import dataclasses
import json
import warnings

import pytest
import requests
from keystoneauth1.exceptions import http as keystone_http
from openstack import exceptions as sdk_exceptions
from oslo_versionedobjects import base as ovo_base

from tests.unit.vobjects.microversions import matrix, samples
from vobjects.controllers import request_parsing
from vobjects.controllers.dispatch import api_version, resolve
from vobjects.microversions import (
    discovery,
    errors,
    middleware,
    policy,
    presets,
)
from vobjects.testing import api_sig
from vobjects.versions import Maximum, Version

with warnings.catch_warnings():
    # It imports a module of Python 3.11 that is deprecated.
    warnings.simplefilter('ignore', DeprecationWarning)
    import webob

HEADER = 'OpenStack-API-Version'
HIGHEST = 14


@api_version('1.5', '1.9')
def young(request):
    """Serve a method that came with X.5, whatever X is."""
    return webob.Response('young')


def application(environ, start_response):
    request = webob.Request(environ)
    version = environ[policy.MICROVERSION]
    if request.path_info == '/unknown':
        answer = webob.Response('nothing here', 404)
    elif request.path_info == '/young':
        answer = resolve(young, Version(1, version.minor))(request)
    elif request.path_info == '/early':
        body = b'{"config": {}}'
        request_parsing.parse_body(samples.SampleEarlyRequest, request, body)
        answer = webob.Response('accepted')
    elif request.path_info == '/refused':
        raise errors.ValidationError('body.name', 'is required')
    else:
        answer = webob.Response(str(version))
    return answer(environ, start_response)


def preset(name, **changes):
    """Return a preset with a range in which each kind of request fits."""
    found = presets.PRESETS[name]
    highest = Version(found.minimum.major, HIGHEST)
    return dataclasses.replace(found, maximum=highest, **changes)


def ask(service, header, path='/things', **headers):
    app = middleware.Microversions(application, service)
    if header is not None:
        header = header.replace('SVC', service.service_type)
        headers[HEADER] = header.replace('X', str(service.minimum.major))
    request = webob.Request.blank(path, headers=headers)
    return request.get_response(app)


def outcome(service, answer):
    """Return what an answer is, in the words of the matrix."""
    if answer.status_int == 200:
        if answer.text == str(service.minimum):
            return 'default'
        if answer.text == str(service.maximum):
            return 'max'
        return f'X.{answer.text.partition(".")[2]}'
    code = answer.json['errors'][0]['code']
    return {
        'malformed': 'malformed',
        'of-other-service': 'other service',
        'unsupported': 'unsupported',
        'method-missing': str(answer.status_int),
    }[code.partition('.microversion-')[2]]


def assert_marked(service, answer, version):
    """Assert that a response says its version, and by which headers."""
    headers = answer.headers
    assert headers.getall(HEADER) == [f'{service.service_type} {version}']
    (vary,) = headers.getall('Vary')
    assert {name.strip() for name in vary.split(',')} >= {
        HEADER,
        *service.legacy_headers,
    }
    for name, _template in service.response_headers:
        assert len(headers.getall(name)) == 1


DIFFERENCES = matrix.differences()
HERE = {(row.preset, row.request): row.here for row in DIFFERENCES}
CELLS = [(name, kind) for kind in matrix.HEADERS for name in matrix.NAMES]


@pytest.mark.parametrize(('name', 'kind'), CELLS)
def test_answer_is_the_originals_or_a_difference_with_a_reason(name, kind):
    service = preset(name)
    path = '/young' if kind == 'method missing' else '/things'

    answer = ask(service, matrix.HEADERS[kind], path)

    found = outcome(service, answer)
    assert found == HERE.get((name, kind), matrix.ORIGINAL[kind][name])
    if answer.status_int != 200:
        api_sig.assert_error_document(answer.json, answer.status_int)
        statuses = matrix.STATUSES[name]
        assert answer.status_int == statuses.get(found, answer.status_int)
        assert statuses.get(found) or found.isdigit()
    if found == 'unsupported':
        text = matrix.HEADERS[kind].split()[1]
        shown = text.replace('X', str(service.minimum.major))
    elif answer.status_int == 200:
        shown = answer.text
    else:
        shown = {'/young': f'{service.minimum.major}.3'}.get(
            path, str(service.minimum)
        )
    assert_marked(service, answer, shown)


def test_differences_are_of_the_matrix_and_differ():
    for row in DIFFERENCES:
        assert matrix.ORIGINAL[row.request][row.preset] == row.original
        assert row.original != row.here
        assert row.reason
    assert len(HERE) == len(DIFFERENCES)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_early_field_is_accepted_where_the_preset_says_so(name, monkeypatch):
    classes = ovo_base.VersionedObjectRegistry()._obj_classes
    early = samples.SampleEarlyRequest
    monkeypatch.setitem(classes, early.__name__, [early])

    answer = ask(preset(name), 'SVC X.3', '/early')
    strict = ask(preset(name, accepts_early=False), 'SVC X.3', '/early')

    accepted = HERE.get((name, 'early field')) == 'accepted'
    assert answer.status_int == (200 if accepted else 400)
    assert strict.status_int == 400
    assert 'needs API version 3.0' in strict.text


@pytest.mark.parametrize('name', matrix.NAMES)
@pytest.mark.parametrize(
    ('path', 'status'), [('/unknown', 404), ('/refused', 400)]
)
def test_errors_of_the_application_are_marked_too(name, path, status):
    service = preset(name)

    answer = ask(service, 'SVC X.6', path)

    assert answer.status_int == status
    assert_marked(service, answer, f'{service.minimum.major}.6')


@pytest.mark.parametrize('name', matrix.NAMES)
def test_version_below_the_minimum_is_unsupported_or_malformed(name):
    major = presets.PRESETS[name].minimum.major
    service = preset(name, minimum=Version(major, 4))

    answer = ask(service, 'SVC X.3')

    assert outcome(service, answer) == 'unsupported'
    assert answer.json['errors'][0]['min_version'] == str(service.minimum)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_every_name_of_the_service_is_heard_and_the_first_is_answered(name):
    service = preset(name)
    for alias in service.service_types:
        answer = ask(service, f'{alias} X.5')
        assert answer.text == f'{service.minimum.major}.5'
        assert_marked(service, answer, answer.text)


def test_magnum_has_the_three_names_of_its_document():
    assert set(presets.MAGNUM.service_types) == {
        'container-infrastructure-management',
        'container-infrastructure',
        'container-infra',
    }


LEGACY = {
    'nova': 'X-OpenStack-Nova-API-Version',
    'ironic': 'X-OpenStack-Ironic-API-Version',
}


@pytest.mark.parametrize(('name', 'legacy'), LEGACY.items())
@pytest.mark.parametrize(
    ('standard', 'value', 'expected'),
    [
        (None, 'X.5', 'X.5'),
        (None, 'latest', 'max'),
        ('object-store 1.0', 'X.5', 'X.5'),
        ('SVC X.6', 'X.5', 'X.6'),
        (None, 'pony', 'malformed'),
        (None, 'X.999', 'unsupported'),
        (None, 'X.03', 'malformed'),
    ],
)
def test_legacy_header_is_heard_when_the_standard_one_is_silent(
    name, legacy, standard, value, expected
):
    service = preset(name)
    text = value.replace('X', str(service.minimum.major))

    answer = ask(service, standard, **{legacy: text})

    assert outcome(service, answer) == expected
    if answer.status_int == 200:
        assert answer.headers[legacy] == answer.text
    else:
        assert answer.status_int == matrix.STATUSES[name][expected]
    assert legacy in answer.headers['Vary']


def test_nova_tells_its_version_by_both_headers_also_when_it_refuses():
    answer = ask(preset('nova'), 'SVC X.999')

    assert answer.headers[HEADER] == 'compute 2.999'
    assert answer.headers[LEGACY['nova']] == '2.999'


def test_experimental_is_told_when_the_operator_says_so():
    # "X-OpenStack-Nova-API-Version: version_number, experimental"
    changed = ask(preset('nova', experimental=True), 'SVC X.5')
    standard = ask(preset('nova'), 'SVC X.5')

    assert changed.headers[LEGACY['nova']] == '2.5, experimental'
    assert standard.headers[LEGACY['nova']] == '2.5'
    assert changed.headers[HEADER] == 'compute 2.5'


@pytest.mark.parametrize('header', [None, 'SVC X.5', 'SVC X.999', 'SVC pony'])
def test_magnum_and_ironic_tell_their_range_on_every_response(header):
    magnum = ask(preset('magnum'), header)
    ironic = ask(preset('ironic'), header)

    name = 'container-infrastructure-management'
    assert magnum.headers['OpenStack-API-Minimum-Version'] == f'{name} 1.1'
    assert magnum.headers['OpenStack-API-Maximum-Version'] == f'{name} 1.14'
    ours = 'X-OpenStack-Ironic-API'
    assert ironic.headers[f'{ours}-Minimum-Version'] == '1.1'
    assert ironic.headers[f'{ours}-Maximum-Version'] == '1.14'


def test_range_headers_follow_the_maximum_served_now():
    served = [Maximum(Version(1, 9)), Maximum(Version(1, 12))]
    app = middleware.Microversions(
        application, preset('ironic'), lambda: served[0]
    )
    name = 'X-OpenStack-Ironic-API-Maximum-Version'

    first = webob.Request.blank('/things').get_response(app)
    del served[0]
    second = webob.Request.blank('/things').get_response(app)

    assert (first.headers[name], second.headers[name]) == ('1.9', '1.12')


DEFAULTS = {
    'nova': '2.1',
    'senlin': '1.0',
    'magnum': '1.1',
    'barbican': '1.0',
    'ironic': '1.1',
}


@pytest.mark.parametrize(('name', 'expected'), DEFAULTS.items())
def test_default_is_that_of_the_document(name, expected):
    assert ask(presets.PRESETS[name], None).text == expected


def test_default_can_be_above_the_minimum_and_gives_way_to_the_maximum():
    service = preset('senlin', default=Version(1, 8))
    capped = middleware.Microversions(
        application, service, lambda: Maximum(Version(1, 6))
    )

    assert ask(service, None).text == '1.8'
    assert ask(service, 'SVC 1.2').text == '1.2'
    assert webob.Request.blank('/').get_response(capped).text == '1.6'


def refusals(name):
    """Yield a refusal of each kind."""
    service = preset(name)
    yield ask(service, 'SVC X.999')
    yield ask(service, 'SVC pony')
    yield ask(service, 'SVC X.3', '/young')
    yield ask(service, 'SVC X.6', '/refused')


def sentence(body):
    return body['errors'][0]['detail']


@pytest.mark.parametrize(
    ('name', 'reads'),
    [
        ('nova', lambda body: body[next(iter(body))]['message']),
        ('senlin', lambda body: body['error']['message']),
        ('magnum', lambda body: body['errors'][0]['description']),
        ('barbican', lambda body: body['message']),
        (
            'ironic',
            lambda body: json.loads(body['error_message'])['faultstring'],
        ),
    ],
)
def test_error_body_is_read_as_the_services_own_clients_do(name, reads):
    for answer in refusals(name):
        assert reads(answer.json) == sentence(answer.json)


@pytest.mark.parametrize(
    ('header', 'path', 'fault'),
    [
        ('SVC X.999', '/things', 'computeFault'),
        ('SVC pony', '/things', 'badRequest'),
        ('SVC X.3', '/young', 'itemNotFound'),
    ],
)
def test_nova_names_the_fault_as_nova_does(header, path, fault):
    body = ask(preset('nova'), header, path).json

    assert next(iter(body)) == fault
    assert body[fault]['code'] == body['errors'][0]['status']


def test_senlin_at_400_says_what_its_tempest_plugin_compares():
    service = preset('senlin', method_missing_status=400)

    answer = ask(service, 'SVC X.3', '/young')

    assert answer.status_int == 400
    assert answer.json['error'] == {
        'code': 400,
        'message': "API version '1.3' is not supported on this method.",
        'type': 'MethodVersionNotFound',
    }


def as_requests(answer):
    response = requests.Response()
    response.status_code = answer.status_int
    response.reason = answer.status.partition(' ')[2]
    response.headers.update(answer.headers)
    response.url = 'http://localhost/things'
    response.request = requests.Request('GET', response.url).prepare()
    response._content = answer.body
    return response


#: Bodies that openstacksdk takes for an empty one.
UNREAD_BY_SDK = {'magnum'}


@pytest.mark.parametrize('name', matrix.NAMES)
def test_keystoneauth_and_openstacksdk_print_the_detail(name):
    for answer in refusals(name):
        response = as_requests(answer)
        found = keystone_http.from_response(response, 'GET', '/')
        assert sentence(answer.json) in f'{found} {found.details}'
        with pytest.raises(sdk_exceptions.HttpException) as caught:
            sdk_exceptions.raise_from_response(response)
        is_read = sentence(answer.json) in str(caught.value)
        assert is_read is (name not in UNREAD_BY_SDK)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_error_links_the_help_and_what_is_about_versions_the_history(name):
    service = presets.PRESETS[name]
    unsupported, malformed, missing, refused = refusals(name)

    for answer in (unsupported, malformed, missing, refused):
        (item,) = answer.json['errors']
        links = {link['rel']: link['href'] for link in item['links']}
        assert links['help'] == service.help_url
        if answer is refused:
            assert 'history' not in links
        else:
            assert links['history'] == service.history_url


#: Service -> status of ``/``, path of the major version, keys of the highest.
DISCOVERY = {
    'nova': (200, '/v2.1', {'version', 'max_version'}),
    'senlin': (300, '/v1', {'max_version'}),
    'magnum': (200, '/v1', {'max_version'}),
    'barbican': (300, '/v1', {'max_version'}),
    'ironic': (200, '/v1', {'version', 'max_version'}),
}


@pytest.mark.parametrize(('name', 'expected'), DISCOVERY.items())
@pytest.mark.parametrize('header', [None, 'SVC X.2', 'SVC pony', 'SVC 9.9'])
def test_discovery_is_the_services_whatever_version_is_asked(
    name, expected, header
):
    status, path, keys = expected
    service = presets.PRESETS[name]
    found = []
    for place, answered in (('/', status), (path, 200), (f'{path}/', 200)):
        app = discovery.Discovery(application, service)
        headers = {}
        if header is not None:
            text = header.replace('SVC', service.service_type)
            headers[HEADER] = text.replace('X', str(service.minimum.major))
        answer = webob.Request.blank(place, headers=headers).get_response(
            middleware.Microversions(app, service)
        )
        assert answer.status_int == answered
        assert 'Vary' in answer.headers
        found.append(answer.json)

    root, major, again = found
    api_sig.assert_versions_document(root)
    api_sig.assert_version_document(major)
    assert major == again
    assert root['versions'] == [major['version']]
    version = major['version']
    assert version['min_version'] == str(service.minimum)
    assert {version[key] for key in keys} == {str(service.maximum)}
    assert ('version' in version) is ('version' in keys)
    links = {link['rel']: link['href'] for link in version['links']}
    assert links == {
        'self': f'http://localhost:80{path}/',
        'help': service.help_url,
        'history': service.history_url,
    }


@pytest.mark.parametrize(
    ('changes', 'problem'),
    [
        ({'default': Version(1, 99)}, 'default 1.99 must be between'),
        ({'path': 'one'}, "'one' is not a path segment"),
        ({'legacy_headers': ('X Y',)}, "'X Y' is not the name of a header"),
        (
            {'response_headers': (('X-Y', '{pony}'),)},
            'invalid template',
        ),
        ({'response_headers': (('X-Y', '{'),)}, 'invalid template'),
    ],
)
def test_policy_when_inconsistent_is_rejected(changes, problem):
    with pytest.raises(ValueError, match=problem):
        dataclasses.replace(presets.SENLIN, **changes)
