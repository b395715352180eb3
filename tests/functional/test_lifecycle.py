# SPDX-License-Identifier: Apache-2.0
"""Lifecycle hooks of nodes, and message receivers."""

from __future__ import annotations

import json
import pathlib
import signal

import pytest

from tests import machine_speed, webhook_server
from tests.functional.deployments import (
    TRANSPORTS,
    Deployment,
    Platform,
    deployed,
)
from tests.functional.processes import wait_for
from tests.functional.rest import RestClient, unique
from vobjects.clustering import consts

#: [deletion policy] grace_period in seconds, before the hook is called.
GRACE_PERIOD = 1


def attach_hook(rest: RestClient, cluster: str, url: str) -> None:
    """Attach a deletion policy with a webhook to a cluster."""
    spec = {
        'type': 'senlin.policy.deletion',
        'version': '1.1',
        'properties': {
            'grace_period': GRACE_PERIOD,
            'hooks': {
                'type': 'webhook',
                'params': {'url': url},
                'timeout': 24 * 3600,
            },
        },
    }
    body = {'policy': {'name': unique('policy'), 'spec': spec}}
    policy = rest.expect(201, 'POST', '/v1/policies', body).json()['policy']
    rest.wait_for_success(
        rest.start_action(cluster, 'policy_attach', policy_id=policy['id'])
    )


@pytest.mark.parametrize('platform', TRANSPORTS)
def test_nodes_wait_for_hooks_although_their_engine_is_killed(
    platform: Platform, tmp_path: pathlib.Path
) -> None:
    settings = {
        'fleet': {'heartbeat_interval': 3 * machine_speed.scale()},
        'engine': {'workers': 1},
        # The webhook is on this host.
        'hooks': {'forbidden_networks': ''},
    }
    with (
        webhook_server.running() as hook,
        deployed(
            platform, tmp_path, settings, allowed_errors='AMQP|amqp|onnection'
        ) as deployment,
    ):
        first = deployment.start_engine('first')
        deployment.start_api()
        with deployment.rest() as rest:
            cluster = rest.create_cluster(rest.create_profile(), 4)
            attach_hook(rest, cluster, hook.url)

            action = rest.start_action(cluster, 'scale_in', count=3)

            # More nodes wait than the engine has workers.
            wait_for(
                'the hook is called for each node',
                lambda: len(hook.bodies) == 3,
            )
            tokens = [body['lifecycle_action_token'] for body in hook.bodies]
            token_1, token_2, token_3 = tokens
            for token in tokens:
                wait_for(
                    'the removal waits',
                    lambda token=token: (
                        rest.get(f'/v1/actions/{token}')['status']
                        == consts.WAITING_LIFECYCLE
                    ),
                )
            body = {'complete_lifecycle': {'lifecycle_action_token': token_1}}
            path = f'/v1/clusters/{cluster}/actions'
            assert rest.at('1.8').expect_error(404, 'POST', path, body)
            completion = _completing(token_1)
            assert rest.start_action(cluster, **completion) == token_1
            rest.wait_for_success(token_1)

            second = deployment.start_engine('second')
            first.process.send_signal(signal.SIGKILL)
            first.process.wait()
            deployment.group.remove(first.process)
            wait_for(
                'the death is detected',
                lambda: deployment.engine_ids() == {second.id},
            )

            completion = _completing(token_2)
            assert rest.start_action(cluster, **completion) == token_2
            rest.wait_for_success(token_2)
            shown = rest.get(f'/v1/clusters/{cluster}')
            assert len(shown['nodes']) == 2
            completion = _completing(token_3)
            assert rest.start_action(cluster, **completion) == token_3
            rest.wait_for_success(action)
            shown = rest.get(f'/v1/clusters/{cluster}')
            assert (shown['status'], len(shown['nodes'])) == ('ACTIVE', 1)
            removed = {body['node_id'] for body in hook.bodies}
            assert len(removed) == len(hook.bodies) == 3
            assert not removed & set(shown['nodes'])
            deployment.assert_tidy()


def _completing(token: str) -> dict[str, str]:
    return {'name': 'complete_lifecycle', 'lifecycle_action_token': token}


def test_messages_in_a_queue_start_actions(
    service: Deployment, rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 0)
    body = {'receiver': {'name': unique('receiver'), 'type': 'message'}}
    response = rest.expect(201, 'POST', '/v1/receivers', body)
    receiver = response.json()['receiver']
    queue = receiver['channel']['queue_name']
    message = json.dumps(
        {
            'cluster': cluster,
            'action': 'CLUSTER_SCALE_OUT',
            'params': {'count': 2},
        }
    )
    for _ in range(2):
        service.run(
            'queue', 'post', f'--project={receiver["project"]}', queue, message
        )

    path = f'/v1/receivers/{receiver["id"]}'
    assert rest.expect(204, 'POST', f'{path}/notify').content == b''
    assert rest.expect(204, 'POST', f'{path}/notify').content == b''

    started = rest.get(f'/v1/actions?cluster_id={cluster}&sort=created_at')
    scaling = [a for a in started if a['action'] == 'CLUSTER_SCALE_OUT']
    assert len(scaling) == 2
    for action in scaling:
        rest.wait_for_success(action['id'])
    assert len(rest.get(f'/v1/clusters/{cluster}')['nodes']) == 4
    rest.expect(204, 'DELETE', path)
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))
