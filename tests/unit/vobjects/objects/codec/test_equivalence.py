# SPDX-License-Identifier: Apache-2.0
"""Compiled classes behave as oslo.versionedobjects, errors included."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import fixture

from . import paired_types
from .paired_types import Make

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
    """Call a function for both sides, and return the common result."""
    outcomes = []
    for side in (paired_types.PLAIN, paired_types.COMPILED):
        with paired_types.using(side) as types:
            outcomes.append(
                paired_types.outcome(lambda types=types: call(types))
            )
    assert outcomes[1] == outcomes[0]
    return outcomes[0]


def sorted_changes(primitive: Any) -> Any:
    """Return a primitive with ``changes`` and sets sorted."""
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
    """Return the JSON text, with the order of its keys."""
    return json.dumps(sorted_changes(primitive), default=repr)


@pytest.mark.parametrize('name', paired_types.NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_each_field_type_equals_ovo(name: str, data: st.DataObject) -> None:
    first = data.draw(paired_types.values(name))
    second = data.draw(paired_types.values(name))
    raw = data.draw(paired_types.odd_values)

    def program(types: dict[str, Any]) -> Any:
        cls = types[f'Only_{name}']
        obj = cls()
        results = [
            paired_types.outcome(lambda: cls(**{name: copy.deepcopy(first)})),
            paired_types.outcome(lambda: getattr(obj, name)),
            paired_types.outcome(
                lambda: setattr(obj, name, copy.deepcopy(first))
            ),
            paired_types.outcome(
                lambda: setattr(obj, name, copy.deepcopy(second))
            ),
            paired_types.outcome(lambda: getattr(obj, name)),
            paired_types.comparable(obj),
            paired_types.outcome(obj.obj_what_changed),
            paired_types.outcome(obj.obj_clone),
            paired_types.outcome(lambda: copy.deepcopy([obj, obj])),
            paired_types.outcome(lambda: repr(obj)),
        ]
        primitive = paired_types.outcome(obj.obj_to_primitive)
        results.append(primitive)
        if primitive[0] != 'error':
            whole = obj.obj_to_primitive()
            results.append(
                paired_types.outcome(lambda: cls.obj_from_primitive(whole))
            )
            results.append(
                paired_types.outcome(
                    lambda: cls.obj_from_primitive(
                        json.loads(json.dumps(whole)), 'context'
                    )
                )
            )
            whole[DATA] = {name: raw}
            results.append(
                paired_types.outcome(lambda: cls.obj_from_primitive(whole))
            )
        results.append(paired_types.outcome(lambda: delattr(obj, name)))
        results.append(paired_types.outcome(lambda: delattr(obj, name)))
        results.append(paired_types.comparable(obj))
        return results

    agree(program)


@relaxed
@given(paired_types.alls, st.none() | st.sampled_from(VERSIONS))
def test_all_field_types_together_equal_ovo(
    recipe: Make, version: str | None
) -> None:
    def program(types: dict[str, Any]) -> Any:
        obj = paired_types.create(recipe, types)
        primitive = obj.obj_to_primitive(version)
        decoded = types['All'].obj_from_primitive(
            json.loads(json.dumps(primitive))
        )
        return [
            same_text(primitive),
            obj.obj_what_changed(),
            paired_types.comparable(obj.obj_clone()),
            paired_types.comparable(decoded),
            same_text(decoded.obj_to_primitive()),
            same_text(decoded.obj_clone().obj_to_primitive()),
        ]

    agree(program)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(paired_types.trees, st.none() | st.sampled_from(VERSIONS), manifests)
@example(Make('Tree', {'row': [Make('LeafPlus', {'name': 'a'})]}), '1.0', {})
@example(Make('Tree', {'loader': Make('Loader', {})}), None, None)
def test_trees_at_any_version_and_manifest_equal_ovo(
    recipe: Make, version: str | None, manifest: dict[str, str] | None
) -> None:
    def program(types: dict[str, Any]) -> Any:
        obj = paired_types.create(recipe, types)
        results = [
            paired_types.outcome(obj.obj_what_changed),
            paired_types.comparable(obj),
        ]
        try:
            primitive = obj.obj_to_primitive(version, manifest)
        except Exception as error:  # noqa: BLE001 - compared
            results.append(repr(error))
            primitive = obj.obj_to_primitive()
        results.append(same_text(primitive))
        decoded = types['Tree'].obj_from_primitive(
            json.loads(json.dumps(primitive))
        )
        results += [
            paired_types.comparable(decoded),
            decoded.obj_what_changed(),
            paired_types.comparable(obj.obj_clone()),
        ]
        obj.obj_reset_changes(recursive=True)
        results += [obj.obj_what_changed(), paired_types.comparable(obj)]
        return results

    agree(program)


@relaxed
@given(
    st.dictionaries(
        st.sampled_from(['name', 'tag', 'weight', 'other']),
        paired_types.odd_values | paired_types.leaves,
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
            DATA: paired_types.create(data, types),
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
def test_broken_envelopes_raise_the_errors_of_ovo(
    broken: dict[str, Any],
) -> None:
    agree(lambda types: types['Leaf'].obj_from_primitive(dict(broken)))


def test_fingerprints_equal_ovo() -> None:
    prints = []
    for side in (paired_types.PLAIN, paired_types.COMPILED):
        with paired_types.using(side):
            checker = fixture.ObjectVersionChecker(side.registry)
            prints.append(checker.get_hashes())
    assert prints[1] == prints[0]


def test_obj_load_attr_is_called_once() -> None:
    def program(types: dict[str, Any]) -> Any:
        loader = types['Loader']()
        return [
            loader.name,
            loader.size,
            dict(loader),
            paired_types.comparable(loader),
        ]

    agree(program)


@pytest.mark.parametrize('values', [{}, {'size': 1}, {'tag': None}])
def test_class_with_own_init_equals_ovo(values: dict[str, Any]) -> None:
    def program(types: dict[str, Any]) -> Any:
        instance = types['Born'](**values)
        results = [
            paired_types.comparable(instance),
            paired_types.comparable(instance.obj_clone()),
        ]
        del instance.size
        instance.obj_reset_changes()
        primitive = instance.obj_to_primitive()
        return [
            *results,
            instance.obj_what_changed(),
            sorted_changes(primitive),
            paired_types.comparable(instance.obj_clone()),
            paired_types.comparable(
                types['Born'].obj_from_primitive(primitive)
            ),
        ]

    agree(program)


def test_clone_preserves_shared_objects() -> None:
    def program(types: dict[str, Any]) -> Any:
        leaf = types['Leaf'](name='a')
        tree = types['Tree'](leaf=leaf, row=[leaf, leaf], map={'k': leaf})
        clone = tree.obj_clone()
        return [
            clone.leaf is clone.row[0] is clone.row[1] is clone.map['k'],
            clone.leaf is not leaf,
            paired_types.comparable(clone),
        ]

    agree(program)
