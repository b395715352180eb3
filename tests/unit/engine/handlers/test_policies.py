# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from tests.unit.engine import engine_harness, request_helpers
from tests.unit.engine.engine_harness import Engine, Harness
from tests.unit.engine.policies import policy_helpers
from vobjects.clustering import errors
from vobjects.clustering.requests import policies

SPEC = {
    'type': 'senlin.policy.scaling',
    'version': 1.0,
    'properties': {'event': 'CLUSTER_SCALE_IN'},
}


def create(engine: Engine, name: str, context: Any = None) -> Any:
    request = policies.PolicyCreateRequest(name=name, spec=SPEC)
    return engine.call(request, context)


def test_policy_is_created_renamed_and_deleted(engine: Engine) -> None:
    policy = create(engine, 'one')
    assert policy.type == 'senlin.policy.scaling-1.0'
    assert policy.spec == SPEC
    renamed = engine.call(
        policies.PolicyUpdateRequest(identity='one', name='two')
    )
    assert (renamed.id, renamed.name) == (policy.id, 'two')
    with pytest.raises(errors.BadRequest, match='No property needs'):
        engine.call(policies.PolicyUpdateRequest(identity='two', name='two'))
    shown = engine.call(policies.PolicyGetRequest(identity=policy.id[:8]))
    assert shown.updated_at is not None
    engine.call(policies.PolicyDeleteRequest(identity='two'))
    with pytest.raises(errors.ResourceNotFound, match='The policy'):
        engine.call(policies.PolicyGetRequest(identity='two'))


@pytest.mark.parametrize('description', ['', 'Scales.', 1])
def test_spec_may_have_a_description(engine: Engine, description: Any) -> None:
    spec = {**SPEC, 'description': description}
    request = policies.PolicyCreateRequest(name='one', spec=spec)
    assert engine.call(request).spec == spec


def test_description_of_another_type_is_rejected(engine: Engine) -> None:
    request = policies.PolicyValidateRequest(spec={**SPEC, 'description': []})
    with pytest.raises(
        errors.InvalidSpec, match=r'spec\.description: must be'
    ):
        engine.call(request)


def test_validation_creates_nothing(engine: Engine) -> None:
    shown = engine.call(policies.PolicyValidateRequest(spec=SPEC))
    assert (shown.id, shown.name) == (None, 'validated_policy')
    assert engine.call(policies.PolicyListRequest()) == []
    with pytest.raises(errors.InvalidSpec):
        engine.call(policies.PolicyValidateRequest(spec={'type': 'x'}))


def test_list_is_filtered_within_own_project(engine: Engine) -> None:
    for name in 'ba':
        create(engine, name)
    create(engine, 'c', engine_harness.request_context('theirs'))

    def names(**more: Any) -> list[str]:
        request = policies.PolicyListRequest(**more)
        return [policy.name for policy in engine.call(request)]

    assert names(sort='name') == ['a', 'b']
    assert names(name=['b']) == ['b']
    assert names(type=['senlin.policy.batch-1.0']) == []


def test_type_is_shown_with_its_schema(engine: Engine) -> None:
    request = policies.PolicyTypeGetRequest(
        identity='senlin.policy.scaling-1.0'
    )
    shown = engine.call(request)
    assert shown.schema['event']['required'] is True
    assert shown.support_status['1.0'][0]['status'] == 'SUPPORTED'
    with pytest.raises(errors.ResourceNotFound, match='policy_type'):
        engine.call(policies.PolicyTypeGetRequest(identity='nope-1.0'))
    names = engine.call(policies.PolicyTypeListRequest())
    assert ('senlin.policy.health', '1.2') in [
        (policy_type.name, policy_type.version) for policy_type in names
    ]


def test_attach_beyond_the_quota_of_the_cluster_is_rejected(
    harness: Harness,
) -> None:
    harness.conf.set_override('max_policies_per_cluster', 1, 'engine')
    engine = harness.engine()
    request_helpers.create_cluster(engine, 0)
    for name in ('pol', 'more'):
        policy_helpers.create_policy(
            engine, 'scaling', name, event='CLUSTER_SCALE_IN'
        )
    assert policy_helpers.attach(engine).status == 'SUCCEEDED'
    with pytest.raises(errors.OverQuota, match='has 1 policies; it may have'):
        policy_helpers.attach(engine, 'more')
    assert policy_helpers.attach(engine).status == 'SUCCEEDED'


def test_type_list_shows_support_status_of_each_version(
    engine: Engine,
) -> None:
    rows = engine.call(policies.PolicyTypeListRequest())
    assert rows
    for row in rows:
        assert list(row.support_status) == [row.version]
