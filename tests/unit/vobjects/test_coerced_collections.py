# SPDX-License-Identifier: Apache-2.0
"""Each method of a collection in a field coerces what it adds."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import vobjects
from vobjects import exceptions, fields

Change = Callable[[Any, Any], Any]


#: Method that can add an item -> the call.
ADDING: dict[type, dict[str, Change]] = {
    list: {
        '__iadd__': lambda t, i: t.__iadd__([i]),
        '__setitem__': lambda t, i: t.__setitem__(slice(0, 1), [i]),
        'append': lambda t, i: t.append(i),
        'extend': lambda t, i: t.extend(iter([i])),
        'insert': lambda t, i: t.insert(0, i),
    },
    dict: {
        '__ior__': lambda t, i: t.__ior__([('key', i)]),
        '__setitem__': lambda t, i: t.__setitem__('key', i),
        'setdefault': lambda t, i: t.setdefault('key', i),
        'update': lambda t, i: (t.update([('a', i)]), t.update({}, b=i)),
    },
    set: {
        '__iand__': lambda t, i: t.__iand__({i, 5.0}),
        '__ior__': lambda t, i: t.__ior__({i}),
        '__ixor__': lambda t, i: t.__ixor__({i}),
        'add': lambda t, i: t.add(i),
        'intersection_update': lambda t, i: t.intersection_update([i, 5.0]),
        'symmetric_difference_update': (
            lambda t, i: t.symmetric_difference_update([i])
        ),
        'update': lambda t, i: t.update(set(), [i]),
    },
}
#: Methods of these classes that change them without adding anything new.
OTHERS: dict[type, set[str]] = {
    list: {'__delitem__', '__imul__', 'clear', 'pop', 'remove', 'reverse',
           'sort'},
    dict: {'__delitem__', 'clear', 'pop', 'popitem'},
    set: {'__isub__', 'clear', 'difference_update', 'discard', 'pop',
          'remove'},
}  # fmt: skip
#: Methods that return something else, and those of each object.
READING: dict[type, set[str]] = {
    list: {'__add__', '__contains__', '__getitem__', '__len__', '__mul__',
           '__reversed__', '__rmul__', 'copy', 'count', 'index'},
    dict: {'__contains__', '__getitem__', '__len__', '__or__', '__reversed__',
           '__ror__', 'copy', 'fromkeys', 'get', 'items', 'keys', 'values'},
    set: {'__and__', '__contains__', '__len__', '__or__', '__rand__',
          '__ror__', '__rsub__', '__rxor__', '__sub__', '__xor__', 'copy',
          'difference', 'intersection', 'isdisjoint', 'issubset',
          'issuperset', 'symmetric_difference', 'union'},
}  # fmt: skip
OF_EACH_OBJECT = {*dir(object), '__class_getitem__', '__iter__'}

CASES = [(cls, name) for cls, table in ADDING.items() for name in table]


@pytest.fixture
def quota(registry: None) -> Any:
    @vobjects.register
    class Quota(vobjects.Object):
        fields = {
            'list': fields.ListOfIntegersField(),
            'dict': fields.DictOfIntegersField(),
            'set': fields.SetOfIntegersField(),
        }

    return Quota(list=['5'], dict={'old': '5'}, set={5})


@pytest.mark.parametrize('cls', ADDING)
def test_table_has_each_method_of_the_class(cls: type) -> None:
    known = {*ADDING[cls]} | OTHERS[cls] | READING[cls] | OF_EACH_OBJECT
    assert {*dir(cls)} - known == set()


@pytest.mark.parametrize(('cls', 'method'), CASES)
def test_method_coerces_what_it_adds(
    quota: Any, cls: type, method: str
) -> None:
    target = getattr(quota, cls.__name__)
    ADDING[cls][method](target, '6')
    items = target.values() if isinstance(target, dict) else target
    assert {*map(type, items)} <= {int}
    again = type(quota).obj_from_primitive(quota.obj_to_primitive())
    assert getattr(again, cls.__name__) == target


@pytest.mark.parametrize(('cls', 'method'), CASES)
def test_method_rejects_an_invalid_item_and_adds_nothing(
    quota: Any, cls: type, method: str
) -> None:
    target = getattr(quota, cls.__name__)
    before = copy.copy(target)
    if method in ('__iand__', 'intersection_update'):
        ADDING[cls][method](target, 'many')  # it only removes items
    else:
        with pytest.raises(ValueError, match='many'):
            ADDING[cls][method](target, 'many')
    assert target == before


@pytest.mark.parametrize('cls', ADDING)
def test_change_in_place_is_not_tracked_as_in_oslo(
    quota: Any, cls: type
) -> None:
    quota.obj_reset_changes()
    next(iter(ADDING[cls].values()))(getattr(quota, cls.__name__), '6')
    assert quota.obj_what_changed() == set()


@pytest.mark.parametrize('cls', ADDING)
@pytest.mark.parametrize('copied_by', [copy.copy, copy.deepcopy])
def test_copy_is_separate_and_coerces(
    quota: Any, cls: type, copied_by: Callable[[Any], Any]
) -> None:
    target = getattr(quota, cls.__name__)
    before = cls(target)
    copied = copied_by(target)
    for method in ADDING[cls]:
        ADDING[cls][method](copied, '6')
    items = copied.values() if isinstance(copied, dict) else copied
    assert {*map(type, items)} <= {int}
    assert target == before


@pytest.mark.parametrize('cls', ADDING)
def test_pickle_names_the_type_as_for_the_object(
    quota: Any, cls: type
) -> None:
    with pytest.raises(exceptions.NotPickled, match='Quota'):
        pickle.dumps(getattr(quota, cls.__name__))
