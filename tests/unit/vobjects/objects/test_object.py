# SPDX-License-Identifier: Apache-2.0
"""Downgrade and upgrade of objects and nested objects."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import pytest
from oslo_versionedobjects import exception as ovo_exception
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added, changed, removed, renamed

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
