# SPDX-License-Identifier: Apache-2.0
"""Policies that say where nodes go, and from where they go first."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from engine.db import models
from engine.providers import base as providers
from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies.policy_helpers import (
    attach,
    create_policy,
    detach,
    scale,
)
from vobjects.clustering import errors
from vobjects.clustering.requests import clusters, nodes, policies
from vobjects_simulated import locations, tables

ZONES = [{'name': 'nova', 'weight': 100}, {'name': 'nova-2', 'weight': 50}]
REGIONS = [{'name': 'RegionOne'}, {'name': 'RegionTwo', 'cap': 2}]


def where(harness: Harness, column: str) -> dict[str, int]:
    """Return the number of servers at each location."""
    servers = harness.rows(tables.SimulatedServer)
    return dict(collections.Counter(getattr(s, column) for s in servers))


def resize(engine: Engine, number: int) -> Any:
    return scale(
        engine,
        clusters.ClusterResizeRequest,
        adjustment_type='EXACT_CAPACITY',
        number=number,
    )


@pytest.fixture
def engine(harness: Harness) -> Engine:
    """An engine with cluster c, which is empty."""
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0)
    return engine


def test_zones_of_new_nodes_follow_the_weights(
    harness: Harness, engine: Engine
) -> None:
    create_policy(engine, 'zone_placement', zones=ZONES)
    assert attach(engine).status == 'SUCCEEDED'
    action = scale(engine, clusters.ClusterScaleOutRequest, count=3)
    assert action.data['creation'] == {
        'count': 3,
        'zones': {'nova': 2, 'nova-2': 1},
    }
    assert where(harness, 'zone') == {'nova': 2, 'nova-2': 1}
    ids = request_helpers.get_cluster(engine, 'c').nodes
    shown = [request_helpers.get_node(engine, id_) for id_ in ids]
    assert sorted(node.data['placement']['zone'] for node in shown) == [
        'nova',
        'nova',
        'nova-2',
    ]
    assert resize(engine, 6).status == 'SUCCEEDED'
    assert where(harness, 'zone') == {'nova': 4, 'nova-2': 2}
    response = engine.run(
        nodes.NodeCreateRequest(
            name='n',
            profile_id=shown[0].profile_id,
            cluster_id=request_helpers.get_cluster(engine, 'c').id,
        )
    )
    assert request_helpers.get_node(engine, response.node.id).data[
        'placement'
    ] == {'zone': 'nova'}
    harness.assert_idle()


def test_removals_follow_zones_with_and_without_deletion_policy(
    harness: Harness, engine: Engine
) -> None:
    resize(engine, 1)  # the cloud chooses the zone
    create_policy(engine, 'zone_placement', zones=ZONES)
    attach(engine)
    resize(engine, 7)
    assert where(harness, 'zone') == {'nova': 5, 'nova-2': 2}
    action = scale(engine, clusters.ClusterScaleInRequest, count=2)
    deletion = action.data['deletion']
    assert (deletion['count'], deletion['zones']) == (
        2,
        {'nova': 1, 'nova-2': 1},
    )
    assert where(harness, 'zone') == {'nova': 4, 'nova-2': 1}
    create_policy(engine, 'deletion', 'del', criteria='OLDEST_FIRST')
    attach(engine, 'del')
    scale(engine, clusters.ClusterScaleInRequest, count=3)
    assert where(harness, 'zone') == {'nova': 2}
    harness.assert_idle()


def test_recovery_to_capacity_follows_zones(
    harness: Harness, engine: Engine
) -> None:
    create_policy(engine, 'zone_placement', zones=ZONES)
    attach(engine)
    resize(engine, 3)
    for desired, zones in (
        (6, {'nova': 4, 'nova-2': 2}),
        (3, {'nova': 2, 'nova-2': 1}),
    ):

        def want(session: Any, desired: int = desired) -> None:
            session.query(models.Cluster).one().desired_capacity = desired

        harness.database.write(want)
        action = scale(
            engine, clusters.ClusterRecoverRequest, check_capacity=True
        )
        assert action.status == 'SUCCEEDED'
        assert where(harness, 'zone') == zones
    harness.assert_idle()


def test_regions_and_zones_together(harness: Harness, engine: Engine) -> None:
    create_policy(engine, 'zone_placement', 'z', zones=ZONES)
    create_policy(engine, 'region_placement', 'r', regions=REGIONS)
    assert attach(engine, 'z').status == 'SUCCEEDED'
    assert attach(engine, 'r').status == 'SUCCEEDED'
    assert resize(engine, 6).status == 'SUCCEEDED'
    assert where(harness, 'region') == {'RegionOne': 4, 'RegionTwo': 2}
    assert where(harness, 'zone') == {'nova': 4, 'nova-2': 2}
    for id_ in request_helpers.get_cluster(engine, 'c').nodes:
        request_helpers.get_node(engine, id_)
        engine.call(nodes.NodeCheckRequest(identity=id_))
    engine.run_actions()
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'
    resize(engine, 0)
    assert harness.count(tables.SimulatedServer) == 0
    harness.assert_idle()


def test_full_regions_reject_new_nodes(
    harness: Harness, engine: Engine
) -> None:
    create_policy(engine, 'region_placement', regions=REGIONS[1:])
    attach(engine)
    assert resize(engine, 2).status == 'SUCCEEDED'
    refused = scale(engine, clusters.ClusterScaleOutRequest)
    assert refused.status == 'FAILED'
    assert 'no feasible plan' in refused.status_reason
    assert request_helpers.get_cluster(engine, 'c').status == 'ACTIVE'


@pytest.mark.parametrize(
    ('kind', 'properties', 'message'),
    [
        ('zone_placement', {'zones': [{'name': 'moon'}]}, 'moon'),
        ('region_placement', {'regions': [{'name': 'Mars'}]}, 'Mars'),
        ('affinity', {'availability_zone': 'moon'}, 'moon'),
        ('affinity', {'enable_drs_extension': True}, 'vSphere'),
    ],
)
def test_policy_with_unknown_location_is_not_attached(
    harness: Harness,
    engine: Engine,
    kind: str,
    properties: dict[str, Any],
    message: str,
) -> None:
    options = harness.conf.simulated
    for name, more in ('zones', 'moon'), ('regions', 'Mars'):
        harness.conf.set_override(name, [*options[name], more], 'simulated')
    create_policy(engine, kind, **properties)
    for name in ('zones', 'regions'):
        harness.conf.clear_override(name, 'simulated')
    refused = attach(engine)
    assert refused.status == 'FAILED'
    assert message in refused.status_reason
    assert request_helpers.get_cluster(engine, 'c').policies == []


#: Policy, properties, and the message of Senlin.
UNKNOWN: list[tuple[str, dict[str, Any], str]] = [
    (
        'zone_placement',
        {'zones': [{'name': 'nova'}, {'name': 'moon'}, {'name': 'a'}]},
        "The specified zones '['a', 'moon']' could not be found.",
    ),
    (
        'region_placement',
        {'regions': [{'name': 'Mars'}]},
        "The specified regions '['Mars']' could not be found.",
    ),
    (
        'affinity',
        {'availability_zone': 'moon'},
        "The specified availability_zone 'moon' could not be found.",
    ),
]


@pytest.mark.parametrize('is_validation', [False, True])
@pytest.mark.parametrize(('kind', 'properties', 'message'), UNKNOWN)
@pytest.mark.parametrize('cloud', ['answers', 'fails', 'has no places'])
def test_spec_with_unknown_location_is_rejected_if_the_cloud_answers(
    harness: Harness,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    properties: dict[str, Any],
    message: str,
    cloud: str,
    is_validation: bool,
) -> None:
    def fail(places: Any) -> Any:
        raise providers.ProviderError('the cloud is away')

    if cloud == 'fails':
        monkeypatch.setattr(locations.Places, 'zones', fail)
        monkeypatch.setattr(locations.Places, 'regions', fail)
    elif cloud != 'answers':
        monkeypatch.setattr(harness.cloud, 'places', None)
    spec = {
        'type': f'senlin.policy.{kind}',
        'version': '1.0',
        'properties': properties,
    }
    request = (
        policies.PolicyValidateRequest(spec=spec)
        if is_validation
        else policies.PolicyCreateRequest(name='pol', spec=spec)
    )
    if cloud != 'answers':
        assert engine.call(request).spec == spec
        return
    with pytest.raises(errors.InvalidSpec) as caught:
        engine.call(request)
    assert message in str(caught.value)
    assert harness.count(models.Policy) == 0


def test_removed_zone_is_not_used(harness: Harness, engine: Engine) -> None:
    create_policy(engine, 'zone_placement', zones=ZONES)
    attach(engine)
    harness.conf.set_override('zones', ['nova-3', 'nova-2'], 'simulated')
    resize(engine, 2)
    assert where(harness, 'zone') == {'nova-2': 2}
    harness.conf.set_override('zones', ['nova-3'], 'simulated')
    refused = resize(engine, 3)
    assert 'no zone of nova, nova-2 now' in refused.status_reason
    assert resize(engine, 1).status == 'SUCCEEDED'


def test_affinity_puts_new_nodes_into_a_group_of_its_own(
    harness: Harness, engine: Engine
) -> None:
    harness.conf.set_override('hosts', 3, 'simulated')
    create_policy(engine, 'affinity', availability_zone='nova-2')
    assert attach(engine).status == 'SUCCEEDED'
    (group,) = harness.rows(tables.SimulatedPart)
    assert group.data == {'policy': 'anti-affinity'}
    assert resize(engine, 3).status == 'SUCCEEDED'
    assert len(where(harness, 'host')) == 3
    assert where(harness, 'zone') == {'nova-2': 3}
    assert where(harness, 'group_id') == {group.id: 3}
    assert resize(engine, 4).status == 'FAILED'
    assert detach(engine).status == 'SUCCEEDED'
    assert harness.rows(tables.SimulatedPart) == []


def test_affinity_uses_existing_group(
    harness: Harness, engine: Engine
) -> None:
    groups = engine.runtime.provider.server_groups
    assert groups is not None
    server_group = groups.create('mine', 'affinity')
    group = {'name': 'mine', 'policies': 'soft-affinity'}
    create_policy(engine, 'affinity', 'wrong', servergroup=group)
    assert "doesn't match" in attach(engine, 'wrong').status_reason
    group = {'name': 'mine', 'policies': 'affinity'}
    create_policy(engine, 'affinity', servergroup=group)
    attach(engine)
    resize(engine, 3)
    assert len(where(harness, 'host')) == 1
    assert where(harness, 'group_id') == {server_group.id: 3}
    detach(engine)
    assert groups.find('mine') == server_group


def test_group_is_created_once_when_engine_dies(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0)
    create_policy(engine, 'affinity', servergroup={'name': 'g'})
    dying = harness.engine(name='dying')
    servers: Any = dying.runtime.provider.server_groups
    create = servers.create

    def create_and_die(*arguments: Any) -> None:
        create(*arguments)
        raise engine_harness.CrashError

    servers.create = create_and_die
    with pytest.raises(engine_harness.CrashError):
        attach(dying)
    servers.create = create
    harness.detect_death(dying)
    engine.run_actions()
    assert request_helpers.get_cluster(engine, 'c').policies
    detach(engine)
    assert harness.rows(tables.SimulatedPart) == []
    harness.assert_idle()


def test_cluster_deletion_deletes_resources_of_policies(
    harness: Harness, engine: Engine
) -> None:
    create_policy(engine, 'affinity')
    attach(engine)
    resize(engine, 2)
    engine.run(clusters.ClusterDeleteRequest(identity='c'))
    for table in (models.Cluster, models.ClusterPolicy, tables.SimulatedPart):
        assert harness.rows(table) == []
    harness.assert_idle()
