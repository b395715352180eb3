# SPDX-License-Identifier: Apache-2.0
"""openstacksdk and keystoneauth as clients.

``test_sdk`` covers all methods of openstacksdk, ``test_openstack_command`` all
commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openstack
import openstack.connection
import pytest
import requests
from keystoneauth1 import discover, noauth, session
from openstack import exceptions

from tests import machine_speed, sdk_warnings
from tests.functional.deployments import Deployment
from tests.functional.processes import wait_for
from tests.functional.rest import MAXIMUM, NEWEST, SPEC, unique
from vobjects.clustering import consts

pytestmark = sdk_warnings.IGNORED


@pytest.fixture
def connection(
    service: Deployment,
) -> Iterator[openstack.connection.Connection]:
    """A connection as a user would make it: no clouds.yaml, no Keystone."""
    sdk = openstack.connect(
        load_envvars=False,
        load_yaml_config=False,
        auth_type='none',
        endpoint=service.url,
        clustering_default_microversion=NEWEST,
    )
    yield sdk
    sdk.close()


def _ended(clustering: Any, action: str) -> Any:
    """Wait until an action has succeeded, and return it."""

    def look() -> Any:
        resource = clustering.get_action(action)
        return resource if resource.status in consts.ACTION_ENDS else None

    ended = wait_for(f'action {action} ended', look)
    assert ended.status == 'SUCCEEDED', ended
    return ended


def test_sdk_attaches_policies_to_a_cluster(
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
    assert policy.id in [item.id for item in clustering.policies()]
    profile = clustering.create_profile(name=unique('sdk'), spec=SPEC)
    cluster = clustering.create_cluster(
        name=unique('sdk'), profile_id=profile.id
    )
    cluster = clustering.wait_for_status(
        cluster, 'ACTIVE', failures=['ERROR'], interval=0.2, wait=60
    )

    response = clustering.attach_policy_to_cluster(
        cluster, policy.id, enabled=False
    )
    _ended(clustering, response['action'])
    response = clustering.update_cluster_policy(
        cluster, policy.id, enabled=True
    )
    _ended(clustering, response['action'])
    (bound,) = clustering.cluster_policies(cluster.id, is_enabled=True)
    assert (bound.policy_id, bound.policy_name) == (policy.id, policy.name)
    assert clustering.get_cluster_policy(policy.id, cluster.id).is_enabled
    with pytest.raises(exceptions.ConflictException, match='still attached'):
        clustering.delete_policy(policy)

    _ended(clustering, clustering.scale_out_cluster(cluster)['action'])
    assert len(clustering.get_cluster(cluster.id).node_ids) == 2
    # Here, openstacksdk returns the error instead of raising it.
    refused = clustering.scale_out_cluster(cluster)
    assert refused['code'] == 409
    assert 'cooldown' in refused['error']['message']

    response = clustering.detach_policy_from_cluster(cluster, policy.id)
    _ended(clustering, response['action'])
    clustering.delete_policy(policy)
    assert clustering.find_policy(policy.id) is None
    _ended(clustering, clustering.delete_cluster(cluster).id)
    clustering.delete_profile(profile, ignore_missing=False)


def test_sdk_creates_receivers_and_lists_events(
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
    assert [item.id for item in listed] == [receiver.id]

    # Like an alarm service: without a token, with a body.
    response = requests.post(
        changed.channel['alarm_url'],
        json={'alarm_id': 'a', 'severity': 'low'},
        timeout=60 * machine_speed.scale(),
    )
    assert response.status_code == 202, response.text
    action = response.json()['action']
    assert response.headers['Location'].endswith(f'/v1/actions/{action}')
    assert _ended(clustering, action).action == 'CLUSTER_SCALE_OUT'
    assert len(clustering.get_cluster(cluster.id).node_ids) == 2
    # Like a script: without a body.
    response = requests.post(
        changed.channel['alarm_url'], timeout=60 * machine_speed.scale()
    )
    _ended(clustering, response.json()['action'])
    assert len(clustering.get_cluster(cluster.id).node_ids) == 4

    events = list(clustering.events(cluster_id=cluster.id, sort='timestamp'))
    assert [event.action for event in events] == [
        *['CLUSTER_CREATE'] * 2,
        *['CLUSTER_SCALE_OUT'] * 4,
    ]
    shown = clustering.get_event(events[-1].id)
    assert (shown.obj_name, shown.status) == (cluster.name, 'end')
    clustering.delete_receiver(receiver)
    assert clustering.find_receiver(receiver.name) is None
    _ended(clustering, clustering.delete_cluster(cluster).id)
    clustering.delete_profile(profile, ignore_missing=False)


def test_sdk_raises_errors_with_the_message_of_the_service(
    connection: openstack.connection.Connection,
) -> None:
    clustering = connection.clustering

    with pytest.raises(exceptions.BadRequestException, match='profile'):
        clustering.create_cluster(name='web', profile_id='no-such-profile')
    with pytest.raises(exceptions.NotFoundException, match='no-such-cluster'):
        clustering.get_cluster('no-such-cluster')


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


def test_sdk_discovers_the_microversions(
    connection: openstack.connection.Connection,
) -> None:
    data = connection.clustering.get_endpoint_data()

    assert data.min_microversion == (1, 0)
    assert data.max_microversion == MAXIMUM
