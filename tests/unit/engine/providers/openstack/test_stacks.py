# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from oslo_config import cfg

from engine.providers import base, openstack
from tests import cloud as fake
from tests import sdk_warnings

pytestmark = sdk_warnings.IGNORED

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'outputs': {'fixed_ip': {'value': '192.0.2.7'}},
}


def create_stack(provider: base.Provider, **properties: Any) -> base.Stack:
    stack_properties = {
        'template': TEMPLATE,
        'tags': ['cluster_node_id=key', 'cluster_id=c'],
        **properties,
    }
    return provider.stacks.create('key', 'web-key', stack_properties)


def test_stack_is_created_found_and_deleted(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    stack = create_stack(provider)
    assert (stack.name, stack.status) == ('web-key', 'CREATE_COMPLETE')
    assert stack.outputs == {'fixed_ip': '192.0.2.7'}
    assert stack.details['stack_status'] == 'CREATE_COMPLETE'
    assert provider.stacks.find('key') == stack
    assert provider.stacks.find('other') is None
    assert create_stack(provider).id == stack.id
    provider.stacks.delete(stack.id)
    provider.stacks.delete(stack.id)
    assert cloud.leftovers() == {}
    with pytest.raises(base.StackNotFound, match='404'):
        provider.stacks.get(stack.id)


def test_properties_of_a_profile_are_sent_to_heat(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    create_stack(
        provider,
        template_url='',
        parameters={'size': 1},
        files={'a.yaml': 'text'},
        environment={'parameters': {}},
        timeout=5,
        disable_rollback=False,
        context={'region_name': 'x'},
    )
    (body,) = cloud.bodies_to('POST /heat/v1/stacks')
    assert body == {
        'stack_name': 'web-key',
        'template': TEMPLATE,
        'parameters': {'size': 1},
        'files': {'a.yaml': 'text'},
        'environment': {'parameters': {}},
        'timeout_mins': 5,
        'disable_rollback': False,
        'tags': 'cluster_node_id=key,cluster_id=c',
    }


def test_stack_whose_response_is_lost_is_created_once(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    cloud.lose('POST', '/heat/v1/stacks', times=1, content=None)
    stack = create_stack(provider)
    assert list(cloud.stacks) == [stack.id]
    assert len(cloud.requests_to('POST /heat/v1/stacks')) == 1


def test_name_of_a_deleted_stack_is_used_once_heat_frees_it(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    deleted = create_stack(provider)
    provider.stacks.delete(deleted.id)
    stack = create_stack(provider)
    assert len(cloud.requests_to('POST /heat/v1/stacks')) == 2 + cloud.steps
    assert list(cloud.stacks) == [stack.id]
    with pytest.raises(base.ProviderError, match='409: The Stack already'):
        provider.stacks.create('other', stack.name, {'template': TEMPLATE})


def test_update_replaces_template_and_parameters(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    stack = create_stack(provider)
    new = {'template': TEMPLATE, 'parameters': {'size': 2}, 'timeout': 9}
    updated = provider.stacks.update(stack.id, new)
    assert updated.status == 'UPDATE_COMPLETE'
    assert cloud.stacks[stack.id]['parameters'] == {'size': 2}
    assert cloud.stacks[stack.id]['timeout_mins'] == 9


def test_update_waits_for_a_running_operation(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    stack = create_stack(provider)
    cloud.stacks[stack.id].update(
        stack_status='CHECK_IN_PROGRESS', steps_left=3
    )
    updated = provider.stacks.update(stack.id, {'template': TEMPLATE})
    assert updated.status == 'UPDATE_COMPLETE'


@pytest.mark.parametrize('action', ['CREATE', 'UPDATE', 'DELETE'])
def test_failure_is_reported_with_the_reason_of_heat(
    provider: base.Provider, action: str
) -> None:
    def attempt() -> None:
        stack = create_stack(provider, **failing(action))
        if action == 'UPDATE':
            provider.stacks.update(stack.id, failing(action))
        else:
            provider.stacks.delete(stack.id)

    message = f'{action}_FAILED: Resource failed: no more disks'
    with pytest.raises(base.ProviderError, match=message):
        attempt()


def failing(action: str) -> dict[str, Any]:
    return {'template': {**TEMPLATE, 'fails': [action]}}


def test_check_reports_the_result_of_heat(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    stack = create_stack(provider)
    assert provider.stacks.check(stack.id).status == 'CHECK_COMPLETE'
    cloud.stacks[stack.id]['template'] = {'fails': ['CHECK']}
    broken = provider.stacks.check(stack.id)
    assert broken.status == 'CHECK_FAILED'
    assert broken.reason == 'Resource failed: no more disks'


def test_abandoned_stack_is_forgotten_by_heat(
    provider: base.Provider, cloud: fake.Cloud
) -> None:
    stack = create_stack(provider)
    provider.stacks.abandon(stack.id)
    assert cloud.stacks == {}
    assert cloud.requests_to('DELETE')[-1].endswith('/abandon')


def test_stack_is_described_by_profile_properties(
    provider: base.Provider,
) -> None:
    stack = create_stack(
        provider, parameters={'a': 1}, files={'f': 'x'}, timeout=3
    )
    assert provider.stacks.profile_properties(stack.id) == {
        'template': TEMPLATE,
        'environment': {},
        'files': {'f': 'x'},
        'parameters': {'OS::stack_id': stack.id, 'a': 1},
        'timeout': 3,
        'disable_rollback': True,
    }


def test_stack_that_is_never_ready_times_out(
    conf: cfg.ConfigOpts, cloud: fake.Cloud
) -> None:
    conf.set_override('stack_timeout', 0.1, 'provider_openstack')
    cloud.steps = 1_000_000
    with pytest.raises(base.ProviderError, match=r'not within 0\.1 seconds'):
        create_stack(openstack.load(conf))
