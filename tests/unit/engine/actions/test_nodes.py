# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering.requests import clusters, nodes, profiles
from vobjects_simulated import tables


def test_create_creates_a_server(any_harness: Harness) -> None:
    engine = any_harness.engine()
    node = request_helpers.create_node(
        engine, role='master', metadata={'a': 1}
    )
    shown = request_helpers.get_node(engine, node)
    (server,) = any_harness.rows(tables.SimulatedServer)
    assert (shown.status, shown.physical_id) == ('ACTIVE', server.id)
    assert (shown.name, shown.role, shown.index) == ('n', 'master', -1)
    assert shown.cluster_id == ''
    assert shown.created_at is not None
    assert server.name == 'n'
    any_harness.assert_idle()


def test_failed_create_sets_error_with_reason(harness: Harness) -> None:
    harness.conf.set_override('failure_rate', 1.0, 'simulated')
    engine = harness.engine()
    node = request_helpers.create_node(engine)
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'failed to create' in shown.status_reason
    assert harness.statuses('NODE_CREATE') == ['FAILED']
    harness.assert_idle()


@pytest.mark.parametrize('error', [KeyError('x'), SystemExit(1), SystemExit()])
def test_defect_of_a_provider_ends_only_its_action(
    harness: Harness,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(engine.runtime.provider.servers, 'create', fail)
        node = request_helpers.create_node(engine)
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    assert type(error).__name__ in shown.status_reason
    assert harness.statuses('NODE_CREATE') == ['FAILED']
    harness.assert_idle()


def test_create_in_a_cluster_increases_desired_capacity(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 1)
    node = request_helpers.create_node(engine, profile_id='p', cluster_id='c')
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 2)
    assert shown.nodes[1] == node
    assert request_helpers.get_node(engine, node).index == 2
    assert 'NODE_CREATE' in shown.status_reason


def test_update_changes_only_specified_fields(engine: Engine) -> None:
    node = request_helpers.create_node(engine, role='r')
    engine.run(
        nodes.NodeUpdateRequest(
            identity=node, name='new', metadata={'b': 2}, tainted=True
        )
    )
    shown = request_helpers.get_node(engine, 'new')
    assert (shown.tainted, shown.role) == (True, 'r')
    assert shown.metadata == {'b': 2}
    assert shown.status == 'ACTIVE'


def test_profile_update_changes_the_server(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine)
    newer = request_helpers.create_profile(
        engine, 'newer', properties={'flavor': 'm1.huge'}
    )
    engine.run(nodes.NodeUpdateRequest(identity=node, profile_id='newer'))
    assert request_helpers.get_node(engine, node).profile_id == newer
    (server,) = harness.rows(tables.SimulatedServer)
    assert server.properties['flavor'] == 'm1.huge'


def test_properties_are_converted_for_the_cloud_but_stored_unchanged(
    harness: Harness, engine: Engine
) -> None:
    properties_ = {'flavor': 1, 'config_drive': 'yes', 'image': 2}
    profile = request_helpers.create_profile(engine, properties=properties_)
    node = request_helpers.create_node(engine, profile_id=profile)
    (server,) = harness.rows(tables.SimulatedServer)
    converted = {'flavor': '1', 'config_drive': True, 'image': '2'}
    assert server.properties.items() >= converted.items()
    shown = engine.call(profiles.ProfileGetRequest(identity=profile))
    assert shown.spec['properties'].items() >= properties_.items()
    # Fixed properties may be written in another way.
    request_helpers.create_profile(
        engine, 'same', properties={**properties_, 'config_drive': True}
    )
    engine.run(nodes.NodeUpdateRequest(identity=node, profile_id='same'))
    assert request_helpers.get_node(engine, node).status == 'ACTIVE'


def test_delete_removes_node_and_server(any_harness: Harness) -> None:
    engine = any_harness.engine()
    node = request_helpers.create_node(engine)
    engine.run(nodes.NodeDeleteRequest(identity=node))
    any_harness.assert_idle()
    assert any_harness.count(models.Node) == 0
    assert any_harness.count(tables.SimulatedServer) == 0


@pytest.mark.parametrize('physical_id', [None, 'known'])
def test_node_of_unknown_region_can_be_deleted_without_object(
    harness: Harness, engine: Engine, physical_id: str | None
) -> None:
    profile = request_helpers.create_profile(
        engine, properties={'context': {'region_name': 'Mars'}}
    )
    node = request_helpers.create_node(engine, profile_id=profile)
    shown = request_helpers.get_node(engine, node)
    assert (shown.status, shown.status_reason) == (
        'ERROR',
        'there is no region Mars',
    )
    harness.change(models.Node, node, physical_id=physical_id)
    engine.run(nodes.NodeDeleteRequest(identity=node))
    assert harness.statuses('NODE_DELETE') == [
        'FAILED' if physical_id else 'SUCCEEDED'
    ]
    assert harness.count(models.Node) == (1 if physical_id else 0)
    harness.assert_idle()


def test_delete_of_a_member_reduces_desired_capacity(engine: Engine) -> None:
    cluster = request_helpers.create_cluster(engine, 3)
    victim = request_helpers.get_cluster(engine, cluster).nodes[1]
    engine.run(nodes.NodeDeleteRequest(identity=victim))
    shown = request_helpers.get_cluster(engine, cluster)
    assert (shown.status, shown.desired_capacity) == ('ACTIVE', 2)
    assert victim not in shown.nodes


@pytest.mark.parametrize(
    ('lost', 'status'), [(True, 'ERROR'), (False, 'ACTIVE')]
)
def test_check_reports_server_status(
    harness: Harness, engine: Engine, lost: bool, status: str
) -> None:
    node = request_helpers.create_node(engine)
    if lost:
        (server,) = harness.rows(tables.SimulatedServer)
        engine.runtime.provider.servers.delete(server.id)
    engine.run(nodes.NodeCheckRequest(identity=node))
    assert request_helpers.get_node(engine, node).status == status
    assert harness.statuses('NODE_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize(
    ('operation', 'call', 'same'),
    [
        (None, 'create', False),
        ('RECREATE', 'create', False),
        ('REBUILD', 'rebuild', True),
        ('REBOOT', 'reboot', True),
    ],
)
def test_recover_performs_the_operation(
    harness: Harness,
    engine: Engine,
    operation: str | None,
    call: str,
    same: bool,
) -> None:
    node = request_helpers.create_node(engine)
    before = request_helpers.get_node(engine, node).physical_id
    harness.cloud.servers.calls.clear()
    engine.run(
        nodes.NodeRecoverRequest(
            identity=node,
            operation=operation,
            operation_params={'type': 'HARD'},
        )
    )
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ACTIVE'
    assert (shown.physical_id == before) is same
    assert harness.cloud.servers.calls[-1] == call
    assert harness.count(tables.SimulatedServer) == 1


def test_recover_with_check_leaves_a_healthy_server_alone(
    harness: Harness, engine: Engine
) -> None:
    node = request_helpers.create_node(engine)
    harness.cloud.servers.calls.clear()
    engine.run(nodes.NodeRecoverRequest(identity=node, check=True))
    assert harness.cloud.servers.calls == []
    assert request_helpers.get_node(engine, node).status_reason == (
        'Recover: Node is ACTIVE.'
    )


def test_action_of_a_member_waits_for_action_of_the_cluster(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    cluster = request_helpers.create_cluster(engine, 2)
    member = request_helpers.get_cluster(engine, cluster).nodes[0]
    engine.call(clusters.ClusterScaleOutRequest(identity=cluster))
    run = engine.scheduler.claim()
    assert run is not None
    engine.call(nodes.NodeCheckRequest(identity=member))
    assert engine.run_actions() == 0
    (blocked,) = [
        row for row in any_harness.rows(models.Action) if row.blocked_on
    ]
    assert (blocked.action, blocked.blocked_on) == ('NODE_CHECK', cluster)
    assert blocked.start_time is None
    run.perform()
    engine.run_actions()
    any_harness.assert_idle()
    assert any_harness.statuses('NODE_CHECK') == ['SUCCEEDED']


@pytest.mark.parametrize('insists', [True, False])
def test_recreate_when_server_deletion_fails(
    any_harness: Harness, insists: bool
) -> None:
    # It takes longer to remove a server than it may take.
    any_harness.conf.set_override('latency', 0.01, 'simulated')
    engine = any_harness.engine()
    node = request_helpers.create_node(engine)
    old = request_helpers.get_node(engine, node).physical_id
    engine.run(
        nodes.NodeRecoverRequest(
            identity=node, delete_timeout=0, force_recreate=insists
        )
    )
    shown = request_helpers.get_node(engine, node)
    assert (shown.physical_id != old) == insists
    if insists:
        assert shown.status == 'ACTIVE'
        assert shown.data == {
            'recovery': 'RECREATE',
            'placement': {'zone': 'nova'},
        }
    else:
        assert shown.status == 'ERROR'
        assert 'was not gone within 0 seconds' in shown.status_reason
    assert any_harness.row(tables.SimulatedServer, old) is not None
    engine.run(nodes.NodeDeleteRequest(identity=node))
    assert any_harness.count(tables.SimulatedServer) == insists
    any_harness.assert_idle()


@pytest.mark.parametrize(
    ('value', 'calls'),
    [(True, ['stop', 'delete']), ('True', ['stop', 'delete'])]
    + [(value, ['delete']) for value in (False, 'False', None, [1])],
)
def test_node_is_stopped_before_its_cluster_deletes_it(
    harness: Harness, engine: Engine, value: object, calls: list[str]
) -> None:
    config = {'cluster.stop_node_before_delete': value}
    request_helpers.create_cluster(engine, 2, config=config)
    servers = harness.cloud.servers
    servers.calls.clear()
    engine.run(clusters.ClusterScaleInRequest(identity='c'))
    assert servers.calls == calls
    first = request_helpers.get_cluster(engine, 'c').nodes[0]
    servers.calls.clear()
    engine.run(nodes.NodeDeleteRequest(identity=first))
    assert servers.calls == ['delete']  # a user asked for this and no more
    harness.assert_idle()


def test_node_that_cannot_be_stopped_is_deleted(
    harness: Harness, engine: Engine
) -> None:
    config = {'cluster.stop_node_before_delete': True}
    request_helpers.create_cluster(engine, 1, config=config)
    harness.database.write(
        lambda session: session.query(tables.SimulatedServer).delete()
    )
    engine.run(clusters.ClusterDeleteRequest(identity='c'))
    assert harness.count(models.Cluster) == 0
    harness.assert_idle()


NETWORKS: list[dict[str, Any]] = [
    {'network': 'private', 'floating_network': 'public'},
    {
        'network': 'public',
        'port': 'p1',
        'subnet': 's',
        'security_groups': ['web'],
    },
]


@pytest.mark.parametrize('recreates', [False, True])
def test_data_of_a_node_has_zone_and_ports_of_its_server(
    engine: Engine, recreates: bool
) -> None:
    profile = request_helpers.create_profile(
        engine,
        properties={'networks': NETWORKS, 'availability_zone': 'zone1'},
    )
    node = request_helpers.create_node(engine, profile_id=profile)
    if recreates:
        engine.run(nodes.NodeRecoverRequest(identity=node))
    data = request_helpers.get_node(engine, node).data
    request = nodes.NodeGetRequest(identity=node, show_details=True)
    addresses = engine.call(request).details['addresses']
    assert data['placement'] == {'zone': 'zone1'}
    first, second = data['internal_ports']
    fixed, floating = (item['addr'] for item in addresses['private'])
    assert first['fixed_ips'] == [
        {'ip_address': fixed, 'subnet_id': 'private-subnet'}
    ]
    assert first['network_id'] == 'private'
    assert first['remove'] is True
    assert first['floating']['floating_ip_address'] == floating
    assert first['floating']['floating_network_id'] == 'public'
    (public,) = (item['addr'] for item in addresses['public'])
    assert second == {
        'id': 'p1',
        'network_id': 'public',
        'security_group_ids': ['web'],
        'fixed_ips': [{'ip_address': public, 'subnet_id': 's'}],
    }
