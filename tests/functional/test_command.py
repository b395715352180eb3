# SPDX-License-Identifier: Apache-2.0
"""The `openstack cluster` commands, but those of test_clients."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from tests.functional.deployments import Deployment
from tests.functional.rest import SPEC, RestClient, unique

POLICY = {
    'type': 'senlin.policy.deletion',
    'version': '1.0',
    'properties': {'criteria': 'OLDEST_FIRST'},
}


class Command:
    """Runs `openstack cluster ...` with only the environment it needs."""

    def __init__(self, service: Deployment, home: pathlib.Path) -> None:
        self._script = pathlib.Path(sys.executable).with_name('openstack')
        self._url = service.url
        self._home = home

    def run(self, words: str, code: int = 0) -> str:
        """Return what a command prints that ends with a code."""
        done = subprocess.run(
            (str(self._script), 'cluster', *words.split()),
            env={
                'HOME': str(self._home),
                'PATH': os.environ['PATH'],
                'OS_AUTH_TYPE': 'none',
                'OS_ENDPOINT': self._url,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        said = f'{words}:\n{done.stdout}\n{done.stderr}'
        assert done.returncode == code, said
        return done.stdout

    def show(self, words: str) -> Any:
        """Return what a command prints as JSON."""
        return json.loads(self.run(f'{words} --format json'))

    def file(self, content: Any) -> str:
        """Return the path of a file; JSON is YAML."""
        path = self._home / f'{unique("file")}.json'
        path.write_text(json.dumps(content))
        return str(path)


@pytest.fixture
def command(service: Deployment, tmp_path: pathlib.Path) -> Command:
    """See :class:`Command`."""
    return Command(service, tmp_path)


def started(said: str) -> str:
    """Return the action that a command says it started."""
    text = said.replace("'", ' ').replace('"', ' ').replace('.', ' ')
    words = [word for word in text.split() if word.count('-') == 4]
    return words[-1].strip('{}:,')


def test_policy_commands(
    command: Command, rest: RestClient, profile: str
) -> None:
    name, cluster = unique('pol'), rest.create_cluster(profile, 2)
    file = command.file(POLICY)
    types = command.show('policy type list')
    assert 'senlin.policy.deletion' in {kind['name'] for kind in types}
    assert 'criteria' in command.run(
        'policy type show senlin.policy.deletion-1.0'
    )
    made = command.show(f'policy create --spec-file {file} {name}')
    assert made['type'] == 'senlin.policy.deletion-1.0'
    assert command.show(f'policy validate --spec-file {file}')['type']
    command.run(f'policy update --name {name}-2 {name}')
    name = f'{name}-2'
    assert command.show(f'policy show {name}')['id'] == made['id']
    assert name in {one['name'] for one in command.show('policy list')}

    attach = f'policy attach --policy {name} --enabled true {cluster}'
    rest.wait_for_success(started(command.run(attach)))
    (bound,) = command.show(f'policy binding list {cluster}')
    assert bound['policy_name'] == name
    shown = command.show(f'policy binding show --policy {name} {cluster}')
    assert shown['is_enabled'] in (True, 'True')
    change = f'policy binding update --policy {name} --enabled false {cluster}'
    rest.wait_for_success(started(command.run(change)))
    detach = f'policy detach --policy {name} {cluster}'
    rest.wait_for_success(started(command.run(detach)))
    command.run(f'policy delete --force {name}')
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))


def test_receiver_and_event_commands(
    command: Command, rest: RestClient, profile: str
) -> None:
    name, cluster = unique('rec'), rest.create_cluster(profile, 1)
    made = command.show(
        f'receiver create --type webhook --cluster {cluster}'
        f' --action CLUSTER_SCALE_OUT --params count=1 {name}'
    )
    assert 'alarm_url' in str(made['channel'])
    command.run(f'receiver update --name {name}-2 {name}')
    assert command.show(f'receiver show {name}-2')['id'] == made['id']
    listed = command.show('receiver list')
    assert f'{name}-2' in {one['name'] for one in listed}
    command.run(f'receiver delete --force {name}-2')
    events = command.show(
        f'event list --filters cluster_id={cluster} --full-id'
    )
    assert {event['action'] for event in events} == {'CLUSTER_CREATE'}
    shown = command.show(f'event show {events[0]["id"]}')
    assert shown['obj_id'] == cluster
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))


def test_member_and_operation_commands(
    command: Command, rest: RestClient, profile: str
) -> None:
    cluster = rest.create_cluster(profile, 1)
    (first,) = rest.get(f'/v1/clusters/{cluster}')['nodes']
    alone = []
    for _ in range(2):
        body = {'node': {'name': unique('n'), 'profile_id': profile}}
        answer = rest.expect(202, 'POST', '/v1/nodes', body)
        rest.wait_for_success(answer.headers['Location'].rpartition('/')[2])
        alone.append(answer.json()['node']['id'])

    def done(words: str) -> None:
        rest.wait_for_success(started(command.run(words)))

    done(f'members add --nodes {alone[0]} {cluster}')
    done(f'members replace --nodes {first}={alone[1]} {cluster}')
    assert rest.get(f'/v1/clusters/{cluster}')['nodes'] == alone
    done(f'members del --nodes {alone[0]} -d True {cluster}')
    done(f'check {cluster}')
    done(f'recover --check true {cluster}')
    done(f'expand --count 1 {cluster}')
    done(f'shrink --count 1 {cluster}')
    done(f'op --operation reboot --params type=SOFT {cluster}')
    # python-senlinclient 3.1 asks, and then fails to show the answer.
    operation = f'node op --operation reboot --params type=SOFT {first}'
    rest.wait_for_success(started(command.run(operation, code=1)))
    done(f'node check {first}')
    done(f'node recover --check true {first}')
    collected = command.show(f'collect --path name {cluster}')
    assert len(collected) == 1
    offered = command.run('profile type ops os.nova.server-1.0')
    assert 'reboot' in offered
    assert 'flavor' in command.run('profile type show os.nova.server-1.0')
    assert command.show('profile type list')
    assert command.show('build info')
    validate = f'profile validate --spec-file {command.file(SPEC)}'
    assert command.show(validate)['type'] == 'os.nova.server-1.0'
    done(f'node delete --force {first}')
    rest.wait_for_success(rest.delete(f'/v1/clusters/{cluster}'))
