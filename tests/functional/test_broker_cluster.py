# SPDX-License-Identifier: Apache-2.0
"""A RabbitMQ cluster under load, each node of which is killed once.

The test takes minutes and runs only if ``VOBJECTS_BROKER_CLUSTER`` is set.
"""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

from tests.functional import broker_cluster, soak
from tests.functional.deployments import Platform, deployed
from vobjects.clustering import topics

CLIENTS = 4

SETTINGS = {
    'fleet': {'call_timeout': 20},
    'engine': {'max_clusters_per_project': 1_000_000},
    'simulated': {'latency': 0.05},
}

#: Errors that processes may log when a node is down.
ALLOWED_ERRORS = (
    r'out of reach|AMQP|amqp|[Cc]onnection|rabbit|Unexpected error'
)


@pytest.mark.long
@pytest.mark.rabbit
@pytest.mark.postgresql
@pytest.mark.skipif(
    'VOBJECTS_BROKER_CLUSTER' not in os.environ,
    reason='VOBJECTS_BROKER_CLUSTER is not set',
)
@pytest.mark.timeout(3600)
def test_killed_nodes_lose_and_repeat_no_accepted_action(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes, service = tmp_path / 'nodes', tmp_path / 'service'
    for directory in (nodes, service):
        directory.mkdir()
    with (
        broker_cluster.running(nodes) as cluster,
        deployed(
            Platform('pyamqp', 'postgresql'),
            service,
            SETTINGS,
            allowed_errors=ALLOWED_ERRORS,
            transport_url=cluster.url,
        ) as deployment,
    ):
        deployment.start_engines(2)
        deployment.start_api()
        leader = cluster.leader(topics.ENGINE)
        others = [node for node in cluster.nodes if node is not leader]
        workload = soak.RetryingWorkload(deployment.url, CLIENTS)
        workload.start()
        try:
            workload.wait_for_rounds()
            for node in (leader, *others):
                node.kill()
                workload.wait_for_rounds()  # with two nodes
                node.start()
                workload.wait_for_rounds()
        finally:
            workload.stop()
        workload.assert_no_failures()
        soak.settle(deployment)
        with capsys.disabled():
            sys.stdout.write(f'\n{workload.summary()}\n')
