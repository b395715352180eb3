# SPDX-License-Identifier: Apache-2.0
"""Pitfalls of oslo.versionedobjects, and how vobjects types avoid them."""

from __future__ import annotations

import datetime
import types
import unittest
import unittest.mock
import zoneinfo
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo_fields
from oslo_versionedobjects import fixture

from vobjects import exceptions, fields, objects
from vobjects.objects import manifest
from vobjects.objects.history import added, removed
from vobjects.testing import strategies

Types = types.SimpleNamespace

NAME, VERSION, DATA = (
    f'versioned_object.{part}' for part in ('name', 'version', 'data')
)


class ManualConversion:
    """A manual conversion, as oslo.versionedobjects requires it."""

    def obj_make_compatible(self, primitive: Any, version: str) -> None:
        super().obj_make_compatible(primitive, version)
        if version == '1.0':
            primitive.pop('force', None)


@pytest.fixture
def ovo_types(registry: None) -> Types:
    """Classes of plain oslo.versionedobjects."""

    @ovo_base.VersionedObjectRegistry.register
    class Delete(ManualConversion, ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {
            'identity': fields.StringField(),
            'force': fields.BooleanField(default=False),
        }

    @ovo_base.VersionedObjectRegistry.register
    class NoConversion(ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = dict(Delete.fields)

    @ovo_base.VersionedObjectRegistry.register
    class Leaf(ovo_base.VersionedObject):
        VERSION = '1.2'
        fields = {'name': fields.StringField()}

    @ovo_base.VersionedObjectRegistry.register
    class LeafPlus(Leaf):
        VERSION = '1.3'
        fields = {'weight': fields.IntegerField(default=0)}

    @ovo_base.VersionedObjectRegistry.register
    class Tree(ovo_base.VersionedObject):
        fields = {
            'any': fields.ObjectField('Leaf', subclasses=True, nullable=True),
            'map': fields.Field(
                fields.Dict(fields.Object('Leaf')), nullable=True
            ),
        }

    @ovo_base.VersionedObjectRegistry.register
    class Deep(ovo_base.VersionedObject):
        fields = {
            'rows': fields.Field(
                fields.List(
                    fields.Dict(fields.List(fields.Object('LeafPlus')))
                )
            )
        }

    @ovo_base.VersionedObjectRegistry.register
    class SparseList(ovo_base.ObjectListBase, ovo_base.VersionedObject):
        VERSION = '1.5'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.0', '1.3': '1.1', '1.5': '1.2'}

    @ovo_base.VersionedObjectRegistry.register
    class ItemList(ovo_base.ObjectListBase, ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    return Types(
        Delete=Delete,
        NoConversion=NoConversion,
        Leaf=Leaf,
        LeafPlus=LeafPlus,
        Tree=Tree,
        Deep=Deep,
        SparseList=SparseList,
        ItemList=ItemList,
    )


@pytest.fixture
def vobjects_types(registry: None) -> Types:
    """The same types with declared history."""

    @objects.register
    class Delete(objects.Object):
        VERSION = '1.1'
        fields = {
            'identity': fields.StringField(),
            'force': added('1.1', fields.BooleanField(default=False)),
        }

    @objects.register
    class Leaf(objects.Object):
        VERSION = '1.2'
        fields = {
            'name': fields.StringField(),
            'gone': removed('1.1', fields.StringField(default='')),
            'tag': added('1.2', fields.StringField(nullable=True)),
        }

    @objects.register
    class LeafPlus(Leaf):
        VERSION = '1.3'
        fields = {'weight': added('1.3', fields.IntegerField(default=0))}

    @objects.register
    class Tree(objects.Object):
        fields = {
            'any': fields.ObjectField('Leaf', subclasses=True, nullable=True),
            'map': fields.Field(
                fields.Dict(fields.Object('Leaf')), nullable=True
            ),
        }

    @objects.register
    class Deep(objects.Object):
        fields = {
            'rows': fields.Field(
                fields.List(
                    fields.Dict(fields.List(fields.Object('LeafPlus')))
                )
            )
        }

    @objects.register
    class SparseList(objects.ObjectListBase, objects.Object):
        VERSION = '1.5'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.0', '1.3': '1.1', '1.5': '1.2'}

    @objects.register
    class ItemList(objects.ObjectListBase, objects.Object):
        VERSION = '1.1'
        NO_FIELD_CHANGES = {'1.1': 'The items have a new version.'}
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    return Types(
        Delete=Delete,
        Leaf=Leaf,
        LeafPlus=LeafPlus,
        Tree=Tree,
        Deep=Deep,
        SparseList=SparseList,
        ItemList=ItemList,
    )


def test_lossy_downgrade_of_ovo_class_drops_the_value(
    ovo_types: Types,
) -> None:
    request = ovo_types.Delete(identity='c', force=True)
    assert request.obj_to_primitive('1.0')[DATA] == {'identity': 'c'}


def test_lossy_downgrade_of_vobjects_type_raises(
    vobjects_types: Types,
) -> None:
    request = vobjects_types.Delete(identity='c', force=True)
    with pytest.raises(exceptions.LossyDowngrade, match=r'Delete\.force=True'):
        request.obj_to_primitive('1.0')


def test_missing_conversion_of_ovo_class_sends_the_new_field(
    ovo_types: Types,
) -> None:
    primitive = ovo_types.NoConversion(force=False).obj_to_primitive('1.0')
    assert primitive[VERSION] == '1.0'
    assert 'force' in primitive[DATA]


def test_downgrade_of_vobjects_type_omits_the_new_field(
    vobjects_types: Types,
) -> None:
    primitive = vobjects_types.Delete(force=False).obj_to_primitive('1.0')
    assert 'force' not in primitive[DATA]


def test_resource_when_old_primitive_has_new_field_stores_it_as_unknown(
    registry: None,
) -> None:
    @objects.register
    class NoConversion(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.4': '1.1'}
        fields = {
            'identity': fields.StringField(),
            'force': added('1.1', fields.BooleanField(nullable=True)),
        }

    data = {'identity': 'c', 'force': True}
    obj = NoConversion.obj_from_primitive(
        envelope('NoConversion', '1.0', data)
    )
    assert 'force' not in obj
    assert obj.obj_unknown_fields == {'force': True}


def test_version_checker_of_ovo_converts_only_empty_objects(
    registry: None,
) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Broken(ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'name': fields.StringField()}

        def obj_make_compatible(self, primitive: Any, version: str) -> None:
            if 'name' in primitive:
                raise RuntimeError('not reached')

    checker = fixture.ObjectVersionChecker()
    checker.test_compatibility_routines()
    with pytest.raises(RuntimeError):
        Broken(name='a').obj_to_primitive('1.0')


def test_strategy_draws_objects_that_exercise_the_conversion(
    vobjects_types: Types,
) -> None:
    drawn_values = set()

    @settings(
        max_examples=50,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(strategies.instances(vobjects_types.Delete))
    def check(request: Any) -> None:
        drawn_values.add(request.force if 'force' in request else None)
        if drawn_values and 'force' in request and request.force:
            return
        assert 'force' not in request.obj_to_primitive('1.0')[DATA]

    check()
    assert drawn_values == {True, False, None}


def envelope(name: str, version: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        NAME: name,
        'versioned_object.namespace': 'versionedobjects',
        VERSION: version,
        DATA: data,
    }


UNKNOWN = envelope('Delete', '1.0', {'identity': 'c', 'forse': True})


def test_unknown_field_of_ovo_class_is_dropped(
    ovo_types: Types,
) -> None:
    obj = ovo_types.Delete.obj_from_primitive(UNKNOWN)
    assert obj.obj_to_primitive()[DATA] == {'identity': 'c'}


def test_unknown_field_of_vobjects_type_raises(vobjects_types: Types) -> None:
    with pytest.raises(exceptions.UnknownField, match='forse'):
        vobjects_types.Delete.obj_from_primitive(UNKNOWN)


def test_unknown_field_of_resource_is_stored_as_unknown(
    registry: None,
) -> None:
    @objects.register
    class Delete(objects.Resource):
        fields = {'identity': fields.StringField()}

    obj = Delete.obj_from_primitive(UNKNOWN)
    assert obj.obj_unknown_fields == {'forse': True}
    assert obj.obj_to_primitive()[DATA] == {'identity': 'c'}


OLD = envelope('Delete', '1.0', {'identity': 'c'})


def test_old_primitive_of_ovo_class_keeps_the_old_version(
    ovo_types: Types,
) -> None:
    obj = ovo_types.Delete.obj_from_primitive(OLD)
    assert (obj.VERSION, obj.obj_clone().VERSION) == ('1.0', '1.1')
    obj.force = True
    primitive = obj.obj_to_primitive()
    assert (primitive[VERSION], 'force' in primitive[DATA]) == ('1.0', True)


def test_old_primitive_of_vobjects_type_gets_the_newest_version(
    vobjects_types: Types,
) -> None:
    obj = vobjects_types.Delete.obj_from_primitive(OLD)
    assert obj.VERSION == obj.obj_clone().VERSION == '1.1'
    obj.force = True
    assert obj.obj_to_primitive()[VERSION] == '1.1'


MANIFEST = {'Tree': '1.0', 'Deep': '1.0', 'Leaf': '1.0', 'LeafPlus': '1.2'}


def test_objects_in_dicts_of_ovo_class_are_not_converted(
    ovo_types: Types,
) -> None:
    assert ovo_base.obj_tree_get_versions('Tree') == {
        'Tree': '1.0',
        'Leaf': '1.2',
    }
    tree = ovo_types.Tree(map={'k': ovo_types.Leaf(name='a')})
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['map']['k']
    assert inside[VERSION] == '1.2'


def test_objects_in_dicts_of_vobjects_type_are_converted(
    vobjects_types: Types,
) -> None:
    tree = vobjects_types.Tree(map={'k': vobjects_types.Leaf(name='a')})
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['map']['k']
    assert (inside[VERSION], inside[DATA]['gone']) == ('1.0', '')


def test_objects_in_nested_containers_of_ovo_class_are_not_converted(
    ovo_types: Types,
) -> None:
    assert 'LeafPlus' not in ovo_base.obj_tree_get_versions('Deep')
    deep = ovo_types.Deep(
        rows=[{'k': [ovo_types.LeafPlus(name='a', weight=0)]}]
    )
    primitive = deep.obj_to_primitive('1.0', MANIFEST)
    assert primitive[DATA]['rows'][0]['k'][0][VERSION] == '1.3'


def test_objects_in_nested_containers_of_vobjects_type_are_converted(
    vobjects_types: Types,
) -> None:
    deep = vobjects_types.Deep(
        rows=[{'k': [vobjects_types.LeafPlus(name='a', weight=0)]}]
    )
    primitive = deep.obj_to_primitive('1.0', MANIFEST)
    inside = primitive[DATA]['rows'][0]['k'][0]
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.2')
    assert 'weight' not in inside[DATA]


def test_manifest_of_ovo_lacks_subclasses(ovo_types: Types) -> None:
    assert 'LeafPlus' not in ovo_base.obj_tree_get_versions('Tree')


def test_manifest_of_vobjects_has_subclasses(vobjects_types: Types) -> None:
    assert manifest.local()['LeafPlus'] == '1.3'
    tree = vobjects_types.Tree(any=vobjects_types.LeafPlus(name='a', weight=0))
    with pytest.raises(exceptions.UnsupportedType, match='LeafPlus'):
        tree.obj_to_primitive('1.0', {'Tree': '1.0', 'Leaf': '1.0'})


def test_subclass_in_ovo_field_gets_the_version_of_its_parent(
    ovo_types: Types,
) -> None:
    tree = ovo_types.Tree(any=ovo_types.LeafPlus(name='a', weight=3))
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['any']
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.0')


def test_subclass_in_vobjects_field_gets_its_own_version(
    vobjects_types: Types,
) -> None:
    tree = vobjects_types.Tree(any=vobjects_types.LeafPlus(name='a', weight=0))
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['any']
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.2')
    assert 'weight' not in inside[DATA]


def test_version_not_in_child_versions_of_ovo_list_raises_type_error(
    ovo_types: Types,
) -> None:
    items = ovo_types.SparseList(objects=[ovo_types.Leaf(name='a')])
    with pytest.raises(TypeError, match='not subscriptable'):
        items.obj_to_primitive('1.4')


@pytest.mark.parametrize(
    ('version', 'inside'),
    [('1.0', '1.0'), ('1.2', '1.0'), ('1.3', '1.1'), ('1.4', '1.1')],
)
def test_version_not_in_child_versions_of_vobjects_list_uses_the_previous(
    vobjects_types: Types, version: str, inside: str
) -> None:
    items = vobjects_types.SparseList(objects=[vobjects_types.Leaf(name='a')])
    item = items.obj_to_primitive(version)[DATA]['objects'][0]
    assert item[VERSION] == inside
    assert ('gone' in item[DATA]) == (inside == '1.0')


def test_ovo_list_without_child_versions_assumes_1_0(ovo_types: Types) -> None:
    items = ovo_types.ItemList(objects=[ovo_types.Leaf(name='a')])
    item = items.obj_to_primitive('1.0')[DATA]['objects'][0]
    assert item[VERSION] == '1.0'


def test_vobjects_list_without_child_versions_raises(
    vobjects_types: Types,
) -> None:
    items = vobjects_types.ItemList(objects=[vobjects_types.Leaf(name='a')])
    with pytest.raises(ovo_exception.ObjectActionError, match='No rule'):
        items.obj_to_primitive('1.0')
    item = items.obj_to_primitive(
        version_manifest={'ItemList': '1.0', 'Leaf': '1.1'}
    )[DATA]['objects'][0]
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
    registry: None, at: datetime.datetime, theirs: str, ours: str
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


def test_time_without_zone_of_vobjects_type_is_in_utc(registry: None) -> None:
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


def test_time_outside_of_all_years_in_utc_is_rejected(registry: None) -> None:
    @objects.register
    class Event(objects.Object):
        fields = {'at': fields.DateTimeField()}

    with pytest.raises(ValueError, match='at must be a time from year 1'):
        Event(at=datetime.datetime(1, 1, 1, tzinfo=EAST))


def test_compare_obj_of_ovo_considers_all_times_equal(registry: None) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Event(ovo_base.VersionedObject):
        fields = {'at': fields.DateTimeField()}

    event = Event(at=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    other = {'at': datetime.datetime(1999, 1, 1, tzinfo=datetime.UTC)}
    test_case = unittest.mock.Mock(spec=unittest.TestCase)
    fixture.compare_obj(test_case, event, other)
    (first, second), _ = test_case.assertEqual.call_args
    assert first == second


def test_old_primitive_of_ovo_class_is_not_upgraded(ovo_types: Types) -> None:
    obj = ovo_types.Delete.obj_from_primitive(OLD)
    assert 'force' not in obj
    with pytest.raises(ovo_exception.InvalidTargetVersion):
        obj.obj_to_primitive('1.1')


def test_old_primitive_of_vobjects_type_is_upgraded(
    vobjects_types: Types,
) -> None:
    obj = vobjects_types.Delete.obj_from_primitive(OLD)
    assert obj.force is False
    assert obj.obj_to_primitive('1.1')[VERSION] == '1.1'
