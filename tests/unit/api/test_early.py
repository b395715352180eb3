# SPDX-License-Identifier: Apache-2.0
"""Fields and methods before the microversion that documents them.

Senlin 16 accepts each of them at every microversion; ``strict_versions``
rejects them.
"""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine, FakeFleet
from vobjects import exceptions
from vobjects.clustering.history import HISTORY
from vobjects.microversions import presets
from vobjects.versions import Maximum, Version

#: The microversions of Senlin; later ones accept nothing early.
SENLIN = [
    version
    for version in map(Version.parse, HISTORY)
    if version <= presets.SENLIN.maximum
]

C, N = '/v1/clusters', '/v1/nodes'

#: Version that documents it, request, name of the field, its value.
FIELDS: list[tuple[str, str, str, Any, str, Any]] = [
    (
        *('1.7', 'POST', C),
        {'cluster': {'name': 'n', 'profile_id': 'p', 'config': {'a': 1}}},
        *('config', {'a': 1}),
    ),
    (
        *('1.7', 'PATCH', f'{C}/c', {'cluster': {'config': {'a': 1}}}),
        *('config', {'a': 1}),
    ),
    (
        *('1.6', 'PATCH', f'{C}/c', {'cluster': {'profile_only': True}}),
        *('profile_only', True),
    ),
    (
        *('1.6', 'POST', f'{C}/c/actions', {'recover': {'check': True}}),
        *('check', True),
    ),
    (
        *('1.7', 'POST', f'{C}/c/actions'),
        {'recover': {'check_capacity': True}},
        *('check_capacity', True),
    ),
    (
        *('1.4', 'POST', f'{C}/c/actions'),
        {'del_nodes': {'nodes': ['n'], 'destroy_after_deletion': True}},
        *('destroy_after_deletion', True),
    ),
    ('1.8', 'DELETE', f'{C}/c', {'force': True}, 'force', True),
    ('1.8', 'DELETE', f'{C}/c?force=true', None, 'force', True),
    ('1.8', 'DELETE', f'{N}/n', {'force': True}, 'force', True),
    (
        *('1.6', 'POST', f'{N}/n/actions', {'recover': {'check': True}}),
        *('check', True),
    ),
    (
        *('1.13', 'PATCH', f'{N}/n', {'node': {'tainted': True}}),
        *('tainted', True),
    ),
    ('1.14', 'GET', '/v1/actions?cluster_id=x', None, 'cluster_id', ['x']),
    ('1.4', 'GET', '/v1/receivers?user=x', None, 'user', ['x']),
]

METHODS: list[tuple[str, str, Any]] = [
    ('PATCH', '/v1/receivers/r', {'receiver': {'name': 's'}}),
    ('GET', '/v1/services', None),
]


#: The only field with data at stake: Senlin accepts it without effect.
IGNORED = 'destroy_after_deletion'

early_field = pytest.mark.parametrize(
    ('since', 'method', 'path', 'body', 'name', 'value'), FIELDS
)
early_method = pytest.mark.parametrize(('method', 'path', 'body'), METHODS)


@pytest.fixture(autouse=True)
def resources(engine: FakeEngine, shared_api: ApiClient) -> None:
    """Create a cluster c, a node n and a receiver r."""
    shared_api('POST', C, {'cluster': {'name': 'c', 'profile_id': 'p'}})
    shared_api('POST', N, {'node': {'name': 'n', 'profile_id': 'p'}})
    receiver = {
        'name': 'r',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_SCALE_OUT',
    }
    shared_api('POST', '/v1/receivers', {'receiver': receiver})
    engine.calls.clear()


@pytest.mark.parametrize('version', ['', '1.0', '1.3'])
@early_field
def test_field_when_sent_early_reaches_the_engine(
    api: ApiClient,
    engine: FakeEngine,
    since: str,
    method: str,
    path: str,
    body: Any,
    name: str,
    value: Any,
    version: str,
) -> None:
    response = api(method, path, body, version=version)

    assert response.status in (200, 202)
    received = getattr(engine.last_request, name)
    assert received == (False if name == IGNORED else value)


@pytest.mark.parametrize('at', SENLIN, ids=str)
@pytest.mark.parametrize('value', [True, False, None])
def test_field_when_ignored_early_takes_effect_from_its_version_on(
    api: ApiClient, engine: FakeEngine, at: Version, value: bool | None
) -> None:
    action = {'nodes': ['n'], 'destroy_after_deletion': value}

    response = api(
        'POST', f'{C}/c/actions', {'del_nodes': action}, version=str(at)
    )

    assert response.status == 202
    takes_effect = at >= Version(1, 4)
    received = engine.last_request.destroy_after_deletion
    assert received is (value if takes_effect else False)


def test_field_when_ignored_early_is_still_validated(
    api: ApiClient, engine: FakeEngine
) -> None:
    action = {'nodes': ['n'], 'destroy_after_deletion': 'gone'}

    response = api(
        'POST', f'{C}/c/actions', {'del_nodes': action}, version='1.3'
    )

    assert response.status == 400
    assert engine.calls == []


@early_field
def test_field_when_versions_are_strict_is_rejected_with_its_version(
    strict_api: ApiClient,
    engine: FakeEngine,
    since: str,
    method: str,
    path: str,
    body: Any,
    name: str,
    value: Any,
) -> None:
    before = f'1.{Version.parse(since).minor - 1}'
    response = strict_api(method, path, body, version=before)

    assert response.status == 400
    assert f"'{name}' needs API version {since} or later" in response.detail
    assert engine.calls == []

    response = strict_api(method, path, body, version=since)

    assert response.status in (200, 202)
    assert getattr(engine.last_request, name) == value


def test_fields_when_listed_are_all_that_were_added_later() -> None:
    """Later microversions than Senlin's have no early fields."""
    tested = {(since, name) for since, _, _, _, name, _ in FIELDS}
    later = set()
    for route in routes.ROUTES:
        for name in route.client_fields():
            since = route.request.first_microversion_of(name)
            if since != route.request.introduced() and since in SENLIN:
                later.add((str(since), name))
    assert tested == later


@early_method
def test_method_when_called_early_works(
    api: ApiClient, method: str, path: str, body: Any
) -> None:
    assert api(method, path, body).status == 200


@early_method
def test_method_when_versions_are_strict_is_rejected(
    strict_api: ApiClient, method: str, path: str, body: Any
) -> None:
    response = strict_api(method, path, body, version='1.6')

    assert response.status == 404
    assert 'needs API version 1.7 or later' in response.detail


def test_method_when_senlin_rejects_it_early_is_rejected(
    api: ApiClient,
) -> None:
    """All but those of :data:`METHODS`."""
    early = {(method, path.removesuffix('/r')) for method, path, _ in METHODS}
    for route in routes.ROUTES:
        since = route.request.introduced()
        path = route.path.removesuffix('/{identity}')
        if since is None or (route.method, path) in early:
            continue
        before = Version(since.major, since.minor - 1)
        key = route.params.key
        response = api(
            route.method,
            route.path.format(identity='x', path='x'),
            {key: {}} if key else {'x': {}} if route.params.body else None,
            version=str(before),
        )
        assert response.status == 404, route.path
        assert f'needs API version {since} or later' in response.detail


@pytest.mark.parametrize('version', [str(v) for v in SENLIN])
def test_response_when_early_has_the_fields_of_senlin(
    api: ApiClient, strict_api: ApiClient, version: str
) -> None:
    at = Version.parse(version)

    cluster = api('GET', f'{C}/c', version=version).json['cluster']
    assert 'config' in cluster
    cluster = strict_api('GET', f'{C}/c', version=version).json['cluster']
    assert ('config' in cluster) is (at >= Version(1, 7))
    node = api('GET', f'{N}/n', version=version).json['node']
    assert ('tainted' in node) is (at >= Version(1, 13))
    action = api('GET', '/v1/actions', version=version).json['actions'][0]
    assert ('cluster_id' in action) is (at >= Version(1, 14))


@pytest.mark.parametrize(
    ('error', 'name', 'request_'),
    [
        (
            exceptions.LossyDowngrade(
                'ClusterCreateRequest', 'config', '{}', '1.1', '1.0', 'e-2'
            ),
            "'config'",
            ('POST', C, {'cluster': {'name': 'x', 'profile_id': 'p'}}),
        ),
        (
            exceptions.UnsupportedType('ReceiverUpdateRequest', 'e-2'),
            'PATCH /v1/receivers/{identity}',
            METHODS[0],
        ),
    ],
)
@pytest.mark.parametrize('served', ['1.6', '1.14'])
def test_field_when_an_engine_lacks_it_is_406_with_version_and_engine(
    api: ApiClient,
    engine: FakeEngine,
    fleet: FakeFleet,
    error: Exception,
    name: str,
    request_: tuple[str, str, Any],
    served: str,
) -> None:
    engine.error = error
    fleet.max_version = Maximum(Version.parse(served), 'e-2 is old')

    response = api(*request_, version='1.2')

    assert response.status == 406
    assert response.code == 'clustering.microversion-unsupported'
    item = response.json['errors'][0]
    assert (item['available_from'], item['max_version']) == ('1.7', served)
    assert f'{name} needs API version 1.7 or later' in response.detail
    assert 'e-2' in response.detail
    assert ('the maximum is 1.6' in response.detail) is (served == '1.6')
