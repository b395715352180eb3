# SPDX-License-Identifier: Apache-2.0
"""Checks of the microversion that doc/source/adding.rst adds.

:mod:`tests.functional.test_new_microversion` runs them in a changed copy of
the source. Elsewhere there is no 1.15, and pytest does not collect them.
"""

from __future__ import annotations

import json

import openapi_spec_validator
import pytest

from api import app, cli
from api.contract import contract
from tests.unit.api import client, conftest, fake_engine
from tests.unit.engine import engine_harness, request_helpers
from vobjects import exceptions, objects
from vobjects.clustering import history
from vobjects.clustering.requests import clusters
from vobjects.objects import manifest
from vobjects.versions import Maximum, Version

OLD, NEW = Version(1, 14), Version(1, 15)
CREATE = 'POST /v1/clusters'
CLUSTER = {'cluster': {'name': 'c1', 'profile_id': 'p1'}}
LOCKED = {'cluster': {**CLUSTER['cluster'], 'locked': True}}


@pytest.fixture
def api() -> client.ApiClient:
    fleet = fake_engine.FakeFleet()
    fleet.max_version = Maximum(history.MAXIMUM)
    application = app.build(
        conftest.make_conf(), fake_engine.FakeEngine(), fleet
    )
    return client.ApiClient(application)


def test_schema_follows() -> None:
    old, new = (
        contract().at(version)[CREATE].body['properties']['cluster']
        for version in (OLD, NEW)
    )
    assert 'locked' not in old['properties']
    assert new['properties']['locked']['type'] == ['boolean', 'null']


def test_discovery_and_validation_follow(api: client.ApiClient) -> None:
    shown = api('GET', '/v1').json['version']
    early = api('POST', '/v1/clusters', LOCKED, version='1.14')
    late = api('POST', '/v1/clusters', LOCKED, version='1.15')

    assert shown['max_version'] == '1.15'
    assert early.status == 400
    assert "'locked' needs API version 1.15 or later" in early.detail
    assert late.status == 202


def test_documents_follow(capsys: pytest.CaptureFixture[str]) -> None:
    def printed_by(*argv: str) -> str:
        assert cli.main(argv) == 0
        return capsys.readouterr().out

    document = json.loads(printed_by('openapi'))
    openapi_spec_validator.validate(document)
    assert document['info']['version'] == '1.15'
    assert f'{CREATE}: body.cluster.locked is added' in printed_by(
        'diff', '1.14', '1.15'
    )
    page = printed_by('history')
    assert '**1.15**\n\n    Added locked to clusters.' in page
    assert f'``locked`` of the request is added: ``{CREATE}``' in page


def test_request_to_an_older_engine_never_loses_the_field() -> None:
    older = {**manifest.local(), 'ClusterCreateRequest': '1.1'}
    plain, locked = (
        clusters.ClusterCreateRequest(**body['cluster'])
        for body in (CLUSTER, LOCKED)
    )
    primitive = plain.obj_to_primitive(version_manifest=older)

    assert primitive['versioned_object.version'] == '1.1'
    assert primitive['versioned_object.data'] == CLUSTER['cluster']
    with pytest.raises(exceptions.LossyDowngrade, match='locked'):
        locked.obj_to_primitive(version_manifest=older)


def test_cluster_shows_the_field_since_its_microversion(
    harness: engine_harness.Harness,
) -> None:
    engine = harness.engine()
    profile = request_helpers.create_profile(engine)
    values = {}
    for locked in (None, False, True):
        cluster_id = request_helpers.create_cluster(
            engine, 0, name=f'c-{locked}', profile_id=profile, locked=locked
        )
        cluster = request_helpers.get_cluster(engine, cluster_id)
        values[locked] = [
            objects.to_json(cluster, manifest.at_microversion(version)).get(
                'locked', 'absent'
            )
            for version in (OLD, NEW)
        ]
    assert values == {
        locked: ['absent', locked] for locked in (None, False, True)
    }
