# SPDX-License-Identifier: Apache-2.0
"""Objects from columns are those that are read one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects.objects.codec import json_text, lazy_list, list_decoding
from vobjects.rpc import serializer

from . import twins
from .test_equivalence import DATA
from .test_lazy_list import GOOD, ODD, Lenient, Shown

WRITTEN = json_text.RawJson(b'{"a": [1, NaN]}')


def primitives_of(columns: dict[str, list[Any]]) -> list[Any]:
    return [
        {
            'versioned_object.name': 'Shown',
            'versioned_object.namespace': 'versionedobjects',
            'versioned_object.version': '1.1',
            DATA: dict(zip(columns, values, strict=True)),
        }
        for values in zip(*columns.values(), strict=True)
    ]


@st.composite
def columns_of(draw: st.DrawFn, *, odd: bool) -> dict[str, list[Any]]:
    """Draw some columns; one value of one may be unusual."""
    size = draw(st.integers(1, 3))
    names = draw(st.lists(st.sampled_from([*GOOD]), min_size=1, unique=True))
    columns = {
        name: draw(st.lists(GOOD[name], min_size=size, max_size=size))
        for name in names
    }
    if odd:
        columns[names[0]][-1] = draw(ODD)
    return columns


@given(columns_of(odd=False) | columns_of(odd=True))
def test_they_are_those_of_the_primitives(columns: Any) -> None:
    primitives = primitives_of(columns)

    def by_columns() -> Any:
        return [*list_decoding.from_columns(Shown, columns)]

    def one_by_one() -> Any:
        return [Shown.obj_from_primitive(one) for one in primitives]

    for use in (twins.shown, lambda one: one.obj_to_primitive()):
        assert twins.outcome(
            lambda use=use: [use(one) for one in by_columns()]
        ) == twins.outcome(lambda use=use: [use(one) for one in one_by_one()])


@given(columns_of(odd=False) | columns_of(odd=True))
def test_their_text_is_that_of_the_primitives(columns: Any) -> None:
    def written(of: Any) -> Any:
        sent = serializer.to_bytes(of(), None)
        return json.dumps(json.loads(sent), sort_keys=True)

    primitives = primitives_of(columns)
    assert twins.outcome(
        lambda: written(lambda: list_decoding.from_columns(Shown, columns))
    ) == twins.outcome(
        lambda: written(
            lambda: [Shown.obj_from_primitive(one) for one in primitives]
        )
    )


def test_they_are_written_without_making_any() -> None:
    made = list_decoding.from_columns(
        Shown, {'text': ['a', 'b'], 'json': [json_text.RawJson(b'{}')] * 2}
    )
    sent = serializer.to_bytes(made, {'Shown': '1.1'})
    assert type(made) is lazy_list.LazyObjectList
    assert lazy_list.created_objects(made) == []
    (first, second) = serializer.from_bytes(sent)
    assert (first.text, second.json) == ('a', {})
    assert first.obj_what_changed() == set()


def test_an_older_reader_is_told_what_it_knows() -> None:
    made = list_decoding.from_columns(Shown, {'text': ['a'], 'late': [1]})
    sent = json.loads(serializer.to_bytes(made, {'Shown': '1.0'}))
    assert [one[DATA] for one in sent] == [{'text': 'a'}]


def test_written_json_is_read_when_it_is_asked_for() -> None:
    (made,) = list_decoding.from_columns(Shown, {'json': [WRITTEN]})
    assert str(made.json) == "{'a': [1, nan]}"


def test_written_json_says_the_same_when_sent() -> None:
    made = list_decoding.from_columns(Shown, {'json': [WRITTEN]})
    (read,) = serializer.from_bytes(serializer.to_bytes(made, None))
    assert str(read.json) == "{'a': [1, nan]}"


def test_written_json_of_a_type_nobody_vouches_for_is_read() -> None:
    (made,) = list_decoding.from_columns(
        Lenient, {'text': ['a'], 'ip': ['127.0.0.1']}
    )
    assert (made.text, str(made.ip)) == ('a', '127.0.0.1')


def test_columns_of_no_rows_are_no_objects() -> None:
    assert [*list_decoding.from_columns(Shown, {'text': [], 'json': []})] == []


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match='shorter'):
        list_decoding.from_columns(Shown, {'text': ['a'], 'nullable': []})
