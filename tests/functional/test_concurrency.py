# SPDX-License-Identifier: Apache-2.0
"""Concurrent clients with two engines."""

from __future__ import annotations

import concurrent.futures
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, action_id_of, unique

CLIENTS = 6


def together(
    service: Deployment,
    work: Callable[[RestClient, int], Any],
    count: int = CLIENTS,
) -> list[Any]:
    """Return the results of ``work(client, number)`` in concurrent threads."""

    def run(number: int) -> Any:
        with service.rest() as client:
            return work(client, number)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def members(rest: RestClient, cluster: str) -> list[dict[str, Any]]:
    """Return the nodes of a cluster, which must be consistent."""
    nodes: list[dict[str, Any]] = rest.get(
        f'/v1/nodes?cluster_id={cluster}&sort=index'
    )
    listed = rest.get(f'/v1/clusters/{cluster}')['nodes']
    assert sorted(node['id'] for node in nodes) == sorted(listed)
    for field in ('index', 'id', 'name', 'physical_id'):
        values = [node[field] for node in nodes]
        assert len(set(values)) == len(values), f'{field} twice: {values}'
    return nodes


def assert_tidy(service: Deployment, clusters: Iterable[str]) -> None:
    """Assert that clusters were deleted completely."""
    service.assert_tidy()
    left = {row.id for row in service.rows('SELECT id FROM clusters')}
    assert left.isdisjoint(clusters)


@pytest.mark.every_platform
def test_clients_change_different_clusters(
    service: Deployment, profile: str
) -> None:
    def work(rest: RestClient, number: int) -> list[str]:
        started = [rest.start_cluster(profile, 2) for _ in range(2)]
        for _cluster, action in started:
            rest.wait_for_success(action)
        resizes = [
            rest.start_action(
                cluster,
                'resize',
                adjustment_type='EXACT_CAPACITY',
                number=4,
            )
            for cluster, _action in started
        ]
        for action in resizes:
            rest.wait_for_success(action)
        for cluster, _action in started:
            rest.wait_for_success(
                rest.start_action(cluster, 'scale_in', count=1)
            )
            assert len(members(rest, cluster)) == 3
            shown = rest.get(f'/v1/clusters/{cluster}')
            assert shown['status'] == 'ACTIVE', shown
            assert shown['desired_capacity'] == 3
        deletions = [
            rest.delete(f'/v1/clusters/{cluster}') for cluster, _ in started
        ]
        for action in deletions:
            rest.wait_for_success(action)
        return [cluster for cluster, _action in started]

    clusters = [id_ for ids in together(service, work) for id_ in ids]

    assert len(set(clusters)) == 2 * CLIENTS
    assert_tidy(service, clusters)


def test_both_engines_work(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    service.run_until_all_engines_worked(rest, profile)


def test_clients_scale_one_cluster(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 1)

    path = f'/v1/clusters/{cluster}/actions'

    def work(rest: RestClient, number: int) -> None:
        """Scale out twice, retrying while another action runs."""

        def accepted() -> str:
            response = rest.request('POST', path, {'scale_out': {'count': 1}})
            if response.status_code == 202:
                return action_id_of(response)
            assert response.status_code == 409, response.text
            return ''

        for _ in range(2):
            rest.wait_for_success(
                wait_for('the request is accepted', accepted)
            )

    together(service, work)

    size = 1 + 2 * CLIENTS
    assert len(members(rest, cluster)) == size
    assert rest.get(f'/v1/clusters/{cluster}')['desired_capacity'] == size
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))
    assert_tidy(service, [cluster])


def test_cluster_deleted_by_many_clients_is_deleted_once(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 2)

    def work(rest: RestClient, number: int) -> int:
        response = rest.request('DELETE', f'/v1/clusters/{cluster}')
        if response.status_code == 202:
            rest.wait_for_success(action_id_of(response))
        return response.status_code

    statuses = Counter(together(service, work))

    assert statuses[202] == 1, statuses
    assert set(statuses) <= {202, 404, 409}
    assert_tidy(service, [cluster])


def test_nodes_join_and_leave_a_cluster_at_once(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 0, max_size=5)

    def join(rest: RestClient, number: int) -> str:
        body = {
            'node': {
                'name': unique('node'),
                'profile_id': profile,
                'cluster_id': cluster,
            }
        }
        response = rest.request('POST', '/v1/nodes', body)
        if response.status_code == 400:
            assert 'max_size (5)' in response.text
            return ''
        assert response.status_code == 202, response.text
        rest.wait_for_success(action_id_of(response))
        return str(response.json()['node']['id'])

    joined = [node for node in together(service, join, 8) if node]

    assert len(joined) == 5, 'no more than there is room for'
    nodes = members(rest, cluster)
    assert [node['index'] for node in nodes] == [1, 2, 3, 4, 5]
    assert rest.get(f'/v1/clusters/{cluster}')['desired_capacity'] == 5

    def leave(rest: RestClient, number: int) -> None:
        response = rest.expect(202, 'DELETE', f'/v1/nodes/{joined[number]}')
        rest.wait_for_success(action_id_of(response))

    together(service, leave, 5)

    assert members(rest, cluster) == []
    assert rest.get(f'/v1/clusters/{cluster}')['desired_capacity'] == 0
    rest.wait_for_success(
        rest.delete(f'/v1/clusters/{cluster}', {'force': True})
    )
    assert_tidy(service, [cluster])


def test_forced_deletion_interrupts_creation(
    service: Deployment, profile: str
) -> None:
    def work(rest: RestClient, number: int) -> list[str]:
        ids = []
        for _ in range(3):
            cluster, creation = rest.start_cluster(profile, 3)
            deletion = rest.delete(f'/v1/clusters/{cluster}', {'force': True})
            rest.wait_for_success(deletion)
            rest.assert_missing(f'/v1/clusters/{cluster}')
            assert rest.wait_for_end(creation)['status'] in (
                'SUCCEEDED',
                'FAILED',
                'CANCELLED',
            )
            ids.append(cluster)
        return ids

    clusters = [id_ for ids in together(service, work, 4) for id_ in ids]

    # A worker that lost its claim removes the server that it created.
    wait_for(
        'servers of deleted nodes are gone', lambda: not service.orphans()
    )
    assert_tidy(service, clusters)
