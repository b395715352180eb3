# SPDX-License-Identifier: Apache-2.0
"""Every ``openstack cluster ...`` command of python-senlinclient.

``test_sdk`` sends the same requests on every platform.

The exit codes are those of the commands. openstacksdk returns error responses
to ``/actions`` and ``/ops`` as results, so that these commands print the error
and exit with 0.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from tests.functional.deployments import Deployment, embedded_sqlite_only
from tests.functional.openstack_command import COMMANDS, OpenStackCommand
from tests.functional.processes import wait_for
from tests.functional.rest import SPEC, unique

SCALING = {
    'type': 'senlin.policy.scaling',
    'version': '1.0',
    'properties': {
        'event': 'CLUSTER_SCALE_OUT',
        'adjustment': {'number': 1, 'cooldown': 3600},
    },
}

TWO_SIZES = ('--capacity', '1', '--adjustment', '1')
ENABLED = ('--enabled', 'true')
NO_POLICY_TYPE = "The policy_type 'nothing-1.0' could not be found."
NO_PROFILE_TYPE = "The profile_type 'nothing-1.0' could not be found."
TO_NOTHING = ('--cluster', 'nothing', '--action', 'CLUSTER_SCALE_IN')


@pytest.fixture
def osc(
    service: Deployment, tmp_path: pathlib.Path
) -> Iterator[OpenStackCommand]:
    """The command, in one process for the whole test."""
    with OpenStackCommand(service, tmp_path) as command:
        yield command


@embedded_sqlite_only
def test_every_command_works(
    osc: OpenStackCommand, service: Deployment
) -> None:
    _types(osc)
    profile = _profile(osc)
    cluster = _cluster(osc, profile)
    _node(osc, profile)
    _adoption(osc, service)
    _members(osc, profile, cluster)
    _policies(osc, cluster)
    _receivers(osc, cluster)
    _history(osc, cluster)
    _end(osc, profile, cluster)

    assert osc.used == COMMANDS


def _types(osc: OpenStackCommand) -> None:
    assert json.loads(osc.show('build', 'info')['engine'])['revision']
    assert len(osc.show('service', 'list')) == 2
    (kind,) = (
        type_
        for type_ in osc.show('profile', 'type', 'list')
        if type_['name'] == 'os.nova.server'
    )
    assert kind['support_status'].startswith('SUPPORTED')
    osc('profile', 'type', 'show', 'os.nova.server-1.0', contains='flavor')
    osc('profile', 'type', 'ops', 'os.nova.server-1.0', contains='reboot')
    osc('policy', 'type', 'list', contains='senlin.policy.health')
    osc(
        'policy', 'type', 'show', 'senlin.policy.scaling-1.0', contains='event'
    )
    for words in (
        ('profile', 'type', 'show', 'os.nova.server-7.0'),
        ('policy', 'type', 'show', 'nothing-1.0'),
    ):
        osc(*words, code=1, contains='not found')
    osc('profile', 'type', 'ops', 'nothing-1.0', contains='could not be found')


def _profile(osc: OpenStackCommand) -> str:
    spec = osc.write_file('spec.yaml', SPEC)
    osc('profile', 'validate', '--spec-file', spec, contains='m1.small')
    name, renamed = unique('osc'), unique('renamed')
    created = osc.show('profile', 'create', name, '--spec-file', spec)
    assert created['type'] == 'os.nova.server-1.0'
    osc('profile', 'update', name, '--name', renamed, '--metadata', 'a=b;c=d')
    shown = osc.show('profile', 'show', renamed)
    assert json.loads(shown['metadata']) == {'a': 'b', 'c': 'd'}
    (listed,) = osc.show(
        *('profile', 'list', '--filters', f'name={renamed}', '--full-id')
    )
    assert listed['id'] == created['id'] == shown['id']
    _stack(osc)
    wrong = osc.write_file('wrong.yaml', {**SPEC, 'type': 'nothing'})
    for words in (
        ('profile', 'validate', '--spec-file', wrong),
        ('profile', 'create', unique('osc'), '--spec-file', wrong),
    ):
        osc(*words, code=1, contains=NO_PROFILE_TYPE)
    osc(
        'profile',
        'update',
        'nothing',
        '--name',
        'x',
        code=1,
        contains='not found',
    )
    return renamed


def _stack(osc: OpenStackCommand) -> None:
    """The command reads a stack's files itself, and sends what is in them."""
    template = osc.write_file(
        'template.yaml', {'heat_template_version': '2016-04-08'}
    )
    environment = osc.write_file(
        'environment.yaml', {'parameters': {'a': 'b'}}
    )
    spec = osc.write_file(
        'stack.yaml',
        {
            'type': 'os.heat.stack',
            'version': '1.0',
            'properties': {
                'template': template,
                'environment': [environment],
            },
        },
    )
    osc('profile', 'validate', '--spec-file', spec, contains='2016-04-08')
    name = unique('osc')
    osc(
        'profile',
        'create',
        name,
        '--spec-file',
        spec,
        contains='os.heat.stack',
    )
    osc('profile', 'delete', name, '--force')


def _cluster(osc: OpenStackCommand, profile: str) -> str:
    name, renamed = unique('osc'), unique('renamed')
    created = osc.show(
        *('create', name, '--profile', profile, '--desired-capacity', '2'),
        *('--max-size', '6', '--config', 'node.name.format=web-$3I'),
        *('--metadata', 'a=b', '--timeout', '600'),
    )
    wait_for(
        'the cluster is active',
        lambda: osc.show('show', name)['status'] == 'ACTIVE',
    )
    assert json.loads(created['config']) == {'node.name.format': 'web-$3I'}
    osc('update', name, '--name', renamed, '--metadata', 'c=d', '--wait')
    shown = osc.show('show', renamed)
    assert json.loads(shown['metadata']) == {'c': 'd'}
    assert len(shown['node_ids'].split('\n')) == 2
    (listed,) = osc.show(
        *('list', '--filters', f'name={renamed}', '--sort', 'name:desc'),
        *('--limit', '5', '--global-project'),
    )
    assert (listed['id'], listed['status']) == (created['id'][:8], 'ACTIVE')
    for words, size in (
        (('expand', renamed, '--count', '2'), 4),
        (('shrink', renamed, '--count', '3'), 1),
        (('expand', renamed), 2),
        (('resize', renamed, '--capacity', '3', '--min-size', '1'), 3),
        (('resize', renamed, '--adjustment', '1'), 4),
        (('resize', renamed, '--percentage', '-50', '--min-step', '1'), 2),
    ):
        osc.run_actions(*words)
        assert len(osc.show('members', 'list', renamed)) == size, words
    osc.run_actions('check', renamed)
    osc.run_actions('recover', renamed, '--check', 'true')
    flavors = osc.show('collect', renamed, '--path', 'details.flavor')
    assert [item['attr_value'] for item in flavors] == ['m1.small'] * 2
    osc.run_actions(
        'op', renamed, '--operation', 'reboot', '--params', 'type=HARD'
    )
    script = osc.write_file('script.sh', 'uptime')
    printed = osc('run', renamed, '--script', script)
    assert printed.count('node: ') == 2, printed
    _no_cluster(osc, renamed)
    return renamed


def _no_cluster(osc: OpenStackCommand, cluster: str) -> None:
    for code, text, *words in (
        (1, 'Cluster not found: nothing', 'show', 'nothing'),
        (1, 'Cluster not found: nothing', 'update', 'nothing', '--name', 'x'),
        (1, 'No Cluster found', 'expand', 'nothing'),
        (1, 'No Cluster found', 'shrink', 'nothing'),
        (1, 'No Cluster found', 'resize', 'nothing', '--capacity', '1'),
        (1, 'could not be found', 'collect', 'nothing', '--path', 'name'),
        (1, 'could not be found', 'create', 'x', '--profile', 'nothing'),
        (0, 'could not be found', 'check', 'nothing'),
        (0, 'could not be found', 'recover', 'nothing'),
        (0, 'could not be found', 'op', 'nothing', '--operation', 'reboot'),
        (0, 'max_size (6)', 'resize', cluster, '--capacity', '9', '--strict'),
        (1, 'Only one of', 'resize', cluster, *TWO_SIZES),
        (2, 'required: --profile', 'create', 'x'),
    ):
        osc(*words, code=code, contains=text)


def _node(osc: OpenStackCommand, profile: str) -> None:
    name, renamed = unique('osc'), unique('renamed')
    created = osc.show(
        *('node', 'create', name, '--profile', profile),
        *('--role', 'worker', '--metadata', 'a=b'),
    )
    wait_for(
        'the node is active',
        lambda: osc.show('node', 'show', name)['status'] == 'ACTIVE',
    )
    osc(
        *('node', 'update', name, '--name', renamed, '--role', 'master'),
        *('--tainted', 'true'),
    )
    wait_for(
        'the node has its role',
        lambda: osc.show('node', 'show', created['id'])['role'] == 'master',
    )
    osc('node', 'show', renamed, '--details', contains='m1.small')
    (listed,) = osc.show('node', 'list', '--filters', f'name={renamed}')
    assert (listed['id'], listed['tainted']) == (created['id'][:8], True)
    osc.run_actions('node', 'check', renamed)
    osc.run_actions('node', 'recover', renamed, '--check', 'true')
    # It prints what was accepted, and then fails at printing a list that it
    # does not have: python-senlinclient's fault.
    osc.run_actions('node', 'op', renamed, '--operation', 'reboot', code=1)
    for code, text, *words in (
        (1, 'Node not found: nothing', 'show', 'nothing'),
        (1, 'Node not found: nothing', 'update', 'nothing', '--role', 'x'),
        (1, 'could not be found', 'create', 'x', '--profile', 'nothing'),
        (0, 'could not be found', 'check', 'nothing'),
        (0, 'could not be found', 'recover', 'nothing'),
        (1, 'could not be found', 'op', 'nothing', '--operation', 'reboot'),
        (0, 'could not be found', 'delete', 'nothing', '--force'),
        (2, 'required: --operation', 'op', 'nothing'),
    ):
        osc('node', *words, code=code, contains=text)
    osc.run_actions('node', 'delete', renamed, '--force')
    osc('node', 'show', renamed, code=1, contains='Node not found')


def _adoption(osc: OpenStackCommand, service: Deployment) -> None:
    server = service.create_unmanaged_server()
    server_options = ('--identity', server, '--type', 'os.nova.server-1.0')
    osc('node', 'adopt', *server_options, '--preview', contains='m1.small')
    name = unique('osc')
    adopted = osc.show('node', 'adopt', *server_options, '--name', name)
    assert (adopted['status'], adopted['physical_id']) == ('ACTIVE', server)
    osc.run_actions('node', 'delete', name, '--force', '--force-delete')
    osc('profile', 'delete', adopted['profile_id'], '--force')
    unknown_server = ('--identity', 'nothing', '--type', 'x-1.0')
    osc(
        'node', 'adopt', *unknown_server, code=1, contains='could not be found'
    )


def _members(osc: OpenStackCommand, profile: str, cluster: str) -> None:
    names = [unique('m') for _ in range(3)]
    for name in names:
        osc('node', 'create', name, '--profile', profile)
    for name in names:
        wait_for(
            'the node is active',
            lambda name=name: (
                osc.show('node', 'show', name)['status'] == 'ACTIVE'
            ),
        )
    first, second, third = names
    osc.run_actions('members', 'add', cluster, '--nodes', f'{first},{second}')
    osc.run_actions(
        'members', 'replace', cluster, '--nodes', f'{second}={third}'
    )
    listed = osc.show('node', 'list', '--cluster', cluster)
    assert {member['name'] for member in listed} & {*names} == {first, third}
    osc.run_actions('members', 'del', cluster, '--nodes', first, '-d', 'true')
    osc('node', 'show', first, code=1, contains='not found')
    osc.run_actions('node', 'delete', second, '--force')
    for code, text, *words in (
        (0, 'Nodes not found', 'add', cluster, '--nodes', 'nothing'),
        (0, 'Nodes not found', 'del', cluster, '--nodes', 'nothing'),
        (0, 'nodes not found', 'replace', cluster, '--nodes', 'nothing=no'),
        (1, 'Cannot find the given cluster', 'list', 'nothing'),
        (1, 'No Cluster found', 'add', 'nothing', '--nodes', third),
        (2, 'required: --nodes', 'add', cluster),
    ):
        osc('members', *words, code=code, contains=text)


def _policies(osc: OpenStackCommand, cluster: str) -> None:
    spec = osc.write_file('policy.yaml', SCALING)
    osc(
        'policy', 'validate', '--spec-file', spec, contains='CLUSTER_SCALE_OUT'
    )
    first, name = unique('osc'), unique('renamed')
    created = osc.show('policy', 'create', first, '--spec-file', spec)
    osc('policy', 'update', first, '--name', name)
    assert osc.show('policy', 'show', name)['id'] == created['id']
    (listed,) = osc.show('policy', 'list', '--filters', f'name={name}')
    assert listed['id'] == created['id'][:8]
    osc.run_actions('policy', 'attach', cluster, '--policy', name)
    (bound,) = osc.show('policy', 'binding', 'list', cluster)
    assert (bound['policy_name'], bound['is_enabled']) == (name, True)
    osc.run_actions(
        *('policy', 'binding', 'update', cluster),
        *('--policy', name, '--enabled', 'false'),
    )
    shown = osc.show('policy', 'binding', 'show', cluster, '--policy', name)
    assert shown['is_enabled'] is False
    osc('policy', 'delete', name, '--force', code=1, contains='still attached')
    osc.run_actions(
        *('policy', 'binding', 'update', cluster),
        *('--policy', name, '--enabled', 'true'),
    )
    osc.run_actions('expand', cluster)
    osc('expand', cluster, code=1, contains='cooldown')
    osc.run_actions('policy', 'detach', cluster, '--policy', name)
    osc('policy', 'delete', name, '--force', contains='Policy deleted')
    wrong = osc.write_file('wrong.yaml', {**SCALING, 'type': 'nothing'})
    binding = (cluster, '--policy', name)
    for code, text, *words in (
        (1, 'Policy not found', 'show', name),
        (1, 'Policy not found', 'update', name, '--name', 'x'),
        (1, 'could not be found', 'delete', name, '--force'),
        (1, NO_POLICY_TYPE, 'validate', '--spec-file', wrong),
        (1, NO_POLICY_TYPE, 'create', 'x', '--spec-file', wrong),
        (0, 'could not be found', 'attach', *binding),
        (0, 'could not be found', 'detach', *binding),
        (0, 'could not be found', 'binding', 'update', *binding, *ENABLED),
        (1, 'could not be found', 'binding', 'show', *binding),
        (1, 'could not be found', 'binding', 'list', 'nothing'),
    ):
        osc('policy', *words, code=code, contains=text)


def _receivers(osc: OpenStackCommand, cluster: str) -> None:
    first, name = unique('osc'), unique('renamed')
    target = ('--cluster', cluster, '--action', 'CLUSTER_SCALE_OUT')
    created = osc.show(
        'receiver', 'create', first, *target, '--params', 'count=1'
    )
    assert 'alarm_url' in json.loads(created['channel'])
    osc('receiver', 'update', first, '--name', name, '--params', 'count=2')
    shown = osc.show('receiver', 'show', name)
    assert json.loads(shown['params']) == {'count': '2'}
    (listed,) = osc.show('receiver', 'list', '--filters', f'name={name}')
    assert listed['id'] == created['id'][:8]
    inbox = unique('osc')
    created = osc.show('receiver', 'create', inbox, '--type', 'message')
    assert 'queue_name' in json.loads(created['channel'])
    printed = osc('receiver', 'delete', name, inbox, '--force')
    assert 'Receiver deleted' in printed
    for code, text, *words in (
        (1, 'Receiver not found', 'show', name),
        (1, 'Receiver not found', 'update', name, '--name', 'x'),
        (1, 'could not be found', 'delete', name, '--force'),
        (1, 'could not be found', 'create', 'x', *TO_NOTHING),
        (1, 'are required', 'create', 'x', '--cluster', cluster),
    ):
        osc('receiver', *words, code=code, contains=text)


def _history(osc: OpenStackCommand, cluster: str) -> None:
    full = osc.show('show', cluster)['id']
    listed = osc.show(
        *('action', 'list', '--filters', f'target={full}', '--full-id'),
    )
    assert {action['target_id'] for action in listed} == {full}
    first = listed[0]
    assert first['action'] == 'CLUSTER_CREATE'
    assert len(first['depends_on'].split('\n')) == 2
    shown = osc.show('action', 'show', first['id'])
    assert shown['status'] == 'SUCCEEDED'
    assert json.loads(shown['inputs'])['desired_capacity'] == 2
    ended = ('action', 'update', first['id'], '--status', 'CANCELLED')
    osc(*ended, code=1, contains='is in status (SUCCEEDED)')
    events = osc.show(
        *('event', 'list', '--filters', f'cluster_id={full}', '--full-id'),
    )
    assert {event['cluster_id'] for event in events} == {full}
    assert osc.show('event', 'show', events[0]['id']) == {
        **osc.show('event', 'show', events[0]['id']),
        'cluster_id': full,
        'action': 'CLUSTER_CREATE',
    }
    osc('action', 'show', 'nothing', code=1, contains='Action not found')
    osc('event', 'show', 'nothing', code=1, contains='Event not found')


def _end(osc: OpenStackCommand, profile: str, cluster: str) -> None:
    osc(
        'profile',
        'delete',
        profile,
        '--force',
        code=1,
        contains='referenced by',
    )
    osc.run_actions('delete', cluster, '--force')
    osc('show', cluster, code=1, contains='Cluster not found')
    osc('delete', cluster, '--force', contains='could not be found')
    osc('create', cluster, '--profile', profile)
    osc.run_actions('delete', cluster, '--force', '--force-delete')
    osc('profile', 'delete', profile, '--force', contains='Profile deleted')
    osc('profile', 'show', profile, code=1, contains='Profile not found')
