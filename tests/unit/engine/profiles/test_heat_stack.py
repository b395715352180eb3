# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.profiles import base, heat_stack
from tests.unit.engine import request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes
from vobjects_simulated import tables

REGISTRY = base.Registry({'os.heat.stack-1.0': heat_stack.HeatStack()})

TEMPLATE = {
    'heat_template_version': '2018-08-31',
    'outputs': {'fixed_ip': {'value': '192.0.2.7'}},
}


def spec(**properties: Any) -> dict[str, Any]:
    return {
        'type': 'os.heat.stack',
        'version': '1.0',
        'properties': {'template': TEMPLATE, **properties},
    }


def stack_node(engine: Engine, **properties: Any) -> str:
    profile = request_helpers.create_profile(
        engine, 'stacks', spec=spec(**properties)
    )
    return request_helpers.create_node(engine, profile_id=profile)


@pytest.mark.parametrize(
    ('bad', 'message'),
    [
        ({'template': {}}, "needs 'template' or 'template_url'"),
        ({'template': 'x'}, "properties.template: must be a map, not 'x'"),
        ({'timeout': 0}, 'timeout: must be at least 1, not 0'),
        ({'timeout': 1441}, 'timeout: must be at most 1440, not 1441'),
        ({'tags': []}, 'properties.tags: unknown'),
    ],
)
def test_invalid_spec_is_rejected(bad: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(spec(**bad))


def test_template_can_be_a_url() -> None:
    url = 'http://example.com/t.yaml'
    assert REGISTRY.check_spec(spec(template=None, template_url=url))


def test_node_is_a_stack_from_creation_to_deletion(
    any_harness: Harness,
) -> None:
    engine = any_harness.engine()
    node = stack_node(engine, parameters={'size': 1})
    (row,) = any_harness.rows(tables.SimulatedStack)
    shown = engine.call(nodes.NodeGetRequest(identity=node, show_details=True))
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)
    assert shown.details['stack_status'] == 'CREATE_COMPLETE'
    assert shown.details['parameters'] == {'size': 1}
    assert f'cluster_node_id={node}' in row.properties['tags']

    request_helpers.create_profile(
        engine, 'newer', spec=spec(parameters={'size': True})
    )
    engine.run(nodes.NodeUpdateRequest(identity=node, profile_id='newer'))
    (row,) = any_harness.rows(tables.SimulatedStack)
    assert row.properties['parameters']['size'] is True

    engine.run(nodes.NodeCheckRequest(identity=node))
    assert request_helpers.get_node(engine, node).status == 'ACTIVE'

    engine.run(nodes.NodeDeleteRequest(identity=node))
    assert any_harness.rows(tables.SimulatedStack) == []
    any_harness.assert_idle()


def test_lost_stack_is_detected_and_recreated(
    harness: Harness, engine: Engine
) -> None:
    node = stack_node(engine)
    stack_id = request_helpers.get_node(engine, node).physical_id
    harness.cloud.stacks.delete(stack_id)
    engine.run(nodes.NodeCheckRequest(identity=node))
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    assert f'stack {stack_id} is gone' in shown.status_reason

    engine.run(nodes.NodeRecoverRequest(identity=node))
    shown = request_helpers.get_node(engine, node)
    (row,) = harness.rows(tables.SimulatedStack)
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)


def test_unsupported_recovery_names_the_supported_one(engine: Engine) -> None:
    node = stack_node(engine)
    engine.run(nodes.NodeRecoverRequest(identity=node, operation='REBOOT'))
    shown = request_helpers.get_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'use RECREATE' in shown.status_reason


def test_abandoned_stack_is_forgotten(harness: Harness) -> None:
    engine = harness.engine()
    node = stack_node(engine)
    engine.run(nodes.NodeOperationRequest(identity=node, operation='abandon'))
    assert harness.statuses('NODE_OPERATION') == ['SUCCEEDED']
    assert harness.rows(tables.SimulatedStack) == []


def test_stack_is_adopted_with_its_properties(harness: Harness) -> None:
    stack = harness.cloud.stacks.create(
        'by-hand',
        'mine',
        {
            'template': TEMPLATE,
            'parameters': {'a': 1, 'OS::stack_id': 'x'},
            'timeout': 7,
        },
    )
    request = nodes.NodeAdoptPreviewRequest(
        identity=stack.id, type='os.heat.stack-1.0'
    )
    shown = harness.engine().call(request)
    assert shown.properties == {
        'template': TEMPLATE,
        'parameters': {'a': 1},
        'timeout': 7,
    }
    request.snapshot = True
    with pytest.raises(errors.BadRequest, match='no snapshot'):
        harness.engine(name='two').call(request)


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('web', 'web-12345678'),
        ('1st', 'node-1st-12345678'),
        ('..', 'node-..-12345678'),
        ('-rf', 'node--rf-12345678'),
        ('a~b', 'a_b-12345678'),
        ('节点', 'node-__-12345678'),
        ('x' * 300, 'x' * 246 + '-12345678'),
    ],
)
def test_stack_name_is_valid_in_heat(name: str, expected: str) -> None:
    view = base.NodeView('12345678-90ab', name, None, {})
    assert heat_stack.stack_name(view) == expected


@pytest.mark.parametrize('outputs', [[1], 'x', 7, {'a': 1}, {'a': []}])
def test_stack_with_malformed_outputs_has_none(
    harness: Harness, outputs: object
) -> None:
    stacks = harness.cloud.stacks
    stack = stacks.create('key', 'x', {'template': {'outputs': outputs}})
    assert stacks.get(stack.id).outputs == {}
