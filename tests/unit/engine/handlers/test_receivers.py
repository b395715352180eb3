# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import urllib.parse
from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import attach, create_policy
from tests.unit.engine.request_helpers import create_webhook, trigger_webhook
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, receivers

ENDPOINT = 'http://api:8777'


def test_receiver_is_created_changed_and_deleted(any_harness: Harness) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine, params={'count': '2'})
    url = f'{ENDPOINT}/v1/webhooks/{receiver.id}/trigger?V=2&count=2'
    assert receiver.channel == {'alarm_url': url}
    assert (receiver.cluster_id, receiver.user) == (cluster, 'alice')
    changed = engine.call(
        receivers.ReceiverUpdateRequest(
            identity='hook', name='other', params={'count': 3}
        )
    )
    assert (changed.id, changed.name) == (receiver.id, 'other')
    assert changed.channel['alarm_url'].endswith('?V=2&count=3')
    with pytest.raises(errors.BadRequest, match='No property needs'):
        engine.call(
            receivers.ReceiverUpdateRequest(identity='other', name='other')
        )
    engine.call(receivers.ReceiverDeleteRequest(identity='other'))
    with pytest.raises(errors.ResourceNotFound, match='The receiver'):
        engine.call(receivers.ReceiverGetRequest(identity='other'))


def test_receivers_are_filtered(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    create_webhook(engine, name='a')
    create_webhook(engine, 'CLUSTER_CHECK', name='b')
    request_helpers.create_foreign_cluster(engine)
    create_webhook(
        engine,
        name='x',
        cluster_id='theirs',
        context=engine_harness.request_context('theirs'),
    )

    def names(**more: Any) -> list[str]:
        request = receivers.ReceiverListRequest(**more)
        return [receiver.name for receiver in engine.call(request)]

    assert names(sort='name') == ['a', 'b']
    assert names(action=['CLUSTER_CHECK']) == ['b']
    assert names(user=['bob']) == []
    assert names(cluster_id=['c'], user=['alice'], sort='name:desc') == [
        'b',
        'a',
    ]


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'cluster_id': None}, 'Cluster identity is required'),
        ({'action': None}, 'Action name is required'),
        ({'action': 'CLUSTER_CREATE'}, 'cannot be any of'),
        ({'cluster_id': 'none'}, 'The referenced cluster'),
        ({'params': {'count': 'x'}}, r'params\.count'),
        (
            {'params': {'colour': 1}},
            r"colour: unknown .*; must be one of 'count', not 'colour'",
        ),
    ],
)
def test_invalid_receiver_is_rejected(
    engine: Engine, changes: dict[str, Any], message: str
) -> None:
    request_helpers.create_cluster(engine, 0)
    with pytest.raises(errors.BadRequest, match=message):
        create_webhook(engine, **changes)


def test_trigger_acts_as_the_owner_of_the_receiver(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 1)
    receiver = create_webhook(engine, params={'count': '2'})
    action = trigger_webhook(engine, receiver.id).action
    engine.run_actions()
    row = any_harness.row(models.Action, action)
    assert (row.action, row.status) == ('CLUSTER_SCALE_OUT', 'SUCCEEDED')
    assert (row.user, row.project) == ('alice', 'ours')
    assert len(request_helpers.get_cluster(engine, 'c').nodes) == 3
    any_harness.assert_idle()


@pytest.mark.parametrize(
    ('params', 'body', 'size'),
    [
        ({'count': '1'}, {}, 1),
        ({}, {'count': 3, 'alarm_id': 'x', 'severity': 'low'}, 3),
        ({'count': 1}, {'count': 4}, 4),
    ],
)
def test_caller_parameters_override_receiver_parameters(
    engine: Engine, params: dict[str, Any], body: dict[str, Any], size: int
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine, params={'count': 2})
    trigger_webhook(engine, receiver.id, params=params, body=body)
    engine.run_actions()
    assert len(request_helpers.get_cluster(engine, 'c').nodes) == size


def test_webhook_scales_within_best_effort_policy(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 4, max_size=5)
    create_policy(
        engine,
        'scaling',
        event='CLUSTER_SCALE_OUT',
        adjustment={'best_effort': True},
    )
    attach(engine)
    trigger_webhook(engine, create_webhook(engine, params={'count': 2}).id)
    engine.run_actions()
    shown = request_helpers.get_cluster(engine, 'c')
    assert (len(shown.nodes), shown.status) == (5, 'ACTIVE')


def test_webhook_during_scaling_conflicts(
    harness: Harness, engine: Engine
) -> None:
    request_helpers.create_cluster(engine, 0)
    hook = create_webhook(engine).id
    trigger_webhook(engine, hook)
    with pytest.raises(errors.ActionConflict, match='CLUSTER_SCALE_OUT'):
        trigger_webhook(engine, hook)
    engine.run_actions(limit=1)
    with pytest.raises(errors.ResourceIsLocked):
        trigger_webhook(engine, hook)
    engine.run_actions()
    assert harness.statuses('CLUSTER_SCALE_OUT') == ['SUCCEEDED']


def test_trigger_needs_full_id_and_valid_parameters(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)
    for identity in ('hook', receiver.id[:8], 'a\0b'):
        with pytest.raises(errors.ResourceNotFound):
            trigger_webhook(engine, identity)
    with pytest.raises(errors.BadRequest, match=r'params\.count'):
        trigger_webhook(engine, receiver.id, params={'count': '-1'})
    with pytest.raises(
        errors.BadRequest, match='colour: unknown parameter of'
    ):
        trigger_webhook(engine, receiver.id, params={'colour': 'red'})


@pytest.mark.parametrize(
    ('action', 'field'),
    [
        ('CLUSTER_ADD_NODES', 'nodes'),
        ('CLUSTER_DEL_NODES', 'nodes'),
        ('CLUSTER_REPLACE_NODES', 'nodes'),
        ('CLUSTER_ATTACH_POLICY', 'policy_id'),
        ('CLUSTER_DETACH_POLICY', 'policy_id'),
        ('CLUSTER_UPDATE_POLICY', 'policy_id'),
        ('CLUSTER_OPERATION', 'operation'),
    ],
)
def test_trigger_without_a_required_parameter_is_rejected(
    engine: Engine, action: str, field: str
) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine, action=action)
    with pytest.raises(
        errors.BadRequest, match=rf'^params\.{field}: is required'
    ):
        trigger_webhook(engine, receiver.id)


def test_trigger_during_another_action_conflicts(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine)
    engine.call(clusters.ClusterCheckRequest(identity='c'))
    with pytest.raises(errors.ActionConflict):
        trigger_webhook(engine, receiver.id)


def test_trigger_passes_any_parameters_to_a_check(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine, 'CLUSTER_CHECK', params={'any': 'thing'})
    trigger_webhook(engine, receiver.id, body={'more': 1})
    assert engine.run_actions() > 0


def test_cluster_deletion_deletes_receivers(any_harness: Harness) -> None:
    engine = any_harness.engine()
    request_helpers.create_cluster(engine, 0)
    receiver = create_webhook(engine, 'CLUSTER_DELETE')
    trigger_webhook(engine, receiver.id)
    engine.run_actions()
    assert any_harness.count(models.Cluster) == 0
    assert any_harness.count(models.Receiver) == 0


def test_webhook_receiver_is_not_notified(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0)
    create_webhook(engine)
    request = receivers.ReceiverNotifyRequest(identity='hook')
    with pytest.raises(errors.BadRequest, match='non-message receiver'):
        engine.call(request)
    with pytest.raises(errors.ResourceNotFound):
        engine.call(request, engine_harness.request_context('theirs'))


def test_url_with_stored_params_can_be_called(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 1)
    params = {'count': 1.0}
    receiver = create_webhook(engine, params=params)
    query = dict(urllib.parse.parse_qsl(receiver.channel['alarm_url']))
    assert query['count'] == '1'
    assert trigger_webhook(
        engine, receiver.id, params={'count': query['count']}
    ).action


def test_url_leaves_out_params_that_a_query_cannot_express(
    engine: Engine,
) -> None:
    request_helpers.create_cluster(engine, 1)
    (node,) = request_helpers.get_cluster(engine, 'c').nodes
    receiver = create_webhook(
        engine, 'CLUSTER_DEL_NODES', params={'nodes': [node]}
    )
    assert receiver.channel['alarm_url'].endswith('/trigger?V=2')
    accepted = trigger_webhook(engine, receiver.id)
    engine.run_actions()
    assert accepted.action
    assert request_helpers.get_cluster(engine, 'c').nodes == []
