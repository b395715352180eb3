# SPDX-License-Identifier: Apache-2.0
"""Views return the same from columns as from entities, on every database."""

from __future__ import annotations

import datetime
import math
from collections.abc import Collection
from typing import Any

import pytest
from sqlalchemy import orm

from engine.db import models
from engine.handlers import actions, common, events, policies, profiles
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects import objects
from vobjects.clustering import errors, resources
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

#: All kinds of JSON values, with characters that must be escaped.
ODD = {'a': [1, None, {'é': '\u0000 "\\ \ud800'}], 'n': 2**70, 'f': 1e-7}

VIEWS = [
    (common.CLUSTER_VIEW, clusters.ClusterListRequest),
    (common.NODE_VIEW, nodes.NodeListRequest),
    (actions.VIEW, action_requests.ActionListRequest),
    (events.VIEW, event_requests.EventListRequest),
    (policies.VIEW, policy_requests.PolicyListRequest),
    (profiles.VIEW, profile_requests.ProfileListRequest),
]


def fill(harness: Harness) -> None:
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


def related_values(
    session: orm.Session, row: Any, fields: Collection[str]
) -> dict[str, Any]:
    """Return the values of other tables for a row, as the ORM reads them."""
    values: dict[str, Any] = {}
    if 'profile_name' in fields:
        profile = session.get_one(models.Profile, row.profile_id)
        values['profile_name'] = profile.name
    if 'nodes' in fields:
        members = session.query(models.Node).filter_by(cluster_id=row.id)
        values['nodes'] = [
            node.id for node in members.order_by(models.Node.index)
        ]
    if 'policies' in fields:
        bindings = session.query(models.ClusterPolicy)
        values['policies'] = [
            binding.policy_id
            for binding in bindings.filter_by(cluster_id=row.id)
        ]
    if 'depends_on' in fields:
        dependencies = session.query(models.ActionDependency)
        values['depends_on'] = sorted(
            dependency.depended
            for dependency in dependencies.filter_by(dependent=row.id)
        )
        values['depended_by'] = sorted(
            dependency.dependent
            for dependency in dependencies.filter_by(depended=row.id)
        )
    return values


def test_page_of_each_view_equals_its_entities(any_harness: Harness) -> None:
    fill(any_harness)
    with any_harness.database.reader() as session:
        for view, request in VIEWS:
            page = view.page(
                session.connection(),
                engine_harness.request_context(),
                request(),
            )
            assert type(page) is lazy_list.LazyObjectList
            assert page
            for resource in page:
                row = session.get(view.model, resource.id)
                expected = related_values(session, row, resource.fields)
                entity = view.from_entity(row, **expected)
                entity.obj_reset_changes()
                assert repr(
                    objects.to_json(resource, manifest.local())
                ) == repr(objects.to_json(entity, manifest.local()))


def test_related_values_belong_to_their_row(any_harness: Harness) -> None:
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
    actions = engine.call(
        action_requests.ActionListRequest(action=['CLUSTER_CREATE'])
    )
    (parent,) = [action for action in actions if action.depends_on]
    for child in parent.depends_on:
        shown = engine.call(action_requests.ActionGetRequest(identity=child))
        assert shown.depended_by == [parent.id]


def test_list_is_serialized_without_building_objects(harness: Harness) -> None:
    fill(harness)
    rows = harness.engine().call(clusters.ClusterListRequest())
    content = serializer.to_bytes(rows, manifest.local())
    assert lazy_list.created_objects(rows) == []
    read = serializer.from_bytes(content)
    assert [cluster.as_dict() for cluster in read] == [
        cluster.as_dict() for cluster in rows
    ]
    assert read[0].data == ODD


def test_invalid_stored_value_is_not_sent(harness: Harness) -> None:
    fill(harness)
    (first, *_) = harness.rows(models.Cluster)
    harness.change(models.Cluster, status='COLORFUL')
    engine = harness.engine()
    with pytest.raises(errors.UnreadableRow, match='read status') as caught:
        engine.call(clusters.ClusterGetRequest(identity=first.id))
    assert 'COLORFUL' not in str(caught.value)
    assert engine.call(clusters.ClusterListRequest()) == []


def test_list_has_null_for_infinity_which_json_lacks(engine: Engine) -> None:
    request_helpers.create_cluster(engine, 0, metadata={'k': math.inf})
    rows = engine.call(clusters.ClusterListRequest())
    (read,) = serializer.from_bytes(serializer.to_bytes(rows, None))
    assert isinstance(read, resources.Cluster)
    assert read.metadata == {'k': None}
