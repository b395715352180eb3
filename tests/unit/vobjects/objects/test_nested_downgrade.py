# SPDX-License-Identifier: Apache-2.0
"""Nested objects whose conversion is written by hand, in any container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added, renamed

pytestmark = pytest.mark.usefixtures('registry')

VERSION, DATA, CHANGES = (
    f'versioned_object.{part}' for part in ('version', 'data', 'changes')
)

OLDEST = {'Holder': '1.0', 'Plain': '1.0', 'Inner': '1.0'}


def item() -> ovo.Object:
    return ovo.Object('Plain')


class OwnList(ovo.List[Any]):
    """A list whose primitive is not that of its parent."""

    def to_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return super().to_primitive(obj, attr, value)[::-1]


#: Type of a field, and a function that puts an object in its value.
CONTAINERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    'object': (item(), lambda plain: plain),
    'list': (ovo.List(item()), lambda plain: [plain]),
    'dict': (ovo.Dict(item()), lambda plain: {'key': plain}),
    'set': (ovo.Set(item()), lambda plain: {plain}),
    'list with its own primitive': (OwnList(item()), lambda plain: [plain]),
    'list of lists': (
        ovo.List(ovo.List(item())),
        lambda plain: [[plain]],
    ),
    'list of dicts': (
        ovo.List(ovo.Dict(item())),
        lambda plain: [{'key': plain}],
    ),
    'dict of lists': (
        ovo.Dict(ovo.List(item())),
        lambda plain: {'key': [plain]},
    ),
    'list of nullable lists': (
        ovo.List(ovo.List(item()), nullable=True),
        lambda plain: [None, [plain]],
    ),
    'list of nullable objects': (
        ovo.List(item(), nullable=True),
        lambda plain: [None, plain],
    ),
}


@pytest.fixture
def plain() -> Any:
    """Return an object of oslo.versionedobjects with an object inside."""

    @ovo_base.VersionedObjectRegistry.register
    class Inner(ovo_base.VersionedObject):
        VERSION = '1.1'
        fields = {'a': ovo.StringField(), 'b': ovo.StringField()}

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            if target_version == '1.0':
                primitive.pop('b', None)

    @ovo_base.VersionedObjectRegistry.register
    class Plain(Inner):
        fields = {'inner': ovo.ObjectField('Inner')}

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            super().obj_make_compatible(primitive, target_version)
            if target_version == '1.0':
                self._obj_make_obj_compatible(
                    primitive, target_version, 'inner'
                )

    return Plain(a='1', b='2', inner=Inner(a='3', b='4'))


def holder_type(field_type: Any, *, by_hand: bool) -> Any:
    """Register a type with a field of a type, and return it."""
    field = ovo.Field(field_type)
    if not by_hand:

        @objects.register
        class Holder(objects.Object):
            fields = {'value': field}

        return Holder

    @objects.register
    class Holder(objects.Object):  # type: ignore[no-redef]
        fields = {'value': field}

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            super().obj_make_compatible(primitive, target_version)

    return Holder


def downgraded(plain: Any) -> dict[str, Any]:
    """Return the primitive of an object in a holder at version 1.0."""
    holder = holder_type(item(), by_hand=False)
    primitive = holder(value=plain).obj_to_primitive(version_manifest=OLDEST)
    inner: dict[str, Any] = primitive[DATA]['value']
    return inner


@pytest.mark.parametrize('by_hand', [False, True])
@pytest.mark.parametrize('container', CONTAINERS)
def test_object_in_any_container_is_downgraded(
    plain: Any, container: str, by_hand: bool
) -> None:
    field_type, put = CONTAINERS[container]
    holder = holder_type(field_type, by_hand=by_hand)
    newest = holder(value=put(plain)).obj_to_primitive()[DATA]['value']
    primitive = holder(value=put(plain)).obj_to_primitive(
        version_manifest=OLDEST
    )
    (old,) = objects_in(primitive[DATA]['value'])
    (new,) = objects_in(newest)
    assert (old[VERSION], new[VERSION]) == ('1.0', '1.1')
    assert (old[DATA]['a'], new[DATA]['a']) == ('1', '1')
    assert 'b' in new[DATA]
    assert 'b' not in old[DATA]
    assert shape(primitive[DATA]['value']) == shape(newest)


def test_method_by_hand_that_converts_an_object_keeps_to_the_manifest(
    plain: Any,
) -> None:
    """It names a version, and the manifest those of the objects inside."""

    @objects.register
    class Middle(objects.Object):
        fields = {'plain': fields.ObjectField('Plain')}

    @ovo_base.VersionedObjectRegistry.register
    class Outer(ovo_base.VersionedObject):
        fields = {'middle': ovo.ObjectField('Middle')}

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            super().obj_make_compatible(primitive, target_version)
            self.middle.obj_make_compatible(
                primitive['middle'][DATA], target_version
            )

    holder = holder_type(ovo.Object('Outer'), by_hand=False)
    outer = Outer(middle=Middle(plain=plain))
    primitive = holder(value=outer).obj_to_primitive(
        version_manifest={**OLDEST, 'Outer': '1.0', 'Middle': '1.0'}
    )
    middle = primitive[DATA]['value'][DATA]['middle']
    assert middle[DATA]['plain'][VERSION] == '1.0'


def test_object_inside_is_downgraded_by_the_manifest(plain: Any) -> None:
    inner = downgraded(plain)[DATA]['inner']
    assert (inner[VERSION], inner[DATA]) == ('1.0', {'a': '3'})


def test_changes_are_those_that_the_version_has(plain: Any) -> None:
    assert set(downgraded(plain)[CHANGES]) == {'a', 'inner'}


def test_changes_of_none_that_the_version_has_are_omitted(plain: Any) -> None:
    plain.obj_reset_changes(recursive=True)
    plain.b = '5'
    assert CHANGES not in downgraded(plain)


def test_object_without_changes_has_none_at_the_version(plain: Any) -> None:
    plain.obj_reset_changes(recursive=True)
    assert CHANGES not in downgraded(plain)


@pytest.mark.parametrize('by_hand', [False, True])
def test_changes_of_a_declared_type_have_the_names_of_the_version(
    by_hand: bool,
) -> None:
    @objects.register
    class Declared(objects.Object):
        VERSION = '1.1'
        fields = {
            'title': renamed('1.1', 'name', fields.StringField()),
            'size': added('1.1', fields.IntegerField(default=0)),
            'color': fields.StringField(),
        }

    holder = holder_type(ovo.Object('Declared'), by_hand=by_hand)
    declared = Declared(title='a', size=0, color='red')
    declared.obj_reset_changes(['color'])
    primitive = holder(value=declared).obj_to_primitive(
        version_manifest={'Holder': '1.0', 'Declared': '1.0'}
    )
    inner = primitive[DATA]['value']
    assert inner[DATA] == {'name': 'a', 'color': 'red'}
    assert inner[CHANGES] == ['name']


@pytest.mark.parametrize('in_list', [False, True])
def test_loss_of_an_object_converted_by_hand_is_refused(in_list: bool) -> None:
    @objects.register
    class Declared(objects.Object):
        VERSION = '1.1'
        fields = {'size': added('1.1', fields.IntegerField(default=0))}

        def obj_make_compatible(
            self, primitive: dict[str, Any], target_version: str
        ) -> None:
            super().obj_make_compatible(primitive, target_version)

    field_type = ovo.Object('Declared')
    holder = holder_type(
        ovo.List(field_type) if in_list else field_type, by_hand=False
    )
    declared = Declared(size=1)
    value = holder(value=[declared] if in_list else declared)
    with pytest.raises(exceptions.LossyDowngrade, match=r'Declared\.size=1'):
        value.obj_to_primitive(
            version_manifest={'Holder': '1.0', 'Declared': '1.0'}
        )


def test_object_inside_an_object_in_a_list_is_downgraded() -> None:
    @objects.register
    class Inside(objects.Object):
        VERSION = '1.1'
        fields = {'size': added('1.1', fields.IntegerField(default=0))}

    @objects.register
    class Between(objects.Object):
        fields = {'inside': fields.ObjectField('Inside')}

    holder = holder_type(ovo.List(ovo.Object('Between')), by_hand=False)
    primitive = holder(value=[Between(inside=Inside(size=0))])
    (between,) = primitive.obj_to_primitive(
        version_manifest={'Holder': '1.0', 'Between': '1.0', 'Inside': '1.0'}
    )[DATA]['value']
    inside = between[DATA]['inside']
    assert (inside[VERSION], inside[DATA]) == ('1.0', {})


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the primitives of the objects in a container."""
    if isinstance(value, dict):
        if VERSION in value:
            return [value]
        value = value.values()
    return [each for item in value or () for each in objects_in(item)]


def shape(value: Any) -> Any:
    """Return a container with a word in place of each object."""
    if isinstance(value, dict):
        if VERSION in value:
            return 'object'
        return {key: shape(item) for key, item in value.items()}
    if value is None:
        return None
    return type(value)(map(shape, value))


def test_objects_of_a_set_keep_their_changes_without_compiled_code() -> None:
    @objects.register
    class Item(objects.Object):
        VERSION = '1.1'
        fields = {
            'name': fields.StringField(),
            'new': added('1.1', fields.StringField(nullable=True)),
        }

    @objects.register
    class Owner(objects.Object):
        fields = {'items': fields.Field(fields.Set(fields.Object('Item')))}

        def obj_make_compatible(self, primitive: Any, version: str) -> None:
            super().obj_make_compatible(primitive, version)

    items = [Item(name=str(number)) for number in range(20)]
    for item in items[::2]:
        item.obj_reset_changes()
    written = Owner(items=set(items)).obj_to_primitive(
        version_manifest={'Owner': '1.0', 'Item': '1.0'}
    )
    changed = {
        primitive['versioned_object.data']['name']
        for primitive in written['versioned_object.data']['items']
        if 'versioned_object.changes' in primitive
    }
    assert changed == {item.name for item in items[1::2]}


@pytest.mark.parametrize('by_hand', [False, True])
@pytest.mark.parametrize('container', CONTAINERS)
@pytest.mark.parametrize(
    'root', [objects.Request, objects.Resource, objects.Object]
)
def test_null_inside_an_update_is_never_dropped(
    root: Any, container: str, by_hand: bool
) -> None:
    @objects.register
    class Plain(objects.Object):
        VERSION = '1.1'
        fields = {
            'label': added('1.1', fields.StringField(nullable=True)),
            'more': added(
                '1.1', fields.StringField(nullable=True, default=None)
            ),
            'size': added(
                '1.1', fields.IntegerField(nullable=True, default=1)
            ),
        }

        if by_hand:

            def obj_make_compatible(self, primitive: Any, target: str) -> None:
                super().obj_make_compatible(primitive, target)

    field_type, wrap = CONTAINERS[container]

    @objects.register
    class Inner(objects.Object):
        fields = {'plain': fields.Field(field_type)}

    @objects.register
    class Holder(root):  # type: ignore[misc]
        fields = {'inner': fields.ObjectField('Inner')}

    def send(**values: Any) -> Any:
        holder = Holder(inner=Inner(plain=wrap(Plain(**values))))
        return holder.obj_to_primitive(version_manifest=OLDEST)

    for harmless in ({}, {'more': None}, {'size': 1}):
        assert send(**harmless)
    for name in ('label', 'size'):
        if root is objects.Request:
            with pytest.raises(exceptions.LossyDowngrade, match=name):
                send(**{name: None})
        else:
            assert send(**{name: None})
