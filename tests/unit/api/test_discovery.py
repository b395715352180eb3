# SPDX-License-Identifier: Apache-2.0
"""``/`` and ``/v1`` of the application."""

from __future__ import annotations

import pytest

from api import app
from tests import api_sig
from tests.unit.api import client, conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects.clustering import history
from vobjects.versions import Maximum, Version


def test_root_when_read_lists_the_major_version(api: ApiClient) -> None:
    response = api('GET', '/')
    assert response.status == 300
    api_sig.assert_versions_document(response.json)
    (version,) = response.json['versions']
    assert (version['min_version'], version['max_version']) == (
        '1.0',
        str(history.MAXIMUM),
    )
    assert version['links'][0]['href'] == 'http://api.example.org/v1/'


@pytest.mark.parametrize('path', ['/v1', '/v1/'])
def test_major_version_when_read_shows_itself(
    api: ApiClient, path: str
) -> None:
    response = api('GET', path)
    assert response.status == 200
    api_sig.assert_version_document(response.json)
    link = response.json['version']['links'][0]
    assert link == {'rel': 'self', 'href': 'http://api.example.org/v1/'}


def test_maximum_when_an_old_engine_is_alive_is_lower(
    api: ApiClient, fleet: FakeFleet
) -> None:
    fleet.max_version = Maximum(Version(1, 7), 'an old engine')
    for path, key in (('/', 'versions'), ('/v1', 'version')):
        shown = api('GET', path).json[key]
        shown = shown[0] if key == 'versions' else shown
        assert shown['max_version'] == '1.7'


@pytest.mark.parametrize('version', ['1.99', 'pony', '1.7'])
def test_discovery_when_the_version_is_any_is_answered(
    api: ApiClient, version: str
) -> None:
    assert api('GET', '/', version=version).status == 300
    assert api('GET', '/v1', version=version).status == 200


def test_links_when_a_public_endpoint_is_configured_begin_with_it(
    make_api,
) -> None:
    api = make_api(public_endpoint='https://cloud.example.org/clustering/')
    root = 'https://cloud.example.org/clustering'
    links = api('GET', '/').json['versions'][0]['links']
    assert links[0]['href'] == f'{root}/v1/'
    created = api(
        'POST', '/v1/nodes', {'node': {'name': 'n', 'profile_id': 'p'}}
    )
    assert created.headers['location'].startswith(f'{root}/v1/actions/')


def test_links_when_the_application_is_mounted_have_the_prefix(
    api: ApiClient,
) -> None:
    environ = {'SCRIPT_NAME': '/clustering'}
    links = api('GET', '/v1', environ=environ).json['version']['links']
    assert links[0]['href'] == 'http://api.example.org/clustering/v1/'


def test_proxy_headers_when_enabled_make_the_links(
    engine: FakeEngine, fleet: FakeFleet
) -> None:
    headers = {
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'cloud.example.org',
        'X-Forwarded-Prefix': '/clustering',
    }
    for enabled, root in (
        (False, 'http://api.example.org'),
        (True, 'https://cloud.example.org/clustering'),
    ):
        conf = conftest.make_conf()
        conf.set_override(
            'allowed_hosts', [client.HOST, 'cloud.example.org'], 'api'
        )
        app.build(conf, engine, fleet)
        conf.set_override(
            'enable_proxy_headers_parsing', enabled, 'oslo_middleware'
        )
        api = ApiClient(app.build(conf, engine, fleet))
        links = api('GET', '/v1', headers=headers).json['version']['links']
        assert links[0]['href'] == f'{root}/v1/'
