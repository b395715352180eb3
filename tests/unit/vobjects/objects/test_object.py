# SPDX-License-Identifier: Apache-2.0
"""Downgrade and upgrade of objects and nested objects."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added, changed, removed, renamed
from vobjects.testing import strategies
from vobjects.versions import Version

NAME, VERSION, DATA, CHANGES = (
    f'versioned_object.{part}'
    for part in ('name', 'version', 'data', 'changes')
)


@objects.register
class Leaf(objects.Object):
    VERSION = '1.1'
    fields = {
        'name': fields.StringField(),
        'tag': added('1.1', fields.StringField(nullable=True)),
    }


@objects.register
class LeafPlus(Leaf):
    VERSION = '1.3'
    fields = {
        'weight': added('1.2', fields.IntegerField(default=0)),
        'sort': renamed('1.3', 'kind', fields.StringField(nullable=True)),
    }


@objects.register
class Tree(objects.Object):
    VERSION = '1.4'
    fields = {
        'leaf': fields.ObjectField('Leaf', subclasses=True, nullable=True),
        'row': fields.ListOfObjectsField('Leaf', subclasses=True, default=[]),
        'map': fields.Field(
            fields.Dict(fields.List(fields.Object('Leaf', subclasses=True))),
            nullable=True,
        ),
        'force': added('1.1', fields.BooleanField(default=False)),
        'hint': added(
            '1.2', fields.StringField(nullable=True), on_drop='ignore'
        ),
        'colour': renamed('1.3', 'color', fields.StringField(nullable=True)),
        'count': changed(
            '1.4',
            fields.StringField(nullable=True),
            fields.IntegerField(nullable=True),
            up=int,
            down=str,
        ),
        'legacy': removed('1.2', fields.StringField(default='x')),
    }


@objects.register
class TreeAnswer(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}
    fields = {
        'tree': fields.ObjectField('Tree'),
        'extra': added('1.1', fields.StringField(nullable=True)),
    }


OLDEST = {'Tree': '1.0', 'Leaf': '1.0', 'LeafPlus': '1.0', 'TreeAnswer': '1.0'}
NEWEST = {
    cls.obj_name(): cls.VERSION for cls in (Tree, Leaf, LeafPlus, TreeAnswer)
}


def through_json(primitive: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(primitive))


def unchanged(obj: objects.Object) -> dict[str, Any]:
    """Return the data of an object, without its changes."""
    return objects.to_json(obj, NEWEST)


def test_downgrade_reaches_objects_in_fields_lists_and_dicts() -> None:
    tree = Tree(
        leaf=LeafPlus(name='a', tag=None, weight=0, sort='s'),
        row=[Leaf(name='b', tag=None), LeafPlus(name='c')],
        map={'k': [LeafPlus(name='d', sort='t')]},
    )
    data = tree.obj_to_primitive(version_manifest=OLDEST)[DATA]
    assert data['leaf'][NAME] == 'LeafPlus'
    assert data['leaf'][VERSION] == '1.0'
    assert data['leaf'][DATA] == {'name': 'a', 'kind': 's'}
    assert [(c[NAME], c[VERSION]) for c in data['row']] == [
        ('Leaf', '1.0'),
        ('LeafPlus', '1.0'),
    ]
    assert data['map']['k'][0][DATA] == {'name': 'd', 'kind': 't'}


def test_downgrade_of_subclass_uses_its_own_version() -> None:
    tree = Tree(leaf=LeafPlus(name='a', weight=3))
    manifest = {'Tree': '1.4', 'Leaf': '1.0', 'LeafPlus': '1.2'}
    leaf = tree.obj_to_primitive(version_manifest=manifest)[DATA]['leaf']
    assert (leaf[VERSION], leaf[DATA]) == ('1.2', {'name': 'a', 'weight': 3})


@pytest.mark.parametrize('place', ['leaf', 'row', 'map'])
def test_downgrade_when_nested_value_is_lost_names_it(place: str) -> None:
    leaf = Leaf(name='a', tag='keep me')
    tree = Tree(
        **{place: {'leaf': leaf, 'row': [leaf], 'map': {'k': [leaf]}}[place]}
    )
    with pytest.raises(exceptions.LossyDowngrade) as caught:
        tree.obj_to_primitive(version_manifest=OLDEST)
    assert str(caught.value) == (
        "Leaf.tag='keep me' needs Leaf 1.1, but the peer supports only 1.0"
    )


@pytest.mark.parametrize(
    ('values', 'is_lossy'),
    [
        ({}, True),
        ({'force': False}, True),
        ({'force': True}, False),
        ({'hint': 'harmless'}, True),
        ({'hint': None}, True),
    ],
)
def test_downgrade_drops_only_null_default_and_ignored_values(
    values: dict[str, Any], is_lossy: bool
) -> None:
    tree = Tree(**values)
    if is_lossy:
        data = tree.obj_to_primitive(version_manifest=OLDEST)[DATA]
        assert not data.keys() & values.keys()
    else:
        with pytest.raises(exceptions.LossyDowngrade, match=r'Tree\.force'):
            tree.obj_to_primitive(version_manifest=OLDEST)


def test_downgrade_of_resource_omits_unknown_fields() -> None:
    response = TreeAnswer(
        tree=Tree(force=True, leaf=Leaf(name='a', tag='t')), extra='e'
    )
    assert objects.to_json(response, OLDEST) == {
        'tree': {'leaf': {'name': 'a'}, 'legacy': 'x'}
    }


def test_downgrade_when_manifest_lacks_type_raises() -> None:
    tree = Tree(leaf=LeafPlus(name='a'))
    with pytest.raises(exceptions.UnsupportedType, match='LeafPlus'):
        tree.obj_to_primitive(version_manifest={'Tree': '1.4', 'Leaf': '1.1'})


def test_downgrade_when_manifest_is_empty_raises() -> None:
    with pytest.raises(exceptions.UnsupportedType):
        Leaf(name='a').obj_to_primitive(version_manifest={})


def test_downgrade_renames_changes() -> None:
    tree = Tree(colour='red', force=False)
    primitive = tree.obj_to_primitive('1.0', OLDEST)
    assert set(primitive[CHANGES]) == {'color'}
    again = Tree.obj_from_primitive(primitive)
    assert again.obj_what_changed() == {'colour'}


def test_upgrade_fills_defaults_and_sets_newest_version() -> None:
    tree = Tree.obj_from_primitive(
        {
            NAME: 'Tree',
            'versioned_object.namespace': 'versionedobjects',
            VERSION: '1.0',
            DATA: {'color': 'red', 'count': '7', 'legacy': 'x'},
        }
    )
    assert tree.VERSION == '1.4'
    assert (tree.colour, tree.count, tree.force) == ('red', 7, False)
    assert 'hint' not in tree
    assert tree.obj_clone().obj_to_primitive() == tree.obj_to_primitive()


def test_field_newer_than_stated_version_when_received_raises() -> None:
    primitive = Leaf(name='a', tag='t').obj_to_primitive()
    primitive[VERSION] = '1.0'
    with pytest.raises(exceptions.UnknownField, match='tag'):
        Leaf.obj_from_primitive(primitive)


def test_version_newer_than_local_is_incompatible() -> None:
    primitive = Leaf(name='a').obj_to_primitive()
    primitive[VERSION] = '1.2'
    with pytest.raises(ovo_exception.IncompatibleObjectVersion):
        Leaf.obj_from_primitive(primitive)
    with pytest.raises(ovo_exception.IncompatibleObjectVersion):
        list(objects.versions_in(primitive))


def test_versions_in_ignores_user_data_like_a_primitive(
    registry: None,
) -> None:
    @objects.register
    class Holder(objects.Object):
        fields = {'metadata': fields.JsonField()}

    holder = Holder(
        metadata={
            NAME: 'Forged',
            VERSION: '9.9',
            DATA: {},
            'deep': {NAME: 'x'},
        }
    )
    assert list(objects.versions_in(holder.obj_to_primitive())) == [
        ('Holder', '1.0')
    ]
    assert (
        objects.to_json(holder, {'Holder': '1.0'})['metadata'][NAME]
        == 'Forged'
    )


def test_hand_written_conversion_is_called(registry: None) -> None:
    @objects.register
    class Item(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.5': '1.1'}
        fields = {
            'name': fields.StringField(),
            'version': added('1.1', fields.StringField(nullable=True)),
        }

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            version = primitive.get('version')
            super().obj_make_compatible(primitive, target_version)
            if 'version' not in primitive:
                primitive['name'] += f'-{version}'

    item = Item(name='os.nova.server', version='1.0')
    assert objects.to_json(item, {'Item': '1.0'}) == {
        'name': 'os.nova.server-1.0'
    }


def test_downgrade_by_threads_for_two_peers_is_isolated() -> None:
    tree = Tree(row=[Leaf(name=str(n)) for n in range(5)])
    newest = dict(NEWEST)
    wrong: list[object] = []

    def convert(manifest: dict[str, str]) -> None:
        for _ in range(300):
            row = tree.obj_to_primitive(version_manifest=manifest)[DATA]['row']
            versions = {child[VERSION] for child in row}
            if versions != {manifest['Leaf']}:
                wrong.append(versions)

    threads = [
        threading.Thread(target=convert, args=(manifest,))
        for manifest in (OLDEST, newest, OLDEST, newest)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def manifests() -> st.SearchStrategy[dict[str, str]]:
    """Draw a manifest with any versions of all types."""
    return st.fixed_dictionaries(
        {
            name: st.integers(0, Version.parse(version).minor).map(
                '1.{}'.format
            )
            for name, version in NEWEST.items()
        }
    )


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(strategies.instances(Tree), manifests())
def test_downgrade_then_upgrade_is_lossless_or_raises(
    tree: objects.Object, manifest: dict[str, str]
) -> None:
    try:
        primitive = tree.obj_to_primitive(version_manifest=manifest)
    except exceptions.LossyDowngrade:
        return
    labels = dict(objects.versions_in(through_json(primitive)))
    assert labels.items() <= manifest.items()
    again = Tree.obj_from_primitive(through_json(primitive))
    # Only allowed differences remain: a hint, and fields that were
    # unset or null and came back with their default.
    before, after = unchanged(tree), unchanged(again)
    if Version.parse(manifest['Tree']) < Version(1, 2):
        before.pop('hint', None)
    assert defaulted(after) == defaulted(before)


def defaulted(data: Any) -> Any:
    """Return data without nulls and known defaults, at any depth."""
    if isinstance(data, dict):
        return {
            key: defaulted(value)
            for key, value in data.items()
            if value is not None
            and (key, value) not in (('force', False), ('weight', 0))
        }
    if isinstance(data, list):
        return [defaulted(item) for item in data]
    return data


@given(strategies.instances(Tree))
def test_primitive_at_newest_version_equals_ovo(
    tree: objects.Object,
) -> None:
    ours = tree.obj_to_primitive()
    theirs = ovo_base.VersionedObject.obj_to_primitive(tree)
    for primitive in (ours, theirs):
        primitive[CHANGES] = sorted(primitive.get(CHANGES, ()))
    assert ours[DATA].keys() == theirs[DATA].keys()
    assert ours[CHANGES] == theirs[CHANGES]
    assert ours[VERSION] == theirs[VERSION] == '1.4'


@pytest.mark.parametrize(
    ('error', 'message'),
    [
        (exceptions.Unreachable('it is away'), 'it is away'),
        (exceptions.UnsupportedType('A'), 'a peer does not support A'),
    ],
)
def test_message_has_no_traceback_when_the_error_is_remote(
    error: exceptions.VobjectsError, message: str
) -> None:
    # As oslo.messaging rebuilds a remote error.
    shown = {'__str__': lambda self: f'{message}\nTraceback (most recent call'}
    remote: Any = type(f'{type(error).__name__}_Remote', (type(error),), shown)
    received = remote(*error.args)
    assert str(received) != str(error)
    assert received.message == error.message == str(error)
    assert received.message.startswith(message)


class Reversed(ovo.String):
    """Inherits the coercion of ``String``, but not its primitive."""

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return value[::-1]

    from_primitive = to_primitive


class ReversedField(ovo.AutoTypedField):
    AUTO_TYPE = Reversed()


def test_text_type_with_own_primitive_is_read_by_it(registry: None) -> None:
    @objects.register
    class Mirror(objects.Object):
        VERSION = '1.0'
        fields = {'text': ReversedField(nullable=True)}

    for text in ('abc', None):
        primitive = Mirror(text=text).obj_to_primitive()
        assert Mirror.obj_from_primitive(primitive).text == text


def test_init_when_caught_leaves_only_fields_before_the_error(
    registry: None,
) -> None:
    @objects.register
    class Pair(objects.Object):
        VERSION = '1.0'
        fields = {'x': ovo.IntegerField(), 'y': ovo.IntegerField()}

        def __init__(self, **kwargs: Any) -> None:
            with contextlib.suppress(ValueError):
                super().__init__(**kwargs)

    assert Pair(y='bad', x=1).obj_what_changed() == set()
    assert not Pair(y='bad', x=1).obj_attr_is_set('x')
    assert Pair(x=1, y='bad').as_dict() == {'x': 1}
