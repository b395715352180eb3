# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from engine.db import simulation as tables
from engine.profiles import base, heat_stack
from tests.unit.engine import asks, fleet
from vobjects.clustering import errors
from vobjects.clustering.requests import nodes

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


def stack_node(engine: fleet.Engine, **properties: Any) -> str:
    profile = asks.profile(engine, 'stacks', spec=spec(**properties))
    return asks.node(engine, profile_id=profile)


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
def test_spec_that_makes_no_stack_is_refused(
    bad: dict[str, Any], message: str
) -> None:
    with pytest.raises(errors.InvalidSpec, match=message):
        REGISTRY.check_spec(spec(**bad))


def test_template_can_be_a_url() -> None:
    url = 'http://example.com/t.yaml'
    assert REGISTRY.check_spec(spec(template=None, template_url=url))


def test_node_lives_as_a_stack(any_world: fleet.World) -> None:
    engine = any_world.engine()
    node = stack_node(engine, parameters={'size': 1})
    (row,) = any_world.rows(tables.Stack)
    shown = engine.ask(nodes.NodeGetRequest(identity=node, show_details=True))
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)
    assert shown.details['stack_status'] == 'CREATE_COMPLETE'
    assert shown.details['parameters'] == {'size': 1}
    assert f'cluster_node_id={node}' in row.properties['tags']

    asks.profile(engine, 'newer', spec=spec(parameters={'size': 2}))
    engine.ask(nodes.NodeUpdateRequest(identity=node, profile_id='newer'))
    engine.work()
    (row,) = any_world.rows(tables.Stack)
    assert row.properties['parameters'] == {'size': 2}

    engine.ask(nodes.NodeCheckRequest(identity=node))
    engine.work()
    assert asks.show_node(engine, node).status == 'ACTIVE'

    engine.ask(nodes.NodeDeleteRequest(identity=node))
    engine.work()
    assert any_world.rows(tables.Stack) == []
    any_world.assert_at_rest()


def test_lost_stack_is_noticed_and_made_anew(world: fleet.World) -> None:
    engine = world.engine()
    node = stack_node(engine)
    lost = asks.show_node(engine, node).physical_id
    world.cloud.stacks.delete(lost)
    engine.ask(nodes.NodeCheckRequest(identity=node))
    engine.work()
    shown = asks.show_node(engine, node)
    assert shown.status == 'ERROR'
    assert f'stack {lost} is gone' in shown.status_reason

    engine.ask(nodes.NodeRecoverRequest(identity=node))
    engine.work()
    shown = asks.show_node(engine, node)
    (row,) = world.rows(tables.Stack)
    assert (shown.status, shown.physical_id) == ('ACTIVE', row.id)


def test_recovery_that_stacks_have_not_says_which_there_is(
    world: fleet.World,
) -> None:
    engine = world.engine()
    node = stack_node(engine)
    engine.ask(nodes.NodeRecoverRequest(identity=node, operation='REBOOT'))
    engine.work()
    shown = asks.show_node(engine, node)
    assert shown.status == 'ERROR'
    assert 'use RECREATE' in shown.status_reason


def test_abandoned_stack_is_forgotten(world: fleet.World) -> None:
    engine = world.engine()
    node = stack_node(engine)
    engine.ask(nodes.NodeOperationRequest(identity=node, operation='abandon'))
    engine.work()
    assert world.statuses('NODE_OPERATION') == ['SUCCEEDED']
    assert world.rows(tables.Stack) == []


def test_stack_is_adopted_with_what_it_was_made_of(
    world: fleet.World,
) -> None:
    made = world.cloud.stacks.create(
        'by-hand',
        'mine',
        {
            'template': TEMPLATE,
            'parameters': {'a': 1, 'OS::stack_id': 'x'},
            'timeout': 7,
        },
    )
    request = nodes.NodeAdoptPreviewRequest(
        identity=made.id, type='os.heat.stack-1.0'
    )
    shown = world.engine().ask(request)
    assert shown.properties == {
        'template': TEMPLATE,
        'parameters': {'a': 1},
        'timeout': 7,
    }
    request.snapshot = True
    with pytest.raises(errors.BadRequest, match='no snapshot'):
        world.engine(name='two').ask(request)


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('web', 'web-12345678'),
        ('1st', 'node-1st-12345678'),
        ('x' * 300, 'x' * 246 + '-12345678'),
    ],
)
def test_stack_names_are_names_to_heat(name: str, expected: str) -> None:
    view = base.NodeView('12345678-90ab', name, None, {})
    assert heat_stack.stack_name(view) == expected
