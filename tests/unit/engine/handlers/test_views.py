# SPDX-License-Identifier: Apache-2.0
"""What is read by columns is what entities say, on every database."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from engine.db import models
from engine.handlers import actions, common, events, policies, profiles
from tests.unit.engine import asks, fleet
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


def fill(world: fleet.World) -> None:
    engine = world.engine()
    first = asks.cluster(engine, 2, name='first')
    asks.cluster(engine, 0, name='second', metadata={'k': 'v'})
    asks.node(engine)

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

    world.database.write(body)


def test_columns_say_what_entities_do(any_world: fleet.World) -> None:
    fill(any_world)
    with any_world.database.reader() as session:
        for shown, request in SHOWN:
            read = shown.page(session.connection(), fleet.caller(), request())
            assert type(read) is lazy_list.UnreadObjects
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


def test_what_is_beside_a_row_is_its_own(any_world: fleet.World) -> None:
    fill(any_world)
    engine = any_world.engine()
    first, second = engine.ask(clusters.ClusterListRequest(sort='name'))
    members = engine.ask(
        nodes.NodeListRequest(cluster_id='first', sort='index')
    )
    assert first.nodes == [node.id for node in members]
    assert [first.profile_name, second.nodes] == ['p', []]
    (policy,) = engine.ask(policy_requests.PolicyListRequest())
    assert (first.policies, second.policies) == ([policy.id], [])
    made = engine.ask(
        action_requests.ActionListRequest(action=['CLUSTER_CREATE'])
    )
    (parent,) = [one for one in made if one.depends_on]
    for child in parent.depends_on:
        found = engine.ask(action_requests.ActionGetRequest(identity=child))
        assert found.depended_by == [parent.id]


def test_a_list_is_sent_without_an_object(world: fleet.World) -> None:
    fill(world)
    found = world.engine().ask(clusters.ClusterListRequest())
    sent = serializer.to_bytes(found, manifest.local())
    assert lazy_list.made_objects(found) == []
    read = serializer.from_bytes(sent)
    assert [one.as_dict() for one in read] == [one.as_dict() for one in found]
    assert read[0].data == ODD


def test_a_value_that_the_type_does_not_take_is_refused(
    world: fleet.World,
) -> None:
    fill(world)

    def body(session: Any) -> None:
        for row in session.query(models.Cluster):
            row.status = 'COLORFUL'

    world.database.write(body)
    with pytest.raises(ValueError, match='COLORFUL'):
        world.engine().ask(clusters.ClusterListRequest())


def test_a_number_that_json_lacks_is_told_as_it_was(
    world: fleet.World,
) -> None:
    engine = world.engine()
    asks.cluster(engine, 0, metadata={'k': math.inf})
    found = engine.ask(clusters.ClusterListRequest())
    (read,) = serializer.from_bytes(serializer.to_bytes(found, None))
    assert isinstance(read, resources.Cluster)
    assert read.metadata == {'k': math.inf}
