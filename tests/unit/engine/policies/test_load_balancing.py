# SPDX-License-Identifier: Apache-2.0
"""Clusters behind load balancers."""

from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.policies import base
from engine.providers import load_balancing
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    detach,
    enable,
    scale,
)
from vobjects.clustering.requests import clusters, nodes
from vobjects_simulated import tables

SPEC: dict[str, Any] = {
    'pool': {'subnet': 'private-subnet', 'protocol_port': 8080},
    'vip': {'subnet': 'public-subnet'},
    'health_monitor': {'type': 'HTTP', 'url_path': '/'},
}


def members(harness: Harness) -> set[str]:
    """Return the servers that are in a pool."""
    return {
        part.name
        for part in harness.rows(tables.SimulatedPart)
        if part.kind == 'member'
    }


def servers(harness: Harness) -> set[str]:
    """Return the servers of all nodes in a cluster."""
    return {
        node.physical_id
        for node in harness.rows(models.Node)
        if node.cluster_id is not None
    }


@pytest.fixture
def engine(harness: Harness) -> Engine:
    """An engine with cluster c of 2, behind a load balancer."""
    engine = harness.engine()
    request_helpers.create_cluster(engine, 2, min_size=0)
    create_policy(engine, 'loadbalance', version='1.3', **SPEC)
    assert attach(engine).status == 'SUCCEEDED'
    return engine


def test_cluster_data_contains_vip_address(
    harness: Harness, engine: Engine
) -> None:
    shown = request_helpers.get_cluster(engine, 'c')
    (id_,) = shown.policies
    (balancer,) = [
        part
        for part in harness.rows(tables.SimulatedPart)
        if part.kind != 'member'
    ]
    assert shown.data == {
        'loadbalancers': {id_: {'vip_address': balancer.data['vip_address']}}
    }
    assert balancer.data['monitor']['type'] == 'HTTP'
    (binding,) = harness.rows(models.ClusterPolicy)
    data = binding.data['LoadBalancingPolicy']['data']
    assert data['pool'] == balancer.data['pool_id']
    assert members(harness) == servers(harness)
    (member, *_) = [
        part
        for part in harness.rows(tables.SimulatedPart)
        if part.kind == 'member'
    ]
    assert member.data == {'protocol_port': 8080, 'subnet': 'private-subnet'}


def test_pool_members_follow_the_nodes(
    harness: Harness, engine: Engine
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
        assert members(harness) == servers(harness)
    profile = request_helpers.get_cluster(engine, 'c').profile_id
    other = request_helpers.create_node(engine, profile_id=profile)
    first = request_helpers.get_cluster(engine, 'c').nodes[0]
    scale(engine, clusters.ClusterAddNodesRequest, nodes=[other])
    assert len(members(harness)) == 5
    assert members(harness) == servers(harness)
    scale(engine, clusters.ClusterDelNodesRequest, nodes=[first])
    assert members(harness) == servers(harness)
    assert 'lb_member' not in request_helpers.get_node(engine, first).data
    scale(engine, clusters.ClusterReplaceNodesRequest, nodes={other: first})
    assert members(harness) == servers(harness)
    engine.run(nodes.NodeDeleteRequest(identity=first))
    response = engine.run(
        nodes.NodeCreateRequest(
            name='n',
            profile_id=profile,
            cluster_id=request_helpers.get_cluster(engine, 'c').id,
        )
    )
    assert (
        'lb_member' in request_helpers.get_node(engine, response.node.id).data
    )
    assert members(harness) == servers(harness)
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'
    harness.assert_idle()


def test_recreated_node_becomes_another_pool_member(
    harness: Harness, engine: Engine
) -> None:
    before = members(harness)
    (first, _) = request_helpers.get_cluster(engine, 'c').nodes
    request = nodes.NodeRecoverRequest(identity=first, operation='RECREATE')
    engine.run(request)
    assert len(members(harness) - before) == 1
    assert members(harness) == servers(harness)
    harness.assert_idle()


def test_node_rejected_by_pool_has_status_warning(
    harness: Harness, engine: Engine
) -> None:
    balancers = engine.runtime.provider.load_balancers
    assert balancers is not None
    binding_data = harness.rows(models.ClusterPolicy)[0].data
    data = binding_data['LoadBalancingPolicy']['data']
    balancers.delete(
        load_balancing.Balancer(data['loadbalancer'], data['pool']), timeout=60
    )
    action = scale(engine, clusters.ClusterScaleOutRequest)
    assert action.status == 'FAILED'
    assert "policy 'pol': the pool" in action.status_reason
    assert request_helpers.get_cluster(engine, 'c').status == 'WARNING'
    last = request_helpers.get_cluster(engine, 'c').nodes[-1]
    assert request_helpers.get_node(engine, last).status == 'WARNING'
    assert request_helpers.get_node(engine, last).physical_id
    harness.assert_idle()


def test_disabled_policy_removes_but_does_not_add_members(
    harness: Harness, engine: Engine
) -> None:
    enable(engine, on=False)
    scale(engine, clusters.ClusterScaleOutRequest)
    assert len(members(harness)) == 2
    scale(engine, clusters.ClusterScaleInRequest, count=2)
    assert members(harness) <= servers(harness)
    enable(engine, on=True)
    assert members(harness) == servers(harness)


def test_detach_deletes_load_balancer(
    harness: Harness, engine: Engine
) -> None:
    assert detach(engine).status == 'SUCCEEDED'
    assert harness.rows(tables.SimulatedPart) == []
    assert request_helpers.get_cluster(engine, 'c').data == {}
    for node in harness.rows(models.Node):
        assert set(node.data) == {'placement'}


def test_cluster_deletion_deletes_load_balancer(
    harness: Harness, engine: Engine
) -> None:
    engine.run(clusters.ClusterDeleteRequest(identity='c'))
    for table in (
        models.Cluster,
        tables.SimulatedServer,
        tables.SimulatedPart,
    ):
        assert harness.rows(table) == []
    harness.assert_idle()


def test_existing_load_balancer_is_kept(harness: Harness) -> None:
    engine = harness.engine()
    balancers = engine.runtime.provider.load_balancers
    assert balancers is not None
    spec = load_balancing.Spec('mine', SPEC['vip'], SPEC['pool'])
    balancer = balancers.create('key', spec, timeout=60)
    request_helpers.create_cluster(engine, 2)
    pool = {**SPEC['pool'], 'id': balancer.pool_id}
    options = {'version': '1.1', 'loadbalancer': 'mine'}
    create_policy(
        engine, 'loadbalance', 'wrong', pool={**pool, 'id': 'x'}, **options
    )
    assert 'no pool x' in attach(engine, 'wrong').status_reason
    create_policy(engine, 'loadbalance', pool=pool, **options)
    attach(engine)
    assert members(harness) == servers(harness)
    detach(engine)
    assert members(harness) == set()
    assert balancers.get('mine', balancer.pool_id, None) == balancer


def test_failed_attachment_deletes_its_resources(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 2)
    create_policy(engine, 'loadbalance', **SPEC)
    balancers: Any = engine.runtime.provider.load_balancers

    def fail(*arguments: Any, **more: Any) -> str:
        raise base.providers.ProviderError('out of order')

    balancers.add_member = fail
    refused = attach(engine)
    assert (refused.status, refused.status_reason) == (
        'FAILED',
        'out of order',
    )
    assert harness.rows(tables.SimulatedPart) == []
    assert request_helpers.get_cluster(engine, 'c').policies == []


@pytest.mark.parametrize(
    ('changes', 'message'),
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
def test_attachment_with_missing_resources_is_rejected(
    harness: Harness, changes: dict[str, Any], message: str
) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0)
    create_policy(engine, 'loadbalance', version='1.3', **{**SPEC, **changes})
    refused = attach(engine)
    assert refused.status == 'FAILED'
    assert message in refused.status_reason
