# SPDX-License-Identifier: Apache-2.0
"""The contract of the service, whole at every microversion."""

from __future__ import annotations

import jsonschema_rs
import openapi_spec_validator
import pytest

from api import cli, routes
from api.contract import contract
from vobjects.contract import history, openapi, registry

CONTRACT = contract()


def test_no_route_lacks_a_schema_at_any_version():
    assert list(CONTRACT.undeclared()) == []


def test_every_route_is_in_the_contract():
    discovery = [one for one in CONTRACT.operations if one.tag == 'discovery']

    assert len(CONTRACT.operations) - len(discovery) == len(routes.ROUTES)
    for route in routes.ROUTES:
        key = f' ({route.given.key})' if route.given.selects else ''
        name = f'{route.method} {route.path}{key}'
        since, last = CONTRACT.since(name)
        introduced = route.request.introduced() or CONTRACT.policy.minimum
        assert (since, last) == (introduced, None)


@pytest.mark.parametrize('version', CONTRACT.versions, ids=str)
def test_schemas_are_valid_and_objects_closed(version):
    for name, shape in CONTRACT.at(version).items():
        for place, schema in registry.parts(shape):
            jsonschema_rs.meta.validate(schema)
            is_open = place.startswith('path.') or schema.get('title') in (
                'Error',
                'Version',
            )
            assert is_open or not schema['additionalProperties'], (name, place)


def test_route_that_starts_an_action_promises_where_it_is():
    shape = CONTRACT.at(CONTRACT.versions[0])['DELETE /v1/clusters/{identity}']

    assert shape.responses[202] is None
    assert shape.headers == {
        202: {'Location': {'type': 'string', 'format': 'uri'}}
    }
    assert not shape.body_required


def test_history_tells_every_change():
    assert list(history.problems(CONTRACT)) == []


@pytest.mark.parametrize('version', ['1.0', '1.7', '1.14'])
def test_openapi_document_is_valid(version):
    at = next(v for v in CONTRACT.versions if str(v) == version)

    openapi_spec_validator.validate(openapi.document(CONTRACT, at))


def test_command_prints_what_a_version_brought(capsys):
    assert cli.main(['diff', '1.6', '1.7']) == 0

    lines = capsys.readouterr().out.splitlines()
    assert '  additive  GET /v1/services is added' in lines
    assert '  additive  POST /v1/clusters: body.cluster.config is added' in (
        lines
    )


@pytest.mark.parametrize(
    'argv', [['diff', '1.6'], ['nope'], ['openapi', '--nope'], ['serve', 'x']]
)
def test_command_when_misspelled_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)

    assert caught.value.code == 2
    assert 'usage: vobjects api' in capsys.readouterr().err
