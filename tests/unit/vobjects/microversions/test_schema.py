# SPDX-License-Identifier: Apache-2.0
"""Schemas of request types by version."""

import json

import jsonschema
import pytest

from tests.unit.vobjects.microversions import samples
from vobjects import fields
from vobjects.microversions import schema
from vobjects.versions import Version


@pytest.mark.parametrize('version', ['1.0', '1.2', '1.8', '1.10', '1.12'])
def test_body_schema_is_closed_and_valid_draft_4(version):
    body_schema = schema.body_schema(
        samples.SampleCreateRequest, Version.parse(version), samples.BODY_NAMES
    )

    jsonschema.Draft4Validator.check_schema(body_schema)
    assert json.loads(json.dumps(body_schema)) == body_schema
    assert body_schema['additionalProperties'] is False
    assert body_schema['required'] == ['name', 'profile_id']
    assert 'identity' not in body_schema['properties']


@pytest.mark.parametrize('values', [['a', 'b'], ('a', 'b'), {'a', 'b'}])
@pytest.mark.parametrize(
    'field',
    [
        lambda values: fields.EnumField(valid_values=values),
        lambda values: fields.EnumField(valid_values=values, nullable=True),
        lambda values: fields.ListOfEnumField(valid_values=values),
    ],
)
def test_field_schema_of_an_enum_when_values_are_any_collection_is_valid(
    field, values
):
    result = schema.field_schema(field(values))

    jsonschema.Draft4Validator.check_schema(result)
    assert json.loads(json.dumps(result)) == result


def test_body_schema_follows_the_history():
    def names_at(version):
        body_schema = schema.body_schema(
            samples.SampleCreateRequest,
            Version.parse(version),
            samples.BODY_NAMES,
        )
        return body_schema['properties']

    assert not {'config', 'force', 'colour'} & names_at('1.0').keys()
    assert {'color', 'legacy'} <= names_at('1.8').keys()
    assert not {'color', 'legacy'} & names_at('1.10').keys()
    assert names_at('1.10')['size']['type'] == ['string', 'null']
    assert names_at('1.12')['size']['type'] == ['integer', 'null']


def test_body_schema_without_required_fields_omits_required():
    body_schema = schema.body_schema(
        samples.SampleLateRequest, Version(1, 9), ['name']
    )

    assert 'required' not in body_schema


def test_all_field_names_include_those_of_every_version():
    names = schema.all_field_names(samples.SampleCreateRequest)

    assert {'color', 'colour', 'legacy', 'force'} <= set(names)
    assert len(names) == len(set(names))
