# SPDX-License-Identifier: Apache-2.0
"""What is read by columns is what entities say, on every database."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from engine.db import models
from engine.handlers import actions, common, events, policies, profiles
from tests.unit.engine import engine_harness, request_helpers
from vobjects import objects
from vobjects.clustering import resources
from vobjects.clustering.requests import (
    actions as action_requests,
)
from vobjects.clustering.requests import (
    clusters,
    nodes,
)
from vobjects.clustering.requests import events as event_requests
from vobjects.clustering.requests import policies as policy_requests
from vobjects.clustering.requests import profiles as profile_requests
from vobjects.objects import manifest
from vobjects.objects.codec import lazy_list
from vobjects.rpc import serializer

AT = datetime.datetime(2026, 11, 21, 12, 30, 59, 987654, tzinfo=datetime.UTC)

#: What JSON text has, and what it needs escapes for.
ODD = {'a': [1, None, {'é': '\u0000 "\\ \ud800'}], 'n': 2**70, 'f': 1e-7}

SHOWN = [
    (common.CLUSTERS, clusters.ClusterListRequest),
    (common.NODES, nodes.NodeListRequest),
    (actions.SHOWN, action_requests.ActionListRequest),
    (events.SHOWN, event_requests.EventListRequest),
    (policies.SHOWN, policy_requests.PolicyListRequest),
    (profiles.SHOWN, profile_requests.ProfileListRequest),
]


def fill(harness: engine_harness.Harness) -> None:
    engine = harness.engine()
    first = request_helpers.create_cluster(engine, 2, name='first')
    request_helpers.create_cluster(
        engine, 0, name='second', metadata={'k': 'v'}
    )
    request_helpers.create_node(engine)

    def body(session: Any) -> None:
        policy = models.Policy(
            id=models.new_id(), name='p', type='t', spec=ODD, project='ours'
        )
        session.add(policy)
        session.flush()
        session.add(
            models.ClusterPolicy(
                cluster_id=first,
                policy_id=policy.id,
                priority=1,
                enabled=True,
            )
        )
        row = session.get(models.Cluster, first)
        row.data, row.updated_at, row.status_reason = ODD, AT, 'é\n'

    harness.database.write(body)


def test_columns_say_what_entities_do(
    any_harness: engine_harness.Harness,
) -> None:
    fill(any_harness)
    with any_harness.database.reader() as session:
        for shown, request in SHOWN:
            read = shown.page(
                session.connection(),
                engine_harness.request_context(),
                request(),
            )
            assert type(read) is lazy_list.LazyObjectList
            assert read
            for one in read:
                row = session.get(shown.model, one.id)
                beside = {
                    name: getattr(one, name)
                    for name in one.fields
                    if name in ('profile_name', 'nodes', 'policies')
                    or name in ('depends_on', 'depended_by')
                }
                entity = shown.entity(row, **beside)
                entity.obj_reset_changes()
                assert repr(objects.to_json(one, manifest.local())) == repr(
                    objects.to_json(entity, manifest.local())
                )


def test_what_is_beside_a_row_is_its_own(
    any_harness: engine_harness.Harness,
) -> None:
    fill(any_harness)
    engine = any_harness.engine()
    first, second = engine.call(clusters.ClusterListRequest(sort='name'))
    members = engine.call(
        nodes.NodeListRequest(cluster_id='first', sort='index')
    )
    assert first.nodes == [node.id for node in members]
    assert [first.profile_name, second.nodes] == ['p', []]
    (policy,) = engine.call(policy_requests.PolicyListRequest())
    assert (first.policies, second.policies) == ([policy.id], [])
    made = engine.call(
        action_requests.ActionListRequest(action=['CLUSTER_CREATE'])
    )
    (parent,) = [one for one in made if one.depends_on]
    for child in parent.depends_on:
        found = engine.call(action_requests.ActionGetRequest(identity=child))
        assert found.depended_by == [parent.id]


def test_a_list_is_sent_without_an_object(
    harness: engine_harness.Harness,
) -> None:
    fill(harness)
    found = harness.engine().call(clusters.ClusterListRequest())
    sent = serializer.to_bytes(found, manifest.local())
    assert lazy_list.created_objects(found) == []
    read = serializer.from_bytes(sent)
    assert [one.as_dict() for one in read] == [one.as_dict() for one in found]
    assert read[0].data == ODD


def test_a_value_that_the_type_does_not_take_is_refused(
    harness: engine_harness.Harness,
) -> None:
    fill(harness)

    def body(session: Any) -> None:
        for row in session.query(models.Cluster):
            row.status = 'COLORFUL'

    harness.database.write(body)
    with pytest.raises(ValueError, match='COLORFUL'):
        harness.engine().call(clusters.ClusterListRequest())


def test_a_number_that_json_lacks_is_told_as_it_was(
    harness: engine_harness.Harness,
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0, metadata={'k': math.inf})
    found = engine.call(clusters.ClusterListRequest())
    (read,) = serializer.from_bytes(serializer.to_bytes(found, None))
    assert isinstance(read, resources.Cluster)
    assert read.metadata == {'k': math.inf}
