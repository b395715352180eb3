# SPDX-License-Identifier: Apache-2.0
"""Traps of oslo.versionedobjects: what it does, and what our types do.

The numbers are those under which the faults were collected (G20 to G32).
"""

from __future__ import annotations

import datetime
import types
import unittest
import unittest.mock
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fixture

from vobjects import exceptions, fields, objects
from vobjects.objects import manifest
from vobjects.objects.history import added, removed
from vobjects.testing import comparison, strategies

Types = types.SimpleNamespace

NAME, VERSION, DATA = (
    f'versioned_object.{part}' for part in ('name', 'version', 'data')
)


class Pops:
    """A conversion by hand, as o.vo wants it."""

    def obj_make_compatible(self, primitive: Any, version: str) -> None:
        super().obj_make_compatible(primitive, version)
        if version == '1.0':
            primitive.pop('force', None)


@pytest.fixture
def theirs(registry: None) -> Types:
    """Types of o.vo."""

    @ovo_base.VersionedObjectRegistry.register
    class Delete(Pops, ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {
            'identity': fields.StringField(),
            'force': fields.BooleanField(default=False),
        }

    @ovo_base.VersionedObjectRegistry.register
    class Forgot(ovo_base.VersionedObject):
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
    class Gap(ovo_base.ObjectListBase, ovo_base.VersionedObject):
        VERSION = '1.5'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.0', '1.3': '1.1', '1.5': '1.2'}

    @ovo_base.VersionedObjectRegistry.register
    class Bare(ovo_base.ObjectListBase, ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    return Types(
        Delete=Delete,
        Forgot=Forgot,
        Leaf=Leaf,
        LeafPlus=LeafPlus,
        Tree=Tree,
        Deep=Deep,
        Gap=Gap,
        Bare=Bare,
    )


@pytest.fixture
def ours(registry: None) -> Types:
    """The same, declared."""

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
    class Gap(objects.ObjectListBase, objects.Object):
        VERSION = '1.5'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}
        child_versions = {'1.0': '1.0', '1.3': '1.1', '1.5': '1.2'}

    @objects.register
    class Bare(objects.ObjectListBase, objects.Object):
        VERSION = '1.1'
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    return Types(
        Delete=Delete,
        Leaf=Leaf,
        LeafPlus=LeafPlus,
        Tree=Tree,
        Deep=Deep,
        Gap=Gap,
        Bare=Bare,
    )


def test_g20_theirs_loses_in_silence(theirs: Types) -> None:
    asked = theirs.Delete(identity='c', force=True)
    assert asked.obj_to_primitive('1.0')[DATA] == {'identity': 'c'}


def test_g20_ours_refuses_to_lose(ours: Types) -> None:
    asked = ours.Delete(identity='c', force=True)
    with pytest.raises(exceptions.LossyDowngrade, match=r'Delete\.force=True'):
        asked.obj_to_primitive('1.0')


def test_g21_theirs_sends_a_new_field_under_an_old_label(
    theirs: Types,
) -> None:
    primitive = theirs.Forgot(force=False).obj_to_primitive('1.0')
    assert primitive[VERSION] == '1.0'
    assert 'force' in primitive[DATA]


def test_g21_ours_cannot_forget(ours: Types) -> None:
    primitive = ours.Delete(force=False).obj_to_primitive('1.0')
    assert 'force' not in primitive[DATA]


def test_g21_ours_takes_no_new_field_under_an_old_label(
    registry: None,
) -> None:
    @objects.register
    class Forgot(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.4': '1.1'}
        fields = {
            'identity': fields.StringField(),
            'force': added('1.1', fields.BooleanField(nullable=True)),
        }

    data = {'identity': 'c', 'force': True}
    read = Forgot.obj_from_primitive(envelope('Forgot', '1.0', data))
    assert 'force' not in read
    assert read.obj_unknown_fields == {'force': True}


def test_g22_theirs_checks_conversions_of_empty_objects(
    registry: None,
) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Broken(ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'name': fields.StringField()}

        def obj_make_compatible(self, primitive: Any, version: str) -> None:
            if 'name' in primitive:
                raise RuntimeError('never run by the check')

    checker = fixture.ObjectVersionChecker()
    checker.test_compatibility_routines()
    with pytest.raises(RuntimeError):
        Broken(name='a').obj_to_primitive('1.0')


def test_g22_ours_checks_conversions_of_drawn_objects(
    ours: Types,
) -> None:
    reached = set()

    @settings(
        max_examples=50,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(strategies.instances(ours.Delete))
    def check(asked: Any) -> None:
        reached.add(asked.force if 'force' in asked else None)
        if reached and 'force' in asked and asked.force:
            return
        assert 'force' not in asked.obj_to_primitive('1.0')[DATA]

    check()
    assert reached == {True, False, None}


def envelope(name: str, version: str, data: dict[str, Any]) -> dict[str, Any]:
    return {
        NAME: name,
        'versioned_object.namespace': 'versionedobjects',
        VERSION: version,
        DATA: data,
    }


UNKNOWN = envelope('Delete', '1.0', {'identity': 'c', 'forse': True})


def test_g25_theirs_forgets_unknown_fields(
    theirs: Types,
) -> None:
    read = theirs.Delete.obj_from_primitive(UNKNOWN)
    assert read.obj_to_primitive()[DATA] == {'identity': 'c'}


def test_g25_ours_refuses_unknown_fields(ours: Types) -> None:
    with pytest.raises(exceptions.UnknownField, match='forse'):
        ours.Delete.obj_from_primitive(UNKNOWN)


def test_g25_ours_keeps_them_aside_for_a_reader(registry: None) -> None:
    @objects.register
    class Delete(objects.Resource):
        fields = {'identity': fields.StringField()}

    read = Delete.obj_from_primitive(UNKNOWN)
    assert read.obj_unknown_fields == {'forse': True}
    assert read.obj_to_primitive()[DATA] == {'identity': 'c'}


OLD = envelope('Delete', '1.0', {'identity': 'c'})


def test_g26_theirs_clones_into_another_version(
    theirs: Types,
) -> None:
    read = theirs.Delete.obj_from_primitive(OLD)
    assert (read.VERSION, read.obj_clone().VERSION) == ('1.0', '1.1')
    read.force = True
    primitive = read.obj_to_primitive()
    assert (primitive[VERSION], 'force' in primitive[DATA]) == ('1.0', True)


def test_g26_ours_is_of_the_newest_version_at_once(
    ours: Types,
) -> None:
    read = ours.Delete.obj_from_primitive(OLD)
    assert read.VERSION == read.obj_clone().VERSION == '1.1'
    read.force = True
    assert read.obj_to_primitive()[VERSION] == '1.1'


MANIFEST = {'Tree': '1.0', 'Deep': '1.0', 'Leaf': '1.0', 'LeafPlus': '1.2'}


def test_g27_theirs_leaves_objects_in_dicts_as_they_are(
    theirs: Types,
) -> None:
    assert ovo_base.obj_tree_get_versions('Tree') == {
        'Tree': '1.0',
        'Leaf': '1.2',
    }
    tree = theirs.Tree(map={'k': theirs.Leaf(name='a')})
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['map']['k']
    assert inside[VERSION] == '1.2'


def test_g27_ours_converts_objects_in_dicts(
    ours: Types,
) -> None:
    tree = ours.Tree(map={'k': ours.Leaf(name='a')})
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['map']['k']
    assert (inside[VERSION], inside[DATA]['gone']) == ('1.0', '')


def test_g27_theirs_leaves_objects_in_nested_containers_as_they_are(
    theirs: Types,
) -> None:
    assert 'LeafPlus' not in ovo_base.obj_tree_get_versions('Deep')
    deep = theirs.Deep(rows=[{'k': [theirs.LeafPlus(name='a', weight=0)]}])
    primitive = deep.obj_to_primitive('1.0', MANIFEST)
    assert primitive[DATA]['rows'][0]['k'][0][VERSION] == '1.3'


def test_g27_ours_converts_objects_in_nested_containers(ours: Types) -> None:
    deep = ours.Deep(rows=[{'k': [ours.LeafPlus(name='a', weight=0)]}])
    primitive = deep.obj_to_primitive('1.0', MANIFEST)
    inside = primitive[DATA]['rows'][0]['k'][0]
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.2')
    assert 'weight' not in inside[DATA]


def test_g28_theirs_has_no_subclasses_in_a_manifest(theirs: Types) -> None:
    assert 'LeafPlus' not in ovo_base.obj_tree_get_versions('Tree')


def test_g28_ours_has_every_type_in_a_manifest(ours: Types) -> None:
    assert manifest.local()['LeafPlus'] == '1.3'
    tree = ours.Tree(any=ours.LeafPlus(name='a', weight=0))
    with pytest.raises(exceptions.UnsupportedType, match='LeafPlus'):
        tree.obj_to_primitive('1.0', {'Tree': '1.0', 'Leaf': '1.0'})


def test_g28_theirs_labels_a_subclass_with_its_parents_version(
    theirs: Types,
) -> None:
    tree = theirs.Tree(any=theirs.LeafPlus(name='a', weight=3))
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['any']
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.0')


def test_g28_ours_converts_a_subclass_to_its_own_version(
    ours: Types,
) -> None:
    tree = ours.Tree(any=ours.LeafPlus(name='a', weight=0))
    inside = tree.obj_to_primitive('1.0', MANIFEST)[DATA]['any']
    assert (inside[NAME], inside[VERSION]) == ('LeafPlus', '1.2')
    assert 'weight' not in inside[DATA]


def test_g29_theirs_stumbles_over_a_gap(theirs: Types) -> None:
    items = theirs.Gap(objects=[theirs.Leaf(name='a')])
    with pytest.raises(TypeError, match='not subscriptable'):
        items.obj_to_primitive('1.4')


@pytest.mark.parametrize(
    ('version', 'inside'),
    [('1.0', '1.0'), ('1.2', '1.0'), ('1.3', '1.1'), ('1.4', '1.1')],
)
def test_g29_ours_takes_what_was_before_the_gap(
    ours: Types, version: str, inside: str
) -> None:
    items = ours.Gap(objects=[ours.Leaf(name='a')])
    item = items.obj_to_primitive(version)[DATA]['objects'][0]
    assert item[VERSION] == inside
    assert ('gone' in item[DATA]) == (inside == '1.0')


def test_g30_theirs_guesses_1_0(theirs: Types) -> None:
    items = theirs.Bare(objects=[theirs.Leaf(name='a')])
    item = items.obj_to_primitive('1.0')[DATA]['objects'][0]
    assert item[VERSION] == '1.0'


def test_g30_ours_refuses_to_guess(ours: Types) -> None:
    items = ours.Bare(objects=[ours.Leaf(name='a')])
    with pytest.raises(ovo_exception.ObjectActionError, match='No rule'):
        items.obj_to_primitive('1.0')
    item = items.obj_to_primitive(
        version_manifest={'Bare': '1.0', 'Leaf': '1.1'}
    )[DATA]['objects'][0]
    assert item[VERSION] == '1.1'


def test_g31_theirs_takes_any_time_for_any_other(registry: None) -> None:
    @ovo_base.VersionedObjectRegistry.register
    class Event(ovo_base.VersionedObject):
        fields = {'at': fields.DateTimeField()}

    event = Event(at=datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    other = {'at': datetime.datetime(1999, 1, 1, tzinfo=datetime.UTC)}
    asserted = unittest.mock.Mock(spec=unittest.TestCase)
    fixture.compare_obj(asserted, event, other)
    (first, second), _ = asserted.assertEqual.call_args
    assert first == second


def test_g31_ours_compares_times(registry: None) -> None:
    @objects.register
    class Event(objects.Object):
        fields = {'at': fields.DateTimeField()}

    at = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    event = Event(at=at)
    other = at.replace(year=1999)
    assert comparison.differences(event, {'at': other}) == {'at': (at, other)}
    assert comparison.differences(event, {'at': at.replace(tzinfo=None)}) == {}
    assert comparison.differences(event, event.obj_clone()) == {}
    assert comparison.differences(event, {}) == {'at': (at, comparison.UNSET)}


def test_g32_theirs_does_not_convert_up(theirs: Types) -> None:
    read = theirs.Delete.obj_from_primitive(OLD)
    assert 'force' not in read
    with pytest.raises(ovo_exception.InvalidTargetVersion):
        read.obj_to_primitive('1.1')


def test_g32_ours_converts_up(ours: Types) -> None:
    read = ours.Delete.obj_from_primitive(OLD)
    assert read.force is False
    assert read.obj_to_primitive('1.1')[VERSION] == '1.1'
