# SPDX-License-Identifier: Apache-2.0
"""Names that are segments of a path or options of a command."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.api.client import ApiClient

SPEC = {'type': 'os.nova.server', 'version': '1.0', 'properties': {}}
POLICY = {
    'type': 'senlin.policy.deletion',
    'version': '1.0',
    'properties': {},
}

BODIES: dict[str, dict[str, Any]] = {
    'profile': {'spec': SPEC},
    'policy': {'spec': POLICY},
    'cluster': {'profile_id': 'p', 'desired_capacity': 0},
    'node': {'profile_id': 'p'},
    'receiver': {
        'type': 'webhook',
        'cluster_id': 'c',
        'action': 'CLUSTER_SCALE_OUT',
    },
}
PATHS = {kind: f'/v1/{kind}s' for kind in BODIES} | {'policy': '/v1/policies'}


@pytest.mark.parametrize('kind', BODIES)
@pytest.mark.parametrize('name', ['.', '..'])
@pytest.mark.parametrize('method', ['POST', 'PATCH'])
def test_name_when_it_changes_a_path_is_rejected(
    api: ApiClient, kind: str, name: str, method: str
) -> None:
    content = {'name': name}
    path = f'{PATHS[kind]}/x'
    if method == 'POST':
        content, path = {**BODIES[kind], **content}, PATHS[kind]
    response = api(method, path, {kind: content})
    assert response.status == 400
    assert 'name' in response.detail


@pytest.mark.parametrize('kind', BODIES)
@pytest.mark.parametrize(
    'name',
    ['...', '.a', '..a', 'a..', '-rf', '--', '~', '_', '节点', 'x' * 255],
)
def test_name_when_senlin_accepts_it_is_accepted(
    api: ApiClient, kind: str, name: str
) -> None:
    api('POST', '/v1/profiles', {'profile': {'name': 'p', 'spec': SPEC}})
    cluster = {'name': 'c', 'profile_id': 'p', 'desired_capacity': 0}
    api('POST', '/v1/clusters', {'cluster': cluster})
    response = api('POST', PATHS[kind], {kind: {**BODIES[kind], 'name': name}})
    assert response.status in (201, 202)
