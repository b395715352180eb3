# SPDX-License-Identifier: Apache-2.0
"""Batch and health policies whose engine is killed."""

from __future__ import annotations

import contextlib
import json
import pathlib
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests import http_server, machine_speed
from tests.functional.deployments import (
    TRANSPORTS,
    Deployment,
    Platform,
    deployed,
)
from tests.functional.processes import wait_for
from tests.functional.rest import SPEC, RestClient, unique

#: Errors that processes may log when others die.
ALLOWED_ERRORS = r'AMQP|amqp|onnection'


def attach(
    rest: RestClient,
    cluster: str,
    kind: str,
    version: str = '1.0',
    **properties: Any,
) -> str:
    """Attach a new policy to a cluster and return its ID."""
    spec = {
        'type': f'senlin.policy.{kind}',
        'version': version,
        'properties': properties,
    }
    body = {'policy': {'name': unique('policy'), 'spec': spec}}
    policy = rest.expect(201, 'POST', '/v1/policies', body).json()['policy']
    rest.wait_for_success(
        rest.start_action(cluster, 'policy_attach', policy_id=policy['id'])
    )
    return str(policy['id'])


# Batches and health


class HealthServer:
    """Serves the health of nodes by name.

    :ivar unhealthy: names of unhealthy nodes
    """

    def __init__(self) -> None:
        self.url = ''
        self.unhealthy: set[str] = set()


@contextlib.contextmanager
def health_server() -> Iterator[HealthServer]:
    health = HealthServer()

    class Handler(http_server.Handler):
        def do_GET(self) -> None:  # noqa: N802
            name = self.path.rpartition('/')[2]
            text = 'sick' if name in health.unhealthy else 'well'
            self.send_response(200)
            self.send_header('Content-Length', str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

    with http_server.serving(Handler) as port:
        health.url = f'http://127.0.0.1:{port}/{{nodename}}'
        yield health


def create_monitored(
    rest: RestClient, profile: str, mode: dict[str, Any], operation: str
) -> str:
    """Return a cluster of 2 with a health policy."""
    cluster = rest.create_cluster(profile, 2)
    attach(
        rest,
        cluster,
        'health',
        '1.1',
        detection={
            'interval': 1,
            'node_update_timeout': 1,
            'detection_modes': [mode],
        },
        recovery={'actions': [{'name': operation}]},
    )
    return cluster


def first_node(rest: RestClient, cluster: str) -> Any:
    node = rest.get(f'/v1/clusters/{cluster}')['nodes'][0]
    return rest.get(f'/v1/nodes/{node}')


def stop(rest: RestClient, node: str) -> None:
    """Stop the server of a node, as if it had failed."""
    path = f'/v1/nodes/{node}/ops'
    response = rest.expect(202, 'POST', path, {'stop': {}})
    rest.wait_for_success(response.json()['action'])


def wait_until_recovered(
    rest: RestClient, node: str, *, times: int = 1
) -> None:
    """Wait until the health policy has recovered a node."""

    def is_recovered() -> bool:
        actions = rest.get(f'/v1/actions?target={node}&action=NODE_RECOVER')
        recoveries = [
            action for action in actions if action['status'] == 'SUCCEEDED'
        ]
        return len(recoveries) >= times

    wait_for(f'node {node} was recovered', is_recovered)


@pytest.mark.parametrize('platform', TRANSPORTS)
def test_batches_and_health_checks_continue_when_their_engine_is_killed(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    settings = {
        'fleet': {'heartbeat_interval': 3 * machine_speed.scale()},
        'health_manager': {
            'interval_min': 1,
            'events_interval': 1,
            # The health server is on this host.
            'forbidden_networks': '',
        },
    }
    with (
        health_server() as health,
        deployed(
            platform, tmp_path, settings, allowed_errors=ALLOWED_ERRORS
        ) as deployment,
        deployment.rest() as rest,
    ):
        first = deployment.start_engine('first')
        deployment.start_api()
        profile = rest.create_profile()
        polled = create_monitored(
            rest, profile, {'type': 'NODE_STATUS_POLLING'}, 'REBOOT'
        )
        event_driven = create_monitored(
            rest, profile, {'type': 'LIFECYCLE_EVENTS'}, 'REBUILD'
        )
        options = {
            'poll_url': health.url,
            'poll_url_healthy_response': '^well$',
            'poll_url_retry_limit': 1,
        }
        mode = {'type': 'NODE_STATUS_POLL_URL', 'options': options}
        polled_by_url = create_monitored(rest, profile, mode, 'RECREATE')
        sick = first_node(rest, polled)['id']
        stop(rest, sick)
        wait_until_recovered(rest, sick)

        updated = rest.create_cluster(profile, 5)
        attach(rest, updated, 'batch', max_batch_size=2, pause_time=4)
        action = (
            rest.expect(
                202,
                'PATCH',
                f'/v1/clusters/{updated}',
                {'cluster': {'profile_id': larger(rest)}},
            )
            .headers['Location']
            .rpartition('/')[2]
        )
        wait_for(
            'the update pauses',
            lambda: (
                rest.get(f'/v1/actions/{action}')['status_reason'] or ''
            ).startswith('Pauses'),
        )
        second = deployment.start_engine('second')
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        deployment.group.remove(first.process)
        wait_for(
            'the death is detected',
            lambda: deployment.engine_ids() == {second.id},
        )

        ended = rest.wait_for_success(action)
        plan = ended['data']['update']['plan']
        assert [len(batch) for batch in plan] == [2, 2, 1]
        flavors = [
            json.loads(row.properties)['flavor']
            for row in servers_of(deployment, updated)
        ]
        assert flavors == ['m1.large'] * 5

        stop(rest, sick)
        wait_until_recovered(rest, sick, times=2)
        stopped = first_node(rest, event_driven)['id']
        stop(rest, stopped)
        wait_until_recovered(rest, stopped)
        before = first_node(rest, polled_by_url)
        health.unhealthy.add(before['name'])
        wait_until_recovered(rest, before['id'])
        health.unhealthy.clear()
        after = rest.get(f'/v1/nodes/{before["id"]}')
        assert after['physical_id'] != before['physical_id']
        for cluster in (polled, event_driven, polled_by_url, updated):
            wait_for(
                'the cluster can be deleted',
                lambda cluster=cluster: (
                    rest.request(
                        'DELETE', f'/v1/clusters/{cluster}'
                    ).status_code
                    in (202, 404)
                ),
            )
            wait_for(
                'the cluster is gone',
                lambda cluster=cluster: (
                    rest.request('GET', f'/v1/clusters/{cluster}').status_code
                    == 404
                ),
            )
        assert deployment.rows('SELECT * FROM health_registry') == []


def larger(rest: RestClient) -> str:
    """Return a profile of larger servers."""
    properties = {**SPEC['properties'], 'flavor': 'm1.large'}
    spec = {**SPEC, 'properties': properties}
    body = {'profile': {'name': unique('profile'), 'spec': spec}}
    response = rest.expect(201, 'POST', '/v1/profiles', body)
    return str(response.json()['profile']['id'])


def servers_of(service: Deployment, cluster: str) -> list[Any]:
    return service.rows(
        'SELECT s.* FROM simulated_servers s'
        ' JOIN nodes n ON n.id = s.node_id WHERE n.cluster_id = :cluster',
        cluster=cluster,
    )
