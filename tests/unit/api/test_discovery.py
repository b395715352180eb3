# SPDX-License-Identifier: Apache-2.0
"""``/`` and ``/v1`` of the application."""

from __future__ import annotations

from api import app
from tests import api_sig
from tests.unit.api import client, conftest
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects.clustering import history


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
