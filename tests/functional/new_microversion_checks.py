# SPDX-License-Identifier: Apache-2.0
"""Checks of the microversion that doc/source/adding.rst adds.

:mod:`tests.functional.test_new_microversion` runs them in a changed copy of
the source. Elsewhere there is no 1.15, and pytest does not collect them.
"""

from __future__ import annotations

import json
from typing import Any

import openapi_spec_validator
import pytest

from api import app, cli
from api.contract import contract
from tests.unit.api import client, conftest, fake_engine
from tests.unit.engine import engine_harness, request_helpers
from vobjects import exceptions
from vobjects.cli import main
from vobjects.clustering import errors, history
from vobjects.clustering.requests import clusters
from vobjects.objects import manifest
from vobjects.versions import Maximum, Version

OLD, NEW = Version(1, 14), Version(1, 15)
DELETE = 'DELETE /v1/clusters/{identity}'
CLUSTER = {'cluster': {'name': 'c1', 'profile_id': 'p1'}}


@pytest.fixture
def api() -> client.ApiClient:
    fleet = fake_engine.FakeFleet()
    fleet.max_version = Maximum(history.MAXIMUM)
    application = app.build(
        conftest.make_conf(), fake_engine.FakeEngine(), fleet
    )
    return client.ApiClient(application)


def test_schema_follows() -> None:
    old, new = (contract().at(v)[DELETE] for v in (OLD, NEW))
    for place in ('body', 'query'):
        assert 'only_empty' not in getattr(old, place)['properties']
        assert 'only_empty' in getattr(new, place)['properties']


def test_discovery_and_validation_follow(api: client.ApiClient) -> None:
    api('POST', '/v1/clusters', CLUSTER)
    body = {'only_empty': True}
    shown = api('GET', '/v1').json['version']
    early = api('DELETE', '/v1/clusters/c1', body, version='1.14')
    late = api('DELETE', '/v1/clusters/c1', body, version='1.15')

    assert shown['max_version'] == '1.15'
    assert early.status == 400
    assert "'only_empty' needs API version 1.15 or later" in early.detail
    assert late.status == 202


def test_documents_follow(capsys: pytest.CaptureFixture[str]) -> None:
    def printed_by(*argv: str) -> str:
        assert cli.main(argv) == 0
        return capsys.readouterr().out

    document = json.loads(printed_by('openapi'))
    openapi_spec_validator.validate(document)
    assert document['info']['version'] == '1.15'
    operation = document['paths']['/v1/clusters/{identity}']['delete']
    (parameter,) = (
        parameter
        for parameter in operation['parameters']
        if parameter.get('name') == 'only_empty'
    )
    assert parameter['x-openstack'] == {'min-ver': '1.15'}
    assert f'{DELETE}: body.only_empty is added' in printed_by(
        'diff', '1.14', '1.15'
    )
    page = printed_by('history')
    assert '**1.15**\n\n    Added only_empty to cluster delete.' in page
    assert f'``only_empty`` of the request is added: ``{DELETE}``' in page


def test_lock_agrees() -> None:
    assert main.main(['lock', 'check']) == 0


def test_older_engine_is_never_asked_what_it_cannot_do(
    harness: engine_harness.Harness,
) -> None:
    spoken: dict[str, Any] = {
        **manifest.local(),
        'ClusterDeleteRequest': '1.1',
    }
    harmless, harmful = (
        clusters.ClusterDeleteRequest(
            identity='c', force=False, only_empty=only_empty
        )
        for only_empty in (False, True)
    )
    primitive = harmless.obj_to_primitive(version_manifest=spoken)

    assert primitive['versioned_object.version'] == '1.1'
    assert primitive['versioned_object.data'] == {
        'identity': 'c',
        'force': False,
    }
    with pytest.raises(exceptions.LossyDowngrade, match='only_empty'):
        harmful.obj_to_primitive(version_manifest=spoken)


def test_behaviour_is_there(harness: engine_harness.Harness) -> None:
    engine = harness.engine()
    profile = request_helpers.create_profile(engine)
    full, empty = (
        request_helpers.create_cluster(
            engine, size, name=f'c{size}', profile_id=profile
        )
        for size in (1, 0)
    )

    def delete(identity: str) -> Any:
        return engine.call(
            clusters.ClusterDeleteRequest(
                identity=identity, force=False, only_empty=True
            )
        )

    with pytest.raises(errors.ResourceInUse, match=r'has 1 node'):
        delete(full)
    assert delete(empty).action
