# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.engine import fleet
from vobjects.clustering import errors
from vobjects.clustering.requests import policies

SPEC = {
    'type': 'senlin.policy.scaling',
    'version': 1.0,
    'properties': {'event': 'CLUSTER_SCALE_IN'},
}


@pytest.fixture
def engine(world: fleet.World) -> fleet.Engine:
    return world.engine()


def create(engine: fleet.Engine, name: str, context: Any = None) -> Any:
    request = policies.PolicyCreateRequest(name=name, spec=SPEC)
    return engine.ask(request, context)


def test_policy_is_created_renamed_and_deleted(engine: fleet.Engine) -> None:
    made = create(engine, 'one')
    assert made.type == 'senlin.policy.scaling-1.0'
    assert made.spec == SPEC
    renamed = engine.ask(
        policies.PolicyUpdateRequest(identity='one', name='two')
    )
    assert (renamed.id, renamed.name) == (made.id, 'two')
    with pytest.raises(errors.BadRequest, match='No property needs'):
        engine.ask(policies.PolicyUpdateRequest(identity='two', name='two'))
    shown = engine.ask(policies.PolicyGetRequest(identity=made.id[:8]))
    assert shown.updated_at is not None
    engine.ask(policies.PolicyDeleteRequest(identity='two'))
    with pytest.raises(errors.ResourceNotFound, match='The policy'):
        engine.ask(policies.PolicyGetRequest(identity='two'))


@pytest.mark.parametrize('description', ['', 'Scales.', 1])
def test_spec_may_have_a_description(
    engine: fleet.Engine, description: Any
) -> None:
    spec = {**SPEC, 'description': description}
    request = policies.PolicyCreateRequest(name='one', spec=spec)
    assert engine.ask(request).spec == spec


def test_description_that_is_no_text_is_rejected(engine: fleet.Engine) -> None:
    request = policies.PolicyValidateRequest(spec={**SPEC, 'description': []})
    with pytest.raises(
        errors.InvalidSpec, match=r'spec\.description: must be'
    ):
        engine.ask(request)


def test_validation_creates_nothing(engine: fleet.Engine) -> None:
    shown = engine.ask(policies.PolicyValidateRequest(spec=SPEC))
    assert (shown.id, shown.name) == (None, 'validated_policy')
    assert engine.ask(policies.PolicyListRequest()) == []
    with pytest.raises(errors.InvalidSpec):
        engine.ask(policies.PolicyValidateRequest(spec={'type': 'x'}))


def test_list_is_filtered_and_of_the_own_project(engine: fleet.Engine) -> None:
    for name in 'ba':
        create(engine, name)
    create(engine, 'c', fleet.caller('theirs'))

    def names(**more: Any) -> list[str]:
        request = policies.PolicyListRequest(**more)
        return [policy.name for policy in engine.ask(request)]

    assert names(sort='name') == ['a', 'b']
    assert names(name=['b']) == ['b']
    assert names(type=['senlin.policy.batch-1.0']) == []


def test_type_is_shown_with_its_schema(engine: fleet.Engine) -> None:
    request = policies.PolicyTypeGetRequest(
        identity='senlin.policy.scaling-1.0'
    )
    shown = engine.ask(request)
    assert shown.schema['event']['required'] is True
    assert shown.support_status['1.0'][0]['status'] == 'SUPPORTED'
    with pytest.raises(errors.ResourceNotFound, match='policy_type'):
        engine.ask(policies.PolicyTypeGetRequest(identity='nope-1.0'))
    names = engine.ask(policies.PolicyTypeListRequest())
    assert ('senlin.policy.health', '1.2') in [
        (one.name, one.version) for one in names
    ]
