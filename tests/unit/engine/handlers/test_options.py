# SPDX-License-Identifier: Apache-2.0
"""Options that have the same meaning at each entry point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import (
    engine_harness,
    in_process_api,
    request_helpers,
)
from tests.unit.engine.policies.policy_helpers import attach, create_policy
from vobjects.clustering.requests import clusters, nodes

QUERY, BODY = 'query', 'body'


class Cloud:
    """Cluster c with two nodes; each removal waits for hours.

    :ivar member: the ID of a node
    """

    def __init__(self, harness: engine_harness.Harness) -> None:
        self.harness = harness
        self.engine = harness.engine()
        self.api = in_process_api.connect(
            in_process_api.EngineClient(self.engine)
        )
        self.cluster = request_helpers.create_cluster(self.engine, 2)
        hook = {'type': 'zaqar', 'params': {'queue': 'q'}, 'timeout': 3600}
        create_policy(
            self.engine,
            'deletion',
            version='1.1',
            grace_period=3600,
            hooks=hook,
        )
        assert attach(self.engine).status == 'SUCCEEDED'
        shown = request_helpers.get_cluster(self.engine, 'c')
        self.member = shown.nodes[0]

    def occupy(self, *, node: bool) -> str:
        """Begin an action that never ends; return its ID."""
        request = (
            nodes.NodeCheckRequest(identity=self.member)
            if node
            else clusters.ClusterCheckRequest(identity='c')
        )
        action: str = self.engine.call(request).action
        if not node:
            self.engine.run_actions(1)
        assert self.engine.scheduler.claim() is not None
        return action

    def receiver(self, **fields: Any) -> str:
        body = {'receiver': {'name': 'r', **fields}}
        response = self.api('POST', '/v1/receivers', body)
        assert response.status == 201, response.content
        identity: str = response.json['receiver']['id']
        return identity


@pytest.fixture
def cloud(harness: engine_harness.Harness) -> Cloud:
    return Cloud(harness)


def delete(cloud: Cloud, path: str, where: str, *, force: bool) -> None:
    if where == QUERY:
        cloud.api('DELETE', f'{path}?force={force}'.lower(), version='1.8')
    else:
        cloud.api('DELETE', path, {'force': force}, version='1.8')


def delete_cluster(where: str) -> Callable[[Cloud, bool], None]:
    return lambda cloud, force: delete(
        cloud, f'/v1/clusters/{cloud.cluster}', where, force=force
    )


def delete_node(where: str) -> Callable[[Cloud, bool], None]:
    return lambda cloud, force: delete(
        cloud, f'/v1/nodes/{cloud.member}', where, force=force
    )


def call_webhook(where: str) -> Callable[[Cloud, bool], None]:
    def call(cloud: Cloud, force: bool) -> None:
        options = {'force': force}
        receiver = cloud.receiver(
            type='webhook',
            cluster_id='c',
            action='CLUSTER_DELETE',
            params=options if where == 'params' else {},
        )
        path = f'/v1/webhooks/{receiver}/trigger?V=2'
        version = '1.10' if where == BODY else '1.0'
        if where == QUERY:
            path += f'&force={force}'.lower()
        body = options if where == BODY else None
        cloud.api('POST', path, body, version=version)

    return call


def send_message(cloud: Cloud, force: bool) -> None:
    receiver = cloud.receiver(type='message')
    cloud.engine.runtime.queues.post(
        'ours',
        f'senlin-receiver-{receiver}',
        {
            'cluster': 'c',
            'action': 'CLUSTER_DELETE',
            'params': {'force': force},
        },
    )
    cloud.api('POST', f'/v1/receivers/{receiver}/notify')


FORCED: dict[str, tuple[type[Any], Callable[[Cloud, bool], None]]] = {
    'cluster, query': (models.Cluster, delete_cluster(QUERY)),
    'cluster, body': (models.Cluster, delete_cluster(BODY)),
    'node, query': (models.Node, delete_node(QUERY)),
    'node, body': (models.Node, delete_node(BODY)),
    'webhook, query': (models.Cluster, call_webhook(QUERY)),
    'webhook, body': (models.Cluster, call_webhook(BODY)),
    'webhook, receiver': (models.Cluster, call_webhook('params')),
    'message': (models.Cluster, send_message),
}


@pytest.mark.parametrize('force', [True, False])
@pytest.mark.parametrize('is_busy', [True, False])
@pytest.mark.parametrize('entry', FORCED)
def test_force_ends_other_actions_and_waits_for_nothing(
    cloud: Cloud, entry: str, is_busy: bool, force: bool
) -> None:
    model, call = FORCED[entry]
    is_node = model is models.Node
    other = cloud.occupy(node=is_node) if is_busy else None
    call(cloud, force)
    cloud.engine.run_actions()
    identity = cloud.member if is_node else cloud.cluster
    is_gone = cloud.harness.row(model, identity) is None
    # The deletion of a cluster detaches its policies first.
    assert is_gone is (force or not (is_busy or is_node))
    if is_gone:
        cloud.harness.assert_idle()
    if other is not None:
        status = cloud.harness.row(models.Action, other).status
        assert (status == 'CANCELLED') is force


@pytest.mark.parametrize('is_node', [True, False])
def test_forced_deletion_ends_a_deletion_that_waits(
    cloud: Cloud, is_node: bool
) -> None:
    delete_node(BODY)(cloud, False)
    cloud.engine.run_actions()
    assert cloud.harness.row(models.Node, cloud.member) is not None
    (delete_node(QUERY) if is_node else delete_cluster(QUERY))(cloud, True)
    cloud.engine.run_actions()
    cloud.harness.assert_idle()
    assert cloud.harness.row(models.Node, cloud.member) is None


#: Actions that remove nodes, without the option; their other parameters.
UNFORCED: dict[str, dict[str, Any]] = {
    'del_nodes': {'nodes': ['MEMBER']},
    'replace_nodes': {'nodes': {'MEMBER': 'other'}},
    'scale_in': {'count': 1},
    'resize': {'adjustment_type': 'EXACT_CAPACITY', 'number': 1},
}


@pytest.mark.parametrize('action', UNFORCED)
def test_force_is_unknown_to_actions_without_it(
    cloud: Cloud, action: str
) -> None:
    params = {**UNFORCED[action], 'force': True}
    path = f'/v1/clusters/{cloud.cluster}/actions'
    response = cloud.api('POST', path, {action: params}, version='1.14')
    assert response.status == 400
    assert 'force' in response.detail
    body = {
        'name': 'r',
        'type': 'webhook',
        'cluster_id': 'c',
        'action': f'CLUSTER_{action.upper()}',
        'params': params,
    }
    response = cloud.api('POST', '/v1/receivers', {'receiver': body})
    assert response.status == 400
    assert 'params.force' in response.detail


@pytest.mark.parametrize('query', ['', '?force=true', '?force=false'])
def test_cancellation_is_the_same_with_force(cloud: Cloud, query: str) -> None:
    action = cloud.occupy(node=True)
    response = cloud.api(
        'PATCH',
        f'/v1/actions/{action}{query}',
        {'action': {'status': 'CANCELLED'}},
        version='1.12',
    )
    assert response.status == 202
    assert cloud.harness.row(models.Action, action).status == 'CANCELLED'


def del_nodes(cloud: Cloud, params: dict[str, Any]) -> None:
    path = f'/v1/clusters/{cloud.cluster}/actions'
    cloud.api('POST', path, {'del_nodes': params}, version='1.4')


def del_nodes_by_webhook(cloud: Cloud, params: dict[str, Any]) -> None:
    receiver = cloud.receiver(
        type='webhook',
        cluster_id='c',
        action='CLUSTER_DEL_NODES',
        params=params,
    )
    cloud.api('POST', f'/v1/webhooks/{receiver}/trigger?V=2')


def del_nodes_by_message(cloud: Cloud, params: dict[str, Any]) -> None:
    receiver = cloud.receiver(type='message')
    body = {'cluster': 'c', 'action': 'CLUSTER_DEL_NODES', 'params': params}
    cloud.engine.runtime.queues.post(
        'ours', f'senlin-receiver-{receiver}', body
    )
    cloud.api('POST', f'/v1/receivers/{receiver}/notify')


@pytest.mark.parametrize('destroys', [True, False, None])
@pytest.mark.parametrize(
    'call', [del_nodes, del_nodes_by_webhook, del_nodes_by_message]
)
def test_removed_nodes_are_destroyed_only_if_requested(
    harness: engine_harness.Harness,
    cloud: Cloud,
    call: Callable[[Cloud, dict[str, Any]], None],
    destroys: bool | None,
) -> None:
    params: dict[str, Any] = {'nodes': [cloud.member]}
    if destroys is not None:
        params['destroy_after_deletion'] = destroys
    detach_policy(cloud)
    call(cloud, params)
    cloud.engine.run_actions()
    node = harness.row(models.Node, cloud.member)
    assert (node is None) is bool(destroys)
    if node is not None:
        assert node.cluster_id is None


def detach_policy(cloud: Cloud) -> None:
    path = f'/v1/clusters/{cloud.cluster}/actions'
    response = cloud.api('POST', path, {'policy_detach': {'policy_id': 'pol'}})
    assert response.status == 202
    cloud.engine.run_actions()
