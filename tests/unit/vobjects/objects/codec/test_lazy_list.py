# SPDX-License-Identifier: Apache-2.0
"""Lazy lists behave as lists that were read immediately."""

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

from . import paired_types
from .test_equivalence import DATA, sorted_changes


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send resources without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)


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
    """The same fields in a resource."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = _fields()


@objects.register
class Lenient(objects.Resource):
    """A class that cannot be validated in advance."""

    fields = {'text': fields.StringField(), 'ip': fields.IPAddressField()}


@objects.register
class Lenients(objects.ObjectListBase, objects.Resource):
    fields = {'objects': fields.ListOfObjectsField('Lenient')}


VALID_VALUES: dict[str, Any] = {
    'text': st.text(max_size=4),
    'nullable': st.none() | st.text(max_size=4),
    'defaulted': st.text(max_size=4),
    'once': st.integers(),
    'uuid': paired_types.uuids,
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
#: Invalid values that a field may get.
ODD_VALUES = st.one_of(
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


good_data = st.fixed_dictionaries({}, optional=VALID_VALUES)
good_items = st.builds(primitive_of, good_data)
changed_items = st.builds(
    lambda data, names: primitive_of(data, **{CHANGES: names}),
    good_data,
    st.lists(st.sampled_from(['text', 'integer', 'nobody']), max_size=3),
)


@st.composite
def odd_items(draw: st.DrawFn) -> dict[str, Any]:
    """Draw an item with an invalid or unusual value."""
    data = dict(draw(good_data))
    name = draw(st.sampled_from([*VALID_VALUES, 'unknown']))
    data[name] = draw(ODD_VALUES)
    return primitive_of(data, draw(st.sampled_from(['1.0', '1.1', '1.2'])))


lists_of_items = st.builds(
    list_of, st.lists(good_items | changed_items, max_size=3)
) | st.builds(
    list_of, st.lists(good_items | changed_items | odd_items(), max_size=3)
)


def text_of(primitive: Any) -> bytes:
    return json.dumps(primitive).encode()


def read_immediately(data: bytes) -> Any:
    return serializer.from_wire(json.loads(data), 'context')


def read_lazily(data: bytes) -> Any:
    return serializer.from_bytes(data, 'context')


def outcome(read: Callable[[bytes], Any], data: bytes, *uses: Any) -> Any:
    """Return the result of reading, and of operations on it."""

    def call() -> Any:
        things = read(data)
        results = [use(things) for use in uses]
        list(things.objects)
        return [results, things]

    return paired_types.outcome(call)


def to_primitive(things: Any) -> Any:
    return sorted_changes(things.obj_to_primitive())


def as_bytes(things: Any) -> Any:
    return sorted_changes(json.loads(serializer.to_bytes(things, None)))


def at(version: str) -> Callable[[Any], Any]:
    manifest = {'Things': version, 'Thing': version}
    return lambda things: sorted_changes(
        things.obj_to_primitive(version_manifest=manifest)
    )


def clone(things: Any) -> Any:
    clone = things.obj_clone()
    return [to_primitive(clone), *map(paired_types.comparable, clone)]


USES = (
    len,
    operator.methodcaller('obj_what_changed'),
    to_primitive,
    as_bytes,
    at('1.1'),
    clone,
    lambda things: [paired_types.comparable(things[0])] if things else None,
    operator.methodcaller('obj_what_changed'),
    to_primitive,
    clone,
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
@example(list_of(None), USES)
def test_lazy_list_equals_list_read_immediately(
    primitive: Any, uses: Any
) -> None:
    data = text_of(primitive)
    assert outcome(read_lazily, data, *uses) == outcome(
        read_immediately, data, *uses
    )


@given(lists_of_items)
def test_invalid_list_raises_when_received_or_never(primitive: Any) -> None:
    data = text_of(primitive)
    try:
        read_immediately(data)
    except Exception as error:  # noqa: BLE001 - whatever it is
        with pytest.raises(type(error)):
            read_lazily(data)
    else:
        [*read_lazily(data)]


def resources_of(items: Any) -> Any:
    """Return the primitives of a list's items as resources."""
    return [
        {**item, 'versioned_object.name': 'Shown'}
        if isinstance(item, dict)
        else item
        for item in items or ()
    ]


def json_at(version: str) -> Callable[[Any], Any]:
    return lambda things: objects.to_json_list(things, {'Shown': version})


def json_text_at(version: str) -> Callable[[Any], Any]:
    def write(things: Any) -> str:
        text = json_text.dumps(
            [objects.to_json_text(things, {'Shown': version})]
        )
        # NaN is not what it is, but its text is.
        return json.dumps(json.loads(text), sort_keys=True)

    return write


ANSWER_USES = (
    len,
    json_at('1.1'),
    json_at('1.0'),
    json_text_at('1.1'),
    json_text_at('1.0'),
    lambda things: [paired_types.comparable(things[0])] if things else None,
    json_at('1.0'),
    lambda things: [
        sorted_changes(item.obj_to_primitive()) for item in things
    ],
)


@settings(max_examples=60)
@given(lists_of_items, st.permutations(ANSWER_USES))
@example(list_of([primitive_of({'text': 'a', 'late': 1})] * 2), ANSWER_USES)
@example(list_of([primitive_of({'text': 'a'}, '1.0')]), ANSWER_USES)
@example(list_of([None]), ANSWER_USES)
def test_lazy_resources_equal_resources_read_immediately(
    primitive: Any, uses: Any
) -> None:
    items = resources_of(primitive[DATA]['objects'])
    sent = text_of(items)

    def outcome_of(read: Callable[[bytes], Any]) -> Any:
        return paired_types.outcome(lambda: [use(read(sent)) for use in uses])

    assert outcome_of(read_lazily) == outcome_of(read_immediately)


def test_to_json_list_creates_no_objects() -> None:
    data = {'text': 'a', 'late': 1, 'at': '2026-11-21T12:00:00Z'}
    responses = read_lazily(text_of(resources_of([primitive_of(data)] * 3)))
    for show in (json_at('1.1'), json_text_at('1.1')):
        assert show(responses) in (
            [data] * 3,
            json.dumps([[data] * 3], sort_keys=True),
        )
    del data['late']
    for show in (json_at('1.0'), json_text_at('1.0')):
        assert show(responses) in (
            [data] * 3,
            json.dumps([[data] * 3], sort_keys=True),
        )
    assert type(responses) is LazyObjectList
    assert lazy_list.created_objects(responses) == []


def test_to_json_list_when_method_is_patched_calls_it() -> None:
    responses = read_lazily(
        text_of(resources_of([primitive_of({'text': 'a'})]))
    )
    with mock.patch.object(
        Shown, 'obj_make_compatible', lambda self, data, version: data.clear()
    ):
        assert objects.to_json_list(responses, {'Shown': '1.0'}) == [{}]


def three_pending() -> Any:
    """Return a list of three pending objects."""
    values: dict[str, Any] = {
        'json': {'a': [1]},
        'at': '2026-11-21T12:00:00Z',
    }
    primitives = [
        primitive_of({'text': name, **values}) for name in ('a', 'b', 'c')
    ]
    things = read_lazily(text_of(list_of(primitives)))
    assert type(things.objects) is LazyObjectList
    return things


def count_pending(things: Any) -> int:
    """Return the number of pending objects."""
    items = things.objects
    if type(items) is not LazyObjectList:
        return 0
    return len(items) - len(lazy_list.created_objects(items))


@pytest.mark.parametrize(
    'use',
    [len, bool, to_primitive, as_bytes, at('1.1')],
)
def test_operation_without_access_creates_no_objects(
    use: Callable[[Any], Any],
) -> None:
    things = three_pending()
    use(things)
    assert things.obj_what_changed() == set()
    assert count_pending(things) == 3


def test_access_creates_each_object_once() -> None:
    things = three_pending()
    second = things[1]
    assert count_pending(things) == 2
    assert second is things[1] is things.objects[-2]
    assert second.at == datetime.datetime(
        2026, 11, 21, 12, tzinfo=datetime.UTC
    )
    assert second._context == 'context'
    second.text = 'changed'
    assert things.obj_what_changed() == {'objects'}
    data = to_primitive(things)[DATA]['objects']
    assert [item[DATA]['text'] for item in data] == ['a', 'changed', 'c']
    assert data[1][CHANGES] == ['text']
    assert [thing.text for thing in things] == ['a', 'changed', 'c']
    assert count_pending(things) == 0


def test_copies_of_lazy_list_share_no_data() -> None:
    things = three_pending()
    copied = things.obj_to_primitive()
    copied[DATA]['objects'][0][DATA]['json']['a'].append(3)
    clone = things.obj_clone()
    clone[0].json['a'].append(2)
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
    'remove a missing item': lambda o: o.remove(1),
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
def test_lazy_list_behaves_as_a_list(name: str, touched: int) -> None:
    use = OPERATIONS[name]

    def outcome_of(things: Any) -> Any:
        for index in range(touched):
            things[index]
        results = paired_types.outcome(lambda: use(things.objects))
        return [results, *map(paired_types.comparable, things)]

    lazy = three_pending()
    immediate = read_immediately(serializer.to_bytes(lazy, None))
    assert outcome_of(lazy) == outcome_of(immediate)


def read_by_threads(things: Any, number: int) -> list[list[Any]]:
    """Return the objects that threads read at the same time."""
    rows: list[list[Any]] = []
    start = threading.Barrier(number)

    def take() -> None:
        start.wait(60)
        if len(rows) % 2:
            things.obj_clone()
        rows.append([*things])

    threads = [threading.Thread(target=take) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rows


def test_access_by_threads_returns_the_same_objects() -> None:
    primitives = [primitive_of({'text': str(n)}) for n in range(200)]
    data = text_of(list_of(primitives))
    for _ in range(5):
        things = read_lazily(data)
        rows = read_by_threads(things, 4)
        assert len(rows) == 4
        for row in zip(*rows, strict=True):
            assert all(thing is row[0] for thing in row)
        assert [thing.text for thing in things] == list(map(str, range(200)))


def test_method_patched_after_reading_is_called() -> None:
    things = three_pending()
    with mock.patch.object(
        Thing, 'obj_to_primitive', lambda self: {'it': self.text}
    ):
        assert things.obj_to_primitive()[DATA]['objects'][2] == {'it': 'c'}


def test_method_patched_on_one_object_is_called_at_a_version() -> None:
    things = three_pending()
    primitive = things[1].obj_to_primitive()
    primitive[DATA]['text'] = 'patched'
    things[1].obj_to_primitive = lambda: primitive
    data = at('1.1')(things)[DATA]['objects']
    assert [item[DATA]['text'] for item in data] == ['a', 'patched', 'c']


def test_class_without_schema_is_read_immediately() -> None:
    things = Lenients(objects=[Lenient(text='a', ip='10.0.0.1')])
    copied = serializer.from_bytes(serializer.to_bytes(things, None))
    assert type(copied.objects) is ovo.CoercedList
    assert str(copied[0].ip) == '10.0.0.1'


def test_json_nested_too_deeply_raises() -> None:
    deep = b'[' * 100_000 + b']' * 100_000
    data = text_of(list_of([primitive_of({'any': 'here'})]))
    for sent in (deep, data.replace(b'"here"', deep)):
        with pytest.raises(ValueError, match='nested too deeply'):
            serializer.from_bytes(sent)
