# SPDX-License-Identifier: Apache-2.0
"""The contract of the service at every microversion."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import jsonschema_rs
import openapi_spec_validator
import pytest

from api import cli, conf, routes
from api.contract import contract
from vobjects.cli import main
from vobjects.clustering import history
from vobjects.clustering.history import POLICY
from vobjects_contract import history_check, openapi, registry

CONTRACT = contract()


def test_schemas_when_undeclared_are_listed():
    assert list(CONTRACT.undeclared()) == []


def test_contract_when_built_has_all_routes():
    discovery = [op for op in CONTRACT.operations if op.tag == 'discovery']

    assert len(CONTRACT.operations) - len(discovery) == len(routes.ROUTES)
    for route in routes.ROUTES:
        key = f' ({route.params.key})' if route.params.dispatch_on_key else ''
        name = f'{route.method} {route.path}{key}'
        since, last = CONTRACT.since(name)
        introduced = route.request.introduced() or CONTRACT.policy.minimum
        assert (since, last) == (introduced, None)


@pytest.mark.parametrize('version', CONTRACT.versions, ids=str)
def test_schemas_when_built_are_valid_and_closed(version):
    for name, shape in CONTRACT.at(version).items():
        for place, schema in registry.parts(shape):
            jsonschema_rs.meta.validate(schema)
            is_open = place.startswith('path.') or schema.get('title') in (
                'Error',
                'Version',
            )
            assert is_open or not schema['additionalProperties'], (name, place)


def test_route_when_it_starts_an_action_declares_location():
    shape = CONTRACT.at(CONTRACT.versions[0])['DELETE /v1/clusters/{identity}']

    assert shape.responses[202] is None
    assert shape.headers == {
        202: {'Location': {'type': 'string', 'format': 'uri'}}
    }
    assert not shape.body_required


def test_history_when_compared_has_every_change():
    assert list(history_check.problems(CONTRACT)) == []


@pytest.mark.parametrize('version', ['1.0', '1.7', str(history.MAXIMUM)])
def test_openapi_document_when_built_is_valid(version):
    at = next(v for v in CONTRACT.versions if str(v) == version)

    openapi_spec_validator.validate(openapi.document(CONTRACT, at))


def test_diff_when_run_prints_the_changes_of_a_version(capsys):
    assert cli.main(['diff', '1.6', '1.7']) == 0

    lines = capsys.readouterr().out.splitlines()
    assert '  additive  GET /v1/services is added' in lines
    assert '  additive  POST /v1/clusters: body.cluster.config is added' in (
        lines
    )


def test_openapi_document_when_fields_are_early_marks_them():
    early = {'min-ver': '1.7', 'early': True}

    document = openapi.document(CONTRACT, CONTRACT.versions[0])

    cluster = document['components']['schemas']['Cluster']['properties']
    assert cluster['config']['x-openstack'] == early
    services = document['paths']['/v1/services']['get']
    assert services['x-openstack'] == early
    later = openapi.document(CONTRACT, CONTRACT.policy.maximum)
    services = later['paths']['/v1/services']['get']
    assert services['x-openstack'] == {'min-ver': '1.7'}


def test_history_page_when_fields_are_early_marks_them():
    lines = history_check.page(CONTRACT).splitlines()

    marked = [line for line in lines if 'accepted at earlier versions' in line]
    assert any('``GET /v1/services``' in line for line in marked)
    assert any('``profile_only`` of the request' in line for line in marked)
    assert not any('/adopt' in line for line in marked)
    assert not any('tainted`` of the response' in line for line in marked)


def test_contract_when_versions_are_strict_accepts_documented_requests():
    strict = contract(dataclasses.replace(POLICY, accepts_early=False))

    assert strict.accepted is strict
    assert 'accepted at earlier versions' not in history_check.page(strict)


@pytest.fixture
def retiring(tmp_path: pathlib.Path) -> str:
    """Return a file that retires 1.0 to 1.2."""
    file = tmp_path / 'vobjects.conf'
    file.write_text(
        '[api]\nretire = 1.0-1.2 sunset=2030-01-01 successor=1.7\n'
    )
    return str(file)


@pytest.mark.parametrize('before', [True, False])
def test_openapi_document_when_a_version_retires_has_its_dates(
    retiring: str, before: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    config = ['--config-file', retiring]
    command = ['openapi', '1.2']

    assert (
        cli.main([*config, *command] if before else [*command, *config]) == 0
    )

    document = json.loads(capsys.readouterr().out)
    assert document['info']['x-openstack'] == {
        'min-ver': '1.0',
        'max-ver': str(history.MAXIMUM),
        'sunset': '2030-01-01T00:00:00+00:00',
        'successor': '1.7',
    }
    shown = document['paths']['/v1/clusters']['get']
    assert shown['deprecated']


def test_history_page_when_versions_retire_has_their_dates(
    retiring: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(['history', '--config-file', retiring]) == 0

    page = capsys.readouterr().out
    assert (
        page.count('may be removed from 2030-01-01 on, followed by 1.7') == 3
    )


def test_contract_when_the_configuration_names_it_comes_from_the_environment(
    retiring: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(conf.CONFIG_FILES, retiring)

    is_retired = {}
    for version in ('1.2', '1.3'):
        assert cli.main(['openapi', version]) == 0
        document = json.loads(capsys.readouterr().out)
        is_retired[version] = 'sunset' in document['info']['x-openstack']

    assert is_retired == {'1.2': True, '1.3': False}


def test_command_when_the_configuration_is_bad_names_the_line(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'vobjects.conf'
    file.write_text('[api]\nretire = 1.2\n')

    assert main.main(['api', 'openapi', '--config-file', str(file)]) == 2

    assert '[api] retire = 1.2: retire 1.2: needs a date' in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    'argv', [['diff', '1.6'], ['nope'], ['openapi', '--nope']]
)
def test_command_when_misspelled_is_rejected(argv, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)

    assert caught.value.code == 2
    assert 'usage: vobjects api' in capsys.readouterr().err
