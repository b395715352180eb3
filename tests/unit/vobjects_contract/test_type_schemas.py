# SPDX-License-Identifier: Apache-2.0
"""Schemas derived from types."""

import jsonschema
import pytest

from tests.unit.vobjects_contract import samples
from vobjects import fields, objects
from vobjects.versions import Version
from vobjects_contract import type_schemas

UUID = '6f3b3bd6-d1ef-4b6b-9d4b-7b1f0e0f4c8e'


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    samples.register_types(monkeypatch)


def accepts(schema, value):
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ('minor', 'resource', 'expected'),
    [
        (1, {'id': UUID}, True),
        (1, {'id': UUID, 'old': None, 'note': 'x'}, True),
        (1, {}, False),
        (1, {'id': UUID, 'size': 1}, False),
        (2, {'id': UUID, 'size': 1, 'old': 'x'}, True),
        (2, {'id': UUID}, False),
        (2, {'id': UUID, 'size': None}, False),
        (4, {'id': UUID, 'size': 1}, True),
        (4, {'id': UUID, 'size': 1, 'old': 'x'}, False),
    ],
)
def test_resource_has_the_fields_of_its_microversion(
    minor, resource, expected
):
    schema = type_schemas.resource(samples.SampleThing, Version(1, minor))

    assert accepts(schema, resource) is expected
    assert (schema['title'], schema['description']) == (
        'SampleThing',
        'A thing',
    )


def test_resource_inside_another_is_at_the_same_microversion():
    resource = {'id': UUID, 'old': None}
    box = {
        'only': resource,
        'things': [resource],
        'first': None,
        'by_name': None,
    }
    old, new = (
        type_schemas.resource(samples.SampleBox, Version(1, minor))
        for minor in (0, 4)
    )

    assert accepts(old, box)
    assert accepts(old, {**box, 'first': resource, 'by_name': {'a': 1}})
    assert not accepts(old, {**box, 'by_name': {'a': 'x'}})
    assert not accepts(new, box)
    assert accepts(new, {'only': {'id': UUID, 'size': 1}, 'things': []})


@pytest.mark.usefixtures('registry')
def test_resource_before_the_type_of_a_nullable_field_accepts_any_value():
    @objects.register
    class Label(objects.Resource):
        VERSION_MAP = {'1.2': '1.0'}
        fields = {'text': fields.StringField()}

    @objects.register
    class Folder(objects.Resource):
        fields = {'label': fields.ObjectField('Label', nullable=True)}

    schema = type_schemas.resource(Folder, Version(1, 1))

    assert schema['properties'] == {'label': {}}


@pytest.mark.usefixtures('registry')
def test_resource_when_it_contains_itself_has_a_finite_schema():
    @objects.register
    class Folder(objects.Resource):
        """A folder of folders."""

        fields = {
            'parent': fields.ObjectField('Folder', nullable=True),
            'folders': fields.ListOfObjectsField('Folder'),
        }

    schema = type_schemas.resource(Folder, Version(1, 0))

    jsonschema.Draft202012Validator.check_schema(schema)
    inner = {'type': 'object', 'description': 'A folder of folders'}
    assert schema['properties']['folders'] == {'type': 'array', 'items': inner}
    parent = schema['properties']['parent']
    assert parent == {**inner, 'type': ['object', 'null']}


def test_request_part_has_the_fields_of_its_microversion():
    old, new = (
        type_schemas.request_part(
            samples.SampleMakeRequest, Version(1, m), samples.NAMES
        )
        for m in (1, 3)
    )

    assert list(old['properties']) == ['name', 'count', 'mode']
    assert list(new['properties']) == list(samples.NAMES)
    assert old['required'] == ['name']
    assert accepts(old, {'name': 'x', 'mode': None})
    assert not accepts(old, {'name': 'x', 'size': 1})


def test_type_before_its_microversion_has_no_schema():
    early = Version(1, 2)

    assert (
        type_schemas.request_part(samples.SampleLookRequest, early, ()) is None
    )
    assert type_schemas.query(samples.SampleLookRequest, early, ()) is None


def test_query_has_no_null():
    schema = type_schemas.query(
        samples.SampleMakeRequest, Version(1, 0), samples.NAMES
    )

    assert schema['properties']['mode'] == {
        'type': 'string',
        'enum': ['hot', 'cold'],
    }
    assert schema['properties']['count']['type'] == ['integer', 'string']


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ({'type': ['string'], 'readonly': False}, {'type': 'string'}),
        (
            {'minimum': 1, 'exclusiveMinimum': True},
            {'exclusiveMinimum': 1},
        ),
        ({'maximum': 1, 'exclusiveMaximum': False}, {'maximum': 1}),
        (
            {'$schema': 'x', 'items': {'id': 'y', 'enum': ('a',)}},
            {'items': {'enum': ['a']}},
        ),
        (
            {'anyOf': [{'type': ['null']}], 'additionalProperties': False},
            {'anyOf': [{'type': 'null'}], 'additionalProperties': False},
        ),
        (
            {'items': [{'id': 'y'}, True], 'additionalItems': {'id': 'y'}},
            {'prefixItems': [{}, True], 'items': {}},
        ),
        (
            {'properties': {'id': {'readonly': True}}},
            {'properties': {'id': {}}},
        ),
    ],
)
def test_modern_converts_to_the_newer_dialect(old, new):
    assert type_schemas.to_2020_12(old) == new
