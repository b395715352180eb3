# SPDX-License-Identifier: Apache-2.0
"""What tests and subclasses replace is what runs, also after compiling."""

from __future__ import annotations

import copy
import threading
from typing import Any
from unittest import mock

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.objects.codec import override_detection
from vobjects.objects.codec.class_codec import class_codec

from . import twins
from .test_equivalence import agree, sorted_changes
from .twins import Make

# One field is unset, so that an attribute more makes the number right again.
LEAF = Make('Leaf', {'name': 'a', 'tag': 't'})
TREE = Make('Tree', {'leaf': LEAF, 'row': [LEAF], 'map': {'k': LEAF}})


@pytest.fixture(autouse=True)
def _warm() -> None:
    """Everything is compiled before anything is replaced."""
    with twins.using(twins.COMPILED) as types:
        tree = twins.made(TREE, types)
        tree.obj_clone()
        types['Tree'].obj_from_primitive(tree.obj_to_primitive())


def everything(tree: Any) -> list[Any]:
    """Use each operation once."""
    primitive = tree.obj_to_primitive()
    return [
        twins.outcome(tree.obj_what_changed),
        sorted_changes(primitive),
        twins.outcome(lambda: sorted_changes(tree.obj_to_primitive('1.0'))),
        twins.outcome(tree.obj_clone),
        twins.outcome(lambda: type(tree).obj_from_primitive(primitive)),
        twins.shown(tree),
    ]


@pytest.mark.parametrize(
    ('name', 'method', 'result'),
    [
        ('Leaf', 'obj_what_changed', {'tag'}),
        ('Tree', 'obj_what_changed', {'leaf'}),
        ('Leaf', 'obj_to_primitive', {'replaced': True}),
        ('Leaf', '__deepcopy__', 'copied'),
        ('Leaf', 'obj_name', 'Other'),
        ('Leaf', '_obj_from_primitive', None),
        ('Leaf', 'obj_attr_is_set', False),
        ('Tree', 'obj_class_from_name', ValueError('no class')),
        ('Leaf', 'obj_make_compatible', KeyError('refused')),
    ],
)
def test_replaced_methods_of_a_class(
    name: str, method: str, result: Any
) -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = twins.made(TREE, types)
        effect = {
            'side_effect'
            if isinstance(result, Exception)
            else 'return_value': result
        }
        if method == 'obj_attr_is_set':
            stand_in: Any = lambda self, attr: False  # noqa: E731
        elif method == '__deepcopy__':
            stand_in = lambda self, memo: types['Leaf'](name='b')  # noqa: E731
        elif method == '_obj_from_primitive':
            stand_in = classmethod(lambda cls, *a: types['Leaf'](name='c'))
        else:
            stand_in = mock.Mock(**effect)
        with mock.patch.object(types[name], method, stand_in):
            during = everything(tree)
        return [during, everything(tree)]

    agree(program)


@pytest.mark.parametrize('method', ['obj_what_changed', 'obj_to_primitive'])
def test_replaced_methods_of_one_object(method: str) -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = twins.made(TREE, types)
        answer = {'obj_what_changed': {'tag'}, 'obj_to_primitive': {'x': 1}}
        with mock.patch.object(tree.leaf, method, return_value=answer[method]):
            during = [
                sorted_changes(tree.obj_to_primitive()),
                tree.obj_what_changed(),
            ]
        return [during, everything(tree)]

    agree(program)


@pytest.mark.parametrize(
    'method', ['coerce', 'to_primitive', 'from_primitive']
)
@pytest.mark.parametrize('kind', [ovo.String, ovo.Object, ovo.List, ovo.Field])
def test_replaced_methods_of_a_field_type(kind: Any, method: str) -> None:
    def program(types: dict[str, Any]) -> Any:
        real = getattr(kind, method)
        calls = []

        def noting(self: Any, obj: Any, name: str, value: Any) -> Any:
            calls.append((name, type(self).__name__))
            return real(self, obj, name, value)

        tree = twins.made(TREE, types)
        leaf = types['Leaf']()
        primitive = tree.obj_to_primitive()
        with mock.patch.object(kind, method, noting):
            tree.obj_to_primitive()
            types['Tree'].obj_from_primitive(primitive)
            types['Leaf'](name='x')
            if kind is not ovo.Field:  # known: setters look at the type only
                leaf.name = 'y'
        return sorted(calls)

    agree(program)


def test_replaced_fields_of_a_class() -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = twins.made(TREE, types)
        fewer = {'name': types['Leaf'].fields['name']}
        with mock.patch.object(types['Leaf'], 'fields', fewer):
            during = everything(tree)
        return [during, everything(tree)]

    agree(program)


def test_fields_changed_in_place() -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = twins.made(TREE, types)
        with mock.patch.dict(types['Leaf'].fields):
            del types['Leaf'].fields['tag']
            during = everything(tree)
        return [during, everything(tree)]

    agree(program)


def test_another_registry() -> None:
    def program(types: dict[str, Any]) -> Any:
        primitive = twins.made(TREE, types).obj_to_primitive()
        registry = ovo_base.VersionedObjectRegistry._registry
        assert registry is not None
        fewer = dict(registry._obj_classes)
        del fewer['Leaf']
        with mock.patch.object(registry, '_obj_classes', fewer):
            return twins.outcome(
                lambda: types['Tree'].obj_from_primitive(primitive)
            )

    agree(program)


def test_a_class_registered_again_is_compiled_again() -> None:
    def program(types: dict[str, Any]) -> Any:
        cls = type(
            'Again',
            (types['Leaf'],),
            {'fields': {'other': ovo.IntegerField()}},
        )
        said = [twins.outcome(lambda: cls(name='a').obj_to_primitive())]
        ovo_base.VersionedObjectRegistry.register(cls)
        said.append(
            cls(name='a', other='3').obj_to_primitive()[
                'versioned_object.data'
            ]
        )
        return said

    agree(program)


def test_first_uses_by_many_threads_compile_once() -> None:
    with twins.using(twins.COMPILED) as types:
        cls = type(
            'Fresh',
            (types['Leaf'],),
            {'fields': copy.copy(types['Leaf'].fields)},
        )
        forms = set()
        start = threading.Barrier(8)

        def use() -> None:
            start.wait()
            cls(name='a').obj_to_primitive()
            forms.add(class_codec(cls))

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(forms) == 1


def test_what_is_installed_stands_for_what_it_says() -> None:
    for name, known in override_detection.REPLACEABLE.items():
        if name in override_detection.ORIGINALS:
            assert override_detection.ORIGINALS[name] in known
