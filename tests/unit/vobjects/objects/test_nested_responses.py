# SPDX-License-Identifier: Apache-2.0
"""Nested objects in responses have the fields of the client's microversion."""

from __future__ import annotations

from typing import Any

import pytest
from oslo_versionedobjects import fields as ovo_fields

from vobjects import (
    Object,
    Resource,
    added,
    changed,
    fields,
    register,
    removed,
    renamed,
    to_json,
    to_json_list,
)
from vobjects.objects.manifest import at_microversion
from vobjects.rpc import serializer
from vobjects.versions import Version

pytestmark = pytest.mark.usefixtures('registry')


class Disk(Object):
    VERSION = '1.4'
    VERSION_MAP = {f'1.{minor + 1}': f'1.{minor}' for minor in range(1, 5)}
    REFUSE_LOSS = False
    fields = {
        'size_gb': renamed('1.1', 'size', fields.IntegerField()),
        'kind': added('1.2', fields.StringField(nullable=True)),
        'speed': changed(
            '1.3',
            fields.StringField(),
            fields.IntegerField(),
            up=int,
            down=str,
        ),
        'legacy': removed('1.4', fields.StringField(nullable=True)),
    }


class DictOfDisksField(ovo_fields.AutoTypedField):
    AUTO_TYPE = ovo_fields.Dict(ovo_fields.Object('Disk'))


class Box(Resource):
    fields = {
        'disk': fields.ObjectField('Disk', nullable=True),
        'disks': fields.ListOfObjectsField('Disk'),
        'by_name': DictOfDisksField(),
    }


#: Microversion -> a disk as its clients know it.
DISKS = {
    '1.1': {'size': 7, 'speed': '3', 'legacy': 'l'},
    '1.2': {'size_gb': 7, 'speed': '3', 'legacy': 'l'},
    '1.3': {'size_gb': 7, 'speed': '3', 'legacy': 'l', 'kind': 'k'},
    '1.4': {'size_gb': 7, 'speed': 3, 'legacy': 'l', 'kind': 'k'},
    '1.5': {'size_gb': 7, 'speed': 3, 'kind': 'k'},
}


def new_disk() -> Any:
    return Disk(size_gb=7, kind='k', speed=3, legacy='l')


@pytest.fixture
def box(registry: None) -> Any:
    for cls in (Disk, Box):
        register(cls)
    return Box(
        disk=new_disk(),
        disks=[new_disk(), new_disk()],
        by_name={'a': new_disk()},
    )


@pytest.mark.parametrize('microversion', DISKS)
def test_nested_objects_have_the_fields_of_the_microversion(
    box: Any, microversion: str
) -> None:
    versions = at_microversion(Version.parse(microversion))
    disk = DISKS[microversion]
    expected = {'disk': disk, 'disks': [disk, disk], 'by_name': {'a': disk}}

    assert to_json(box, versions) == expected
    assert to_json_list([box, box], versions) == [expected, expected]


@pytest.mark.parametrize('microversion', DISKS)
def test_response_from_a_server_has_the_same_nested_objects(
    box: Any, microversion: str
) -> None:
    """The API reads a response of the newest server, also in lists."""
    versions = at_microversion(Version.parse(microversion))
    received = serializer.from_wire(serializer.to_wire([box, box], None))

    assert to_json_list(received, versions) == to_json_list(
        [box, box], versions
    )
    assert to_json(received[0], versions)['disk'] == DISKS[microversion]


def test_nested_object_that_is_null_or_missing_stays_so(box: Any) -> None:
    versions = at_microversion(Version.parse('1.1'))

    assert to_json(Box(disk=None, disks=[], by_name={}), versions) == {
        'disk': None,
        'disks': [],
        'by_name': {},
    }
