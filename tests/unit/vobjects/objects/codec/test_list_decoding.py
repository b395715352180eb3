# SPDX-License-Identifier: Apache-2.0
"""Objects from columns equal objects that are read one by one."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vobjects.objects import Resource
from vobjects.objects.codec import json_text, lazy_list, list_decoding
from vobjects.objects.codec.class_codec import class_codec
from vobjects.rpc import serializer

from . import paired_types
from .test_equivalence import DATA
from .test_lazy_list import ODD_VALUES, VALID_VALUES, Lenient, Shown


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send resources without their required fields, too."""
    monkeypatch.setattr(Resource, 'check_complete', lambda self: None)
    monkeypatch.setattr(class_codec(Shown), 'must_be_complete', False)


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
    names = draw(
        st.lists(st.sampled_from([*VALID_VALUES]), min_size=1, unique=True)
    )
    columns = {
        name: draw(st.lists(VALID_VALUES[name], min_size=size, max_size=size))
        for name in names
    }
    if odd:
        columns[names[0]][-1] = draw(ODD_VALUES)
    return columns


@given(columns_of(odd=False) | columns_of(odd=True))
def test_from_columns_equals_reading_one_by_one(columns: Any) -> None:
    primitives = primitives_of(columns)

    def by_columns() -> Any:
        return [*list_decoding.from_columns(Shown, columns)]

    def one_by_one() -> Any:
        return [Shown.obj_from_primitive(item) for item in primitives]

    for use in (paired_types.comparable, lambda item: item.obj_to_primitive()):
        assert paired_types.outcome(
            lambda use=use: [use(item) for item in by_columns()]
        ) == paired_types.outcome(
            lambda use=use: [use(item) for item in one_by_one()]
        )


@given(columns_of(odd=False) | columns_of(odd=True))
def test_text_of_columns_equals_text_of_objects(columns: Any) -> None:
    def written(of: Any) -> Any:
        sent = serializer.to_bytes(of(), None)
        return json.dumps(json.loads(sent), sort_keys=True)

    primitives = primitives_of(columns)
    assert paired_types.outcome(
        lambda: written(lambda: list_decoding.from_columns(Shown, columns))
    ) == paired_types.outcome(
        lambda: written(
            lambda: [Shown.obj_from_primitive(item) for item in primitives]
        )
    )


def test_columns_are_serialized_without_creating_objects() -> None:
    objects = list_decoding.from_columns(
        Shown, {'text': ['a', 'b'], 'json': [json_text.RawJson(b'{}')] * 2}
    )
    sent = serializer.to_bytes(objects, {'Shown': '1.1'})
    assert type(objects) is lazy_list.LazyObjectList
    assert lazy_list.created_objects(objects) == []
    (first, second) = serializer.from_bytes(sent)
    assert (first.text, second.json) == ('a', {})
    assert first.obj_what_changed() == set()


def test_columns_for_older_reader_omit_new_fields() -> None:
    objects = list_decoding.from_columns(Shown, {'text': ['a'], 'late': [1]})
    sent = json.loads(serializer.to_bytes(objects, {'Shown': '1.0'}))
    assert [item[DATA] for item in sent] == [{'text': 'a'}]


def test_raw_json_is_decoded_on_access() -> None:
    (objects,) = list_decoding.from_columns(Shown, {'json': [WRITTEN]})
    assert str(objects.json) == "{'a': [1, nan]}"


def test_raw_json_is_serialized_unchanged() -> None:
    objects = list_decoding.from_columns(Shown, {'json': [WRITTEN]})
    (read,) = serializer.from_bytes(serializer.to_bytes(objects, None))
    assert str(read.json) == "{'a': [1, nan]}"


@pytest.mark.parametrize('value', ['{}', '[]', '{"a":1}', '[0.5]', '"ab"'])
def test_list_in_memory_is_not_much_larger_than_its_text(value: str) -> None:
    json_data = f'{{"a":[{",".join([value] * 2_000)}]}}'
    raw = json_text.RawJson(json_data.encode())
    sent = serializer.to_bytes(
        list_decoding.from_columns(Shown, {'json': [raw] * 20}), None
    )
    tracemalloc.start()
    try:
        objects = serializer.from_bytes(sent)
        written = serializer.to_bytes(objects, None)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lazy_list.created_objects(objects) == []
    assert written == sent
    # The text that is written, and one of the objects while it is validated.
    assert peak < 4 * len(sent)
    assert objects[3].json == json.loads(json_data)


def test_raw_json_of_type_without_schema_is_decoded() -> None:
    (objects,) = list_decoding.from_columns(
        Lenient, {'text': ['a'], 'ip': ['127.0.0.1']}
    )
    assert (objects.text, str(objects.ip)) == ('a', '127.0.0.1')


def test_from_columns_without_rows_is_empty() -> None:
    assert [*list_decoding.from_columns(Shown, {'text': [], 'json': []})] == []


def test_from_columns_of_different_lengths_raises() -> None:
    with pytest.raises(ValueError, match='shorter'):
        list_decoding.from_columns(Shown, {'text': ['a'], 'nullable': []})
