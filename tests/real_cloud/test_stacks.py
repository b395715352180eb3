# SPDX-License-Identifier: Apache-2.0
"""Clusters of Heat's stacks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.processes import wait_for
from tests.real_cloud.clustering import Client
from tests.real_cloud.tenants import PRIVATE, Tenant


def template(**resources: Any) -> dict[str, Any]:
    """Return a template with a text, and other resources."""
    return {
        'heat_template_version': '2018-08-31',
        'parameters': {'length': {'type': 'number', 'default': 8}},
        'resources': {
            'text': {
                'type': 'OS::Heat::RandomString',
                'properties': {'length': {'get_param': 'length'}},
            },
            **resources,
        },
        'outputs': {'text': {'value': {'get_attr': ['text', 'value']}}},
    }


SERVER = {
    'type': 'OS::Nova::Server',
    'properties': {
        'flavor': 'm1.tiny',
        'image': 'cirros',
        'networks': [{'network': PRIVATE}],
    },
}


def stack_profile(rest: Client, length: int, **resources: Any) -> str:
    return rest.profile(
        'os.heat.stack',
        template=template(**resources),
        parameters={'length': length},
        timeout=5,
    )


@pytest.mark.core
def test_cluster_of_stacks_lifecycle(rest: Client, tenant: Tenant) -> None:
    cluster = rest.create_cluster(stack_profile(rest, 8, server=SERVER), 2)
    nodes = rest.nodes(cluster)
    assert set(rest.physical_ids(cluster)) == set(tenant.stacks())
    assert len(tenant.servers()) == 2
    shown = rest.node(nodes[0]['id'])['details']
    assert shown['stack_status'] == 'CREATE_COMPLETE'
    assert f'cluster_node_id={nodes[0]["id"]}' in shown['tags']
    assert len(shown['outputs'][0]['output_value']) == 8

    action = rest.update(cluster, profile_id=stack_profile(rest, 12))
    assert action['status'] == 'SUCCEEDED', action
    assert tenant.servers() == {}
    shown = rest.node(nodes[0]['id'])['details']
    assert shown['stack_status'] == 'UPDATE_COMPLETE'
    assert len(shown['outputs'][0]['output_value']) == 12

    lost = nodes[1]['physical_id']
    tenant.client.orchestration.delete_stack(lost)
    wait_for('the stack is gone', lambda: lost not in tenant.stacks())
    rest.run(cluster, 'check')
    assert f'stack {lost} is gone' in rest.nodes(cluster)[1]['status_reason']
    rest.run(cluster, 'recover')
    assert set(rest.physical_ids(cluster)) == set(tenant.stacks())
    assert rest.get(f'/v1/clusters/{cluster}')['status'] == 'ACTIVE'

    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_stack_that_fails_is_reported_and_deleted(
    rest: Client, tenant: Tenant
) -> None:
    broken = {
        'type': 'OS::Nova::Server',
        'properties': {**SERVER['properties'], 'flavor': 'm1.absent'},
    }
    cluster, action = rest.start_cluster(
        stack_profile(rest, 8, server=broken), 1
    )
    ended = rest.wait_for_end(action)
    assert ended['status'] == 'FAILED'
    assert 'm1.absent' in ended['status_reason']
    assert 'internal error' not in ended['status_reason']
    rest.remove(cluster)
    assert tenant.leftovers() == {}


def test_stacks_outlive_the_trust_they_were_created_with(
    rest: Client, tenant: Tenant
) -> None:
    """A request with more roles replaces the user's trust."""
    cluster = rest.create_cluster(stack_profile(rest, 8, server=SERVER), 1)
    (before,) = tenant.trusts()
    tenant.add_role('load-balancer_admin')
    rest.authenticate(tenant)
    rest.run(cluster, 'check')

    def is_replaced() -> bool:
        ids = [trust['id'] for trust in tenant.trusts()]
        return bool(ids) and before['id'] not in ids

    wait_for('the trust is replaced', is_replaced)
    action = rest.update(cluster, profile_id=stack_profile(rest, 12))
    assert action['status'] == 'SUCCEEDED', action
    rest.run(cluster, 'scale_out')
    rest.remove(cluster)
    assert tenant.leftovers() == {}
