# SPDX-License-Identifier: Apache-2.0
"""Compiled conversions of declared types equal the general ones.

The slow side overrides ``__setattr__``, which alone makes nothing of it
compiled; everything else is the same.
"""

from __future__ import annotations

import json
import traceback
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions, fields, objects
from vobjects.objects.codec.class_codec import class_codec
from vobjects.objects.history import added, changed, removed, renamed

from . import paired_types
from .paired_types import Make, Side
from .test_equivalence import DATA, NAME, VERSION, sorted_changes


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send objects without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)
    monkeypatch.setattr(objects.Object, '_check_parts', lambda self: 0)


class Slow:
    """Overrides ``__setattr__``, which prevents compilation."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)


def _build(mixins: tuple[type, ...]) -> Side:
    singleton = ovo_base.VersionedObjectRegistry()
    before = {k: list(v) for k, v in singleton._obj_classes.items()}
    singleton._obj_classes.clear()

    def declare(parent: type, name: str, body: dict[str, Any]) -> type:
        parents = (*mixins, parent) if parent in _ROOTS else (parent,)
        return objects.register(type(name, parents, body))

    leaf = declare(
        objects.Object,
        'Leaf',
        {
            'VERSION': '1.1',
            'fields': {
                'name': fields.StringField(),
                'tag': added('1.1', fields.StringField(nullable=True)),
            },
        },
    )
    declare(
        leaf,
        'LeafPlus',
        {
            'VERSION': '1.3',
            'fields': {
                'weight': added('1.2', fields.IntegerField(default=0)),
                'sort': renamed(
                    '1.3', 'kind', fields.StringField(nullable=True)
                ),
            },
        },
    )

    def by_hand(self: Any, primitive: Any, version: str) -> None:
        objects.Object.obj_make_compatible(self, primitive, version)
        if 'note' not in primitive and version == '1.0':
            primitive['name'] = 'old ' + primitive.get('name', '')

    declare(
        objects.Object,
        'Hand',
        {
            'VERSION': '1.1',
            'fields': {
                'name': fields.StringField(),
                'note': added(
                    '1.1', fields.StringField(nullable=True), on_drop='ignore'
                ),
                'leaf': fields.ObjectField('Leaf', nullable=True),
            },
            'obj_make_compatible': by_hand,
        },
    )

    def of_kind(kind: str = 'Leaf') -> Any:
        return fields.Object(kind, subclasses=True)

    for root, name in ((objects.Object, 'Tree'), (objects.Resource, 'Answer')):
        body: dict[str, Any] = {
            'VERSION': '1.4',
            'fields': {
                'leaf': fields.ObjectField(
                    'Leaf', subclasses=True, nullable=True
                ),
                'row': fields.ListOfObjectsField('Leaf', subclasses=True),
                'map': fields.Field(fields.Dict(fields.List(of_kind()))),
                'nulls': fields.Field(
                    fields.List(fields.Object('Leaf'), nullable=True),
                    nullable=True,
                ),
                'hand': fields.ObjectField('Hand', nullable=True),
                'foreign': fields.ObjectField('Foreign', nullable=True),
                'at': fields.DateTimeField(nullable=True),
                'force': added('1.1', fields.BooleanField(default=False)),
                'when': added('1.3', fields.DateTimeField(nullable=True)),
                'extra': added(
                    '1.2',
                    fields.ObjectField('Leaf', nullable=True),
                    on_drop='ignore',
                ),
                'list': added('1.2', fields.ListOfStringsField(default=['x'])),
                'hint': added(
                    '1.2', fields.StringField(nullable=True), on_drop='ignore'
                ),
                'colour': renamed(
                    '1.3', 'color', fields.StringField(nullable=True)
                ),
                'count': changed(
                    '1.4',
                    fields.StringField(nullable=True),
                    fields.IntegerField(nullable=True),
                    up=int,
                    down=_few,
                ),
                'legacy': removed('1.2', fields.StringField(default='x')),
                'words': removed('1.3', fields.ListOfStringsField(default=[])),
            },
        }
        if root is objects.Resource:
            body['VERSION_MAP'] = {'1.5': '1.4'}
        declare(root, name, body)

    # Last: a type of the API may not have it inside.
    @ovo_base.VersionedObjectRegistry.register
    class Foreign(ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'a': fields.StringField(), 'b': fields.StringField()}

        def obj_make_compatible(self, primitive: Any, version: str) -> None:
            if version == '1.0':
                primitive.pop('b', None)

    registry = {k: list(v) for k, v in singleton._obj_classes.items()}
    singleton._obj_classes.clear()
    singleton._obj_classes.update(before)
    return Side({k: v[0] for k, v in registry.items()}, registry)


def _few(number: int) -> str:
    if number > 9:
        raise ValueError(number)
    return str(number)


_ROOTS = (objects.Object, objects.Resource)
SLOW, FAST = _build((Slow,)), _build(())

NEWEST = {
    'Tree': '1.4',
    'Answer': '1.4',
    'Leaf': '1.1',
    'LeafPlus': '1.3',
    'Hand': '1.1',
    'Foreign': '1.1',
}
versions = st.sampled_from(['1.0', '1.1', '1.2', '1.3', '1.4', '1.9'])
manifests = st.fixed_dictionaries(
    {name: st.sampled_from(['1.0', '1.1', v]) for name, v in NEWEST.items()}
) | st.dictionaries(st.sampled_from(sorted(NEWEST)), versions)

_texts = st.none() | paired_types.texts
_leaf = st.builds(
    Make,
    st.just('Leaf'),
    st.fixed_dictionaries(
        {'name': paired_types.texts}, optional={'tag': _texts}
    ),
    st.booleans(),
)
_plus = st.builds(
    Make,
    st.just('LeafPlus'),
    st.fixed_dictionaries(
        {},
        optional={
            'tag': st.none(),
            'weight': st.sampled_from([0, 0, 1]),
            'sort': _texts,
        },
    ),
)
_any_leaf = _leaf | _plus
_values = {
    'leaf': st.none() | _any_leaf,
    'row': st.lists(_any_leaf, max_size=3),
    'map': st.dictionaries(
        paired_types.texts, st.lists(_any_leaf, max_size=2), max_size=2
    ),
    'nulls': st.none() | st.lists(st.none() | _leaf, max_size=2),
    'hand': st.builds(
        Make,
        st.just('Hand'),
        st.fixed_dictionaries(
            {'name': paired_types.texts},
            optional={'note': _texts, 'leaf': _leaf},
        ),
    ),
    'foreign': st.just(Make('Foreign', {'a': '1', 'b': '2'})),
    'at': paired_types.moments,
    'force': st.sampled_from([False, False, True]),
    'when': st.none() | paired_types.moments,
    'extra': st.none() | _leaf,
    'list': st.sampled_from([['x'], ['x'], []]),
    'hint': _texts,
    'colour': _texts,
    'count': st.none() | st.integers(0, 10),
}
_field_values = st.fixed_dictionaries({}, optional=_values)
trees = st.builds(
    Make, st.sampled_from(['Tree', 'Answer']), _field_values, st.booleans()
)


def agree(program: Any) -> Any:
    results = []
    for side in (SLOW, FAST):
        with paired_types.using(side) as types:
            results.append(
                paired_types.outcome(lambda types=types: program(types))
            )
    assert results[1] == results[0]
    return results[0]


def normal(primitive: Any) -> Any:
    return json.loads(json.dumps(sorted_changes(primitive)))


@pytest.mark.parametrize('name', ['Tree', 'Answer', 'Leaf', 'LeafPlus'])
def test_only_fast_types_are_compiled(name: str) -> None:
    assert class_codec(FAST.types[name]).may_convert()
    assert not class_codec(SLOW.types[name]).may_convert()


def test_hand_written_conversion_is_not_compiled() -> None:
    assert not class_codec(FAST.types['Hand']).may_convert()


@settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(trees, st.none() | versions, st.none() | manifests)
@example(Make('Tree', {'count': 10}), '1.3', NEWEST)
@example(Make('Tree', {'count': 9, 'colour': 'red'}), '1.0', NEWEST)
@example(Make('Tree', {'leaf': None}), '1.0', {})
@example(Make('Tree', {'leaf': Make('Leaf', {})}), '1.4', {})
def test_compiled_conversions_equal_general_ones(
    recipe: Make, version: str | None, manifest: dict[str, str] | None
) -> None:
    def program(types: dict[str, Any]) -> Any:
        obj = paired_types.create(recipe, types)
        primitive = obj.obj_to_primitive(version, manifest)
        results = [normal(primitive)]
        through_json = json.loads(json.dumps(primitive))
        decoded = types[recipe.name].obj_from_primitive(
            through_json, 'context'
        )
        return [
            *results,
            paired_types.comparable(decoded),
            paired_types.comparable(decoded.obj_clone()),
        ]

    agree(program)


@settings(max_examples=80)
@given(
    st.sampled_from(['Tree', 'Answer', 'Leaf', 'LeafPlus', 'Hand']),
    st.sampled_from(['1.0', '1.1', '1.2', '1.3', '1.4', '2.0', 'x', '1.1.1']),
    st.dictionaries(
        st.sampled_from(
            [
                'name',
                'tag',
                'kind',
                'sort',
                'color',
                'colour',
                'count',
                'legacy',
                'words',
                'other',
            ]
        ),
        paired_types.odd_values,
        max_size=4,
    ),
    st.lists(st.sampled_from(['color', 'colour', 'name', 'other'])),
)
def test_primitives_from_anybody(
    name: str, version: str, data: dict[str, Any], changes: list[str]
) -> None:
    def program(types: dict[str, Any]) -> Any:
        return types['Leaf'].obj_from_primitive(
            {
                NAME: name,
                'versioned_object.namespace': 'versionedobjects',
                VERSION: version,
                DATA: dict(data),
                'versioned_object.changes': changes,
            }
        )

    agree(program)


def test_field_newer_than_stated_version_in_list_raises() -> None:
    def program(types: dict[str, Any]) -> Any:
        leaf = types['Leaf'](name='a', tag='t')
        primitive = types['Tree'](row=[leaf, leaf]).obj_to_primitive()
        primitive[DATA]['row'][1][VERSION] = '1.0'
        return types['Tree'].obj_from_primitive(primitive)

    assert 'UnknownField' in agree(program)


@pytest.mark.parametrize('version', [None, '1.0', '1.1', '1.01', '1.2'])
@pytest.mark.parametrize('own_version', [None, '1.0'])
def test_version_of_one_object_is_that_of_its_primitive(
    version: str | None, own_version: str | None
) -> None:
    def program(types: dict[str, Any]) -> Any:
        leaf = types['Leaf'](name='a')
        if own_version is not None:
            leaf.VERSION = own_version
        tree = types['Tree'](leaf=leaf, row=[leaf])
        return [
            paired_types.outcome(
                lambda: normal(leaf.obj_to_primitive(version))
            ),
            normal(tree.obj_to_primitive()),
        ]

    agree(program)


def test_patched_conversion_is_called() -> None:
    with paired_types.using(FAST) as types:
        tree = types['Tree'](leaf=types['Leaf'](name='a'))
        called: list[str] = []
        original = types['Leaf'].obj_make_compatible

        def record_call(self: Any, primitive: Any, version: str) -> None:
            called.append(version)
            original(self, primitive, version)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(types['Leaf'], 'obj_make_compatible', record_call)
            tree.obj_to_primitive(version_manifest={**NEWEST, 'Leaf': '1.0'})
        assert called == ['1.0']
        tree.obj_to_primitive(version_manifest={**NEWEST, 'Leaf': '1.0'})
        assert called == ['1.0']


@pytest.mark.parametrize('container', ['leaf', 'row', 'map'])
def test_patched_conversion_of_one_nested_object_is_called(
    container: str,
) -> None:
    with paired_types.using(FAST) as types:
        leaf = types['Leaf'](name='a')
        values = {'leaf': leaf, 'row': [leaf], 'map': {'k': [leaf]}}
        tree = types['Tree'](**{container: values[container]})
        to_old = {'version_manifest': {**NEWEST, 'Leaf': '1.0'}}
        tree.obj_to_primitive(**to_old)
        primitive = leaf.obj_to_primitive()
        primitive[DATA]['name'] = 'patched'
        with mock.patch.object(
            leaf, 'obj_to_primitive', side_effect=lambda *_, **__: primitive
        ):
            assert "'patched'" in repr(tree.obj_to_primitive(**to_old))
        assert "'patched'" not in repr(tree.obj_to_primitive(**to_old))


def test_outermost_object_decides_about_loss() -> None:
    with paired_types.using(FAST) as types:
        tree = types['Tree'](force=True)
        with pytest.raises(exceptions.LossyDowngrade, match=r'Tree\.force'):
            tree.obj_to_primitive('1.0', NEWEST)
        response = types['Answer'](force=True)
        assert 'force' not in response.obj_to_primitive('1.0', NEWEST)[DATA]


class NoneAsText(fields.StringField):
    """A field whose primitive of null is not null."""

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return 'none' if value is None else value


@pytest.mark.parametrize(
    ('version', 'field', 'value'),
    [
        # Means 2 in 1.1, where the default is 1.
        (
            '1.2',
            changed(
                '1.2',
                added('1.1', fields.IntegerField(default=1)),
                fields.IntegerField(default=0),
                up=lambda old: old - 1,
                down=lambda new: new + 1,
            ),
            1,
        ),
        ('1.1', added('1.1', NoneAsText(nullable=True)), None),
    ],
    ids=['changed', 'custom'],
)
def test_loss_of_a_value_that_looks_like_a_default_is_refused(
    registry: None, version: str, field: Any, value: Any
) -> None:
    @objects.register
    class Lossy(objects.Object):
        VERSION = version
        fields = {'it': field}

    assert class_codec(Lossy).may_convert()
    with pytest.raises(exceptions.LossyDowngrade, match=r'Lossy\.it'):
        Lossy(it=value).obj_to_primitive('1.0')


class Labelled(ovo.FieldType):
    """A field type whose primitive depends on the object."""

    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        return value

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return f'{obj.obj_name()}.{attr} {value}'


@pytest.mark.usefixtures('registry')
def test_field_type_of_a_service_reads_the_object_that_is_downgraded() -> None:
    @objects.register
    class Box(objects.Object):
        VERSION = '1.1'
        fields = {
            'label': ovo.Field(Labelled()),
            'size': added('1.1', fields.IntegerField(default=1)),
        }

    assert class_codec(Box).may_convert()
    primitive = Box(label='x', size=1).obj_to_primitive('1.0')
    assert primitive[DATA] == {'label': 'Box.label x'}


def test_traceback_of_failed_conversion_shows_generated_source() -> None:
    class Broken(fields.String):
        def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
            raise RuntimeError('broken')

    with paired_types.using(FAST):
        cls = objects.register(
            type(
                'Broken',
                (objects.Object,),
                {'fields': {'text': fields.Field(Broken())}},
            )
        )
        with pytest.raises(RuntimeError) as caught:
            cls(text='a').obj_to_primitive()
    text = ''.join(traceback.format_exception(caught.value))
    assert "(obj, 'text', v0)" in text


class Wardrobe(objects.Object):
    fields = {
        'colour': fields.StringField(),
        'doors': fields.IntegerField(),
        'serial': fields.StringField(read_only=True),
        'labels': fields.ListOfStringsField(),
    }

    def obj_load_attr(self, attrname: str) -> None:
        setattr(self, attrname, 'loaded')


@pytest.fixture
def wardrobe() -> Any:
    before = dict(ovo_base.VersionedObjectRegistry()._obj_classes)
    yield objects.register(Wardrobe)(colour='red', doors=2, serial='a')
    classes = ovo_base.VersionedObjectRegistry()._obj_classes
    classes.clear()
    classes.update(before)


def test_set_field_of_compiled_class_coerces_and_tracks(wardrobe: Any) -> None:
    wardrobe.obj_reset_changes()
    wardrobe.doors = '3'
    wardrobe.labels = ('x',)
    assert (wardrobe.doors, wardrobe.labels) == (3, ['x'])
    assert isinstance(wardrobe.labels, ovo.CoercedList)
    assert wardrobe.obj_what_changed() == {'doors', 'labels'}
    with pytest.raises(ValueError, match='many'):
        wardrobe.doors = 'many'
    assert wardrobe.doors == 3


def test_set_read_only_field_of_compiled_class_raises(wardrobe: Any) -> None:
    with pytest.raises(ovo_exception.ReadOnlyFieldError):
        wardrobe.serial = 'b'
    assert wardrobe.serial == 'a'


def test_set_field_when_coerce_is_patched_calls_the_patch(
    wardrobe: Any,
) -> None:
    with mock.patch.object(ovo.String, 'coerce', return_value='patched'):
        wardrobe.colour = 'blue'
    assert wardrobe.colour == 'patched'
    wardrobe.colour = 'green'
    assert wardrobe.colour == 'green'


def test_capacity_in_range_is_read_without_its_field(
    registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shelf(objects.Object):
        fields = {'size': fields.CapacityField(1, 3)}

    monkeypatch.setattr(fields, 'parse_integer', lambda *_: 2)
    cls = objects.register(Shelf)
    for value, size in ((1, 1), (3, 3), (4, 2), (0, 2), ('3', 2), (True, 2)):
        data = {NAME: 'Shelf', VERSION: '1.0', DATA: {'size': value}}
        data['versioned_object.namespace'] = cls.OBJ_PROJECT_NAMESPACE
        assert cls.obj_from_primitive(data).size == size


def test_get_field_that_is_not_set_loads_it(wardrobe: Any) -> None:
    del wardrobe.colour
    assert wardrobe.colour == 'loaded'
    assert wardrobe.obj_attr_is_set('colour')
