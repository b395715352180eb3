# SPDX-License-Identifier: Apache-2.0
"""Zaqar: message receivers and deletion hooks; webhooks."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.functional.processes import wait_for
from tests.functional.rest import unique
from tests.real_cloud.cloud import Cloud
from tests.real_cloud.clustering import Client
from tests.real_cloud.seeding import connection
from tests.real_cloud.tenants import Tenant


@pytest.fixture(scope='module')
def queues(cloud: Cloud) -> Any:
    """Zaqar, with the account of the service's queues."""
    with connection(cloud.settings, 'demo') as client:
        yield client.message


def queue_names(queues: Any) -> set[str]:
    return {queue.name for queue in queues.queues()}


def messages(queues: Any, queue: str) -> list[dict[str, Any]]:
    """Return the bodies of the messages in a queue.

    Not with openstacksdk's ``messages()``, which does not find the end of the
    pages.
    """
    response = queues.get(
        f'/queues/{queue}/messages?echo=true',
        headers={
            'Client-ID': str(uuid.uuid4()),
            'X-PROJECT-ID': queues.get_project_id(),
        },
    )
    if response.status_code == 404:
        return []
    assert response.status_code == 200, response.text
    return [message['body'] for message in response.json()['messages']]


def create_receiver(rest: Client, **values: Any) -> dict[str, Any]:
    body = {'receiver': {'name': unique('receiver'), **values}}
    response = rest.expect(201, 'POST', '/v1/receivers', body)
    receiver: dict[str, Any] = response.json()['receiver']
    return receiver


def wait_for_servers(tenant: Tenant, count: int) -> None:
    def has_servers() -> bool:
        servers = tenant.servers().values()
        return [server.status for server in servers] == ['ACTIVE'] * count

    wait_for(f'{count} servers are ACTIVE', has_servers)


def wait_until_idle(rest: Client, cluster: str) -> None:
    wait_for(
        'the cluster is ACTIVE',
        lambda: rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE',
    )


@pytest.mark.core
def test_message_in_a_queue_scales_the_cluster_once(
    rest: Client, tenant: Tenant, queues: Any
) -> None:
    cluster = rest.create_cluster(rest.server_profile(), 1)
    receiver = create_receiver(rest, type='message')
    queue = receiver['channel']['queue_name']
    assert queue in queue_names(queues)
    subscriptions = list(queues.subscriptions(queue))
    assert len(subscriptions) == 1
    message = {
        'cluster': cluster,
        'action': 'CLUSTER_SCALE_OUT',
        'params': {'count': 2},
    }
    queues.post_message(queue, [{'ttl': 300, 'body': message}])
    path = f'/v1/receivers/{receiver["id"]}/notify'
    rest.expect(204, 'POST', path)
    wait_for_servers(tenant, 3)
    wait_until_idle(rest, cluster)
    assert messages(queues, queue) == []
    rest.expect(204, 'POST', path)
    actions = rest.get(f'/v1/actions?target={cluster}')
    assert sum(a['action'] == 'CLUSTER_SCALE_OUT' for a in actions) == 1
    rest.expect(204, 'DELETE', f'/v1/receivers/{receiver["id"]}')
    assert queue not in queue_names(queues)
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_deletion_hook_is_posted_and_completed(
    rest: Client, tenant: Tenant, queues: Any
) -> None:
    queue = unique('hook')
    cluster = rest.create_cluster(rest.server_profile(), 2)
    hooks = {'type': 'zaqar', 'params': {'queue': queue}, 'timeout': 600}
    policy = rest.attach(cluster, 'deletion', '1.1', hooks=hooks)
    action = rest.start_action(cluster, 'scale_in')

    (message,) = wait_for(
        'the hook is posted', lambda: messages(queues, queue)
    )
    assert len(tenant.servers()) == 2
    token = message['lifecycle_action_token']
    rest.wait_for_success(
        rest.start_action(
            cluster, 'complete_lifecycle', lifecycle_action_token=token
        )
    )
    rest.wait_for_success(action)
    assert len(tenant.servers()) == 1
    queues.delete_queue(queue)
    rest.run(cluster, 'policy_detach', policy_id=policy)
    rest.remove(cluster)
    assert tenant.leftovers() == {}
