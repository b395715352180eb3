# SPDX-License-Identifier: Apache-2.0
"""Tests of the running service that schemathesis generates from OpenAPI.

schemathesis sends valid and invalid requests at three microversions. It fails
for a server error, an undocumented status, a response that does not match its
schema, or invalid data that is accepted.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from api.contract import contract
from tests import machine_speed
from tests.functional.deployments import Deployment, Platform, deployed
from tests.functional.rest import HEADER, NEWEST, SPEC
from tests.programs import run_program
from vobjects.versions import Version
from vobjects_contract import openapi

OLD = ['1.0', '1.7']

CHECKS = [
    'not_a_server_error',
    'status_code_conformance',
    'content_type_conformance',
    'response_headers_conformance',
    'response_schema_conformance',
    'negative_data_rejection',
]

#: Requests for each operation: enough for valid and invalid values of every
#: field; the three runs take less than 90 seconds.
EXAMPLES = 8

SETTINGS = {
    # On a busy machine, engines must not be considered dead (503).
    'fleet': {'heartbeat_interval': 20},
    # Generated requests have arbitrary sizes.
    'engine': {'max_nodes_per_cluster': 3},
}


@pytest.fixture(scope='module')
def deployment(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp('openapi')
    platform = Platform('embedded', 'sqlite')
    with deployed(platform, directory, SETTINGS) as running:
        running.start_engines(1)
        running.start_api()
        yield running


def create_resources(deployment: Deployment) -> dict[str, list[str]]:
    """Create a resource of each kind; return kind -> identities.

    Deletions use separate resources (``clusters!``).
    """
    with deployment.rest() as rest:
        profile = rest.create_profile()
        cluster = rest.create_cluster(profile, 1)
        return {
            'profiles': [profile],
            'clusters': [cluster],
            'nodes': [rest.nodes(cluster)[0]['id']],
            'actions': [rest.get('/v1/actions?limit=1')[0]['id']],
            'profile-types': ['os.nova.server-1.0'],
            'profiles!': [rest.create_profile()],
            'clusters!': [rest.create_cluster(profile, 0)],
        }


def restrict_identities(
    document: Any, resources: dict[str, list[str]]
) -> None:
    """Restrict identities in a document, so that most of them exist."""
    for path, methods in document['paths'].items():
        for method, operation in methods.items():
            kind = path.split('/')[2] if path.count('/') > 1 else ''
            mark = '!' if method == 'delete' else ''
            existing = resources.get(kind + mark)
            for parameter in operation['parameters']:
                if parameter.get('name') == 'identity' and existing:
                    parameter['schema'] = {'enum': [*existing, 'none']}
            _restrict(operation.get('requestBody'), resources)


def _restrict(schema: Any, identities: dict[str, list[str]]) -> None:
    if isinstance(schema, list):
        for item in schema:
            _restrict(item, identities)
    if not isinstance(schema, dict):
        return
    properties = schema.get('properties', {})
    if 'profile_id' in properties:
        properties['profile_id'] = {'enum': [*identities['profiles'], 'none']}
    if 'cluster_id' in properties:
        properties['cluster_id'] = {'enum': [*identities['clusters'], None]}
    if 'spec' in properties:
        properties['spec'] = {'enum': [SPEC, {}]}
    for value in schema.values():
        _restrict(value, identities)


@pytest.mark.parametrize(
    'version',
    [*(pytest.param(v, marks=pytest.mark.long) for v in OLD), NEWEST],
)
def test_service_conforms_to_its_openapi_document(
    deployment: Deployment, tmp_path: pathlib.Path, version: str
) -> None:
    document = openapi.document(contract(), Version.parse(version))
    restrict_identities(document, create_resources(deployment))
    path = tmp_path / 'openapi.json'
    path.write_text(json.dumps(document))

    result = run_program(
        [
            *(sys.executable, '-m', 'schemathesis.cli', '--no-color'),
            *('run', str(path), '--url', deployment.url),
            *('--header', f'{HEADER}: clustering {version}'),
            *('--checks', ','.join(CHECKS)),
            *('--phases', 'fuzzing', '--max-examples', str(EXAMPLES)),
            '--generation-deterministic',
            # A busy machine generates data slowly.
            *('--suppress-health-check', 'too_slow'),
            *('--continue-on-failure', '--warnings', 'off'),
        ],
        cwd=tmp_path,
        timeout=1000 * machine_speed.scale(),
    )

    assert result.returncode == 0, (
        result.stdout[-6000:] + result.stderr[-2000:]
    )
    operations = sum(len(methods) for methods in document['paths'].values())
    assert f'Tested: {operations}' in result.stdout, result.stdout[-3000:]
