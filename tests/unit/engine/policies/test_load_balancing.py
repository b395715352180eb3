# SPDX-License-Identifier: Apache-2.0
"""Clusters behind load balancers."""

from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.db import simulation as tables
from engine.policies import base
from engine.providers import load_balancing
from tests.unit.engine import asks, fleet
from tests.unit.engine.policies.attaching import (
    attach,
    detach,
    enable,
    policy,
    scale,
)
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes

SPEC: dict[str, Any] = {
    'pool': {'subnet': 'private-subnet', 'protocol_port': 8080},
    'vip': {'subnet': 'public-subnet'},
    'health_monitor': {'type': 'HTTP', 'url_path': '/'},
}


def members(world: fleet.World) -> set[str]:
    """Return the servers that are in a pool."""
    return {
        part.name for part in world.rows(tables.Part) if part.kind == 'member'
    }


def servers(world: fleet.World) -> set[str]:
    """Return the servers of all nodes in a cluster."""
    return {
        node.physical_id
        for node in world.rows(models.Node)
        if node.cluster_id is not None
    }


@pytest.fixture
def engine(world: fleet.World) -> fleet.Engine:
    """An engine with cluster c of 2, behind a load balancer."""
    engine = world.engine()
    asks.cluster(engine, 2, min_size=0)
    policy(engine, 'loadbalance', version='1.3', **SPEC)
    assert attach(engine).status == 'SUCCEEDED'
    return engine


def test_cluster_says_where_it_is_served(
    world: fleet.World, engine: fleet.Engine
) -> None:
    shown = asks.show_cluster(engine, 'c')
    (id_,) = shown.policies
    (balancer,) = [
        part for part in world.rows(tables.Part) if part.kind != 'member'
    ]
    assert shown.data == {
        'loadbalancers': {id_: {'vip_address': balancer.data['vip_address']}}
    }
    assert balancer.data['monitor']['type'] == 'HTTP'
    (binding,) = world.rows(models.ClusterPolicy)
    data = binding.data['LoadBalancingPolicy']['data']
    assert data['pool'] == balancer.data['pool_id']
    assert members(world) == servers(world)
    (member, *_) = [
        part for part in world.rows(tables.Part) if part.kind == 'member'
    ]
    assert member.data == {'protocol_port': 8080, 'subnet': 'private-subnet'}


def test_members_follow_the_nodes(
    world: fleet.World, engine: fleet.Engine
) -> None:
    for request, more in (
        (clusters.ClusterScaleOutRequest, {'count': 3}),
        (clusters.ClusterScaleInRequest, {'count': 2}),
        (
            clusters.ClusterResizeRequest,
            {'adjustment_type': 'EXACT_CAPACITY', 'number': 4},
        ),
    ):
        assert scale(engine, request, **more).status == 'SUCCEEDED'
        assert members(world) == servers(world)
    profile = asks.show_cluster(engine, 'c').profile_id
    other = asks.node(engine, profile_id=profile)
    first = asks.show_cluster(engine, 'c').nodes[0]
    scale(engine, clusters.ClusterAddNodesRequest, nodes=[other])
    assert len(members(world)) == 5
    assert members(world) == servers(world)
    scale(engine, clusters.ClusterDelNodesRequest, nodes=[first])
    assert members(world) == servers(world)
    assert asks.show_node(engine, first).data == {}
    scale(engine, clusters.ClusterReplaceNodesRequest, nodes={other: first})
    assert members(world) == servers(world)
    engine.ask(nodes.NodeDeleteRequest(identity=first))
    engine.work()
    made = engine.ask(
        nodes.NodeCreateRequest(
            name='n',
            profile_id=profile,
            cluster_id=asks.show_cluster(engine, 'c').id,
        )
    )
    engine.work()
    assert 'lb_member' in asks.show_node(engine, made.node.id).data
    assert members(world) == servers(world)
    assert asks.show_cluster(engine, 'c').status == 'ACTIVE'
    world.assert_at_rest()


def test_node_that_is_made_anew_is_another_member(
    world: fleet.World, engine: fleet.Engine
) -> None:
    before = members(world)
    (first, _) = asks.show_cluster(engine, 'c').nodes
    request = nodes.NodeRecoverRequest(identity=first, operation='RECREATE')
    engine.ask(request)
    engine.work()
    assert len(members(world) - before) == 1
    assert members(world) == servers(world)
    world.assert_at_rest()


def test_node_that_cannot_be_a_member_is_a_warning(
    world: fleet.World, engine: fleet.Engine
) -> None:
    balancers = engine.run.provider.load_balancers
    assert balancers is not None
    found = world.rows(models.ClusterPolicy)[0].data
    data = found['LoadBalancingPolicy']['data']
    balancers.delete(
        load_balancing.Balancer(data['loadbalancer'], data['pool']), timeout=60
    )
    action = scale(engine, clusters.ClusterScaleOutRequest)
    assert action.status == 'FAILED'
    assert "policy 'pol': the pool" in action.status_reason
    assert asks.show_cluster(engine, 'c').status == 'WARNING'
    last = asks.show_cluster(engine, 'c').nodes[-1]
    assert asks.show_node(engine, last).status == 'WARNING'
    assert asks.show_node(engine, last).physical_id
    world.assert_at_rest()


def test_disabled_policy_takes_nodes_out_and_none_in(
    world: fleet.World, engine: fleet.Engine
) -> None:
    enable(engine, on=False)
    scale(engine, clusters.ClusterScaleOutRequest)
    assert len(members(world)) == 2
    scale(engine, clusters.ClusterScaleInRequest, count=2)
    assert members(world) <= servers(world)
    enable(engine, on=True)
    assert members(world) == servers(world)


def test_detached_policy_leaves_nothing(
    world: fleet.World, engine: fleet.Engine
) -> None:
    assert detach(engine).status == 'SUCCEEDED'
    assert world.rows(tables.Part) == []
    assert asks.show_cluster(engine, 'c').data == {}
    assert [node.data for node in world.rows(models.Node)] == [{}, {}]


def test_deleted_cluster_leaves_nothing(
    world: fleet.World, engine: fleet.Engine
) -> None:
    engine.ask(clusters.ClusterDeleteRequest(identity='c'))
    engine.work()
    for table in (models.Cluster, models.SimulatedServer, tables.Part):
        assert world.rows(table) == []
    world.assert_at_rest()


def test_load_balancer_that_is_there_stays(world: fleet.World) -> None:
    engine = world.engine()
    balancers = engine.run.provider.load_balancers
    assert balancers is not None
    spec = load_balancing.Spec('mine', SPEC['vip'], SPEC['pool'])
    there = balancers.create('key', spec, timeout=60)
    asks.cluster(engine, 2)
    pool = {**SPEC['pool'], 'id': there.pool_id}
    more = {'version': '1.1', 'loadbalancer': 'mine'}
    policy(engine, 'loadbalance', 'wrong', pool={**pool, 'id': 'x'}, **more)
    assert 'no pool x' in attach(engine, 'wrong').status_reason
    policy(engine, 'loadbalance', pool=pool, **more)
    attach(engine)
    assert members(world) == servers(world)
    detach(engine)
    assert members(world) == set()
    assert balancers.get('mine', there.pool_id, None) == there


def test_attachment_that_fails_leaves_nothing(world: fleet.World) -> None:
    engine = world.engine()
    asks.cluster(engine, 2)
    policy(engine, 'loadbalance', **SPEC)
    balancers: Any = engine.run.provider.load_balancers

    def fail(*arguments: Any, **more: Any) -> str:
        raise base.providers.ProviderError('out of order')

    balancers.add_member = fail
    refused = attach(engine)
    assert (refused.status, refused.status_reason) == (
        'FAILED',
        'out of order',
    )
    assert world.rows(tables.Part) == []
    assert asks.show_cluster(engine, 'c').policies == []


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'vip': None}, 'VIP Subnet or Network'),
        ({'vip': {'network': 'moon'}}, 'no network moon'),
        ({'pool': {'subnet': 'moon'}}, 'no subnet moon'),
        ({'flavor_id': 'moon'}, 'no flavor moon'),
        ({'availability_zone': 'moon'}, 'no availability zone moon'),
        ({'loadbalancer': 'x', 'pool': {'subnet': 's', 'id': 'y'}}, 'no load'),
        ({'pool': {'subnet': 'private-subnet', 'id': 'y'}}, 'pool.id needs'),
    ],
)
def test_what_there_is_not_is_refused_at_attachment(
    world: fleet.World, changes: dict[str, Any], says: str
) -> None:
    engine = world.engine()
    asks.cluster(engine, 0)
    policy(engine, 'loadbalance', version='1.3', **{**SPEC, **changes})
    refused = attach(engine)
    assert refused.status == 'FAILED'
    assert says in refused.status_reason


@pytest.mark.parametrize(
    ('changes', 'says'),
    [
        ({'pool': None}, 'pool is required'),
        (
            {'pool': {'subnet': 's', 'protocol_port': 0}},
            'must be from 1 to 65535',
        ),
        ({'vip': {'protocol_port': 65536}}, 'must be from 1 to 65535'),
        ({'lb_status_timeout': 0}, 'must be at least 1'),
        ({'loadbalancer': 'x'}, 'pool.id is required'),
        (
            {
                'pool': {
                    'subnet': 's',
                    'session_persistence': {'type': 'APP_COOKIE'},
                }
            },
            'cookie_name is required',
        ),
    ],
)
def test_spec_that_makes_no_sense_is_refused(
    world: fleet.World, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=says):
        policy(world.engine(), 'loadbalance', **{**SPEC, **changes})
