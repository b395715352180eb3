# SPDX-License-Identifier: Apache-2.0
"""Requests at each microversion, and with invalid version headers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests import api_sig
from tests.functional.deployments import (
    Deployment,
    Platform,
    deployed,
    embedded_sqlite_only,
)
from tests.functional.processes import free_port, wait_for
from tests.functional.rest import (
    HEADER,
    MAXIMUM,
    NEWEST,
    RestClient,
    action_id_of,
    error_message,
    unique,
)

#: Values of the version header; None: no header.
VERSIONS = [None, '1.0', '1.7', '1.8', '1.13', '1.14', 'latest', 'LATEST']


def served(version: str | None) -> tuple[int, int]:
    """Return the microversion that serves a header of :data:`VERSIONS`."""
    if version is None:
        return (1, 0)
    if version.lower() == 'latest':
        return MAXIMUM
    major, minor = version.split('.')
    return int(major), int(minor)


@pytest.mark.parametrize('version', VERSIONS)
def test_cluster_lifecycle_at_any_version_succeeds(
    rest: RestClient, version: str | None
) -> None:
    at = served(version)
    client = rest.at(version)

    profile = client.create_profile()
    response = client.expect(
        202,
        'POST',
        '/v1/clusters',
        {
            'cluster': {
                'name': unique('curl'),
                'profile_id': profile,
                'desired_capacity': 3,
            }
        },
    )
    assert response.headers[HEADER] == f'clustering {at[0]}.{at[1]}'
    cluster = response.json()['cluster']
    path = f'/v1/clusters/{cluster["id"]}'
    action = client.wait_for_success(action_id_of(response))
    assert ('cluster_id' in action) == (at >= (1, 14))

    shown = client.get(path)
    assert shown['status'] == 'ACTIVE'
    assert 'config' in shown
    assert 'config' in cluster
    assert cluster['id'] in [c['id'] for c in client.get('/v1/clusters')]
    nodes = client.get(f'/v1/nodes?cluster_id={cluster["id"]}')
    assert len(nodes) == 3
    for node in (*nodes, client.get(f'/v1/nodes/{nodes[0]["id"]}')):
        assert ('tainted' in node) == (at >= (1, 13))

    resized = client.start_action(
        cluster['id'], 'resize', adjustment_type='EXACT_CAPACITY', number=1
    )
    client.wait_for_success(resized)
    assert len(client.get(path)['nodes']) == 1
    actions = client.get(f'/v1/actions?target={cluster["id"]}&sort=created_at')
    assert [a['action'] for a in actions] == [
        'CLUSTER_CREATE',
        'CLUSTER_RESIZE',
    ]
    client.wait_for_success(client.delete(path))
    client.assert_missing(path)
    client.expect(204, 'DELETE', f'/v1/profiles/{profile}')


#: Microversion, method, path, request field that it added, and a value. The
#: identity need not exist: validation comes before the lookup.
NEW_FIELDS: list[tuple[str, str, str, str, Any]] = [
    (
        *('1.4', 'POST', '/v1/clusters/x/actions'),
        *('del_nodes.destroy_after_deletion', True),
    ),
    ('1.6', 'PATCH', '/v1/clusters/x', 'cluster.profile_only', True),
    ('1.6', 'POST', '/v1/clusters/x/actions', 'recover.check', True),
    ('1.6', 'POST', '/v1/nodes/x/actions', 'recover.check', True),
    ('1.7', 'POST', '/v1/clusters/x/actions', 'recover.check_capacity', True),
    ('1.7', 'POST', '/v1/clusters', 'cluster.config', {}),
    ('1.7', 'PATCH', '/v1/clusters/x', 'cluster.config', {}),
    ('1.8', 'DELETE', '/v1/clusters/x', 'force', True),
    ('1.8', 'DELETE', '/v1/nodes/x', 'force', True),
    ('1.13', 'PATCH', '/v1/nodes/x', 'node.tainted', True),
]


@pytest.fixture(scope='module')
def deployment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Deployment]:
    """One engine, for APIs with different settings."""
    directory = tmp_path_factory.mktemp('microversions')
    with deployed(Platform('embedded', 'sqlite'), directory) as running:
        running.start_engines(1)
        yield running


@pytest.fixture(scope='module')
def strict(deployment: Deployment) -> Iterator[RestClient]:
    """An API that rejects fields before their microversion."""
    options = {
        'strict_versions': True,
        'method_missing_status': 400,
        'public_endpoint': 'https://cloud.example.com/clustering/',
    }
    deployment.start_api(settings={'api': options})
    with deployment.rest() as rest:
        yield rest


def _body(place: str, value: Any) -> dict[str, Any]:
    key, _, field = place.rpartition('.')
    required: dict[str, Any] = {
        'cluster.config': {'name': 'n', 'profile_id': 'p'},
        'del_nodes.destroy_after_deletion': {'nodes': ['n']},
    }.get(place, {})
    content = {**required, field: value}
    return {key: content} if key else content


def _before(version: str) -> str:
    major, minor = version.split('.')
    return f'{major}.{int(minor) - 1}'


@pytest.mark.parametrize(
    ('since', 'method', 'path', 'place', 'value'), NEW_FIELDS
)
def test_field_before_its_version_is_rejected_only_if_strict(
    rest: RestClient,
    strict: RestClient,
    since: str,
    method: str,
    path: str,
    place: str,
    value: Any,
) -> None:
    field = place.rpartition('.')[2]
    body = _body(place, value)
    if method == 'PATCH' and 'name' in body.get('cluster', {}):
        del body['cluster']['name'], body['cluster']['profile_id']

    early = strict.at(_before(since)).expect_error(400, method, path, body)
    assert f"'{field}'" in early or f'.{field}' in early
    assert f'API version {since}' in early
    assert _before(since) in early

    # Otherwise, the error is not about the field.
    for client in (strict.at(since), rest.at('1.0')):
        response = client.request(method, path, body)
        assert response.status_code in (400, 404)
        assert 'API version' not in error_message(response)


@pytest.mark.parametrize(
    ('since', 'method', 'path', 'body'),
    [
        ('1.2', 'POST', '/v1/profiles/validate', {'profile': {'spec': {}}}),
        ('1.2', 'GET', '/v1/clusters/x/attrs/name', None),
        (
            *('1.3', 'POST', '/v1/clusters/x/actions'),
            {'replace_nodes': {'nodes': {'a': 'b'}}},
        ),
        ('1.4', 'GET', '/v1/profile-types/os.nova.server-1.0/ops', None),
        ('1.4', 'POST', '/v1/clusters/x/ops', {'reboot': {}}),
        ('1.4', 'POST', '/v1/nodes/x/ops', {'reboot': {}}),
        (
            *('1.2', 'POST', '/v1/policies/validate'),
            {'policy': {'spec': {}}},
        ),
        (
            *('1.7', 'POST', '/v1/nodes/adopt'),
            {'identity': 'x', 'type': 'os.nova.server-1.0'},
        ),
        (
            *('1.7', 'POST', '/v1/nodes/adopt-preview'),
            {'identity': 'x', 'type': 'os.nova.server-1.0'},
        ),
        (
            *('1.12', 'PATCH', '/v1/actions/x'),
            {'action': {'status': 'CANCELLED'}},
        ),
    ],
)
def test_method_before_its_version_is_missing(
    rest: RestClient, since: str, method: str, path: str, body: Any
) -> None:
    early = rest.at(_before(since)).expect_error(404, method, path, body)
    assert since in early

    late = rest.at(since).request(method, path, body)
    assert late.status_code in (200, 400, 404)
    if late.status_code != 200:
        assert since not in error_message(late)


def test_filter_by_cluster_filters_at_any_version(
    rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 1)
    path = f'/v1/actions?cluster_id={cluster}'

    early = rest.at('1.13').get(path)
    actions = rest.get(path)

    assert {action['id'] for action in early} == {a['id'] for a in actions}
    assert not any('cluster_id' in action for action in early)
    assert {action['cluster_id'] for action in actions} == {cluster}
    assert {action['action'] for action in actions} == {
        'CLUSTER_CREATE',
        'NODE_CREATE',
    }
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))


def test_profile_types_part_name_and_version_since_1_5(
    rest: RestClient,
) -> None:
    *_, old = rest.at('1.4').get('/v1/profile-types')
    *_, new = rest.at('1.5').get('/v1/profile-types')

    assert old == {'name': 'os.nova.server-1.0'}
    assert (new['name'], new['version']) == ('os.nova.server', '1.0')
    assert new['support_status']['1.0'][0]['status'] == 'SUPPORTED'
    path = '/v1/profile-types/os.nova.server-1.0'
    assert 'support_status' not in rest.at('1.4').get(path)
    assert 'support_status' in rest.at('1.5').get(path)


def test_node_is_tainted_at_1_13_and_not_shown_so_at_1_12(
    rest: RestClient, profile: str
) -> None:
    body = {'node': {'name': unique('node'), 'profile_id': profile}}
    response = rest.expect(202, 'POST', '/v1/nodes', body)
    path = f'/v1/nodes/{response.json()["node"]["id"]}'
    rest.wait_for_success(action_id_of(response))

    changed = rest.expect(202, 'PATCH', path, {'node': {'tainted': True}})
    rest.wait_for_success(action_id_of(changed))

    assert rest.at('1.13').get(path)['tainted'] is True
    assert 'tainted' not in rest.at('1.12').get(path)
    rest.wait_for_success(rest.delete(path, {'force': True}))


@embedded_sqlite_only
@pytest.mark.parametrize(
    'version', ['1.99', '2.0', '9.9', f'1.{MAXIMUM[1] + 1}']
)
def test_unsupported_version_is_not_acceptable(
    rest: RestClient, version: str
) -> None:
    response = rest.at(version).expect(406, 'GET', '/v1/clusters')

    (error,) = response.json()['errors']
    assert (error['min_version'], error['max_version']) == ('1.0', NEWEST)
    assert error['code'] == 'clustering.microversion-unsupported'
    assert response.headers[HEADER] == f'clustering {version}'


@embedded_sqlite_only
@pytest.mark.parametrize(
    'header',
    [
        'clustering pony',
        'clustering 0.9',
        'clustering 1.07',
        'clustering +1.7',
        'clustering -1.0',
        'clustering 1.1_0',
        'clustering 1.7 1.8',
        'clustering latest.1',
        'clustering',
        '1.7',
        'clustering 1.7, clustering 1.8',
    ],
)
def test_malformed_version_is_a_bad_request(
    rest: RestClient, header: str
) -> None:
    response = rest.request('GET', '/v1/clusters', headers={HEADER: header})

    assert response.status_code == 400
    assert 'microversion-malformed' in response.json()['errors'][0]['code']
    assert response.headers[HEADER] == 'clustering 1.0'


@embedded_sqlite_only
@pytest.mark.parametrize(
    ('header', 'version'),
    [
        ('compute 2.1', '1.0'),
        ('compute latest', '1.0'),
        ('compute 2.1, clustering 1.7', '1.7'),
        ('clustering 1.7, compute latest', '1.7'),
        ('Clustering Latest', NEWEST),
        ('', '1.0'),
    ],
)
def test_version_of_this_service_counts_among_others(
    rest: RestClient, header: str, version: str
) -> None:
    response = rest.request('GET', '/v1/clusters', headers={HEADER: header})

    assert response.status_code == 200
    assert response.headers[HEADER] == f'clustering {version}'


@embedded_sqlite_only
def test_discovery_without_a_version_shows_the_range(rest: RestClient) -> None:
    for version in (None, NEWEST, '1.99', 'pony'):
        root = rest.at(version).request('GET', '/')
        api_sig.assert_versions_document(root.json())
        (document,) = root.json()['versions']
        assert (document['min_version'], document['max_version']) == (
            '1.0',
            NEWEST,
        )
        major = rest.at(version).request('GET', '/v1')
        assert major.status_code == 200
        api_sig.assert_version_document(major.json())
        assert major.json()['version'] == document


def test_method_before_its_version_gets_the_configured_status(
    strict: RestClient,
) -> None:
    response = strict.at('1.6').expect(400, 'GET', '/v1/services')

    assert response.json()['error']['message'] == (
        "API version '1.6' is not supported on this method."
    )
    assert response.json()['error']['type'] == 'MethodVersionNotFound'


def test_links_have_the_configured_public_endpoint(
    strict: RestClient,
) -> None:
    links = strict.request('GET', '/v1').json()['version']['links']

    assert links[0]['href'] == 'https://cloud.example.com/clustering/v1/'


def test_links_have_the_address_from_a_trusted_proxy(
    deployment: Deployment,
) -> None:
    port = free_port()
    url = f'http://127.0.0.1:{port}'
    settings = {
        'api': {'port': port, 'allowed_hosts': 'cloud.example.com'},
        'oslo_middleware': {'enable_proxy_headers_parsing': 'true'},
    }
    name = 'api-behind-proxy'
    deployment.group.start(
        name, *deployment.command('api', name=name, settings=settings)
    )
    deployment.wait_until_served(url=url)
    with RestClient(url) as rest:
        response = rest.request(
            'GET',
            '/',
            headers={
                'X-Forwarded-Proto': 'https',
                'X-Forwarded-Host': 'cloud.example.com',
                'X-Forwarded-Prefix': '/clustering',
            },
        )

    (version,) = response.json()['versions']
    links = {link['rel']: link['href'] for link in version['links']}
    assert links['self'] == 'https://cloud.example.com/clustering/v1/'


def test_service_list_shows_both_engines(
    service: Deployment, rest: RestClient
) -> None:
    def look() -> bool:
        services = rest.get('/v1/services')
        assert {row['topic'] for row in services} == {'vobjects-engine'}
        return {row['id'] for row in services} == service.engine_ids()

    wait_for('the list is that of the ledger', look)
