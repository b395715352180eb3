# SPDX-License-Identifier: Apache-2.0
"""Lists and times that oslo.versionedobjects converts wrongly."""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields, objects
from vobjects.objects.history import added, removed

pytestmark = pytest.mark.usefixtures('registry')

VERSION, DATA = (f'versioned_object.{part}' for part in ('version', 'data'))


@pytest.fixture
def leaf() -> Any:
    """Return an object with a field that 1.0 has, and one that it has not."""

    @objects.register
    class Leaf(objects.Object):
        VERSION = '1.2'
        fields = {
            'name': fields.StringField(),
            'gone': removed('1.1', fields.StringField(default='')),
            'tag': added('1.2', fields.StringField(nullable=True)),
        }

    return Leaf(name='a')


@pytest.mark.parametrize(
    ('version', 'inside'),
    [('1.0', '1.0'), ('1.2', '1.0'), ('1.3', '1.1'), ('1.4', '1.1')],
)
def test_version_not_in_child_versions_uses_the_previous(
    leaf: Any, version: str, inside: str
) -> None:
    @objects.register
    class SparseList(objects.ObjectListBase, objects.Object):
        VERSION = '1.5'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.0', '1.3': '1.1', '1.5': '1.2'}

    primitive = SparseList(objects=[leaf]).obj_to_primitive(version)
    (item,) = primitive[DATA]['objects']
    assert item[VERSION] == inside
    assert ('gone' in item[DATA]) == (inside == '1.0')


def test_list_without_child_versions_needs_a_manifest(leaf: Any) -> None:
    @objects.register
    class ItemList(objects.ObjectListBase, objects.Object):
        VERSION = '1.1'
        NO_FIELD_CHANGES = {'1.1': 'The items have a new version.'}
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    items = ItemList(objects=[leaf])
    with pytest.raises(ovo_exception.ObjectActionError, match='No rule'):
        items.obj_to_primitive('1.0')
    manifest = {'ItemList': '1.0', 'Leaf': '1.1'}
    (item,) = items.obj_to_primitive(version_manifest=manifest)[DATA][
        'objects'
    ]
    assert item[VERSION] == '1.1'


BERLIN = zoneinfo.ZoneInfo('Europe/Berlin')
EAST = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
NOON = datetime.datetime(2026, 7, 1, 12, tzinfo=BERLIN)


@pytest.mark.parametrize(
    ('at', 'theirs', 'ours'),
    [
        # Another instant.
        (NOON, '2026-07-01T12:00:00Z', '2026-07-01T10:00:00Z'),
        # Texts that oslo.versionedobjects cannot read.
        (
            NOON.replace(tzinfo=EAST),
            '2026-07-01T12:00:00UTC+05:30',
            '2026-07-01T06:30:00Z',
        ),
        (
            datetime.datetime(999, 1, 1, tzinfo=datetime.UTC),
            '999-01-01T00:00:00Z',
            '0999-01-01T00:00:00Z',
        ),
        # The same text.
        (
            NOON.astimezone(datetime.UTC),
            '2026-07-01T10:00:00Z',
            '2026-07-01T10:00:00Z',
        ),
    ],
)
def test_time_of_vobjects_type_is_written_in_utc(
    at: datetime.datetime, theirs: str, ours: str
) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class PlainEvent(ovo_base.VersionedObject):
        fields = {'at': ovo_fields.DateTimeField()}

    @objects.register
    class Event(objects.Object):
        fields = {'at': ovo_fields.DateTimeField()}

    assert PlainEvent(at=at).obj_to_primitive()[DATA] == {'at': theirs}
    primitive = Event(at=at).obj_to_primitive()
    assert primitive[DATA] == {'at': ours}
    assert Event.obj_from_primitive(primitive).at == at


def test_time_without_zone_of_vobjects_type_is_in_utc() -> None:
    @ovo_base.VersionedObjectRegistry.register
    class PlainEvent(ovo_base.VersionedObject):
        fields = {'at': ovo_fields.DateTimeField(tzinfo_aware=False)}

    @objects.register
    class Event(objects.Object):
        fields = dict(PlainEvent.fields)

    noon = datetime.datetime(2026, 7, 1, 12)  # noqa: DTZ001
    assert PlainEvent(at=NOON).at == noon
    assert Event(at=NOON).at == noon.replace(hour=10)
    assert Event(at='2026-07-01T12:00:00+02:00').at == noon.replace(hour=10)
    assert Event(at=noon).at == noon


def test_time_outside_of_all_years_in_utc_is_rejected() -> None:
    @objects.register
    class Event(objects.Object):
        fields = {'at': fields.DateTimeField()}

    with pytest.raises(ValueError, match='at must be a time from year 1'):
        Event(at=datetime.datetime(1, 1, 1, tzinfo=EAST))
