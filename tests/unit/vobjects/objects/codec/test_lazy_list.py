# SPDX-License-Identifier: Apache-2.0
"""A list that is read when it is touched is the list that was read at once."""

from __future__ import annotations

import copy
import datetime
import json
import operator
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import fields as ovo

from vobjects import fields, objects
from vobjects.objects.codec import json_text, lazy_list
from vobjects.objects.codec.lazy_list import LazyObjectList
from vobjects.objects.history import added
from vobjects.rpc import serializer

from . import twins
from .test_equivalence import DATA, sorted_changes

CHANGES = 'versioned_object.changes'
VERSION = 'versioned_object.version'


def _fields() -> dict[str, Any]:
    return {
        'text': fields.StringField(),
        'nullable': fields.StringField(nullable=True),
        'defaulted': fields.StringField(default='x'),
        'once': fields.IntegerField(read_only=True),
        'uuid': fields.UUIDField(),
        'enum': fields.EnumField(['red', 'green']),
        'integer': fields.IntegerField(),
        'natural': fields.NonNegativeIntegerField(nullable=True),
        'float': fields.FloatField(),
        'positive': fields.NonNegativeFloatField(),
        'boolean': fields.BooleanField(),
        'strict': fields.StrictBooleanField(),
        'at': fields.DateTimeField(),
        'maybe_at': fields.DateTimeField(nullable=True),
        'strings': fields.ListOfStringsField(),
        'lists': fields.ListOfListsOfStringsField(),
        'nulls': fields.DictOfNullableStringsField(),
        'json': fields.JsonField(),
        'any': fields.JsonValueField(),
        'late': added('1.1', fields.IntegerField(nullable=True)),
    }


@objects.register
class Thing(objects.Object):
    VERSION = '1.1'
    fields = _fields()


@objects.register
class Things(objects.ObjectListBase, objects.Object):
    VERSION = '1.1'
    fields = {'objects': fields.ListOfObjectsField('Thing')}
    child_versions = {'1.0': '1.0', '1.1': '1.1'}


@objects.register
class Shown(objects.Resource):
    """The same as an answer."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = _fields()


@objects.register
class Lenient(objects.Resource):
    """Unknown fields of it are dropped, and no check of its own is known."""

    fields = {'text': fields.StringField(), 'ip': fields.IPAddressField()}


@objects.register
class Lenients(objects.ObjectListBase, objects.Resource):
    fields = {'objects': fields.ListOfObjectsField('Lenient')}


GOOD: dict[str, Any] = {
    'text': st.text(max_size=4),
    'nullable': st.none() | st.text(max_size=4),
    'defaulted': st.text(max_size=4),
    'once': st.integers(),
    'uuid': twins.uuids,
    'enum': st.sampled_from(['red', 'green']),
    'integer': st.integers(),
    'natural': st.none() | st.integers(0, 2**70),
    'float': st.floats(allow_nan=False) | st.integers(),
    'positive': st.floats(0, 3),
    'boolean': st.booleans(),
    'strict': st.booleans(),
    'at': st.sampled_from(['2026-11-21T12:00:00Z', '2024-02-29T23:59:59Z']),
    'maybe_at': st.sampled_from([None, '0001-01-01T00:00:00Z']),
    'strings': st.lists(st.text(max_size=3), max_size=3),
    'lists': st.lists(st.lists(st.text(max_size=2), max_size=2), max_size=2),
    'nulls': st.dictionaries(
        st.text(max_size=3), st.none() | st.text(max_size=3), max_size=2
    ),
    'json': st.just({'a': [1, {'b': None}], 'c': 2**70, 'd': 1e3}),
    'any': st.sampled_from([1, 'a', [None, 1.5], {'k': []}, True]),
    'late': st.none() | st.integers(),
}
#: What a field should not be given, but may be.
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3).map(str),
    st.floats(),
    st.sampled_from(
        [
            'yes',
            'RED',
            '2026-11-21T12:00:00+01:00',
            '2026-11-21T12:00:00.5Z',
            '2026-11-21t12:00:00Z',
            '2026-02-30T12:00:00Z',
            '2026-W47-6T12:00:00Z',
            '2026-11-21 12:00:00Z',
            '\ud800',
            2**70,
            1e300,
        ]
    ),
    st.lists(st.none() | st.integers() | st.text(max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)


def primitive_of(
    data: dict[str, Any], version: str = '1.1', **more: Any
) -> dict[str, Any]:
    return {
        'versioned_object.name': 'Thing',
        'versioned_object.namespace': 'versionedobjects',
        VERSION: version,
        DATA: data,
        **more,
    }


def list_of(items: list[Any], **more: Any) -> dict[str, Any]:
    return {
        **primitive_of({'objects': items}, **more),
        'versioned_object.name': 'Things',
    }


good_data = st.fixed_dictionaries({}, optional=GOOD)
good_items = st.builds(primitive_of, good_data)
changed_items = st.builds(
    lambda data, names: primitive_of(data, **{CHANGES: names}),
    good_data,
    st.lists(st.sampled_from(['text', 'integer', 'nobody']), max_size=3),
)


@st.composite
def odd_items(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an item with something wrong, or at least unusual, in it."""
    data = dict(draw(good_data))
    name = draw(st.sampled_from([*GOOD, 'unknown']))
    data[name] = draw(ODD)
    return primitive_of(data, draw(st.sampled_from(['1.0', '1.1', '1.2'])))


lists_of_items = st.builds(
    list_of, st.lists(good_items | changed_items, max_size=3)
) | st.builds(
    list_of, st.lists(good_items | changed_items | odd_items(), max_size=3)
)


def text_of(primitive: Any) -> bytes:
    return json.dumps(primitive).encode()


def at_once(data: bytes) -> Any:
    return serializer.from_wire(json.loads(data), 'context')


def when_touched(data: bytes) -> Any:
    return serializer.from_bytes(data, 'context')


def outcome(read: Callable[[bytes], Any], data: bytes, *uses: Any) -> Any:
    """Return what a reading gives, and what using its result does."""

    def call() -> Any:
        things = read(data)
        said = [use(things) for use in uses]
        list(things.objects)
        return [said, things]

    return twins.outcome(call)


def dumped(things: Any) -> Any:
    return sorted_changes(things.obj_to_primitive())


def as_bytes(things: Any) -> Any:
    return sorted_changes(json.loads(serializer.to_bytes(things, None)))


def at(version: str) -> Callable[[Any], Any]:
    manifest = {'Things': version, 'Thing': version}
    return lambda things: sorted_changes(
        things.obj_to_primitive(version_manifest=manifest)
    )


def cloned(things: Any) -> Any:
    clone = things.obj_clone()
    return [dumped(clone), *map(twins.shown, clone)]


USES = (
    len,
    operator.methodcaller('obj_what_changed'),
    dumped,
    as_bytes,
    at('1.1'),
    cloned,
    lambda things: [twins.shown(things[0])] if things else None,
    operator.methodcaller('obj_what_changed'),
    dumped,
    cloned,
    at('1.0'),
)


@settings(max_examples=60)
@given(lists_of_items, st.permutations(USES))
@example(list_of([primitive_of({'at': '2026-11-21T12:00:60Z'})]), USES)
@example(list_of([primitive_of({'text': None})]), USES)
@example(list_of([primitive_of({'float': 10**400})]), USES)
@example(list_of([primitive_of({'any': float('nan')})]), USES)
@example(list_of([primitive_of({'text': 'a', 'json': {'b': [1]}})] * 2), USES)
@example(list_of([primitive_of({}, **{CHANGES: ['text', 'text']})]), USES)
@example(list_of([primitive_of({'text': 'a'}, '1.0')]), USES)
@example(list_of([None]), USES)
@example(list_of(None), USES)  # type: ignore[arg-type]
def test_a_list_read_when_touched_is_the_list_read_at_once(
    primitive: Any, uses: Any
) -> None:
    data = text_of(primitive)
    assert outcome(when_touched, data, *uses) == outcome(at_once, data, *uses)


@given(lists_of_items)
def test_it_is_refused_when_it_arrives_or_never(primitive: Any) -> None:
    data = text_of(primitive)
    try:
        at_once(data)
    except Exception as error:  # noqa: BLE001 - whatever it is
        with pytest.raises(type(error)):
            when_touched(data)
    else:
        [*when_touched(data)]


def answer_of(items: Any) -> Any:
    """Return the primitives of a list's items as those of answers."""
    return [
        {**item, 'versioned_object.name': 'Shown'}
        if isinstance(item, dict)
        else item
        for item in items or ()
    ]


def shown_at(version: str) -> Callable[[Any], Any]:
    return lambda things: objects.to_json_list(things, {'Shown': version})


def written_at(version: str) -> Callable[[Any], Any]:
    def write(things: Any) -> str:
        written = json_text.dumps(
            [objects.to_json_text(things, {'Shown': version})]
        )
        # NaN is not what it is, but its text is.
        return json.dumps(json.loads(written), sort_keys=True)

    return write


ANSWER_USES = (
    len,
    shown_at('1.1'),
    shown_at('1.0'),
    written_at('1.1'),
    written_at('1.0'),
    lambda things: [twins.shown(things[0])] if things else None,
    shown_at('1.0'),
    lambda things: [sorted_changes(one.obj_to_primitive()) for one in things],
)


@settings(max_examples=60)
@given(lists_of_items, st.permutations(ANSWER_USES))
@example(list_of([primitive_of({'text': 'a', 'late': 1})] * 2), ANSWER_USES)
@example(list_of([primitive_of({'text': 'a'}, '1.0')]), ANSWER_USES)
@example(list_of([None]), ANSWER_USES)
def test_answers_read_when_touched_are_those_read_at_once(
    primitive: Any, uses: Any
) -> None:
    items = answer_of(primitive[DATA]['objects'])
    sent = text_of(items)

    def outcome_of(read: Callable[[bytes], Any]) -> Any:
        return twins.outcome(lambda: [use(read(sent)) for use in uses])

    assert outcome_of(when_touched) == outcome_of(at_once)


def test_answers_are_shown_without_making_any() -> None:
    data = {'text': 'a', 'late': 1, 'at': '2026-11-21T12:00:00Z'}
    answers = when_touched(text_of(answer_of([primitive_of(data)] * 3)))
    for show in (shown_at('1.1'), written_at('1.1')):
        assert show(answers) in (
            [data] * 3,
            json.dumps([[data] * 3], sort_keys=True),
        )
    del data['late']
    for show in (shown_at('1.0'), written_at('1.0')):
        assert show(answers) in (
            [data] * 3,
            json.dumps([[data] * 3], sort_keys=True),
        )
    assert type(answers) is LazyObjectList
    assert lazy_list.created_objects(answers) == []


def test_answers_of_a_class_changed_meanwhile_are_asked() -> None:
    answers = when_touched(text_of(answer_of([primitive_of({'text': 'a'})])))
    with mock.patch.object(
        Shown, 'obj_make_compatible', lambda self, data, version: data.clear()
    ):
        assert objects.to_json_list(answers, {'Shown': '1.0'}) == [{}]


def three() -> Any:
    """Return a list of three that waits."""
    given: dict[str, Any] = {
        'json': {'a': [1]},
        'at': '2026-11-21T12:00:00Z',
    }
    primitives = [
        primitive_of({'text': name, **given}) for name in ('a', 'b', 'c')
    ]
    things = when_touched(text_of(list_of(primitives)))
    assert type(things.objects) is LazyObjectList
    return things


def waiting(things: Any) -> int:
    """Return how many objects of a list are not made."""
    items = things.objects
    if type(items) is not LazyObjectList:
        return 0
    return len(items) - len(lazy_list.created_objects(items))


@pytest.mark.parametrize(
    'use', [len, bool, dumped, as_bytes, at('1.1'), lambda o: o.obj_clone()]
)
def test_what_needs_no_object_makes_none(use: Callable[[Any], Any]) -> None:
    things = three()
    use(things)
    assert things.obj_what_changed() == set()
    assert waiting(things) == 3


def test_an_object_is_made_when_it_is_taken_and_stays() -> None:
    things = three()
    second = things[1]
    assert waiting(things) == 2
    assert second is things[1] is things.objects[-2]
    assert second.at == datetime.datetime(
        2026, 11, 21, 12, tzinfo=datetime.UTC
    )
    assert second._context == 'context'
    second.text = 'changed'
    assert things.obj_what_changed() == {'objects'}
    data = dumped(things)[DATA]['objects']
    assert [item[DATA]['text'] for item in data] == ['a', 'changed', 'c']
    assert data[1][CHANGES] == ['text']
    assert [thing.text for thing in things] == ['a', 'changed', 'c']
    assert waiting(things) == 0


def test_copies_share_nothing() -> None:
    things = three()
    clone = things.obj_clone()
    clone[0].json['a'].append(2)
    again = things.obj_to_primitive()
    again[DATA]['objects'][0][DATA]['json']['a'].append(3)
    assert things[0].json == {'a': [1]}
    assert clone[0].json == {'a': [1, 2]}


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    'slice': lambda o: o[0:2],
    'negative': lambda o: o[-1],
    'past the end': lambda o: o[3],
    'no index': lambda o: o['a'],
    'unpack': lambda o: [*o],
    'tuple': tuple,
    'reversed': lambda o: [*reversed(o)],
    'sorted': lambda o: sorted(o, key=lambda thing: thing.text),
    'contains': lambda o: 'x' in o,
    'append': lambda o: o.append(Thing(text='z')),
    'append what is none': lambda o: o.append('z'),
    'extend': lambda o: o.extend([Thing(text='z')]),
    'extend another': lambda o: [Thing(text='z')].extend(o),
    'insert': lambda o: o.insert(1, Thing(text='z')),
    'set': lambda o: o.__setitem__(0, Thing(text='z')),
    'set a slice': lambda o: o.__setitem__(slice(0, 2), [Thing(text='z')]),
    'delete': lambda o: o.__delitem__(0),
    'pop': lambda o: o.pop(),
    'remove': lambda o: o.remove(o[1]),
    'remove what is not there': lambda o: o.remove(1),
    'index': lambda o: o.index(o[2]),
    'count': lambda o: o.count(1),
    'clear': lambda o: o.clear(),
    'sort': lambda o: o.sort(key=lambda thing: thing.text, reverse=True),
    'reverse': lambda o: o.reverse(),
    'copy': lambda o: o.copy(),
    'copied': copy.copy,
    'add': lambda o: o + [Thing(text='z')],  # noqa: RUF005 - it is the test
    'add to': lambda o: [Thing(text='z')] + o,  # noqa: RUF005
    'add in place': lambda o: operator.iadd(o, [Thing(text='z')]),
    'times': lambda o: o * 2,
    'times the other way': lambda o: 2 * o,
    'equal': lambda o: [o == [*o], [*o] == o, o != [], o == []],
    'greater': lambda o: [o > [], o > [], o >= [], o <= []],
    'length': len,
    'zip': lambda o: [*zip(o, 'abc', strict=True)],
    'match': lambda o: next(iter(o)),
}


@pytest.mark.parametrize('name', OPERATIONS)
@pytest.mark.parametrize('touched', [0, 1, 3])
def test_it_does_what_a_list_does(name: str, touched: int) -> None:
    use = OPERATIONS[name]

    def tried(things: Any) -> Any:
        for index in range(touched):
            things[index]
        said = twins.outcome(lambda: use(things.objects))
        return [said, *map(twins.shown, things)]

    lazy = three()
    whole = at_once(serializer.to_bytes(lazy, None))
    assert tried(lazy) == tried(whole)


def taken_by_threads(things: Any, number: int) -> list[list[Any]]:
    """Return what threads take at the same time, one list each."""
    seen: list[list[Any]] = []
    start = threading.Barrier(number)

    def take() -> None:
        start.wait(60)
        if len(seen) % 2:
            things.obj_clone()
        seen.append([*things])

    threads = [threading.Thread(target=take) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def test_threads_get_the_same_objects() -> None:
    primitives = [primitive_of({'text': str(n)}) for n in range(200)]
    data = text_of(list_of(primitives))
    for _ in range(5):
        things = when_touched(data)
        seen = taken_by_threads(things, 4)
        assert len(seen) == 4
        for row in zip(*seen, strict=True):
            assert all(thing is row[0] for thing in row)
        assert [thing.text for thing in things] == list(map(str, range(200)))


def test_a_method_replaced_in_the_meantime_is_asked() -> None:
    things = three()
    with mock.patch.object(
        Thing, 'obj_to_primitive', lambda self: {'it': self.text}
    ):
        assert things.obj_to_primitive()[DATA]['objects'][2] == {'it': 'c'}


def test_a_class_that_nothing_vouches_for_is_read_at_once() -> None:
    things = Lenients(objects=[Lenient(text='a', ip='10.0.0.1')])
    again = serializer.from_bytes(serializer.to_bytes(things, None))
    assert type(again.objects) is ovo.CoercedList
    assert str(again[0].ip) == '10.0.0.1'


def test_json_that_is_too_deep_is_refused() -> None:
    deep = b'[' * 100_000 + b']' * 100_000
    data = text_of(list_of([primitive_of({'any': 'here'})]))
    for sent in (deep, data.replace(b'"here"', deep)):
        with pytest.raises(ValueError, match='nested too deeply'):
            serializer.from_bytes(sent)
