# SPDX-License-Identifier: Apache-2.0
"""Lists in pages, and limits on the size of fields."""

from __future__ import annotations

from typing import Any

import pytest

from api import app
from tests.unit.api import conftest, test_clients
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine
from vobjects.clustering import errors
from vobjects.rpc import byte_budget
from vobjects.rpc import conf as rpc_conf

SPEC = {'type': 'os.nova.server', 'version': '1.0', 'properties': {}}


@pytest.fixture
def backend() -> conftest.Backend:
    return conftest.Backend()


@pytest.fixture
def api(backend: conftest.Backend) -> ApiClient:
    conf = conftest.make_conf(max_limit=3, max_json_size=2048)
    return ApiClient(app.build(conf, backend, backend))


def create_profiles(api: ApiClient, count: int) -> list[str]:
    body = {'profile': {'name': 'p', 'spec': SPEC}}
    return [
        api('POST', '/v1/profiles', body).json['profile']['id']
        for _ in range(count)
    ]


def pages(api: ApiClient, path: str) -> list[list[str]]:
    """Follow the links and return the IDs on each page."""
    ids = []
    while path:
        response = api('GET', path).json
        ids.append([profile['id'] for profile in response['profiles']])
        (link,) = response.get('links') or [{'rel': 'next', 'href': ''}]
        assert link['rel'] == 'next'
        path = link['href'].partition('/v1')[2] and (
            '/v1' + link['href'].partition('/v1')[2]
        )
    return ids


@pytest.mark.parametrize('query', ['', '?limit=100', '?name=p&limit=4'])
def test_list_when_longer_than_a_page_links_to_the_next(
    api: ApiClient, query: str
) -> None:
    ids = create_profiles(api, 7)
    by_page = pages(api, f'/v1/profiles{query}')
    assert by_page == [ids[:3], ids[3:6], ids[6:]]


@pytest.mark.parametrize('query', ['?limit=3', '?limit=2', '?limit=0'])
def test_list_when_as_long_as_the_limit_has_no_link(
    api: ApiClient, query: str
) -> None:
    create_profiles(api, 7)
    assert 'links' not in api('GET', f'/v1/profiles{query}').json


def test_list_when_shorter_than_a_page_has_no_link(api: ApiClient) -> None:
    create_profiles(api, 2)
    assert 'links' not in api('GET', '/v1/profiles').json


def test_list_when_too_large_for_a_page_is_cut(
    api: ApiClient, backend: conftest.Backend
) -> None:
    class Engine(FakeEngine):
        """Its pages have room for one item."""

        def call(self, context: Any, request: Any, *shown: Any) -> Any:
            limit = request.limit if 'limit' in request.fields else 1
            if limit is not None and limit > 1:
                raise errors.ListTooLarge('too large', '', '1')
            return super().call(context, request, *shown)

    ids = create_profiles(api, 3)
    profiles = backend.engine.profiles
    backend.engine = Engine()
    backend.engine.profiles = profiles
    assert pages(api, '/v1/profiles') == [[id_] for id_ in ids] + [[]]


# The SDK warns of itself.
@pytest.mark.filterwarnings('ignore')
def test_list_when_in_pages_is_complete_for_openstacksdk() -> None:
    with (
        test_clients.serving(max_limit=3) as (url, backend),
        test_clients.connected(url, None) as sdk,
    ):
        backend.engine = FakeEngine()
        created = [
            sdk.create_profile(name='p', spec=SPEC).id for _ in range(7)
        ]
        for query in ({}, {'limit': 2}, {'limit': 5}, {'name': 'p'}):
            assert [profile.id for profile in sdk.profiles(**query)] == created


@pytest.mark.parametrize(
    ('path', 'body'),
    [
        ('profiles', {'name': 'p', 'spec': SPEC, 'metadata': 'LONG'}),
        ('profiles', {'name': 'p', 'spec': 'LONG'}),
        ('policies', {'name': 'p', 'spec': 'LONG'}),
        ('clusters', {'name': 'c', 'profile_id': 'p', 'config': 'LONG'}),
        ('clusters', {'name': 'c', 'profile_id': 'p', 'metadata': 'LONG'}),
        ('nodes', {'name': 'n', 'profile_id': 'p', 'metadata': 'LONG'}),
        (
            'receivers',
            {
                'name': 'r',
                'type': 'webhook',
                'cluster_id': 'c',
                'action': 'CLUSTER_SCALE_OUT',
                'params': 'LONG',
            },
        ),
    ],
)
def test_json_field_when_too_long_is_rejected(
    api: ApiClient, path: str, body: dict[str, Any]
) -> None:
    (name,) = [name for name, value in body.items() if value == 'LONG']
    key = 'policy' if path == 'policies' else path[:-1]
    long = {**body, name: {'a': 'x' * 2048}}
    refused = api('POST', f'/v1/{path}', {key: long}, version='1.14')
    assert refused.status == 400
    assert f'body.{key}.{name}: must have at most 2048 bytes' in str(
        refused.json
    )


@pytest.mark.parametrize(
    ('path', 'body'),
    [
        ('/v1/webhooks/r/trigger?V=2', {'a': 'x' * 2048}),
        ('/v1/nodes/n/ops', {'reboot': {'a': 'x' * 2048}}),
        ('/v1/clusters/c/ops', {'reboot': {'params': {'a': 'x' * 2048}}}),
        ('/v1/nodes/n/actions', {'check': {'a': 'x' * 2048}}),
    ],
)
def test_parameters_when_too_long_are_rejected(
    api: ApiClient, path: str, body: dict[str, Any]
) -> None:
    refused = api('POST', path, body, version='1.14')
    assert refused.status == 400
    assert 'must have at most 2048 bytes' in str(refused.json)


def test_list_when_too_many_are_in_progress_is_unavailable(
    backend: conftest.Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = conftest.make_conf()
    rpc_conf.register(conf)
    budget = byte_budget.ByteBudget(conf.fleet.response_memory, timeout=0)
    monkeypatch.setattr(byte_budget, 'ByteBudget', lambda size: budget)
    api = ApiClient(app.build(conf, backend, backend))
    create_profiles(api, 2)
    held = budget.reserve(conf.fleet.response_memory)
    response = api('GET', '/v1/profiles')
    assert (response.status, response.headers['retry-after']) == (503, '5')
    assert api('GET', '/v1/profiles/p').status != 503
    assert held is not None
    held.release()
    assert api('GET', '/v1/profiles').status == 200
    assert budget.reserved == 0
