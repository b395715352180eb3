# SPDX-License-Identifier: Apache-2.0
"""Objects inside the bodies of requests, at each microversion."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema
import pytest

from vobjects import fields, objects
from vobjects.controllers import request_parsing
from vobjects.microversions import errors, schema, version_policy
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.versions import Version
from vobjects_contract import type_schemas

GIVEN_UP = "the value 'ide' is no longer supported"

pytestmark = pytest.mark.usefixtures('registry')


def only(word: str) -> Callable[[str], str]:
    """Return a conversion that rejects every other word."""

    def convert(value: str) -> str:
        if value != word:
            raise ValueError(value)
        return value

    return convert


@pytest.fixture
def request_type() -> type[objects.Request]:
    """A request with disks in an object, a list and a dict."""

    @objects.register
    class Disk(objects.Object):
        VERSION = '1.4'
        VERSION_MAP = {'1.1': '1.1', '1.2': '1.2', '1.3': '1.3', '1.4': '1.4'}
        fields = {
            'gigabytes': renamed(
                '1.2', 'size', fields.NonNegativeIntegerField()
            ),
            'encrypted': added('1.1', fields.BooleanField(default=False)),
            'bus': changed(
                '1.3',
                fields.EnumField(['ide', 'scsi'], nullable=True),
                fields.EnumField(['scsi', 'virtio'], nullable=True),
                up=only('scsi'),
                down=only('scsi'),
            ),
            'cache': removed('1.4', fields.StringField(nullable=True)),
        }

    @objects.register
    class Label(objects.Object):
        VERSION_MAP = {'1.2': '1.0'}
        fields = {'text': fields.StringField()}

    @objects.register
    class BootRequest(objects.Request):
        fields = {
            'name': fields.StringField(),
            'root': fields.ObjectField('Disk', nullable=True),
            'disks': fields.ListOfObjectsField('Disk', default=[]),
            'by_name': fields.Field(
                fields.Dict(fields.Object('Disk')), nullable=True
            ),
            'label': fields.ObjectField('Label', nullable=True),
        }

    return BootRequest


def parse(
    cls: type[objects.Request], microversion: str, body: Mapping[str, Any]
) -> Any:
    return request_parsing.parse_body(
        cls,
        {version_policy.MICROVERSION: Version.parse(microversion)},
        json.dumps({'name': 'n', **body}).encode(),
    )


def problem(
    cls: type[objects.Request], microversion: str, body: Mapping[str, Any]
) -> str:
    with pytest.raises(errors.ValidationError) as caught:
        parse(cls, microversion, body)
    assert caught.value.status == 400
    return caught.value.detail


def test_objects_when_in_a_list_or_dict_are_read(
    request_type: type[objects.Request],
) -> None:
    disk = {'gigabytes': 5, 'encrypted': True}

    request = parse(
        request_type,
        '1.4',
        {'root': disk, 'disks': [disk, disk], 'by_name': {'a': disk}},
    )

    for read in (request.root, *request.disks, request.by_name['a']):
        assert (read.gigabytes, read.encrypted) == (5, True)


def test_object_of_an_old_client_is_converted_with_defaults(
    request_type: type[objects.Request],
) -> None:
    request = parse(
        request_type, '1.0', {'disks': [{'size': 5, 'bus': 'scsi'}]}
    )

    (disk,) = request.disks
    assert disk.VERSION == '1.4'
    assert (disk.gigabytes, disk.encrypted, disk.bus) == (5, False, 'scsi')


def test_object_when_null_stays_null(
    request_type: type[objects.Request],
) -> None:
    assert parse(request_type, '1.4', {'root': None}).root is None
    assert parse(request_type, '1.4', {}).disks == []


@pytest.mark.parametrize(
    ('microversion', 'body', 'expected'),
    [
        (
            '1.0',
            {'disks': [{'size': 1}, {'size': 1, 'encrypted': True}]},
            "body.disks[1].encrypted: 'encrypted' needs API version 1.1",
        ),
        ('1.2', {'root': {'size': 1}}, 'body.root.size: '),
        ('1.2', {'root': {'size': 1}}, "where it is called 'gigabytes'"),
        (
            '1.2',
            {'by_name': {'a': {'gigabytes': -1}}},
            'body.by_name.a.gigabytes: must be at least 0',
        ),
        ('1.2', {'root': {}}, "body.root: 'gigabytes' is required"),
        (
            '1.3',
            {'root': {'gigabytes': 1, 'bus': 'ide'}},
            "'ide' was removed in API version 1.3",
        ),
        (
            '1.4',
            {'root': {'gigabytes': 1, 'cache': 'x'}},
            'was removed in API version 1.4',
        ),
        ('1.4', {'root': {'gigabyte': 1}}, "did you mean 'gigabytes'"),
        ('1.4', {'root': 'x'}, 'body.root: must be a JSON object'),
        ('1.4', {'disks': {}}, 'body.disks: must be a list'),
        ('1.4', {'disks': [None]}, 'body.disks[0]: must be a JSON object'),
        (
            '1.1',
            {'label': {'text': 'x'}},
            'body.label: Label needs API version 1.2',
        ),
        # The newest version cannot hold the value.
        (
            '1.0',
            {'root': {'size': 1, 'bus': 'ide'}},
            f'body.root.bus: {GIVEN_UP}',
        ),
        (
            '1.0',
            {'disks': [{'size': 1}, {'size': 1, 'bus': 'ide'}]},
            f'body.disks[1].bus: {GIVEN_UP}',
        ),
        (
            '1.2',
            {'by_name': {'a b': {'gigabytes': 1, 'bus': 'ide'}}},
            f"body.by_name['a b'].bus: {GIVEN_UP}",
        ),
        (
            '1.4',
            {
                'root': {
                    'versioned_object.name': 'Disk',
                    'versioned_object.data': {'gigabytes': 1},
                }
            },
            'versioned_object.name',
        ),
    ],
)
def test_object_when_invalid_error_names_its_place_and_version(
    request_type: type[objects.Request],
    microversion: str,
    body: Mapping[str, Any],
    expected: str,
) -> None:
    assert expected in problem(request_type, microversion, body)


def test_object_with_a_dropped_field_error_names_path_and_version() -> None:
    @objects.register
    class Port(objects.Object):
        VERSION = '1.2'
        VERSION_MAP = {'1.3': '1.1', '1.4': '1.2'}
        fields = {
            'name': fields.StringField(),
            'mac': removed(
                '1.1', fields.StringField(nullable=True), dropped='1.2'
            ),
        }

    @objects.register
    class Card(objects.Object):
        fields = {'ports': fields.ListOfObjectsField('Port')}

    @objects.register
    class PlugRequest(objects.Request):
        fields = {
            'name': fields.StringField(),
            'card': fields.ObjectField('Card'),
        }

    detail = problem(
        PlugRequest, '1.2', {'card': {'ports': [{'name': 'p', 'mac': '1'}]}}
    )

    assert detail == (
        "body.card.ports[0].mac: the value '1' is no longer supported; this"
        " request asked for 1.2, and 'mac' was removed in API version 1.3."
    )


def test_query_with_a_value_that_was_given_up_error_names_the_query() -> None:
    @objects.register
    class ShowRequest(objects.Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.3': '1.1'}
        fields = {
            'size': changed(
                '1.1',
                fields.EnumField(['s', 'm']),
                fields.EnumField(['m']),
                up=only('m'),
                down=only('m'),
            )
        }

    with pytest.raises(errors.ValidationError) as caught:
        request_parsing.parse_query(
            ShowRequest,
            {version_policy.MICROVERSION: Version(1, 2)},
            'size=s',
        )

    assert caught.value.path == 'query.size'


@pytest.mark.parametrize(
    ('microversion', 'names'),
    [
        ('1.0', {'size', 'bus', 'cache'}),
        ('1.2', {'gigabytes', 'encrypted', 'bus', 'cache'}),
        ('1.4', {'gigabytes', 'encrypted', 'bus'}),
    ],
)
def test_schema_has_the_objects_of_the_microversion(
    request_type: type[objects.Request], microversion: str, names: set[str]
) -> None:
    version = Version.parse(microversion)
    known = schema.all_field_names(request_type)

    document = type_schemas.request_part(request_type, version, known)

    assert document is not None
    jsonschema.Draft202012Validator.check_schema(document)
    properties = document['properties']
    disk = properties['disks']['items']
    assert disk['properties'].keys() == names
    assert disk['additionalProperties'] is False
    assert properties['root'] == {**disk, 'type': ['object', 'null']}
    assert properties['by_name']['additionalProperties'] == disk
    assert ('label' in properties) == (version >= Version(1, 2))


def test_object_when_its_type_contains_itself_is_read_at_each_level() -> None:
    @objects.register
    class Node(objects.Object):
        fields = {
            'name': fields.StringField(),
            'children': fields.ListOfObjectsField('Node', default=[]),
        }

    @objects.register
    class TreeRequest(objects.Request):
        fields = {
            'name': fields.StringField(),
            'top': fields.ObjectField('Node'),
        }

    leaf = {'name': 'leaf', 'children': []}
    request = parse(
        TreeRequest, '1.0', {'top': {'name': 'top', 'children': [leaf]}}
    )
    detail = problem(
        TreeRequest,
        '1.0',
        {'top': {'name': 'top', 'children': [{**leaf, 'size': 1}]}},
    )
    document = type_schemas.request_part(
        TreeRequest, Version(1, 0), ['name', 'top']
    )

    assert request.top.children[0].name == 'leaf'
    assert 'body.top.children[0].size: unknown' in detail
    assert document is not None
    top = document['properties']['top']
    assert top['properties']['children']['items'] == {
        'type': 'object',
        'maxProperties': 10_000,
    }
