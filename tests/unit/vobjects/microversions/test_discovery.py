# SPDX-License-Identifier: Apache-2.0
"""Discovery documents."""

import json
import wsgiref.util

import pytest

from tests import api_sig
from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import middleware, presets, version_policy
from vobjects.versions import Maximum, Version

MAXIMUM = Maximum(Version(1, 8), 'engine-2 is older')


def environ_of(path='/', **changes):
    environ = {
        'PATH_INFO': path,
        'HTTP_HOST': 'h',
        'SERVER_NAME': 'localhost',
        'SERVER_PORT': '8777',
        'wsgi.url_scheme': 'http',
        **changes,
    }
    wsgiref.util.setup_testing_defaults(environ)
    return environ


def document_for(environ, maximum=MAXIMUM, public_url=''):
    app = middleware.Discovery(wsgi.echo, presets.SENLIN, public_url)
    _status, document = app.find({**environ, version_policy.MAXIMUM: maximum})
    return document


def self_link(environ, public_url=''):
    (version,) = document_for(environ, public_url=public_url)['versions']
    return version['links'][0]['href']


def test_documents_conform_and_have_the_served_maximum():
    versions, version = (
        document_for(environ_of(path, HTTP_HOST='api.example.org:8777'))
        for path in ('/', '/v1')
    )

    api_sig.assert_versions_document(versions)
    api_sig.assert_version_document(version)
    assert versions['versions'] == [version['version']]
    assert version['version'] == {
        'id': '1.0',
        'status': 'CURRENT',
        'min_version': '1.0',
        'max_version': '1.8',
        'updated': '2016-01-18T00:00:00Z',
        'media-types': [
            {
                'base': 'application/json',
                'type': 'application/vnd.openstack.clustering-v1+json',
            }
        ],
        'links': [
            {'rel': 'self', 'href': 'http://api.example.org:8777/v1/'},
            {
                'rel': 'help',
                'href': 'https://docs.openstack.org/api-ref/clustering/',
            },
            {
                'rel': 'history',
                'href': 'https://docs.openstack.org/senlin/latest/contributor/'
                'api_microversion.html',
            },
        ],
    }
    assert json.loads(json.dumps(version)) == version


def test_maximum_in_documents_stays_within_the_policy():
    newer = Maximum(Version(1, 99))

    document = document_for(environ_of('/v1/'), newer)

    assert document['version']['max_version'] == '1.14'
    assert document['version']['links'][0]['href'] == 'http://h/v1/'


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        ({}, 'http://h/v1/'),
        ({'SCRIPT_NAME': '/clustering'}, 'http://h/clustering/v1/'),
        ({'SCRIPT_NAME': '/clustering/'}, 'http://h/clustering/v1/'),
        ({'SCRIPT_NAME': '/a b'}, 'http://h/a%20b/v1/'),
        ({'SCRIPT_NAME': '/\xc3\xa9'}, 'http://h/%C3%A9/v1/'),
        ({'wsgi.url_scheme': 'https'}, 'https://h/v1/'),
        ({'wsgi.url_scheme': 'javascript'}, 'http://h/v1/'),
        ({'HTTP_HOST': '[::1]:8777'}, 'http://[::1]:8777/v1/'),
        ({'HTTP_HOST': 'a.b:1'}, 'http://a.b:1/v1/'),
        ({'HTTP_HOST': ''}, 'http://localhost:8777/v1/'),
        ({'HTTP_HOST': 'evil/../"x'}, 'http://localhost:8777/v1/'),
        (
            {
                'HTTP_HOST': '',
                'SERVER_PORT': '443',
                'wsgi.url_scheme': 'https',
            },
            'https://localhost/v1/',
        ),
    ],
)
def test_self_link_follows_the_url_of_the_request(changes, expected):
    assert self_link(environ_of(**changes)) == expected


def test_self_link_when_a_public_url_is_configured_uses_it():
    environ = environ_of()

    assert (
        self_link(environ, 'https://cloud.example.org/clustering/')
        == 'https://cloud.example.org/clustering/v1/'
    )


# Its WebOb imports a module that Python 3.11 warns about.
@pytest.mark.filterwarnings("ignore:'cgi' is deprecated:DeprecationWarning")
def test_self_link_behind_a_proxy_is_that_of_the_proxy():
    from oslo_middleware import http_proxy_to_wsgi

    service = wsgi.Service()
    proxied = http_proxy_to_wsgi.HTTPProxyToWSGI(
        service.app, {'enable_proxy_headers_parsing': True}
    )

    response = wsgi.call(
        proxied,
        '/v1',
        headers={
            'X-Forwarded-Proto': 'https',
            'X-Forwarded-Host': 'cloud.example.org',
            'X-Forwarded-Prefix': '/clustering',
        },
    )

    assert response.json['version']['links'][0]['href'] == (
        'https://cloud.example.org/clustering/v1/'
    )


@pytest.mark.parametrize('path', ['/', '/v1'])
def test_middleware_serves_documents_to_get_and_head_only(path):
    service = wsgi.Service()

    get = wsgi.call(service.app, path)
    head = wsgi.call(service.app, path, method='HEAD')
    post = wsgi.call(service.app, path, method='POST')

    assert int(head.headers['content-length']) == len(get.body)
    assert (head.status, head.body) == (get.status, b'')
    assert post.body == b'1.0'  # the application's response
