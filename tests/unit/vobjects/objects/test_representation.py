# SPDX-License-Identifier: Apache-2.0
"""Dicts, texts and copies of objects; pickles are rejected."""

from __future__ import annotations

import copy
import datetime
import json
import pickle
import types

import pytest

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added
from vobjects.rpc import serializer

NOW = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)


@pytest.fixture
def types_(registry: None) -> types.SimpleNamespace:
    @objects.register
    class Leaf(objects.Object):
        VERSION = '1.2'
        fields = {
            'name': fields.StringField(),
            'token': fields.sensitive(
                added('1.1', fields.StringField(nullable=True))
            ),
            'words': added('1.2', fields.SensitiveStringField(nullable=True)),
        }

    @objects.register
    class Tree(objects.Object):
        fields = {
            'leaf': fields.ObjectField('Leaf', nullable=True),
            'leaves': fields.ListOfObjectsField('Leaf'),
            'by': fields.Field(fields.Dict(fields.Object('Leaf'))),
            'at': fields.DateTimeField(),
            'tags': fields.ListOfStringsField(),
            'marks': fields.SetOfStringsField(),
            'data': fields.JsonField(nullable=True),
            'lazy': fields.StringField(),
        }

    @objects.register
    class Leaves(objects.ObjectListBase, objects.Object):
        fields = {'objects': fields.ListOfObjectsField('Leaf')}

    return types.SimpleNamespace(Leaf=Leaf, Tree=Tree, Leaves=Leaves)


def test_as_dict_has_set_fields(types_: types.SimpleNamespace) -> None:
    leaf = types_.Leaf(name='a', token='t')
    tree = types_.Tree(
        leaf=leaf,
        leaves=[leaf, types_.Leaf()],
        by={'k': leaf},
        at=NOW,
        tags=['x'],
        marks={'m'},
        data=None,
    )
    plain = {'name': 'a', 'token': 't'}
    assert tree.as_dict() == {
        'leaf': plain,
        'leaves': [plain, {}],
        'by': {'k': plain},
        'at': NOW,
        'tags': ['x'],
        'marks': {'m'},
        'data': None,
    }
    assert types_.Leaves(objects=[leaf]).as_dict() == {'objects': [plain]}


def test_as_dict_when_changed_does_not_change_the_object(
    types_: types.SimpleNamespace,
) -> None:
    tree = types_.Tree(tags=['x'], marks={'m'}, data={'a': {'b': [1]}})
    values = tree.as_dict()
    assert [type(values[key]) for key in ('tags', 'marks')] == [list, set]
    values['tags'].append('y')
    values['marks'].clear()
    values['data']['a']['b'].append(2)
    assert tree.as_dict() == {
        'tags': ['x'],
        'marks': {'m'},
        'data': {'a': {'b': [1]}},
    }


def test_repr_omits_unset_fields(
    types_: types.SimpleNamespace,
) -> None:
    assert repr(types_.Leaf()) == '<Leaf 1.2>'
    assert repr(types_.Leaf(name='a')) == "<Leaf 1.2 name='a'>"
    assert repr(types_.Tree(leaf=None)) == '<Tree 1.0 leaf=None>'


def test_repr_identifies_nested_objects(
    types_: types.SimpleNamespace,
) -> None:
    leaf = types_.Leaf(name='a')
    assert repr(types_.Tree(leaf=leaf, leaves=[leaf, types_.Leaf()])) == (
        "<Tree 1.0 leaf=<Leaf 1.2 name='a'>"
        " leaves=[<Leaf 1.2 name='a'>, <Leaf 1.2>]>"
    )
    assert repr(types_.Leaves(objects=[leaf] * 9)) == (
        '<Leaves 1.0 objects='
        "[<Leaf 1.2 name='a'>, <Leaf 1.2 name='a'>, <Leaf 1.2 name='…>"
    )


def test_repr_of_lazy_list_shows_its_first_items(
    types_: types.SimpleNamespace,
) -> None:
    leaves = types_.Leaves(objects=[types_.Leaf(name=n) for n in 'abcdef'])
    data = serializer.to_bytes(leaves, None)
    arrived = serializer.from_bytes(data)
    assert repr(arrived) == repr(serializer.from_bytes(data).obj_clone())
    assert repr(arrived).startswith(
        "<Leaves 1.0 objects=[<Leaf 1.2 name='a'>, "
    )
    assert arrived.as_dict() == leaves.as_dict()
    assert serializer.to_bytes(arrived, None) == data


def test_repr_truncates_long_values(
    types_: types.SimpleNamespace,
) -> None:
    text = repr(types_.Leaf(name='x' * 10**6))
    assert text.startswith("<Leaf 1.2 name='xxx")
    assert len(text) < 100
    tags = repr(types_.Tree(tags=['a', 'b', 'c', 'd']))
    assert tags == "<Tree 1.0 tags=['a', 'b', 'c', … 4 in all]>"
    many = type(types_.Leaf)(
        'Many',
        (objects.Object,),
        {'fields': {f'f{n}': fields.StringField() for n in range(99)}},
    )
    objects.register(many)
    full = repr(many(**{f'f{n}': 'y' * 99 for n in range(99)}))
    assert len(full) < 1200
    assert full.endswith(' …>')


def test_repr_when_a_value_has_none_names_the_error(
    types_: types.SimpleNamespace,
) -> None:
    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError('no')

    tree = types_.Tree(data={'a': Bad()}, tags=['x'])
    assert repr(tree) == ("<Tree 1.0 tags=['x'] data=<RuntimeError in repr>>")


def test_repr_hides_secrets(
    types_: types.SimpleNamespace,
) -> None:
    leaf = types_.Leaf(name='a', token='s3cret', words='s3cret')
    assert repr(leaf) == "<Leaf 1.2 name='a' token=*** words=***>"
    assert 's3cret' not in repr(types_.Tree(leaf=leaf, by={'k': leaf}))
    for version in ('1.0', '1.1'):
        with pytest.raises(exceptions.LossyDowngrade) as caught:
            leaf.obj_to_primitive(version)
        assert 's3cret' not in str(caught.value)
    assert leaf.token == 's3cret'
    assert leaf.obj_to_primitive()['versioned_object.data']['token'] == (
        's3cret'
    )


def test_sensitive_marks_a_copy(types_: types.SimpleNamespace) -> None:
    field = fields.StringField()
    marked = fields.sensitive(field)
    assert marked is not field
    assert repr(marked) == repr(field)


def test_pickle_raises(types_: types.SimpleNamespace) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(
            TypeError, match=r'Leaf cannot be pickled.*serializer\.to_bytes'
        ):
            pickle.dumps([types_.Leaf(name='a')], protocol)
    data = serializer.to_bytes(types_.Leaf(name='a'), None)
    assert json.loads(data)['versioned_object.name'] == 'Leaf'
    assert serializer.from_bytes(data).name == 'a'


def test_copy_returns_an_equal_object(types_: types.SimpleNamespace) -> None:
    tree = types_.Tree(leaf=types_.Leaf(name='a'), tags=['x'])
    shallow, deep = copy.copy(tree), copy.deepcopy(tree)
    assert shallow.leaf is tree.leaf
    assert deep.leaf is not tree.leaf
    assert shallow.as_dict() == deep.as_dict() == tree.as_dict()
    assert shallow.obj_what_changed() == deep.obj_what_changed() != set()
    shallow.leaf = None
    assert tree.leaf is not None
