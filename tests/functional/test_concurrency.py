# SPDX-License-Identifier: Apache-2.0
"""Concurrent clients with two engines."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.rest import RestClient

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
            rest.run(cluster, 'scale_in', count=1)
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
