# SPDX-License-Identifier: Apache-2.0
"""Every method of openstacksdk's clustering proxy, in one scenario.

The scenario runs at the newest microversion and at the default of the SDK,
which sends no version header (1.0). At 1.0, newer features either work, as
with Senlin, or fail with an error that names the required version.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import openstack
import openstack.connection
import pytest
import requests
from keystoneauth1 import discover, noauth, session
from openstack import exceptions
from openstack.clustering.v1 import _proxy

from tests import sdk_warnings
from tests.functional.deployments import Deployment, embedded_sqlite_only
from tests.functional.processes import TIMEOUT, wait_for
from tests.functional.rest import MAXIMUM, NEWEST, SPEC, unique
from vobjects.clustering import consts
from vobjects.versions import Version

pytestmark = sdk_warnings.IGNORED

METHODS = {
    name
    for name, method in vars(_proxy.Proxy).items()
    if inspect.isfunction(method) and not name.startswith('_')
}

#: The microversion of requests without a version header.
OLDEST = '1.0'

SCALING = {
    'type': 'senlin.policy.scaling',
    'version': '1.0',
    'properties': {'event': 'CLUSTER_SCALE_OUT', 'adjustment': {'number': 2}},
}


class Sdk:
    """The proxy, which records the methods that are called.

    :param version: microversion of all requests
    """

    def __init__(self, proxy: _proxy.Proxy, version: str) -> None:
        self.called: set[str] = set()
        self._proxy = proxy
        self._version = Version.parse(version)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._proxy, name)
        self.called.add(name)
        return method

    def knows(self, version: str) -> bool:
        """Return whether the microversion is this one or a later one."""
        return self._version >= Version.parse(version)

    def since(
        self, version: str, method: str, *arguments: Any, **values: Any
    ) -> Any:
        """Call a method that needs a microversion; None if it is too old."""
        try:
            result = getattr(self, method)(*arguments, **values)
            result = [*result] if inspect.isgenerator(result) else result
            refused = refusal(result)
        except exceptions.HttpException as error:
            refused = (error.status_code or 0, str(error))
        if self.knows(version):
            assert refused is None, refused
            return result
        assert refused is not None, f'{method} works before {version}'
        status, words = refused
        assert status in (400, 404), words
        assert re.search(rf'needs API version {version}\b(?!\.)', words), words
        return None

    def active(self, resource: Any) -> Any:
        """Return a cluster or a node when it is ACTIVE."""
        return self.wait_for_status(
            resource, 'ACTIVE', ['ERROR'], interval=0.1, wait=TIMEOUT
        )

    def wait_for_action(self, result: Any) -> Any:
        """Return the action of an answer when it has succeeded."""
        # Resources are dicts as well.
        started = getattr(result, 'id', None) or result['action']
        action = self.get_action(started)
        action = self.wait_for_status(
            *(action, 'SUCCEEDED', ['FAILED', 'CANCELLED']),
            interval=0.1,
            wait=TIMEOUT,
        )
        assert action.status in consts.ACTION_ENDS
        return action


def refusal(result: Any) -> tuple[int, str] | None:
    """Return status and text of an error that the SDK did not raise.

    The SDK returns all responses to ``/actions`` and ``/ops``.
    """
    if isinstance(result, dict) and 'error' in result:
        return result['code'], result['error']['message']
    return None


@contextlib.contextmanager
def connected(service: Deployment, **chosen: str) -> Iterator[Sdk]:
    """Yield the proxy of a connection without clouds.yaml and Keystone."""
    connection = openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth_type='none',
        endpoint=service.url,
        **chosen,
    )
    version = chosen.get('clustering_default_microversion', OLDEST)
    yield Sdk(connection.clustering, version)
    connection.close()


def test_every_method_works_at_the_newest_microversion(
    service: Deployment,
) -> None:
    with connected(service, clustering_default_microversion=NEWEST) as sdk:
        _run_scenario(sdk, service)


@embedded_sqlite_only
def test_every_method_works_or_names_the_required_version_by_default(
    service: Deployment,
) -> None:
    with connected(service) as sdk:
        _run_scenario(sdk, service)


def test_keystoneauth_discovers_versions_on_root_and_major_version(
    service: Deployment,
) -> None:
    with_no_one = session.Session(auth=noauth.NoAuth(endpoint=service.url))

    for path in ('', '/', '/v1', '/v1/'):
        discovery = discover.Discover(with_no_one, service.url + path)
        (data,) = discovery.version_data()
        assert data['version'] == (1, 0)
        assert data['url'].rstrip('/') == f'{service.url}/v1'
        assert data['min_microversion'] == (1, 0)
        assert data['max_microversion'] == MAXIMUM
        assert data['status'] == discover.Status.CURRENT
    with_no_one.session.close()


def _run_scenario(sdk: Sdk, service: Deployment) -> None:
    """Run the scenario, and check that it calls all methods."""
    _types(sdk)
    profile = _profile(sdk)
    cluster = _cluster(sdk, profile)
    _sizes(sdk, cluster)
    _metadata(sdk, cluster)
    _node(sdk, profile, service)
    _members(sdk, profile, cluster)
    _policies(sdk, cluster)
    _receivers(sdk, cluster)
    _history(sdk, cluster)
    _end(sdk, profile, cluster)
    assert sdk.called == METHODS


def _types(sdk: Sdk) -> None:
    build = sdk.get_build_info()
    assert build.api['revision']
    assert build.engine['revision']
    versioned = '' if sdk.knows('1.5') else '-1.0'
    kinds = {kind.name: kind for kind in sdk.profile_types()}
    kind = kinds[f'os.nova.server{versioned}']
    assert bool(kind.support_status) is sdk.knows('1.5')
    assert 'flavor' in sdk.get_profile_type('os.nova.server-1.0').schema
    offered = sdk.since(
        '1.4', 'list_profile_type_operations', 'os.nova.server-1.0'
    )
    assert offered is None or 'reboot' in offered['operations']
    names = [kind.name for kind in sdk.policy_types()]
    assert f'senlin.policy.health{versioned}' in names
    policy_type = sdk.get_policy_type('senlin.policy.scaling-1.0')
    assert 'event' in policy_type.schema
    assert [member.state for member in sdk.services()] == ['up'] * 2


def _profile(sdk: Sdk) -> Any:
    valid = sdk.since('1.2', 'validate_profile', spec=SPEC)
    assert valid is None or valid.type == 'os.nova.server-1.0'
    created = sdk.create_profile(name=unique('sdk'), spec=SPEC)
    assert created.type == 'os.nova.server-1.0'
    name = unique('renamed')
    changed = sdk.update_profile(created, name=name, metadata={'k': 'v'})
    assert changed.metadata == {'k': 'v'}
    assert sdk.find_profile(name).id == created.id
    assert sdk.get_profile(name).spec['properties']['flavor'] == 'm1.small'
    assert [profile.id for profile in sdk.profiles(name=name)] == [created.id]
    other = sdk.create_profile(name=unique('sdk'), spec=SPEC)
    sdk.delete_profile(other, ignore_missing=False)
    assert sdk.find_profile(other.name) is None
    with pytest.raises(exceptions.NotFoundException, match=other.id):
        sdk.delete_profile(other.id, ignore_missing=False)
    return changed


def _cluster(sdk: Sdk, profile: Any) -> Any:
    config = {'node.name.format': 'web-$3I'}
    created = sdk.create_cluster(
        name=unique('sdk'),
        profile_id=profile.name,
        desired_capacity=2,
        max_size=5,
        config=config,
    )
    assert created.status == 'INIT'
    created = sdk.active(created)
    assert len(created.node_ids) == 2
    assert created.profile_name == profile.name
    assert created.config == config
    assert {node.name for node in sdk.nodes(cluster_id=created.id)} == {
        'web-001',
        'web-002',
    }
    name = unique('renamed')
    sdk.update_cluster(
        created,
        name=name,
        metadata={'a': 'b'},
        timeout=600,
        is_profile_only=True,
    )
    renamed = wait_for('it is renamed', lambda: sdk.find_cluster(name))
    assert renamed.id == created.id
    assert (renamed.metadata, renamed.timeout) == ({'a': 'b'}, 600)
    assert [cluster.id for cluster in sdk.clusters(name=name)] == [created.id]
    sdk.wait_for_action(sdk.check_cluster(renamed.id))
    sdk.wait_for_action(sdk.recover_cluster(renamed.id))
    sdk.wait_for_action(
        sdk.recover_cluster(renamed.id, check=True, check_capacity=True)
    )
    values = sdk.since(
        '1.2', 'collect_cluster_attrs', renamed.id, 'details.flavor'
    )
    assert values is None or {
        value.node_id: value.attr_value for value in values
    } == (dict.fromkeys(renamed.node_ids, 'm1.small'))
    result = sdk.since(
        *('1.4', 'perform_operation_on_cluster', renamed.id, 'reboot'),
        params={'type': 'HARD'},
        filters={'role': ''},
    )
    if result:
        sdk.wait_for_action(result)
    return sdk.get_cluster(renamed.id)


def _sizes(sdk: Sdk, cluster: Any) -> None:
    for method, arguments, values, size in (
        ('scale_out_cluster', [2], {}, 4),
        ('scale_in_cluster', [3], {}, 1),
        ('scale_out_cluster', [], {}, 2),
        (
            *('resize_cluster', []),
            {'adjustment_type': 'EXACT_CAPACITY', 'number': 3, 'min_size': 1},
            3,
        ),
    ):
        result = getattr(sdk, method)(cluster.name, *arguments, **values)
        action = sdk.wait_for_action(result)
        assert action.target_id == cluster.id
        assert len(sdk.get_cluster(cluster).node_ids) == size, method
    refused = refusal(
        sdk.resize_cluster(
            cluster, adjustment_type='EXACT_CAPACITY', number=9, strict=True
        )
    )
    assert refused is not None
    assert refused[0] == 400
    assert 'max_size (5)' in refused[1]


def _metadata(sdk: Sdk, cluster: Any) -> None:
    """The SDK has these methods for all services; Senlin has no such API."""
    for method, values in (
        ('fetch_cluster_metadata', {}),
        ('get_cluster_metadata', {}),
        ('set_cluster_metadata', {'a': 'other'}),
        ('delete_cluster_metadata', {'keys': ['a']}),
        ('delete_cluster_metadata', {}),
    ):
        with pytest.raises(exceptions.NotFoundException, match='metadata'):
            getattr(sdk, method)(cluster, **values)
    assert sdk.get_cluster(cluster.id).metadata == {'a': 'b'}


def _node(sdk: Sdk, profile: Any, service: Deployment) -> None:
    created = sdk.create_node(
        name=unique('sdk'), profile_id=profile.id, metadata={'a': 'b'}
    )
    created = sdk.active(created)
    assert (created.metadata, created.index) == ({'a': 'b'}, -1)
    sdk.update_node(created, role='master', tainted=True)
    updated = wait_for(
        'the node has its role',
        lambda: [
            n for n in sdk.nodes(name=created.name) if n.role == 'master'
        ],
    )[0]
    assert bool(updated.tainted) is sdk.knows('1.13')
    assert sdk.find_node(created.name).id == created.id
    shown = sdk.get_node(created.id, details=True)
    assert shown.details['id'] == shown.physical_id
    sdk.wait_for_action(sdk.check_node(created))
    sdk.wait_for_action(sdk.recover_node(created, check=True))
    result = sdk.since(
        '1.4', 'perform_operation_on_node', created.id, 'reboot'
    )
    if result:
        sdk.wait_for_action(result)
    deletion = sdk.delete_node(created, ignore_missing=False)
    sdk.wait_for_delete(created, interval=0.1, wait=TIMEOUT)
    sdk.wait_for_action(deletion)
    _adoption(sdk, service)


def _adoption(sdk: Sdk, service: Deployment) -> None:
    server = service.create_unmanaged_server()
    reference = {'identity': server, 'type': 'os.nova.server-1.0'}
    shown = sdk.since('1.7', 'adopt_node', preview=True, **reference)
    node = sdk.since('1.7', 'adopt_node', name=unique('sdk'), **reference)
    if node is None:
        return
    # The documented key, and the key that Senlin sends.
    assert shown['node_preview'] == shown['node_profile']
    assert shown['node_preview']['properties']['flavor'] == 'm1.small'
    assert (node.status, node.physical_id) == ('ACTIVE', server)
    sdk.wait_for_action(sdk.delete_node(node, force_delete=True))
    assert sdk.find_node(node.id) is None
    sdk.delete_profile(node.profile_id, ignore_missing=False)


def _members(sdk: Sdk, profile: Any, cluster: Any) -> None:
    begun = [
        sdk.create_node(name=unique('m'), profile_id=profile.id)
        for _ in range(3)
    ]
    first, second, third = (sdk.active(node).id for node in begun)
    sdk.wait_for_action(sdk.add_nodes_to_cluster(cluster, [first, second]))
    result = sdk.since(
        '1.3', 'replace_nodes_in_cluster', cluster, {second: third}
    )
    if result:
        sdk.wait_for_action(result)
    left = second if result else third
    members = {node.id for node in sdk.nodes(cluster_id=cluster.id)}
    assert members & {first, second, third} == {first, second, third} - {left}
    sdk.wait_for_action(
        sdk.remove_nodes_from_cluster(
            cluster, [first], destroy_after_deletion=True
        )
    )
    # As in Senlin, the option has no effect before 1.4.
    assert (sdk.find_node(first) is None) is sdk.knows('1.4')
    for node in (first, left):
        if sdk.find_node(node):
            sdk.wait_for_action(sdk.delete_node(node, force_delete=True))


def _policies(sdk: Sdk, cluster: Any) -> None:
    valid = sdk.since('1.2', 'validate_policy', spec=SCALING)
    assert valid is None or valid.type == 'senlin.policy.scaling-1.0'
    created = sdk.create_policy(name=unique('sdk'), spec=SCALING)
    name = unique('renamed')
    assert sdk.update_policy(created, name=name).name == name
    assert sdk.find_policy(name).id == sdk.get_policy(name).id == created.id
    assert [policy.id for policy in sdk.policies(name=name)] == [created.id]

    sdk.wait_for_action(
        sdk.attach_policy_to_cluster(cluster, created.id, enabled=False)
    )
    (bound,) = sdk.cluster_policies(cluster, policy_name=name)
    assert (bound.policy_id, bound.is_enabled) == (created.id, False)
    assert [*sdk.cluster_policies(cluster, is_enabled=True)] == []
    sdk.wait_for_action(
        sdk.update_cluster_policy(cluster, created.id, enabled=True)
    )
    shown = sdk.get_cluster_policy(created.id, cluster.id)
    assert (shown.policy_name, shown.is_enabled) == (name, True)
    with pytest.raises(exceptions.ConflictException, match='still attached'):
        sdk.delete_policy(created, ignore_missing=False)
    sdk.wait_for_action(sdk.detach_policy_from_cluster(cluster, created.id))
    sdk.delete_policy(created, ignore_missing=False)
    assert sdk.find_policy(created.id) is None


def _receivers(sdk: Sdk, cluster: Any) -> None:
    name, renamed = unique('sdk'), unique('renamed')
    created = sdk.create_receiver(
        name=name,
        type='webhook',
        cluster_id=cluster.id,
        action='CLUSTER_SCALE_OUT',
        params={'count': '1'},
    )
    assert sdk.update_receiver(created, name=renamed).name == renamed
    by_id = sdk.find_receiver(created.id)
    assert by_id.name == renamed
    assert sdk.get_receiver(created).cluster_id == cluster.id
    for user, listed in ((created.user_id, [created.id]), ('nobody', [])):
        receivers = sdk.receivers(
            cluster_id=cluster.id, sort='name', user_id=user
        )
        assert [receiver.id for receiver in receivers] == listed
    # Like an alarm service: without a token.
    response = requests.post(created.channel['alarm_url'], timeout=TIMEOUT)
    assert response.status_code == 202, response.text
    assert sdk.wait_for_action(response.json()).action == 'CLUSTER_SCALE_OUT'
    sdk.delete_receiver(created, ignore_missing=False)
    assert sdk.find_receiver(created.id) is None


def _history(sdk: Sdk, cluster: Any) -> None:
    by_target = [*sdk.actions(target_id=cluster.id, limit=4)]
    assert len(by_target) > 4, 'a list of several pages'
    assert {action.target_id for action in by_target} == {cluster.id}
    by_cluster = [*sdk.actions(cluster_id=cluster.id)]
    assert {action.id for action in by_cluster} > {by_target[0].id}
    assert {action.cluster_id for action in by_cluster} == {
        cluster.id if sdk.knows('1.14') else None
    }
    assert [*sdk.actions(cluster_id=unique('none'))] == []
    ended = by_target[0]
    if sdk.knows('1.12'):
        with pytest.raises(exceptions.ConflictException, match='is in status'):
            sdk.update_action(ended.id, status='CANCELLED')
    else:
        sdk.since('1.12', 'update_action', ended.id, status='CANCELLED')
    events = [*sdk.events(obj_id=cluster.id, sort='timestamp')]
    assert events[0].action == 'CLUSTER_CREATE'
    shown = sdk.get_event(events[-1].id)
    assert (shown.obj_id, shown.status) == (cluster.id, 'end')


def _end(sdk: Sdk, profile: Any, cluster: Any) -> None:
    sdk.wait_for_action(sdk.delete_cluster(cluster.id, ignore_missing=False))
    with pytest.raises(exceptions.NotFoundException, match=cluster.id):
        sdk.get_cluster(cluster.id)
    other = sdk.create_cluster(
        name=unique('sdk'), profile_id=profile.id, desired_capacity=2
    )
    # The creation has just started.
    sdk.wait_for_action(sdk.delete_cluster(other.id, force_delete=True))
    assert sdk.find_cluster(other.id) is None
    sdk.delete_profile(profile, ignore_missing=False)
