# SPDX-License-Identifier: Apache-2.0
"""Valid input that only an engine can reject.

:mod:`tests.functional.test_bad_input` covers input that the API rejects.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.endpoints import MISSING_ID
from tests.functional.rest import SPEC, RestClient, unique


@pytest.fixture
def cluster(rest: RestClient, profile: str) -> Iterator[str]:
    """The ID of a cluster with 2 nodes, minimum 1 and maximum 3."""
    id_ = rest.create_cluster(profile, 2, min_size=1, max_size=3)
    yield id_
    rest.wait_for_success(rest.delete(f'/v1/clusters/{id_}', {'force': True}))


#: Invalid content of a cluster, and text in the error.
BAD_CLUSTERS: list[tuple[dict[str, Any], str]] = [
    ({'profile_id': 'no-such-profile'}, 'no-such-profile'),
    ({'min_size': 3, 'max_size': 2}, 'max_size (2)'),
    ({'min_size': 3, 'desired_capacity': 2}, 'min_size (3)'),
    ({'max_size': 3, 'desired_capacity': 4}, 'max_size (3)'),
    ({'desired_capacity': 1001}, '1000'),
    ({'min_size': 2**31 - 1}, '1000'),
    ({'desired_capacity': 2**31}, 'desired_capacity'),
    ({'desired_capacity': -1}, 'desired_capacity'),
    ({'max_size': -2}, 'max_size'),
    ({'timeout': -1}, 'timeout'),
    ({'name': ''}, 'name'),
    ({'name': 'a b'}, 'name'),
    ({'name': 'n' * 256}, 'name'),
    ({'name': '💥'}, 'name'),
    ({'metadata': [1]}, 'metadata'),
    ({'config': 'x'}, 'config'),
]


def test_cluster_when_impossible_is_rejected(
    rest: RestClient, profile: str
) -> None:
    for content, reason in BAD_CLUSTERS:
        body = {'cluster': {'name': 'n', 'profile_id': profile, **content}}
        assert reason in rest.expect_error(
            400, 'POST', '/v1/clusters', body
        ), body


#: Action, invalid content, and text in the error.
BAD_ACTIONS: list[tuple[str, Any, str]] = [
    ('resize', {}, 'adjustment_type'),
    ('resize', {'number': 1}, 'adjustment_type'),
    ('resize', {'adjustment_type': 'PONY', 'number': 1}, 'adjustment_type'),
    ('resize', {'adjustment_type': 'EXACT_CAPACITY'}, 'number'),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': -1},
        'number',
    ),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': 1.5},
        'number',
    ),
    (
        'resize',
        {'adjustment_type': 'EXACT_CAPACITY', 'number': 4},
        'max_size (3)',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': -2},
        'min_size (1)',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 1e300},
        '',
    ),
    (
        'resize',
        {'adjustment_type': 'CHANGE_IN_PERCENTAGE', 'number': 1e300},
        '',
    ),
    ('resize', {'min_size': 4}, 'min_size (4)'),
    ('resize', {'max_size': 1}, 'max_size (1)'),
    ('scale_out', {'count': 10000}, 'number of nodes allowed per cluster'),
    ('scale_out', {'count': 0}, 'Count'),
    ('scale_in', {'count': -1}, 'count'),
    ('scale_out', {'count': 'x'}, 'count'),
    ('recover', {'operation': 'PONY'}, 'operation'),
    ('recover', {'operation_params': 1}, 'operation_params'),
    ('recover', {'check': 'maybe'}, 'check'),
    ('recover', {'pony': 1}, 'pony'),
    ('check', ['pony'], 'check'),
    ('check', 'pony', 'check'),
    ('add_nodes', {'nodes': []}, 'nodes'),
    ('add_nodes', {'nodes': ['nobody']}, 'nobody'),
    ('add_nodes', {'nodes': {'nobody': 1}}, 'nodes'),
    ('del_nodes', {'nodes': ['nobody']}, 'nobody'),
    ('replace_nodes', {'nodes': {'nobody': 'other'}}, 'nobody'),
    ('replace_nodes', {'nodes': {'nobody': None}}, 'nobody'),
    ('replace_nodes', {'nodes': {}}, 'nodes'),
    ('policy_attach', {'policy_id': 'nobody'}, 'nobody'),
    ('policy_detach', {'policy_id': 'nobody'}, 'nobody'),
    ('policy_update', {'policy_id': 'nobody'}, 'nobody'),
    ('update_policy', {'policy_id': 'nobody'}, 'nobody'),
    ('policy_attach', {'policy_id': 'x', 'enabled': 'maybe'}, 'enabled'),
    ('explode', {}, 'explode'),
]


def test_action_when_impossible_is_rejected_without_effect(
    rest: RestClient, cluster: str
) -> None:
    path = f'/v1/clusters/{cluster}/actions'
    before = rest.get(f'/v1/actions?target={cluster}')

    for name, content, reason in BAD_ACTIONS:
        assert reason in rest.expect_error(400, 'POST', path, {name: content})
    several = {'check': {}, 'recover': {}}
    assert 'one action' in rest.expect_error(400, 'POST', path, several)
    assert 'one action' in rest.expect_error(400, 'POST', path, {})

    assert rest.get(f'/v1/actions?target={cluster}') == before
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'


#: Invalid spec of a profile, and text in the error.
BAD_SPECS: list[tuple[Any, str]] = [
    ({}, 'spec.type'),
    ({'type': 'os.nova.server'}, 'spec.version'),
    ({'type': [], 'version': {}}, ''),
    ({**SPEC, 'version': True}, 'version'),
    ({**SPEC, 'pony': 1}, 'pony'),
    ({**SPEC, 'properties': None}, 'properties'),
    ({**SPEC, 'properties': []}, 'properties'),
    ({**SPEC, 'properties': {}}, 'flavor'),
    ({**SPEC, 'properties': {'flavor': {}}}, 'spec.properties.flavor'),
    ({**SPEC, 'properties': {'flavor': 'f', 'pony': 1}}, 'pony'),
    (
        {**SPEC, 'properties': {'flavor': 'f', 'networks': [{'pony': 1}]}},
        'networks[0]',
    ),
    (
        {**SPEC, 'properties': {'flavor': 'f', 'security_groups': [{}]}},
        'security_groups[0]',
    ),
]


def refuse_specs(
    rest: RestClient, status: int, specs: list[tuple[Any, str]]
) -> None:
    for spec, reason in specs:
        create = {'profile': {'name': 'n', 'spec': spec}}
        assert reason in rest.expect_error(
            status, 'POST', '/v1/profiles', create
        )
        validate = {'profile': {'spec': spec}}
        path = '/v1/profiles/validate'
        assert reason in rest.expect_error(status, 'POST', path, validate)


def test_spec_when_invalid_for_its_type_is_rejected(
    rest: RestClient,
) -> None:
    refuse_specs(rest, 400, BAD_SPECS)


#: Spec of a type that does not exist, and text in the error.
TYPELESS_SPECS: list[tuple[Any, str]] = [
    ({'type': 'pony', 'version': '1.0'}, 'pony'),
    ({'type': 1, 'version': '1.0'}, "'1-1.0'"),
    ({**SPEC, 'version': '9.9'}, '9.9'),
    ({**SPEC, 'version': 1e300}, '1e+300'),
]


def test_spec_when_its_type_is_unknown_is_not_found(rest: RestClient) -> None:
    refuse_specs(rest, 404, TYPELESS_SPECS)


def test_marker_when_unknown_is_rejected(rest: RestClient) -> None:
    for collection in ('profiles', 'clusters', 'nodes', 'actions'):
        path = f'/v1/{collection}?marker={MISSING_ID}'
        assert MISSING_ID in rest.expect_error(400, 'GET', path)


def test_profile_in_use_cannot_be_deleted(
    rest: RestClient, profile: str, cluster: str
) -> None:
    assert 'referenced' in rest.expect_error(
        409, 'DELETE', f'/v1/profiles/{profile}'
    )


def test_name_when_ambiguous_is_rejected(
    rest: RestClient, profile: str
) -> None:
    name = unique('twin')
    twins = [
        rest.create_cluster(profile, 0, name=name),
        rest.create_cluster(profile, 0, name=name),
    ]

    reason = rest.expect_error(400, 'GET', f'/v1/clusters/{name}')

    assert name in reason
    for twin in twins:
        rest.wait_for_success(rest.delete(f'/v1/clusters/{twin}'))


def test_node_when_cluster_or_profile_is_unknown_is_rejected(
    rest: RestClient, profile: str
) -> None:
    node = {'name': 'n', 'profile_id': profile, 'cluster_id': 'nobody'}
    assert 'nobody' in rest.expect_error(
        400, 'POST', '/v1/nodes', {'node': node}
    )
    node = {'name': 'n', 'profile_id': 'nobody'}
    assert 'nobody' in rest.expect_error(
        400, 'POST', '/v1/nodes', {'node': node}
    )
    assert 'nobody' in rest.expect_error(
        400, 'GET', '/v1/nodes?cluster_id=nobody'
    )


def test_service_works_after_all_other_tests(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    rest.get(f'/v1/profiles/{profile}')
    assert service.logged_errors() == []
    assert service.locks() == []
