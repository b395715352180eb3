# SPDX-License-Identifier: Apache-2.0
"""Requests at each microversion."""

from __future__ import annotations

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import (
    HEADER,
    MAXIMUM,
    RestClient,
    action_id_of,
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
    rest.remove(cluster)


def test_service_list_shows_both_engines(
    service: Deployment, rest: RestClient
) -> None:
    def look() -> bool:
        services = rest.get('/v1/services')
        assert {row['topic'] for row in services} == {'vobjects-engine'}
        return {row['id'] for row in services} == service.engine_ids()

    wait_for('the list is that of the ledger', look)
