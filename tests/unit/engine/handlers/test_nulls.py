# SPDX-License-Identifier: Apache-2.0
"""Null, and ``profile_only`` alone, in the fields of an update."""

from __future__ import annotations

from typing import Any

import pytest

from api import routes
from tests.unit.api.client import ApiClient
from tests.unit.engine import (
    engine_harness,
    in_process_api,
    request_helpers,
)
from tests.unit.engine.conftest import Prepare
from tests.unit.engine.engine_harness import Engine, Harness

#: Marks a field that an update leaves unchanged.
KEPT = object()

#: Resource, field, value, status as in Senlin, and the field afterwards.
UPDATES: list[tuple[str, str, Any, int, Any]] = [
    ('cluster', 'name', None, 202, KEPT),
    ('cluster', 'metadata', None, 202, KEPT),
    ('cluster', 'timeout', None, 202, KEPT),
    ('cluster', 'config', None, 202, KEPT),
    ('cluster', 'profile_id', None, 400, KEPT),
    ('cluster', 'profile_only', None, 202, None),
    ('cluster', 'profile_only', False, 202, None),
    ('cluster', 'profile_only', True, 202, None),
    ('node', 'name', None, 400, KEPT),
    ('node', 'profile_id', None, 400, KEPT),
    ('node', 'role', None, 202, ''),
    ('node', 'metadata', None, 202, {}),
    ('node', 'tainted', None, 202, False),
    ('profile', 'name', None, 400, KEPT),
    ('profile', 'metadata', None, 200, {}),
    ('receiver', 'name', None, 400, KEPT),
    ('receiver', 'action', None, 400, KEPT),
    ('receiver', 'params', None, 400, KEPT),
]

#: Values that differ from those of a new resource.
GIVEN: dict[str, dict[str, Any]] = {
    'cluster': {
        'profile_id': 'p',
        'metadata': {'a': 1},
        'timeout': 7,
        'config': {'a': 1},
    },
    'node': {'profile_id': 'p', 'metadata': {'a': 1}, 'role': 'master'},
    'profile': {'spec': engine_harness.SPEC, 'metadata': {'a': 1}},
    'receiver': {
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_RESIZE',
        'params': {'number': 1},
    },
}


def write_cluster(harness: Harness) -> None:
    engine = harness.engine()
    request_helpers.create_profile(engine)
    request_helpers.create_cluster(engine, 0, profile_id='p')


@pytest.fixture
def engine(harness: Harness, prepare: Prepare) -> Engine:
    prepare(harness, write_cluster)
    return harness.engine()


@pytest.fixture
def api(engine: Engine) -> ApiClient:
    return in_process_api.connect(in_process_api.EngineClient(engine))


@pytest.mark.parametrize('is_given', [True, False], ids=['given', 'new'])
@pytest.mark.parametrize(
    ('kind', 'field', 'value', 'status', 'expected'), UPDATES
)
def test_update_answers_as_senlin_does(
    api: ApiClient,
    engine: Engine,
    kind: str,
    field: str,
    value: Any,
    status: int,
    expected: Any,
    is_given: bool,
) -> None:
    path = f'/v1/{kind}s'
    body = {'name': 'x', **GIVEN[kind]}
    if not is_given:
        for optional in ('metadata', 'timeout', 'config', 'role', 'params'):
            body.pop(optional, None)
    if kind == 'receiver':
        body.setdefault('params', {'number': 1})
    created = api('POST', path, {kind: body}, version='1.14').json[kind]
    engine.run_actions()
    path = f'{path}/{created["id"]}'
    before = api('GET', path, version='1.14').json[kind]
    response = api('PATCH', path, {kind: {field: value}}, version='1.14')
    assert response.status == status
    if status == 400:
        assert 'No property needs an update.' in response.content.decode()
    engine.run_actions()
    after = api('GET', path, version='1.14').json[kind]
    if expected is KEPT:
        expected = before[field]
    assert after.get(field) == expected or after.get(field) is expected
    assert after.get('status') == before.get('status')


@pytest.mark.parametrize('kind', ['cluster', 'node', 'profile'])
def test_update_from_one_to_true_is_a_change(
    api: ApiClient, engine: Engine, kind: str
) -> None:
    path = f'/v1/{kind}s'
    body = {'name': 'x', **GIVEN[kind], 'metadata': {'a': 1, 'b': [0]}}
    created = api('POST', path, {kind: body}, version='1.14').json[kind]
    engine.run_actions()
    path = f'{path}/{created["id"]}'
    for value in ({'a': True, 'b': [0]}, {'a': True, 'b': [False]}):
        body = {kind: {'metadata': value}}
        response = api('PATCH', path, body, version='1.14')
        assert response.status in (200, 202)
        engine.run_actions()
        after = api('GET', path, version='1.14').json[kind]
        assert repr(after['metadata']) == repr(value)


def test_table_has_all_nullable_fields_of_updates() -> None:
    kinds = {row[0] for row in UPDATES}
    nullable = {
        (route.params.key, name)
        for route in routes.ROUTES
        if route.method == routes.PATCH and route.params.key in kinds
        for name in route.client_fields()
        if route.request.fields[name].nullable
    }
    assert {row[:2] for row in UPDATES} == nullable
