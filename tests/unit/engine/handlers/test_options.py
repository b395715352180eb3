# SPDX-License-Identifier: Apache-2.0
"""Options that have the same meaning at each entry point."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from api import policy
from engine.db import models
from tests.unit.engine import (
    in_process_api,
    request_helpers,
)
from tests.unit.engine.conftest import Prepare
from tests.unit.engine.engine_harness import Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    detach,
)
from vobjects.clustering.requests import clusters, nodes, policies

QUERY, BODY = 'query', 'body'


class Resources(NamedTuple):
    """IDs of cluster c, of one of its two nodes, and of its policy."""

    cluster: str
    member: str
    policy: str


def write_resources(harness: Harness) -> Resources:
    engine = harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    hook = {'type': 'zaqar', 'params': {'queue': 'q'}, 'timeout': 3600}
    policy_id = create_policy(
        engine, 'deletion', version='1.1', grace_period=3600, hooks=hook
    )
    assert attach(engine).status == 'SUCCEEDED'
    (member, _) = request_helpers.get_cluster(engine, 'c').nodes
    return Resources(cluster, member, policy_id)


class Cloud:
    """Cluster c with two nodes; each removal waits for hours.

    :ivar member: the ID of a node
    :ivar policy: the ID of the policy that delays removals
    """

    def __init__(self, harness: Harness, resources: Resources) -> None:
        self.harness = harness
        self.engine = harness.engine()
        self.api = in_process_api.connect(
            in_process_api.EngineClient(self.engine)
        )
        self.cluster, self.member, self.policy = resources

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
def cloud(harness: Harness, prepare: Prepare) -> Cloud:
    return Cloud(harness, prepare(harness, write_resources))


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


#: Starts an action of cluster c, given its name and its options.
Call = Callable[[Cloud, str, dict[str, Any]], None]


class Options(NamedTuple):
    """The options of an action that a receiver can start.

    :ivar request: the type of the action's request
    :ivar sent: values other than the defaults, as a receiver has them; those
        in capital letters stand for IDs
    :ivar stored: the same in the request; None: equal
    :ivar rest: returns method, path and body of the direct request; None: an
        action of the cluster with this body
    """

    request: type[Any]
    sent: dict[str, Any]
    stored: dict[str, Any] | None = None
    rest: Callable[[dict[str, Any]], tuple[str, str, Any]] | None = None


def policy_action(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda sent: ('POST', '/actions', {name: sent})


#: Name of an action, without ``CLUSTER_`` -> its options.
OPTIONS: dict[str, Options] = {
    'ADD_NODES': Options(
        clusters.ClusterAddNodesRequest, {'nodes': ['OTHER']}
    ),
    'ATTACH_POLICY': Options(
        policies.ClusterAttachPolicyRequest,
        {'policy_id': 'FREE', 'enabled': False},
        rest=policy_action('policy_attach'),
    ),
    'CHECK': Options(
        clusters.ClusterCheckRequest, {'a': 'b'}, {'params': {'a': 'b'}}
    ),
    'DEL_NODES': Options(
        clusters.ClusterDelNodesRequest,
        {'nodes': ['MEMBER'], 'destroy_after_deletion': True},
    ),
    'DELETE': Options(
        clusters.ClusterDeleteRequest,
        {'force': True},
        rest=lambda sent: ('DELETE', '', sent),
    ),
    'DETACH_POLICY': Options(
        policies.ClusterDetachPolicyRequest,
        {'policy_id': 'BOUND'},
        rest=policy_action('policy_detach'),
    ),
    'OPERATION': Options(
        clusters.ClusterOperationRequest,
        {
            'operation': 'reboot',
            'params': {'type': 'HARD'},
            'filters': {'status': 'ACTIVE'},
        },
        rest=lambda sent: (
            'POST',
            '/ops',
            {'reboot': {k: sent[k] for k in ('params', 'filters')}},
        ),
    ),
    'RECOVER': Options(
        clusters.ClusterRecoverRequest,
        {
            'operation': 'REBOOT',
            'operation_params': {'type': 'soft'},
            'check': True,
            'check_capacity': True,
        },
    ),
    'REPLACE_NODES': Options(
        clusters.ClusterReplaceNodesRequest,
        {'nodes': {'MEMBER': 'OTHER'}},
    ),
    'RESIZE': Options(
        clusters.ClusterResizeRequest,
        {
            'adjustment_type': 'CHANGE_IN_PERCENTAGE',
            'number': 150.0,
            'min_size': 1,
            'max_size': -1,
            'min_step': 2,
            'strict': False,
        },
    ),
    'SCALE_IN': Options(clusters.ClusterScaleInRequest, {'count': 1}),
    'SCALE_OUT': Options(clusters.ClusterScaleOutRequest, {'count': 1}),
    'UPDATE': Options(
        clusters.ClusterUpdateRequest,
        {
            'name': 'd',
            'profile_id': 'PROFILE',
            'metadata': {'a': 1},
            'timeout': 7,
            'profile_only': True,
            'config': {'b': 2},
        },
        rest=lambda sent: ('PATCH', '', {'cluster': sent}),
    ),
    'UPDATE_POLICY': Options(
        policies.ClusterUpdatePolicyRequest,
        {'policy_id': 'BOUND', 'enabled': False},
        rest=policy_action('policy_update'),
    ),
}


def by_rest(cloud: Cloud, action: str, sent: dict[str, Any]) -> None:
    rest = OPTIONS[action].rest
    method, path, body = (
        ('POST', '/actions', {action.lower(): sent})
        if rest is None
        else rest(sent)
    )
    path = f'/v1/clusters/{cloud.cluster}{path}'
    cloud.api(method, path, body, version='1.14')


def webhook(cloud: Cloud, action: str, params: dict[str, Any]) -> str:
    receiver = cloud.receiver(
        type='webhook',
        cluster_id='c',
        action=f'CLUSTER_{action}',
        params=params,
    )
    return f'/v1/webhooks/{receiver}/trigger?V=2'


def by_receiver(cloud: Cloud, action: str, sent: dict[str, Any]) -> None:
    cloud.api('POST', webhook(cloud, action, sent))


def by_body(cloud: Cloud, action: str, sent: dict[str, Any]) -> None:
    path = webhook(cloud, action, {})
    cloud.api('POST', path, sent, version='1.10')


def by_query(cloud: Cloud, action: str, sent: dict[str, Any]) -> None:
    texts = {
        key: str(value)
        for key, value in sent.items()
        if not isinstance(value, (dict, list))
    }
    rest = {key: value for key, value in sent.items() if key not in texts}
    path = webhook(cloud, action, rest)
    cloud.api('POST', f'{path}&{urllib.parse.urlencode(texts)}')


def by_message(cloud: Cloud, action: str, sent: dict[str, Any]) -> None:
    receiver = cloud.receiver(type='message')
    body = {'cluster': 'c', 'action': f'CLUSTER_{action}', 'params': sent}
    cloud.engine.runtime.queues.post(
        'ours', f'senlin-receiver-{receiver}', body
    )
    cloud.api('POST', f'/v1/receivers/{receiver}/notify')


def delete(kind: str, where: str) -> Callable[[Cloud, bool], None]:
    def call(cloud: Cloud, force: bool) -> None:
        identity = cloud.member if kind == 'nodes' else cloud.cluster
        path, body = f'/v1/{kind}/{identity}', None
        if where == QUERY:
            path += f'?force={force}'.lower()
        else:
            body = {'force': force}
        cloud.api('DELETE', path, body, version='1.8')

    return call


def delete_cluster(call: Call) -> Callable[[Cloud, bool], None]:
    return lambda cloud, force: call(cloud, 'DELETE', {'force': force})


FORCED: dict[str, tuple[type[Any], Callable[[Cloud, bool], None]]] = {
    'cluster, query': (models.Cluster, delete('clusters', QUERY)),
    'cluster, body': (models.Cluster, delete('clusters', BODY)),
    'node, query': (models.Node, delete('nodes', QUERY)),
    'node, body': (models.Node, delete('nodes', BODY)),
    'webhook, query': (models.Cluster, delete_cluster(by_query)),
    'webhook, body': (models.Cluster, delete_cluster(by_body)),
    'webhook, receiver': (models.Cluster, delete_cluster(by_receiver)),
    'message': (models.Cluster, delete_cluster(by_message)),
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
    delete('nodes', BODY)(cloud, False)
    cloud.engine.run_actions()
    assert cloud.harness.row(models.Node, cloud.member) is not None
    delete('nodes' if is_node else 'clusters', QUERY)(cloud, True)
    cloud.engine.run_actions()
    cloud.harness.assert_idle()
    assert cloud.harness.row(models.Node, cloud.member) is None


@pytest.mark.parametrize('destroys', [True, False, None])
@pytest.mark.parametrize('call', [by_rest, by_receiver, by_message])
def test_removed_nodes_are_destroyed_only_if_requested(
    harness: Harness, cloud: Cloud, call: Call, destroys: bool | None
) -> None:
    params: dict[str, Any] = {'nodes': [cloud.member]}
    if destroys is not None:
        params['destroy_after_deletion'] = destroys
    detach_policy(cloud)
    call(cloud, 'DEL_NODES', params)
    cloud.engine.run_actions()
    node = harness.row(models.Node, cloud.member)
    assert (node is None) is bool(destroys)
    if node is not None:
        assert node.cluster_id is None


def write_bound(harness: Harness) -> tuple[Resources, dict[str, str]]:
    """Return the IDs of resources, also by their words in OPTIONS."""
    resources = write_resources(harness)
    engine = harness.engine()
    return resources, {
        'MEMBER': resources.member,
        'OTHER': request_helpers.create_node(engine, name='n'),
        'PROFILE': request_helpers.create_profile(engine, 'new'),
        'FREE': create_policy(engine, 'batch', 'free', max_batch_size=1),
        'BOUND': resources.policy,
    }


def write_free(harness: Harness) -> tuple[Resources, dict[str, str]]:
    """Also detach the policy, so that nothing delays removals."""
    written = write_bound(harness)
    assert detach(harness.engine()).status == 'SUCCEEDED'
    return written


@pytest.mark.parametrize('action', OPTIONS)
@pytest.mark.parametrize(
    'call', [by_rest, by_receiver, by_body, by_query, by_message]
)
def test_options_are_the_same_at_each_entry_point(
    harness: Harness,
    prepare: Prepare,
    call: Call,
    action: str,
) -> None:
    options = OPTIONS[action]
    write = write_bound if 'POLICY' in action else write_free
    resources, ids = prepare(harness, write)

    def filled(values: Any) -> Any:
        text = json.dumps(values)
        for word, id_ in ids.items():
            text = text.replace(word, id_)
        return json.loads(text)

    call(Cloud(harness, resources), action, filled(options.sent))
    (*_, queued) = harness.actions(f'CLUSTER_{action}')
    data = queued.inputs.primitive()['versioned_object.data']
    stored = filled(options.stored or options.sent)
    assert {key: data[key] for key in stored} == stored
    rest = options.request.fields.keys() - stored.keys()
    assert rest <= {'identity', 'refuse_conflict'}


def test_table_of_options_has_each_action_of_receivers() -> None:
    names = {f'CLUSTER_{action}' for action in OPTIONS}
    assert names == policy.RECEIVER_ACTIONS.keys()


def detach_policy(cloud: Cloud) -> None:
    path = f'/v1/clusters/{cloud.cluster}/actions'
    response = cloud.api('POST', path, {'policy_detach': {'policy_id': 'pol'}})
    assert response.status == 202
    cloud.engine.run_actions()
