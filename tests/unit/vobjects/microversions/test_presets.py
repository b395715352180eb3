# SPDX-License-Identifier: Apache-2.0
"""Each preset responds like its service, except for documented differences.

The whole matrix goes through a WSGI application that WebOb asks.
"""

import dataclasses
import json
import warnings

import pytest
import requests
from keystoneauth1.exceptions import http as keystone_http
from openstack import exceptions as sdk_exceptions
from oslo_versionedobjects import base as ovo_base

from tests import api_sig
from tests.unit.vobjects.microversions import matrix, samples
from vobjects.controllers import request_parsing
from vobjects.controllers.dispatch import api_version, resolve
from vobjects.microversions import (
    errors,
    middleware,
    presets,
    version_policy,
)
from vobjects.versions import Maximum, Version

with warnings.catch_warnings():
    # It imports a module of Python 3.11 that is deprecated.
    warnings.simplefilter('ignore', DeprecationWarning)
    import webob

HEADER = 'OpenStack-API-Version'
HIGHEST = 14


@api_version('1.5', '1.9')
def added_later(request):
    """Serve a method that came with X.5, whatever X is."""
    return webob.Response('young')


def application(environ, start_response):
    request = webob.Request(environ)
    version = environ[version_policy.MICROVERSION]
    if request.path_info == '/unknown':
        response = webob.Response('nothing here', 404)
    elif request.path_info == '/young':
        response = resolve(added_later, Version(1, version.minor))(request)
    elif request.path_info == '/early':
        body = b'{"config": {}}'
        request_parsing.parse_body(samples.SampleEarlyRequest, request, body)
        response = webob.Response('accepted')
    elif request.path_info == '/refused':
        raise errors.ValidationError('body.name', 'is required')
    else:
        response = webob.Response(str(version))
    return response(environ, start_response)


def preset(name, **changes):
    """Return a preset with a range in which each kind of request fits."""
    original = presets.PRESETS[name]
    highest = Version(original.minimum.major, HIGHEST)
    return dataclasses.replace(original, maximum=highest, **changes)


def send(service, header, path='/things', **headers):
    app = middleware.Microversions(application, service)
    if header is not None:
        header = header.replace('SVC', service.service_type)
        headers[HEADER] = header.replace('X', str(service.minimum.major))
    request = webob.Request.blank(path, headers=headers)
    return request.get_response(app)


def outcome(service, response):
    """Return the outcome of a response, as the matrix names it."""
    if response.status_int == 200:
        if response.text == str(service.minimum):
            return 'default'
        if response.text == str(service.maximum):
            return 'max'
        return f'X.{response.text.partition(".")[2]}'
    code = response.json['errors'][0]['code']
    return {
        'malformed': 'malformed',
        'of-other-service': 'other service',
        'unsupported': 'unsupported',
        'method-missing': str(response.status_int),
    }[code.partition('.microversion-')[2]]


def assert_version_headers(service, response, version):
    """Assert that a response has its version in the headers."""
    headers = response.headers
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
CELLS = [
    (name, kind)
    for kind in matrix.HEADERS
    for name in matrix.NAMES
    if name in matrix.ORIGINAL[kind]
]


@pytest.mark.parametrize(('name', 'kind'), CELLS)
def test_response_equals_the_original_or_is_a_documented_difference(
    name, kind
):
    service = preset(name)
    path = '/young' if kind == 'method missing' else '/things'

    response = send(service, matrix.HEADERS[kind], path)

    actual = outcome(service, response)
    assert actual == HERE.get((name, kind), matrix.ORIGINAL[kind][name])
    if response.status_int != 200:
        api_sig.assert_error_document(response.json, response.status_int)
        statuses = matrix.STATUSES[name]
        assert response.status_int == statuses.get(actual, response.status_int)
        assert statuses.get(actual) or actual.isdigit()
    if actual == 'unsupported':
        text = matrix.HEADERS[kind].split()[1]
        shown = text.replace('X', str(service.minimum.major))
    elif response.status_int == 200:
        shown = response.text
    else:
        shown = {'/young': f'{service.minimum.major}.3'}.get(
            path, str(service.minimum)
        )
    assert_version_headers(service, response, shown)


def test_documented_differences_are_in_the_matrix_and_differ():
    for row in DIFFERENCES:
        assert matrix.ORIGINAL[row.request][row.preset] == row.original
        assert row.original != row.here
        assert row.reason
    assert len(HERE) == len(DIFFERENCES)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_early_field_is_accepted_if_the_preset_allows_it(name, monkeypatch):
    classes = ovo_base.VersionedObjectRegistry()._obj_classes
    early = samples.SampleEarlyRequest
    monkeypatch.setitem(classes, early.__name__, [early])

    response = send(preset(name), 'SVC X.3', '/early')
    strict = send(preset(name, accepts_early=False), 'SVC X.3', '/early')

    accepted = HERE.get((name, 'early field')) == 'accepted'
    assert response.status_int == (200 if accepted else 400)
    assert strict.status_int == 400
    assert 'needs API version 3.0' in strict.text


@pytest.mark.parametrize('name', matrix.NAMES)
@pytest.mark.parametrize(
    ('path', 'status'), [('/unknown', 404), ('/refused', 400)]
)
def test_errors_of_the_application_have_the_headers(name, path, status):
    service = preset(name)

    response = send(service, 'SVC X.6', path)

    assert response.status_int == status
    assert_version_headers(service, response, f'{service.minimum.major}.6')


@pytest.mark.parametrize('name', matrix.NAMES)
def test_version_below_the_minimum_is_unsupported_or_malformed(name):
    major = presets.PRESETS[name].minimum.major
    service = preset(name, minimum=Version(major, 4))

    response = send(service, 'SVC X.3')

    assert outcome(service, response) == 'unsupported'
    assert response.json['errors'][0]['min_version'] == str(service.minimum)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_every_service_type_is_accepted_and_the_first_is_returned(name):
    service = preset(name)
    for alias in service.service_types:
        response = send(service, f'{alias} X.5')
        assert response.text == f'{service.minimum.major}.5'
        assert_version_headers(service, response, response.text)


def test_magnum_has_three_service_types():
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
def test_legacy_header_is_used_without_a_standard_one(
    name, legacy, standard, value, expected
):
    service = preset(name)
    text = value.replace('X', str(service.minimum.major))

    response = send(service, standard, **{legacy: text})

    assert outcome(service, response) == expected
    if response.status_int == 200:
        assert response.headers[legacy] == response.text
    else:
        assert response.status_int == matrix.STATUSES[name][expected]
    assert legacy in response.headers['Vary']


def test_nova_returns_both_headers_with_an_error():
    response = send(preset('nova'), 'SVC X.999')

    assert response.headers[HEADER] == 'compute 2.999'
    assert response.headers[LEGACY['nova']] == '2.999'


def test_experimental_is_returned_if_the_policy_sets_it():
    # "X-OpenStack-Nova-API-Version: version_number, experimental"
    changed = send(preset('nova', experimental=True), 'SVC X.5')
    standard = send(preset('nova'), 'SVC X.5')

    assert changed.headers[LEGACY['nova']] == '2.5, experimental'
    assert standard.headers[LEGACY['nova']] == '2.5'
    assert changed.headers[HEADER] == 'compute 2.5'


@pytest.mark.parametrize('header', [None, 'SVC X.5', 'SVC X.999', 'SVC pony'])
def test_magnum_and_ironic_return_their_range_with_every_response(header):
    magnum = send(preset('magnum'), header)
    ironic = send(preset('ironic'), header)

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
def test_default_is_the_documented_one(name, expected):
    assert send(presets.PRESETS[name], None).text == expected


def test_default_above_the_minimum_is_limited_by_the_maximum():
    service = preset('senlin', default=Version(1, 8))
    capped = middleware.Microversions(
        application, service, lambda: Maximum(Version(1, 6))
    )

    assert send(service, None).text == '1.8'
    assert send(service, 'SVC 1.2').text == '1.2'
    assert webob.Request.blank('/').get_response(capped).text == '1.6'


def error_responses(name):
    """Yield a refusal of each kind."""
    service = preset(name)
    yield send(service, 'SVC X.999')
    yield send(service, 'SVC pony')
    yield send(service, 'SVC X.3', '/young')
    yield send(service, 'SVC X.6', '/refused')


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
def test_error_body_is_readable_by_the_clients_of_the_service(name, reads):
    for response in error_responses(name):
        assert reads(response.json) == sentence(response.json)


@pytest.mark.parametrize(
    ('header', 'path', 'fault'),
    [
        ('SVC X.999', '/things', 'computeFault'),
        ('SVC pony', '/things', 'badRequest'),
        ('SVC X.3', '/young', 'itemNotFound'),
    ],
)
def test_nova_fault_has_novas_name(header, path, fault):
    body = send(preset('nova'), header, path).json

    assert next(iter(body)) == fault
    assert body[fault]['code'] == body['errors'][0]['status']


def test_senlin_at_400_has_the_text_of_its_tempest_plugin():
    service = preset('senlin', method_missing_status=400)

    response = send(service, 'SVC X.3', '/young')

    assert response.status_int == 400
    assert response.json['error'] == {
        'code': 400,
        'message': "API version '1.3' is not supported on this method.",
        'type': 'MethodVersionNotFound',
    }


def as_requests(response):
    requests_response = requests.Response()
    requests_response.status_code = response.status_int
    requests_response.reason = response.status.partition(' ')[2]
    requests_response.headers.update(response.headers)
    requests_response.url = 'http://localhost/things'
    requests_response.request = requests.Request(
        'GET', requests_response.url
    ).prepare()
    requests_response._content = response.body
    return requests_response


#: Bodies that openstacksdk takes for an empty one.
UNREAD_BY_SDK = {'magnum'}


@pytest.mark.parametrize('name', matrix.NAMES)
def test_keystoneauth_and_openstacksdk_print_the_detail(name):
    for response in error_responses(name):
        requests_response = as_requests(response)
        exception = keystone_http.from_response(requests_response, 'GET', '/')
        assert sentence(response.json) in f'{exception} {exception.details}'
        with pytest.raises(sdk_exceptions.HttpException) as caught:
            sdk_exceptions.raise_from_response(requests_response)
        is_read = sentence(response.json) in str(caught.value)
        assert is_read is (name not in UNREAD_BY_SDK)


@pytest.mark.parametrize('name', matrix.NAMES)
def test_error_links_help_and_version_errors_link_the_history(name):
    service = presets.PRESETS[name]
    unsupported, malformed, missing, refused = error_responses(name)

    for response in (unsupported, malformed, missing, refused):
        (item,) = response.json['errors']
        links = {link['rel']: link['href'] for link in item['links']}
        assert links['help'] == service.help_url
        if response is refused:
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
def test_discovery_is_that_of_the_service_at_any_version(
    name, expected, header
):
    status, path, keys = expected
    service = presets.PRESETS[name]
    documents = []
    for url, expected_status in (
        ('/', status),
        (path, 200),
        (f'{path}/', 200),
    ):
        app = middleware.Discovery(application, service)
        headers = {}
        if header is not None:
            text = header.replace('SVC', service.service_type)
            headers[HEADER] = text.replace('X', str(service.minimum.major))
        response = webob.Request.blank(url, headers=headers).get_response(
            middleware.Microversions(app, service)
        )
        assert response.status_int == expected_status
        # The header has the default if the requested version is not served.
        major = service.minimum.major
        shown = f'{major}.2' if header == 'SVC X.2' else service.minimum
        assert_version_headers(service, response, shown)
        documents.append(response.json)

    root, major, again = documents
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
