# SPDX-License-Identifier: Apache-2.0
"""Successful requests to every endpoint, at several microversions."""

from __future__ import annotations

import datetime
import importlib.metadata
from typing import Any

import pytest

from tests.unit.api.client import ApiClient
from tests.unit.api.fake_engine import FakeEngine
from vobjects.clustering import resources

VERSIONS = ('1.0', '1.7', '1.8', '1.13', '1.14', 'latest')

CLUSTER = {'cluster': {'name': 'c1', 'profile_id': 'p1'}}
SPEC = {'type': 'os.nova.server', 'version': '1.0', 'properties': {}}
PROFILE = {'profile': {'name': 'p1', 'spec': SPEC}}


def number(version: str) -> tuple[int, int]:
    """Return a version to compare with."""
    if version == 'latest':
        return 1, 14
    major, minor = version.split('.')
    return int(major), int(minor)


@pytest.mark.parametrize('version', VERSIONS)
def test_profile_when_created_is_shown_listed_changed_and_deleted(
    api: ApiClient, version: str
) -> None:
    created = api('POST', '/v1/profiles', PROFILE, version=version)
    assert created.status == 201
    profile = created.json['profile']
    assert profile['spec'] == SPEC
    assert profile['metadata'] == {}
    shown = api('GET', '/v1/profiles/p1', version=version)
    assert (shown.status, shown.json) == (200, {'profile': profile})
    listed = api('GET', '/v1/profiles', version=version)
    assert listed.json == {'profiles': [profile]}
    changed = api(
        'PATCH',
        f'/v1/profiles/{profile["id"]}',
        {'profile': {'name': 'p2'}},
        version=version,
    )
    assert changed.status == 200
    assert changed.json['profile']['name'] == 'p2'
    deleted = api('DELETE', '/v1/profiles/p2', version=version)
    assert (deleted.status, deleted.content) == (204, b'')
    assert 'content-length' not in deleted.headers
    assert api('GET', '/v1/profiles/p2', version=version).status == 404


@pytest.mark.parametrize('version', VERSIONS[1:])
def test_spec_when_valid_is_returned_as_a_profile(
    api: ApiClient, version: str
) -> None:
    response = api(
        'POST',
        '/v1/profiles/validate',
        {'profile': {'spec': SPEC}},
        version=version,
    )
    assert response.status == 200
    assert response.json['profile']['spec'] == SPEC


def test_profile_named_validate_when_shown_is_found(api: ApiClient) -> None:
    api('POST', '/v1/profiles', {'profile': {'name': 'validate', 'spec': {}}})
    assert api('GET', '/v1/profiles/validate').status == 200


@pytest.mark.parametrize('version', VERSIONS)
def test_cluster_when_created_is_shown_listed_changed_and_deleted(
    api: ApiClient, engine: FakeEngine, version: str
) -> None:
    created = api('POST', '/v1/clusters', CLUSTER, version=version)
    assert created.status == 202
    action = created.headers['location'].removeprefix(
        'http://api.example.org/v1/actions/'
    )
    assert action in engine.actions
    cluster = created.json['cluster']
    assert 'config' in cluster
    for identity in ('c1', cluster['id']):
        shown = api('GET', f'/v1/clusters/{identity}', version=version)
        assert (shown.status, shown.json) == (200, {'cluster': cluster})
    listed = api('GET', '/v1/clusters', version=version)
    assert listed.json == {'clusters': [cluster]}
    changed = api(
        'PATCH',
        '/v1/clusters/c1',
        {'cluster': {'name': 'c2', 'timeout': '30', 'metadata': None}},
        version=version,
    )
    assert changed.status == 202
    assert changed.json['cluster']['id'] == cluster['id']
    assert '/v1/actions/' in changed.headers['location']
    assert engine.last_request.timeout == 30
    deleted = api('DELETE', '/v1/clusters/c1', version=version)
    assert (deleted.status, deleted.content) == (202, b'')
    assert '/v1/actions/' in deleted.headers['location']
    assert engine.last_request.force is False


@pytest.mark.parametrize('version', VERSIONS)
@pytest.mark.parametrize(
    ('action', 'fields'),
    [
        ('resize', {'adjustment_type': 'EXACT_CAPACITY', 'number': 3}),
        ('resize', {'min_size': 1, 'min_step': None, 'number': None}),
        ('scale_in', {'count': 1}),
        ('scale_in', {'count': None}),
        ('scale_out', {}),
        ('check', {}),
        ('recover', {'operation': 'REBOOT', 'operation_params': {'a': 1}}),
    ],
)
def test_cluster_action_when_valid_is_accepted(
    api: ApiClient, engine: FakeEngine, version: str, action: str, fields: dict
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    response = api(
        'POST', '/v1/clusters/c1/actions', {action: fields}, version=version
    )
    assert response.status == 202
    assert response.json.keys() == {'action'}
    assert response.headers['location'].endswith(
        f'/v1/actions/{response.json["action"]}'
    )
    for name, value in fields.items():
        assert getattr(engine.last_request, name) == value


@pytest.mark.parametrize('version', VERSIONS)
def test_build_info_when_shown_has_both_sides(
    api: ApiClient, version: str
) -> None:
    response = api('GET', '/v1/build-info', version=version)
    assert response.status == 200
    assert response.json['build_info'] == {
        'api': {'revision': importlib.metadata.version('vobjects')},
        'engine': {'revision': '0.1.0'},
    }


@pytest.mark.parametrize('version', VERSIONS)
def test_profile_types_when_listed_have_the_form_of_the_version(
    api: ApiClient, version: str
) -> None:
    (item,) = api('GET', '/v1/profile-types', version=version).json[
        'profile_types'
    ]
    if number(version) < (1, 5):
        assert item == {'name': 'os.nova.server-1.0'}
    else:
        assert item.keys() == {'name', 'version', 'support_status'}
    shown = api('GET', '/v1/profile-types/os.nova.server-1.0', version=version)
    assert shown.json['profile_type']['name'] == 'os.nova.server-1.0'


def test_list_when_filtered_sorted_and_paged_passes_it_to_the_engine(
    api: ApiClient, engine: FakeEngine
) -> None:
    marker = api('POST', '/v1/clusters', CLUSTER).json['cluster']['id']
    response = api(
        'GET',
        '/v1/clusters?name=a&name=b&status=ACTIVE&limit=2&sort=name:desc'
        f'&marker={marker}&global_project=False',
    )
    assert response.status == 200
    request = engine.last_request
    assert request.name == ['a', 'b']
    assert request.status == ['ACTIVE']
    assert (request.limit, request.sort, request.marker) == (
        2,
        'name:desc',
        marker,
    )
    assert request.global_project is False


def test_patch_when_a_field_is_missing_leaves_it_unset(
    api: ApiClient, engine: FakeEngine
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    body = {'cluster': {'name': 'c2'}}
    api('PATCH', '/v1/clusters/c1', body, version='latest')
    assert 'name' in engine.last_request
    assert 'timeout' not in engine.last_request
    assert 'config' not in engine.last_request


def test_create_when_fields_are_missing_has_their_defaults(
    api: ApiClient, engine: FakeEngine
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    request = engine.last_request
    assert (request.min_size, request.max_size, request.config) == (0, -1, {})


def test_number_when_json_cannot_hold_it_is_null(
    api: ApiClient, engine: FakeEngine
) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    (cluster,) = engine.clusters.values()
    cluster.data = {'load': float('nan'), 'limit': float('inf')}
    shown = api('GET', '/v1/clusters/c1')
    assert shown.json['cluster']['data'] == {'load': None, 'limit': None}


def test_head_when_sent_is_like_get_without_a_body(api: ApiClient) -> None:
    for path in ('/', '/v1', '/v1/clusters', '/v1/clusters/no'):
        get, head = api('GET', path), api('HEAD', path)
        assert head.status == get.status
        assert head.content == b''
        length = get.headers['content-length']
        assert head.headers['content-length'] == length


def event(id_: str, otype: str, **values: Any) -> resources.Event:
    """Return an event of ``web``."""
    return resources.Event(
        id=id_,
        timestamp=datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        level='INFO',
        oid='o',
        oname='web',
        otype=otype,
        action=f'{otype}_CHECK',
        status='start',
        user='u',
        project='p',
        status_reason='',
        **values,
    )


def test_event_when_shown_has_null_as_its_cluster(
    api: ApiClient, engine: FakeEngine
) -> None:
    engine.events['1'] = event('1', 'CLUSTER', cluster_id='c', meta_data={})
    shown = api('GET', '/v1/events/1').json['event']
    # As in the samples of Senlin's API reference; gophercloud rejects objects.
    assert shown['cluster'] is None
    assert shown['cluster_id'] == 'c'
    assert api('GET', '/v1/events').json == {'events': [shown]}


@pytest.mark.parametrize('otype', ['cluster', 'Cluster', 'CLUSTER'])
def test_type_of_events_when_in_any_case_is_a_filter(
    api: ApiClient, engine: FakeEngine, otype: str
) -> None:
    response = api('GET', f'/v1/events?otype={otype}&oname=Web&level=WARN')
    assert response.status == 200
    _, request = engine.calls[-1]
    assert (request.otype, request.oname) == (['CLUSTER'], ['Web'])
    assert api('GET', '/v1/events?otype=pony').status == 400


def test_caller_when_authentication_is_off_is_the_configured_one(
    make_api, engine: FakeEngine
) -> None:
    api = make_api(default_user='alice', default_project='wonderland')
    api(
        'GET',
        '/v1/clusters',
        headers={
            'X-User-Id': 'mallory',
            'X-Project-Id': 'other',
            'X-Roles': 'admin',
            'X-Identity-Status': 'Confirmed',
        },
    )
    context, _ = engine.calls[-1]
    assert (context.user_id, context.project_id) == ('alice', 'wonderland')
    assert context.is_admin


def test_request_id_when_a_caller_sends_one_is_the_global_id(
    api: ApiClient, engine: FakeEngine
) -> None:
    sent = 'req-6f3b3bd6-d1ef-4b6b-9d4b-7b1f0e0f4c8e'
    response = api(
        'GET', '/v1/clusters', headers={'X-OpenStack-Request-ID': sent}
    )
    context, _ = engine.calls[-1]
    assert context.global_request_id == sent
    assert context.request_id == response.headers['x-openstack-request-id']
    assert context.request_id != sent


@pytest.mark.parametrize('sent', ['req-1', 'x\ny', 'req-' + 'g' * 36])
def test_request_id_when_it_is_none_is_not_passed_on(
    api: ApiClient, engine: FakeEngine, sent: str
) -> None:
    api('GET', '/v1/clusters', headers={'X-OpenStack-Request-ID': sent})
    assert engine.calls[-1][0].global_request_id is None
