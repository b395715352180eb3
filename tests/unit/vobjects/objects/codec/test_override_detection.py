# SPDX-License-Identifier: Apache-2.0
"""Methods replaced by tests and subclasses run, also after compiling."""

from __future__ import annotations

import copy
import threading
from typing import Any
from unittest import mock

import pytest
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo

from vobjects.objects.adoption import adopt
from vobjects.objects.codec import override_detection
from vobjects.objects.codec.class_codec import class_codec

from . import paired_types
from .paired_types import Make
from .test_equivalence import agree, sorted_changes

# One field is unset, so that an attribute more makes the number right again.
LEAF = Make('Leaf', {'name': 'a', 'tag': 't'})
TREE = Make('Tree', {'leaf': LEAF, 'row': [LEAF], 'map': {'k': LEAF}})


@pytest.fixture(autouse=True)
def _warm() -> None:
    """Compile all types before a test patches them."""
    with paired_types.using(paired_types.COMPILED) as types:
        tree = paired_types.create(TREE, types)
        tree.obj_clone()
        types['Tree'].obj_from_primitive(tree.obj_to_primitive())


def all_results(tree: Any) -> list[Any]:
    """Use each operation once."""
    primitive = tree.obj_to_primitive()
    return [
        paired_types.outcome(tree.obj_what_changed),
        sorted_changes(primitive),
        paired_types.outcome(
            lambda: sorted_changes(tree.obj_to_primitive('1.0'))
        ),
        paired_types.outcome(tree.obj_clone),
        paired_types.outcome(lambda: type(tree).obj_from_primitive(primitive)),
        paired_types.comparable(tree),
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
def test_patched_method_of_class_is_called(
    name: str, method: str, result: Any
) -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = paired_types.create(TREE, types)
        effect = {
            'side_effect'
            if isinstance(result, Exception)
            else 'return_value': result
        }
        if method == 'obj_attr_is_set':
            replacement: Any = lambda self, attr: False  # noqa: E731
        elif method == '__deepcopy__':
            replacement = lambda self, memo: types['Leaf'](name='b')  # noqa: E731
        elif method == '_obj_from_primitive':
            replacement = classmethod(lambda cls, *a: types['Leaf'](name='c'))
        else:
            replacement = mock.Mock(**effect)
        with mock.patch.object(types[name], method, replacement):
            during = all_results(tree)
        return [during, all_results(tree)]

    agree(program)


@pytest.mark.parametrize('method', ['obj_what_changed', 'obj_to_primitive'])
def test_patched_method_of_object_is_called(method: str) -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = paired_types.create(TREE, types)
        response = {'obj_what_changed': {'tag'}, 'obj_to_primitive': {'x': 1}}
        with mock.patch.object(
            tree.leaf, method, return_value=response[method]
        ):
            during = [
                sorted_changes(tree.obj_to_primitive()),
                tree.obj_what_changed(),
            ]
        return [during, all_results(tree)]

    agree(program)


@pytest.mark.parametrize(
    'method', ['coerce', 'to_primitive', 'from_primitive']
)
@pytest.mark.parametrize(
    'kind',
    [
        *(ovo.String, ovo.Object, ovo.List, ovo.Field),
        # Both inherit the methods, and share a check of them.
        *(ovo.StringField, ovo.ObjectField),
    ],
)
def test_patched_method_of_field_type_is_called(
    kind: Any, method: str
) -> None:
    def program(types: dict[str, Any]) -> Any:
        real = getattr(kind, method)
        calls = []

        def record_call(self: Any, obj: Any, name: str, value: Any) -> Any:
            calls.append((name, type(self).__name__))
            return real(self, obj, name, value)

        tree = paired_types.create(TREE, types)
        leaf = types['Leaf']()
        primitive = tree.obj_to_primitive()
        with mock.patch.object(kind, method, record_call):
            tree.obj_to_primitive()
            types['Tree'].obj_from_primitive(primitive)
            types['Leaf'](name='x')
            leaf.name = 'y'
        return sorted(calls)

    agree(program)


def test_patched_fields_of_class_are_used() -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = paired_types.create(TREE, types)
        fewer = {'name': types['Leaf'].fields['name']}
        with mock.patch.object(types['Leaf'], 'fields', fewer):
            during = all_results(tree)
        return [during, all_results(tree)]

    agree(program)


def test_fields_changed_in_place_are_used() -> None:
    def program(types: dict[str, Any]) -> Any:
        tree = paired_types.create(TREE, types)
        with mock.patch.dict(types['Leaf'].fields):
            del types['Leaf'].fields['tag']
            during = all_results(tree)
        return [during, all_results(tree)]

    agree(program)


def test_patched_registry_is_used() -> None:
    def program(types: dict[str, Any]) -> Any:
        primitive = paired_types.create(TREE, types).obj_to_primitive()
        registry = ovo_base.VersionedObjectRegistry._registry
        assert registry is not None
        fewer = dict(registry._obj_classes)
        del fewer['Leaf']
        with mock.patch.object(registry, '_obj_classes', fewer):
            return paired_types.outcome(
                lambda: types['Tree'].obj_from_primitive(primitive)
            )

    agree(program)


def test_class_registered_again_is_compiled_again() -> None:
    def program(types: dict[str, Any]) -> Any:
        cls = type(
            'Again',
            (types['Leaf'],),
            {'fields': {'other': ovo.IntegerField()}},
        )
        results = [
            paired_types.outcome(lambda: cls(name='a').obj_to_primitive())
        ]
        ovo_base.VersionedObjectRegistry.register(cls)
        results.append(
            cls(name='a', other='3').obj_to_primitive()[
                'versioned_object.data'
            ]
        )
        return results

    agree(program)


def test_first_use_by_many_threads_compiles_once() -> None:
    with paired_types.using(paired_types.COMPILED) as types:
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


def test_replaceable_methods_include_the_originals() -> None:
    for name, known in override_detection.REPLACEABLE.items():
        if name in override_detection.ORIGINALS:
            assert override_detection.ORIGINALS[name] in known


def test_patched_reader_of_versioned_object_is_called_by_all_classes() -> None:
    with paired_types.using(paired_types.COMPILED) as types:
        leaf = types['Leaf']
        with mock.patch(
            'oslo_versionedobjects.base.VersionedObject.obj_from_primitive'
        ) as read:
            assert leaf.obj_from_primitive({'x': 1}) is read.return_value
            leaf.obj_from_primitive({}, 'context')
        assert read.mock_calls == [
            mock.call({'x': 1}),
            mock.call({}, 'context'),
        ]

        def of_class(cls: Any, primitive: Any, context: Any = None) -> Any:
            return cls, primitive

        with mock.patch.object(
            ovo_base.VersionedObject,
            'obj_from_primitive',
            classmethod(of_class),
        ):
            assert leaf.obj_from_primitive({}) == (leaf, {})


def test_context_when_it_is_a_property_is_set_by_its_setter() -> None:
    """Heat's classes keep a weak reference to the context."""

    class Referring(ovo_base.VersionedObject):
        fields = {'name': ovo.StringField()}

        @property
        def _context(self) -> Any:
            return self._reference()

        @_context.setter
        def _context(self, context: Any) -> None:
            self._reference = lambda: context

    with paired_types.using(paired_types.COMPILED):
        ovo_base.VersionedObjectRegistry.register(Referring)
        adopt([Referring])
        created = Referring('context', name='a')
        read = Referring.obj_from_primitive(
            created.obj_to_primitive(), 'context'
        )
        for obj in (created, read, copy.deepcopy(read)):
            assert (obj._context, obj.name) == ('context', 'a')
