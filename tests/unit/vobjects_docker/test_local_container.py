# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import models
from engine.profiles import base
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Harness
from tests.unit.engine.policies import policy_helpers
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes
from vobjects_docker import local_container
from vobjects_simulated import tables

REGISTRY = base.Registry(
    {'container.docker.local-1.0': local_container.LocalContainer()}
)


def spec(**properties: Any) -> dict[str, Any]:
    return {
        'type': 'container.docker.local',
        'version': '1.0',
        'properties': {'image': 'nginx', **properties},
    }


@pytest.mark.parametrize(
    'properties',
    [
        {},
        {'image': 'registry.example:5000/team/app@sha256:0123'},
        {'environment': {'A_1': ''}, 'labels': {'org.example/tier': 'web'}},
        {'memory': '64', 'cpus': 0.5, 'name': 'web-1', 'command': "sh -c 'x'"},
    ],
)
def test_valid_spec_is_accepted(properties: dict[str, Any]) -> None:
    REGISTRY.check_spec(spec(**properties))


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ({'image': None}, r'image is required'),
        ({'image': 'x' * 256}, 'at most 255 characters'),
        ({'image': '../containers/a'}, r'image: must be the name'),
        ({'image': 'a/../b'}, r'image: must be the name'),
        ({'image': 'a b'}, r'image: must be the name'),
        ({'image': ''}, r'image: must be the name'),
        ({'name': '-x'}, r'name: must be two or more'),
        ({'command': 'x' * 4097}, 'at most 4096 characters'),
        ({'command': "sh -c '"}, 'No closing quotation'),
        ({'environment': {'A=B': 'x'}}, 'environment: names must match'),
        ({'environment': {'A': 1}}, r'environment\.A: must be a string'),
        ({'environment': {'A': 'a\0'}}, r'environment\.A: must be a string'),
        ({'environment': {'A': 'x' * 4097}}, r'at most 4096 characters'),
        (
            {'environment': {f'A{number}': '' for number in range(65)}},
            'at most 64 entries, not 65',
        ),
        ({'labels': {'x' * 256: ''}}, 'labels: names must match'),
        ({'labels': {'vobjects.node': 'x'}}, 'begin with vobjects'),
        ({'labels': {'VOBJECTS.node': 'x'}}, 'begin with vobjects'),
        ({'memory': 5}, 'memory: must be at least 6, not 5'),
        ({'memory': 10**30}, 'memory: must be an integer'),
        ({'cpus': 0}, r'cpus: must be at least 0\.01, not 0'),
        ({'cpus': 10**6}, 'cpus: must be at most 1024'),
        ({'host_node': 'n'}, 'host_node'),
        ({'volumes': ['/:/host']}, 'volumes'),
        ({'privileged': True}, 'privileged'),
    ],
)
def test_invalid_spec_is_rejected(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(spec(**bad))


@pytest.mark.parametrize(
    ('status', 'fails'),
    [('running', False), ('paused', False), ('exited', True), ('dead', True)],
)
def test_failure_of_a_container_depends_on_its_status(
    harness: Harness, status: str, fails: bool
) -> None:
    box = harness.cloud.containers.create('', 'key', 'n', {'image': 'nginx'})
    harness.change(tables.SimulatedContainer, box.id, status=status)
    profile_type = local_container.LocalContainer()
    view = base.NodeView('key', 'n', box.id, {})
    assert bool(profile_type.failure(harness.cloud, view)) == fails


@pytest.mark.parametrize('provider', ['simulated', 'openstack'])
def test_other_providers_do_not_accept_the_type(provider: str) -> None:
    accepted = base.Registry.load().for_provider(provider)
    assert 'os.nova.server' in [item.name for item in accepted.all()]
    assert 'container.docker.local' not in [
        item.name for item in accepted.all()
    ]
    with pytest.raises(errors.ResourceNotFound, match='Available types'):
        accepted.check_spec(spec())


def test_container_lifecycle(any_harness: Harness) -> None:
    # The simulated cloud in the place of a daemon.
    any_harness.conf.set_override('provider', 'docker', 'engine')
    engine = any_harness.engine()
    profile = request_helpers.create_profile(
        engine, 'box', spec=spec(labels={'tier': 'web'})
    )
    node = request_helpers.create_node(engine, name='n', profile_id=profile)
    (row,) = any_harness.rows(tables.SimulatedContainer)
    assert row.name == f'n-{node[:8]}'
    assert row.properties['host'] == ''
    assert row.properties['project'] == (
        any_harness.row(models.Node, node).project
    )

    def after(request: Any) -> str:
        engine.run(request)
        (row,) = any_harness.rows(tables.SimulatedContainer)
        return f'{row.status} {request_helpers.get_node(engine, node).status}'

    pause = nodes.NodeOperationRequest(identity=node, operation='pause')
    assert after(pause) == 'paused ACTIVE'
    assert after(nodes.NodeCheckRequest(identity=node)) == 'paused ERROR'
    assert after(nodes.NodeRecoverRequest(identity=node)) == 'running ACTIVE'
    engine.run(nodes.NodeDeleteRequest(identity=node))
    assert any_harness.rows(tables.SimulatedContainer) == []
    any_harness.assert_idle()


@pytest.mark.parametrize(
    ('policy', 'status'),
    [('health', 'SUCCEEDED'), ('zone_placement', 'FAILED')],
)
def test_policies_of_the_type_can_be_attached(
    harness: Harness, policy: str, status: str
) -> None:
    properties = {
        'health': {
            'detection': {
                'detection_modes': [{'type': 'NODE_STATUS_POLLING'}]
            },
            'recovery': {},
        },
        'zone_placement': {'zones': [{'name': 'nova'}]},
    }
    harness.conf.set_override('provider', 'docker', 'engine')
    engine = harness.engine()
    profile = request_helpers.create_profile(engine, 'box', spec=spec())
    request_helpers.create_cluster(engine, 1, profile_id=profile)
    version = '1.2' if policy == 'health' else '1.0'
    policy_helpers.create_policy(
        engine, policy, version=version, **properties[policy]
    )
    assert policy_helpers.attach(engine).status == status
