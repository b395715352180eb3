# SPDX-License-Identifier: Apache-2.0
"""OpenAPI documents."""

import dataclasses
import json

import openapi_spec_validator
import pytest

from tests.unit.vobjects_contract import samples
from vobjects import exceptions
from vobjects.microversions import retirement
from vobjects.versions import Version
from vobjects_contract import openapi, type_schemas
from vobjects_contract.registry import Operation, OperationShape


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    samples.register_types(monkeypatch)


def document(minor, *operations):
    content = openapi.document(
        samples.contract(*operations), Version(1, minor)
    )
    return json.loads(json.dumps(content))


def action(key, since=0):
    """Return an operation that is one action of many."""

    def shape_at(version):
        if version.minor < since:
            return None
        return OperationShape(
            path={'id': {'type': 'string'}},
            query=type_schemas.closed({}),
            body=type_schemas.under_keys(key, content=type_schemas.closed({})),
            responses={202: None},
        )

    return Operation(
        'POST', '/v1/x/{id}/actions', shape_at, key=key, summary=f'Do {key}'
    )


@pytest.mark.parametrize('minor', range(6))
def test_document_is_valid_at_every_version(minor):
    openapi_spec_validator.validate(document(minor))


def test_document_has_the_operations_of_its_version():
    old, new = document(2), document(3)

    assert list(old['paths']) == ['/v1/things']
    assert list(new['paths']) == ['/v1/things', '/v1/things/{identity}']
    assert new['info']['version'] == '1.3'
    assert new['info']['x-openstack'] == {'min-ver': '1.0', 'max-ver': '1.5'}
    operation = new['paths']['/v1/things/{identity}']['get']
    assert operation['x-openstack'] == {'min-ver': '1.3'}
    assert operation['operationId'] == 'get_v1_things_identity'


def test_later_property_of_a_request_has_its_first_version():
    operation = document(3)['paths']['/v1/things']['post']
    body = operation['requestBody']['content']['application/json']['schema']
    properties = body['properties']['thing']['properties']

    assert properties['size']['x-openstack'] == {'min-ver': '1.2'}
    assert properties['deep']['x-openstack'] == {'min-ver': '1.3'}
    assert 'x-openstack' not in properties['name']


def test_later_property_of_a_response_has_its_first_version():
    with_size = type_schemas.closed({'id': {'type': 'string'}, 'size': {}})
    without_size = type_schemas.closed({'id': {'type': 'string'}})
    operation = samples.fixed(
        v1_0={'items': without_size}, v1_2={'items': with_size}
    )
    response = document(4, operation)['paths']['/v1/x']['get']['responses'][
        '200'
    ]

    items = response['content']['application/json']['schema']['items']
    assert items['properties'] == {
        'id': {'type': 'string'},
        'size': {'x-openstack': {'min-ver': '1.2'}},
    }


def test_type_is_a_component_that_responses_reference():
    content = document(3)
    responses = content['paths']['/v1/things']['post']['responses']
    body = responses['201']['content']['application/json']['schema']

    assert body['properties']['thing'] == {
        '$ref': '#/components/schemas/SampleThing'
    }
    component = content['components']['schemas']['SampleThing']
    assert list(component['properties']) == [
        'id',
        'note',
        'since',
        'size',
        'old',
    ]
    assert responses['400']['content']['application/json']['schema'] == {
        '$ref': '#/components/schemas/Error'
    }
    assert responses['201']['headers']['Location']['required']


@pytest.mark.parametrize(('minor', 'required'), [(0, False), (3, True)])
def test_header_parameter_requests_this_version(minor, required):
    header = document(minor)['components']['parameters']['Microversion']

    assert header['name'] == 'OpenStack-API-Version'
    assert header['required'] is required
    assert header['schema']['enum'] == [f'sample 1.{minor}']


def test_actions_of_a_path_are_one_operation():
    actions = (action('run'), action('stop', since=2))
    old, new = document(1, *actions), document(2, *actions)

    openapi_spec_validator.validate(new)
    path = '/v1/x/{id}/actions'
    first, second = (content['paths'][path]['post'] for content in (old, new))
    assert (
        first['operationId'] == second['operationId'] == 'post_v1_x_id_actions'
    )
    assert second['x-openstack'] == {
        'min-ver': '1.0',
        'discriminator': 'action',
    }
    bodies = second['requestBody']['content']['application/json']['schema']
    assert [body['x-openstack'] for body in bodies['oneOf']] == [
        {'min-ver': '1.0', 'action-name': 'run'},
        {'min-ver': '1.2', 'action-name': 'stop'},
    ]
    assert 'content' not in second['responses']['202']


def test_removed_operation_has_its_last_version():
    schema = {'type': 'object'}
    content = document(2, samples.fixed(v1_1=schema, v1_4=None))

    assert content['paths']['/v1/x']['get']['x-openstack'] == {
        'min-ver': '1.1',
        'max-ver': '1.3',
    }


def test_schemas_with_the_same_title_stay_separate():
    first, second = (
        {'type': 'object', 'title': 'Same', 'description': text}
        for text in 'ab'
    )
    content = document(
        0,
        samples.fixed('GET /v1/a', v1_0=first),
        samples.fixed('GET /v1/b', v1_0=second),
    )

    openapi_spec_validator.validate(content)
    schemas = [
        content['paths'][path]['get']['responses']['200']['content'][
            'application/json'
        ]['schema']
        for path in ('/v1/a', '/v1/b')
    ]
    assert schemas == [{'$ref': '#/components/schemas/Same'}, second]


def test_title_with_spaces_is_the_name_of_a_component_without_them():
    schema = {'type': 'object', 'title': 'A size (GiB)'}

    content = document(0, samples.fixed('GET /v1/a', v1_0=schema))

    openapi_spec_validator.validate(content)
    assert content['components']['schemas'] == {'A_size_GiB_': schema}


def test_unknown_version_is_rejected():
    with pytest.raises(exceptions.VobjectsError, match=r'1\.9'):
        document(9)


def test_retired_version_is_marked_with_its_end():
    end = retirement.retire(
        '1.0',
        '1.2',
        deprecated='2026-01-01',
        sunset='2027-06-30',
        successor='1.4',
    )
    policy = dataclasses.replace(samples.POLICY, retired=(end,))
    old, new = (
        openapi.document(samples.contract(policy=policy), Version(1, minor))
        for minor in (2, 3)
    )

    openapi_spec_validator.validate(old)
    assert old['info']['x-openstack'] == {
        'min-ver': '1.0',
        'max-ver': '1.5',
        'deprecated': '2026-01-01T00:00:00+00:00',
        'sunset': '2027-06-30T00:00:00+00:00',
        'successor': '1.4',
    }
    marks = {
        minor: {
            operation.get('deprecated', False)
            for path in document['paths'].values()
            for operation in path.values()
        }
        for minor, document in ((2, old), (3, new))
    }
    assert marks == {2: {True}, 3: {False}}
    assert 'sunset' not in new['info']['x-openstack']
