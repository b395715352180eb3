# SPDX-License-Identifier: Apache-2.0
"""Compiled classes do what oslo.versionedobjects does, errors included."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import fixture

from . import twins
from .twins import Make

NAME, VERSION, DATA, CHANGES = (
    f'versioned_object.{part}'
    for part in ('name', 'version', 'data', 'changes')
)

relaxed = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

VERSIONS = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.9', '2.0', '1.3.1']
manifests = st.none() | st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from(VERSIONS[:4])
        for name in ('Tree', 'Leaf', 'LeafPlus', 'LeafList', 'Loader')
    },
)


def agree(call: Callable[[dict[str, Any]], Any]) -> Any:
    """Do the same on both sides; return what it gave, which is the same."""
    results = []
    for side in (twins.PLAIN, twins.COMPILED):
        with twins.using(side) as types:
            results.append(twins.outcome(lambda types=types: call(types)))
    assert results[1] == results[0]
    return results[0]


def sorted_changes(primitive: Any) -> Any:
    """A primitive with ``changes`` and sets sorted: their order is random."""
    if isinstance(primitive, dict):
        return {
            key: sorted(value) if key == CHANGES else sorted_changes(value)
            for key, value in primitive.items()
        }
    if isinstance(primitive, tuple):  # from a set
        return sorted(map(sorted_changes, primitive), key=repr)
    if isinstance(primitive, list):
        return [sorted_changes(item) for item in primitive]
    return primitive


def same_text(primitive: Any) -> str:
    """The JSON text, with the order of its keys."""
    return json.dumps(sorted_changes(primitive), default=repr)


@pytest.mark.parametrize('name', twins.NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_one_field_of_each_type(name: str, data: st.DataObject) -> None:
    first = data.draw(twins.values(name))
    second = data.draw(twins.values(name))
    raw = data.draw(twins.odd)

    def program(types: dict[str, Any]) -> Any:
        cls = types[f'Only_{name}']
        obj = cls()
        said = [
            twins.outcome(lambda: cls(**{name: copy.deepcopy(first)})),
            twins.outcome(lambda: getattr(obj, name)),
            twins.outcome(lambda: setattr(obj, name, copy.deepcopy(first))),
            twins.outcome(lambda: setattr(obj, name, copy.deepcopy(second))),
            twins.outcome(lambda: getattr(obj, name)),
            twins.shown(obj),
            twins.outcome(obj.obj_what_changed),
            twins.outcome(obj.obj_clone),
            twins.outcome(lambda: copy.deepcopy([obj, obj])),
            twins.outcome(lambda: repr(obj)),
        ]
        primitive = twins.outcome(obj.obj_to_primitive)
        said.append(primitive)
        if primitive[0] != 'error':
            whole = obj.obj_to_primitive()
            said.append(twins.outcome(lambda: cls.obj_from_primitive(whole)))
            said.append(
                twins.outcome(
                    lambda: cls.obj_from_primitive(
                        json.loads(json.dumps(whole)), 'context'
                    )
                )
            )
            whole[DATA] = {name: raw}
            said.append(twins.outcome(lambda: cls.obj_from_primitive(whole)))
        said.append(twins.outcome(lambda: delattr(obj, name)))
        said.append(twins.outcome(lambda: delattr(obj, name)))
        said.append(twins.shown(obj))
        return said

    agree(program)


@relaxed
@given(twins.alls, st.none() | st.sampled_from(VERSIONS))
def test_all_fields_together(recipe: Make, version: str | None) -> None:
    def program(types: dict[str, Any]) -> Any:
        obj = twins.made(recipe, types)
        primitive = obj.obj_to_primitive(version)
        again = types['All'].obj_from_primitive(
            json.loads(json.dumps(primitive))
        )
        return [
            same_text(primitive),
            obj.obj_what_changed(),
            twins.shown(obj.obj_clone()),
            twins.shown(again),
            same_text(again.obj_to_primitive()),
            same_text(again.obj_clone().obj_to_primitive()),
        ]

    agree(program)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(twins.trees, st.none() | st.sampled_from(VERSIONS), manifests)
@example(Make('Tree', {'row': [Make('LeafPlus', {'name': 'a'})]}), '1.0', {})
@example(Make('Tree', {'loader': Make('Loader', {})}), None, None)
def test_trees_at_every_version_and_manifest(
    recipe: Make, version: str | None, manifest: dict[str, str] | None
) -> None:
    def program(types: dict[str, Any]) -> Any:
        obj = twins.made(recipe, types)
        said = [twins.outcome(obj.obj_what_changed), twins.shown(obj)]
        try:
            primitive = obj.obj_to_primitive(version, manifest)
        except Exception as error:  # noqa: BLE001 - compared
            said.append(repr(error))
            primitive = obj.obj_to_primitive()
        said.append(same_text(primitive))
        again = types['Tree'].obj_from_primitive(
            json.loads(json.dumps(primitive))
        )
        said += [
            twins.shown(again),
            again.obj_what_changed(),
            twins.shown(obj.obj_clone()),
        ]
        obj.obj_reset_changes(recursive=True)
        said += [obj.obj_what_changed(), twins.shown(obj)]
        return said

    agree(program)


@relaxed
@given(
    st.dictionaries(
        st.sampled_from(['name', 'tag', 'weight', 'other']),
        twins.odd | twins.leaves,
        max_size=4,
    ),
    st.sampled_from(['Leaf', 'LeafPlus', 'LeafList', 'Loader', 'Nobody', 3]),
    st.sampled_from([*VERSIONS, 'x', None, 1]),
    st.none() | st.lists(st.sampled_from(['name', 'other']), max_size=2),
)
def test_primitives_from_anybody(
    data: dict[str, Any], name: Any, version: Any, changes: Any
) -> None:
    def program(types: dict[str, Any]) -> Any:
        primitive = {
            NAME: name,
            'versioned_object.namespace': 'versionedobjects',
            VERSION: version,
            DATA: twins.made(data, types),
        }
        if changes is not None:
            primitive[CHANGES] = changes
        return types['Leaf'].obj_from_primitive(primitive, 'context')

    agree(program)


@pytest.mark.parametrize(
    'broken',
    [
        {},
        {NAME: 'Leaf'},
        {
            NAME: 'Leaf',
            VERSION: '1.0',
            'versioned_object.namespace': 'other',
            DATA: {},
        },
        {
            NAME: 'Leaf',
            VERSION: '1.0',
            'versioned_object.namespace': 'versionedobjects',
        },
        {
            NAME: 'Leaf',
            VERSION: '1.0',
            'versioned_object.namespace': 'versionedobjects',
            DATA: ['name'],
        },
        {
            NAME: 'Leaf',
            VERSION: '1.0',
            'versioned_object.namespace': 'versionedobjects',
            DATA: {},
            CHANGES: None,
        },
    ],
)
def test_broken_envelopes(broken: dict[str, Any]) -> None:
    agree(lambda types: types['Leaf'].obj_from_primitive(dict(broken)))


def test_fingerprints_are_those_of_the_classes_as_they_were() -> None:
    prints = []
    for side in (twins.PLAIN, twins.COMPILED):
        with twins.using(side):
            checker = fixture.ObjectVersionChecker(side.registry)
            prints.append(checker.get_hashes())
    assert prints[1] == prints[0]


def test_loading_lazily_happens_once_and_by_the_class() -> None:
    def program(types: dict[str, Any]) -> Any:
        loader = types['Loader']()
        return [loader.name, loader.size, dict(loader), twins.shown(loader)]

    agree(program)


@pytest.mark.parametrize('given_', [{}, {'size': 1}, {'tag': None}])
def test_a_class_with_its_own_init(given_: dict[str, Any]) -> None:
    def program(types: dict[str, Any]) -> Any:
        born = types['Born'](**given_)
        said = [twins.shown(born), twins.shown(born.obj_clone())]
        del born.size
        born.obj_reset_changes()
        primitive = born.obj_to_primitive()
        return [
            *said,
            born.obj_what_changed(),
            sorted_changes(primitive),
            twins.shown(born.obj_clone()),
            twins.shown(types['Born'].obj_from_primitive(primitive)),
        ]

    agree(program)


def test_shared_and_circular_objects_are_cloned_as_they_stand() -> None:
    def program(types: dict[str, Any]) -> Any:
        leaf = types['Leaf'](name='a')
        tree = types['Tree'](leaf=leaf, row=[leaf, leaf], map={'k': leaf})
        clone = tree.obj_clone()
        return [
            clone.leaf is clone.row[0] is clone.row[1] is clone.map['k'],
            clone.leaf is not leaf,
            twins.shown(clone),
        ]

    agree(program)
