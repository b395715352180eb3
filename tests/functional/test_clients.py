# SPDX-License-Identifier: Apache-2.0
"""What users have: openstacksdk, `openstack cluster`, keystoneauth."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import openstack
import openstack.connection
import pytest
import requests
from keystoneauth1 import discover, noauth, session
from openstack import exceptions

from tests.functional.harness import Deployment
from tests.functional.processes import PATIENCE, wait_for
from tests.functional.rest import NEWEST, SPEC, Rest, unique
from vobjects.clustering import consts

# openstacksdk warns of its own next major versions, whatever one calls.
pytestmark = [
    pytest.mark.filterwarnings(f'ignore::openstack.warnings.{name}')
    for name in ('RemovedInSDK50Warning', 'RemovedInSDK60Warning')
]

#: Runs `openstack ARGUMENTS` and returns what it printed.
Command = Callable[..., str]


@pytest.fixture
def connection(
    service: Deployment,
) -> Iterator[openstack.connection.Connection]:
    """A connection as a user would make it: no clouds.yaml, no Keystone."""
    made = openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth_type='none',
        endpoint=service.url,
        clustering_default_microversion=NEWEST,
    )
    yield made
    made.close()


@pytest.fixture
def command(service: Deployment, tmp_path: pathlib.Path) -> Command:
    """The `openstack` command, with only the environment it needs."""
    script = pathlib.Path(sys.executable).with_name('openstack')

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            (str(script), *words),
            env={
                'HOME': str(tmp_path),
                'PATH': os.environ['PATH'],
                'OS_AUTH_TYPE': 'none',
                'OS_ENDPOINT': service.url,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        said = f'{" ".join(words)}:\n{done.stdout}\n{done.stderr}'
        assert done.returncode == code, said
        return done.stdout if code == 0 else done.stderr

    return run


def _ended(clustering: Any, action: str) -> Any:
    """Return an action when it has succeeded."""

    def look() -> Any:
        found = clustering.get_action(action)
        return found if found.status in consts.ACTION_ENDS else None

    found = wait_for(f'action {action} ended', look)
    assert found.status == 'SUCCEEDED', found
    return found


def test_sdk_leads_a_cluster_through_its_life(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    assert profile.type == 'os.nova.server-1.0'

    cluster = clustering.create_cluster(
        name=unique('sdk'),
        profile_id=profile.id,
        desired_capacity=3,
        max_size=5,
        config={'node.name.format': 'web-$3I'},
    )
    assert cluster.status == 'INIT'
    cluster = clustering.wait_for_status(
        cluster, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )
    assert cluster.config == {'node.name.format': 'web-$3I'}
    assert len(cluster.node_ids) == 3
    assert cluster.name in [c.name for c in clustering.clusters()]
    named = list(clustering.clusters(name=cluster.name))
    assert [c.id for c in named] == [cluster.id]

    nodes = list(clustering.nodes(cluster_id=cluster.id, sort='index'))
    assert [node.name for node in nodes] == ['web-001', 'web-002', 'web-003']
    assert [node.tainted for node in nodes] == [False] * 3
    shown = clustering.get_node(nodes[0].id, details=True)
    assert shown.details['id'] == shown.physical_id

    answer = clustering.resize_cluster(
        cluster, adjustment_type='CHANGE_IN_CAPACITY', number=2
    )
    action = _ended(clustering, answer['action'])
    assert action.action == 'CLUSTER_RESIZE'
    assert action.target_id == action.cluster_id == cluster.id
    assert len(clustering.get_cluster(cluster.id).node_ids) == 5
    answer = clustering.scale_in_cluster(cluster, 3)
    _ended(clustering, answer['action'])
    assert len(clustering.get_cluster(cluster.id).node_ids) == 2
    answer = clustering.scale_out_cluster(cluster.name, 1)
    _ended(clustering, answer['action'])
    _ended(clustering, clustering.check_cluster(cluster.id)['action'])
    answer = clustering.recover_cluster(
        cluster.id, check=True, check_capacity=True
    )
    _ended(clustering, answer['action'])

    clustering.update_cluster(
        cluster, name=cluster.name + '-2', metadata={'k': 'v'}
    )
    cluster = wait_for(
        'the cluster is renamed',
        lambda: clustering.find_cluster(cluster.name + '-2'),
    )
    assert cluster.metadata == {'k': 'v'}

    actions = list(clustering.actions(cluster_id=cluster.id, limit=4))
    assert {action.cluster_id for action in actions} == {cluster.id}
    assert len(actions) > 4, 'a list of several pages'

    action = clustering.delete_cluster(cluster)
    _ended(clustering, action.id)
    with pytest.raises(exceptions.NotFoundException):
        clustering.get_cluster(cluster.id)
    clustering.delete_profile(profile, ignore_missing=False)
    assert clustering.find_profile(profile.name) is None


def test_sdk_leads_a_node_through_its_life(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)

    node = clustering.create_node(
        name=unique('sdk'), profile_id=profile.id, metadata={'a': 'b'}
    )
    node = clustering.wait_for_status(
        node, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )
    assert node.metadata == {'a': 'b'}
    clustering.update_node(node, role='master', tainted=True)
    changed = wait_for(
        'the node is tainted',
        lambda: (
            found if (found := clustering.get_node(node.id)).tainted else None
        ),
    )
    assert changed.role == 'master'
    _ended(clustering, clustering.check_node(node)['action'])
    _ended(clustering, clustering.recover_node(node)['action'])

    action = clustering.delete_node(node, force_delete=True)

    _ended(clustering, action.id)
    assert clustering.find_node(node.id) is None
    clustering.delete_profile(profile)


def test_sdk_changes_the_members_of_a_cluster(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    cluster = clustering.create_cluster(
        name=unique('sdk'), profile_id=profile.id
    )
    alone = [
        clustering.wait_for_status(
            clustering.create_node(name=unique('m'), profile_id=profile.id),
            *('ACTIVE', ['ERROR'], 0.2, 60),
        )
        for _ in range(3)
    ]
    first, second, third = (node.id for node in alone)
    cluster = clustering.wait_for_status(
        cluster, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )

    answer = clustering.add_nodes_to_cluster(cluster, [first, second])
    _ended(clustering, answer['action'])
    answer = clustering.replace_nodes_in_cluster(cluster, {second: third})
    _ended(clustering, answer['action'])
    assert clustering.get_cluster(cluster.id).node_ids == [first, third]

    answer = clustering.perform_operation_on_cluster(
        cluster, 'reboot', params={'type': 'HARD'}, filters={'role': ''}
    )
    _ended(clustering, answer['action'])
    answer = clustering.perform_operation_on_node(second, 'reboot')
    _ended(clustering, answer['action'])
    found = clustering.collect_cluster_attrs(cluster.id, 'details.flavor')
    assert {(attr.node_id, attr.attr_value) for attr in found} == {
        (first, 'm1.small'),
        (third, 'm1.small'),
    }

    answer = clustering.remove_nodes_from_cluster(
        cluster, [first], destroy_after_deletion=True
    )
    _ended(clustering, answer['action'])
    assert clustering.get_cluster(cluster.id).node_ids == [third]
    assert clustering.find_node(first) is None
    with pytest.raises(exceptions.ConflictException, match='is in status'):
        clustering.update_action(answer['action'], status='CANCELLED')

    _ended(clustering, clustering.delete_cluster(cluster).id)
    _ended(clustering, clustering.delete_node(second).id)
    clustering.delete_profile(profile, ignore_missing=False)


def test_sdk_adopts_a_server(
    connection: openstack.connection.Connection, service: Deployment
) -> None:
    clustering = connection.clustering
    server = str(uuid.uuid4())
    service.execute(
        'INSERT INTO simulated_servers'
        ' (id, node_id, name, status, properties, created_at)'
        " VALUES (:id, :id, 'srv', 'ACTIVE', :properties, :now)",
        id=server,
        properties=json.dumps(SPEC['properties']),
        now='2026-01-02 03:04:05.000000',
    )
    given = {'identity': server, 'type': 'os.nova.server-1.0'}

    shown = clustering.adopt_node(preview=True, **given)
    assert shown['node_preview']['properties']['flavor'] == 'm1.small'
    node = clustering.adopt_node(name=unique('sdk'), **given)
    assert (node.status, node.physical_id) == ('ACTIVE', server)
    _ended(clustering, clustering.check_node(node)['action'])
    _ended(clustering, clustering.delete_node(node).id)
    clustering.delete_profile(node.profile_id, ignore_missing=False)


def test_sdk_puts_a_cluster_under_policies(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    types = [kind.name for kind in clustering.policy_types()]
    assert 'senlin.policy.health' in types
    shown = clustering.get_policy_type('senlin.policy.scaling-1.0')
    assert 'event' in shown.schema
    spec = {
        'type': 'senlin.policy.scaling',
        'version': '1.0',
        'properties': {
            'event': 'CLUSTER_SCALE_OUT',
            'adjustment': {'number': 2, 'cooldown': 3600},
        },
    }
    assert clustering.validate_policy(spec=spec).name == 'validated_policy'
    policy = clustering.create_policy(name=unique('sdk'), spec=spec)
    clustering.update_policy(policy, name=policy.name + '-2')
    assert clustering.find_policy(policy.name).id == policy.id
    assert policy.id in [one.id for one in clustering.policies()]
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    cluster = clustering.create_cluster(
        name=unique('sdk'), profile_id=profile.id
    )
    cluster = clustering.wait_for_status(
        cluster, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )

    answer = clustering.attach_policy_to_cluster(
        cluster, policy.id, enabled=False
    )
    _ended(clustering, answer['action'])
    answer = clustering.update_cluster_policy(cluster, policy.id, enabled=True)
    _ended(clustering, answer['action'])
    (bound,) = clustering.cluster_policies(cluster.id, is_enabled=True)
    assert (bound.policy_id, bound.policy_name) == (policy.id, policy.name)
    assert clustering.get_cluster_policy(policy.id, cluster.id).is_enabled
    with pytest.raises(exceptions.ConflictException, match='still attached'):
        clustering.delete_policy(policy)

    _ended(clustering, clustering.scale_out_cluster(cluster)['action'])
    assert len(clustering.get_cluster(cluster.id).node_ids) == 2
    # Here openstacksdk returns what is refused, and raises nothing.
    refused = clustering.scale_out_cluster(cluster)
    assert refused['code'] == 409
    assert 'cooldown' in refused['error']['message']

    answer = clustering.detach_policy_from_cluster(cluster, policy.id)
    _ended(clustering, answer['action'])
    clustering.delete_policy(policy)
    assert clustering.find_policy(policy.id) is None
    _ended(clustering, clustering.delete_cluster(cluster).id)
    clustering.delete_profile(profile, ignore_missing=False)


def test_sdk_makes_receivers_and_sees_events(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    cluster = clustering.create_cluster(
        name=unique('sdk'), profile_id=profile.id
    )
    cluster = clustering.wait_for_status(
        cluster, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )
    receiver = clustering.create_receiver(
        name=unique('sdk'),
        type='webhook',
        cluster_id=cluster.id,
        action='CLUSTER_SCALE_OUT',
        params={'count': '1'},
    )
    changed = clustering.update_receiver(receiver, params={'count': 2})
    assert changed.params == {'count': 2}
    assert clustering.get_receiver(receiver).cluster_id == cluster.id
    listed = clustering.receivers(cluster_id=cluster.id, sort='name')
    assert [one.id for one in listed] == [receiver.id]

    # As an alarm service calls it: no token, and a body of its own.
    answer = requests.post(
        changed.channel['alarm_url'],
        json={'alarm_id': 'a', 'severity': 'low'},
        timeout=60,
    )
    assert answer.status_code == 202, answer.text
    action = answer.json()['action']
    assert answer.headers['Location'].endswith(f'/v1/actions/{action}')
    assert _ended(clustering, action).action == 'CLUSTER_SCALE_OUT'
    assert len(clustering.get_cluster(cluster.id).node_ids) == 2
    # As a script calls it: nothing at all.
    answer = requests.post(changed.channel['alarm_url'], timeout=60)
    _ended(clustering, answer.json()['action'])
    assert len(clustering.get_cluster(cluster.id).node_ids) == 4

    events = list(clustering.events(cluster_id=cluster.id, sort='timestamp'))
    assert [event.action for event in events] == [
        *['CLUSTER_CREATE'] * 2,
        *['CLUSTER_SCALE_OUT'] * 4,
    ]
    shown = clustering.get_event(events[-1].id)
    assert (shown.obj_name, shown.status) == (cluster.name, 'ACTIVE')
    clustering.delete_receiver(receiver)
    assert clustering.find_receiver(receiver.name) is None
    _ended(clustering, clustering.delete_cluster(cluster).id)
    clustering.delete_profile(profile, ignore_missing=False)


def test_sdk_shows_types_services_and_build(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering

    types = [kind.name for kind in clustering.profile_types()]
    assert types == [
        'container.dockerinc.docker',
        'os.heat.stack',
        'os.nova.server',
    ]
    shown = clustering.get_profile_type('os.nova.server-1.0')
    assert 'flavor' in shown.schema
    assert shown.support_status['1.0'][0]['status'] == 'SUPPORTED'
    offered = clustering.list_profile_type_operations('os.nova.server-1.0')
    assert 'reboot' in offered['operations']
    services = list(clustering.services())
    assert len(services) == 2
    assert {service.state for service in services} == {'up'}
    assert clustering.get_build_info().engine
    valid = clustering.validate_profile(spec=SPEC)
    assert valid.type == 'os.nova.server-1.0'


def test_sdk_says_what_the_service_says_when_it_is_refused(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering

    with pytest.raises(exceptions.BadRequestException, match='profile'):
        clustering.create_cluster(name='web', profile_id='no-such-profile')
    with pytest.raises(exceptions.NotFoundException, match='no-such-cluster'):
        clustering.get_cluster('no-such-cluster')


def test_sdk_forces_a_cluster_out_of_the_way(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    cluster = clustering.create_cluster(
        name=unique('sdk'), profile_id=profile.id, desired_capacity=2
    )

    # Its creation has hardly begun.
    action = clustering.delete_cluster(cluster.id, force_delete=True)

    _ended(clustering, action.id)
    assert clustering.find_cluster(cluster.id) is None
    clustering.delete_profile(profile, ignore_missing=False)


def test_openstack_command_leads_a_cluster_through_its_life(
    command: Command, rest: Rest, tmp_path: pathlib.Path
) -> None:
    name = unique('osc')
    spec = tmp_path / 'spec.json'
    spec.write_text(json.dumps(SPEC))  # JSON is YAML

    def show(*words: str) -> Any:
        return json.loads(command(*words, '--format', 'json'))

    profile = show(
        *('cluster', 'profile', 'create', name, '--spec-file', str(spec))
    )
    assert profile['type'] == 'os.nova.server-1.0'
    show(
        *('cluster', 'create', name, '--profile', name),
        *('--desired-capacity', '3'),
    )
    # Not with --wait, which looks every 5 seconds.
    wait_for(
        'the cluster is active',
        lambda: rest.get(f'/v1/clusters/{name}')['status'] == 'ACTIVE',
    )
    assert [c['name'] for c in show('cluster', 'list')].count(name) == 1
    assert show('cluster', 'show', name)['desired_capacity'] == 3
    nodes = show('cluster', 'members', 'list', name)
    assert len(nodes) == 3
    listed = show('cluster', 'node', 'list', '--cluster', name)
    assert sorted(node['id'] for node in listed) == sorted(
        node['id'] for node in nodes
    )

    said = command('cluster', 'resize', name, '--capacity', '2')
    action = said.split('Request accepted by action:')[1].split()[0]
    rest.succeeded(action)
    assert show('cluster', 'action', 'show', action)['status'] == 'SUCCEEDED'
    assert len(show('cluster', 'members', 'list', name)) == 2
    actions = show(
        *('cluster', 'action', 'list', '--filters', 'status=SUCCEEDED')
    )
    assert 'CLUSTER_RESIZE' in {action['action'] for action in actions}
    assert len(show('cluster', 'service', 'list')) == 2

    said = command('cluster', 'delete', name, '--force')
    rest.succeeded(said.split('accepted by action')[1].split()[0].strip(':'))
    assert 'not found' in command('cluster', 'show', name, code=1)
    command('cluster', 'profile', 'delete', name, '--force')


def test_keystoneauth_discovers_versions_on_root_and_major_version(
    service: Deployment,
) -> None:
    with_no_one = session.Session(auth=noauth.NoAuth(endpoint=service.url))

    for path in ('', '/', '/v1', '/v1/'):
        found = discover.Discover(with_no_one, service.url + path)
        (data,) = found.version_data()
        assert data['version'] == (1, 0)
        assert data['url'].rstrip('/') == f'{service.url}/v1'
        assert data['min_microversion'] == (1, 0)
        assert data['max_microversion'] == (1, 14)
        assert data['status'] == discover.Status.CURRENT
    with_no_one.session.close()


def test_sdk_learns_which_microversions_there_are(
    connection: openstack.connection.Connection,
) -> None:
    data = connection.clustering.get_endpoint_data()

    assert data.min_microversion == (1, 0)
    assert data.max_microversion == (1, 14)
