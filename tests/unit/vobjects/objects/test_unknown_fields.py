# SPDX-License-Identifier: Apache-2.0
"""Fields that the stated version of a primitive does not have."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from vobjects import exceptions, fields, objects
from vobjects.objects import history, unknown_fields
from vobjects.objects.history import added, renamed

pytestmark = pytest.mark.usefixtures('registry')


@pytest.fixture(autouse=True)
def partial_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send resources without their required fields, too."""
    monkeypatch.setattr(objects.Resource, 'check_complete', lambda self: None)


def primitive(name: str, version: str, /, **data: Any) -> dict[str, Any]:
    return {
        'versioned_object.name': name,
        'versioned_object.namespace': 'versionedobjects',
        'versioned_object.version': version,
        'versioned_object.data': data,
    }


FIELDS = {
    'name': fields.StringField(),
    'size': renamed('1.2', 'bytes', fields.IntegerField(default=0)),
    'force': added('1.1', fields.BooleanField(default=False)),
}


@pytest.fixture
def answer() -> type[objects.Resource]:
    @objects.register
    class Answer(objects.Resource):
        VERSION = '1.2'
        VERSION_MAP = {'1.1': '1.1', '1.5': '1.2'}
        fields = dict(FIELDS)

    return Answer


@pytest.fixture
def state() -> type[objects.Object]:
    @objects.register
    class State(objects.Object):
        VERSION = '1.2'
        fields = dict(FIELDS)

    return State


#: version, its data, and what of it that version has not
CASES = [
    ('1.2', {'name': 'a', 'new': [1]}, {'new': [1]}),
    ('1.2', {'name': 'a', 'size': 1, 'force': True, 'x': None}, {'x': None}),
    ('1.2', {'bytes': 3}, {'bytes': 3}),
    ('1.1', {'name': 'a', 'size': 3}, {'size': 3}),
    ('1.0', {'name': 'a', 'force': True, 'y': 1}, {'force': True, 'y': 1}),
]


@pytest.mark.parametrize(('version', 'data', 'extra'), CASES)
def test_request_with_unknown_field_raises(
    state: type[objects.Object],
    version: str,
    data: dict[str, Any],
    extra: dict[str, Any],
) -> None:
    with pytest.raises(exceptions.UnknownField) as caught:
        state.obj_from_primitive(primitive('State', version, **data))
    assert caught.value.field in extra
    assert caught.value.version == version


@pytest.mark.parametrize(('version', 'data', 'extra'), CASES)
def test_resource_stores_unknown_fields(
    answer: type[objects.Resource],
    version: str,
    data: dict[str, Any],
    extra: dict[str, Any],
) -> None:
    arrived = primitive('Answer', version, **data)
    known = primitive(
        'Answer', version, **{k: v for k, v in data.items() if k not in extra}
    )
    read = answer.obj_from_primitive(arrived)
    assert read.obj_unknown_fields == extra
    without = answer.obj_from_primitive(known)
    assert without.obj_unknown_fields == {}
    assert read.obj_to_primitive() == without.obj_to_primitive()
    assert arrived['versioned_object.data'] == data


def test_resource_with_own_reader_stores_unknown_fields() -> None:
    @objects.register
    class Answer(objects.Resource):
        fields = {'name': fields.StringField()}

        def __init__(self, *args: Any, **values: Any) -> None:
            super().__init__(*args, **values)

    read = Answer.obj_from_primitive(primitive('Answer', '1.0', name='a', x=1))
    assert (read.name, dict(read.obj_unknown_fields)) == ('a', {'x': 1})


def test_nested_resource_stores_its_unknown_fields(
    answer: type[objects.Resource],
) -> None:
    @objects.register
    class Answers(objects.ObjectListBase, objects.Resource):
        fields = {'objects': fields.ListOfObjectsField('Answer')}

    inside = [
        primitive('Answer', '1.2', name='a', x=1),
        primitive('Answer', '1.0', name='b', y=2),
        primitive('Answer', '1.2', name='c'),
    ]
    read = Answers.obj_from_primitive(
        primitive('Answers', '1.0', objects=inside)
    )
    assert [dict(item.obj_unknown_fields) for item in read] == [
        {'x': 1},
        {'y': 2},
        {},
    ]


def test_unknown_fields_when_stored_are_logged_once(
    answer: type[objects.Resource],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unknown_fields, '_warned', set())
    arrived = primitive('Answer', '1.2', name='a', surprise=1)
    with caplog.at_level(logging.WARNING, 'vobjects'):
        answer.obj_from_primitive(arrived)
        answer.obj_from_primitive(arrived)
    assert [record.getMessage() for record in caplog.records] == [
        "Answer 1.2 arrived with the field 'surprise', which this version"
        ' does not have; it is stored in obj_unknown_fields'
    ]


def test_value_that_a_newer_resource_cannot_hold_is_logged_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknown_fields, '_warned', set())

    @objects.register
    class Price(objects.Resource):
        VERSION = '1.1'
        VERSION_MAP = {'1.1': '1.1'}
        fields = {
            'cents': history.changed(
                '1.1',
                fields.StringField(nullable=True),
                fields.IntegerField(default=0),
                up=int,
                down=str,
                missing=0,
            )
        }

    with caplog.at_level(logging.WARNING, 'vobjects'):
        for value in 'a', 'b', None, '5':
            read = Price.obj_from_primitive(
                primitive('Price', '1.0', cents=value)
            )
    assert read.cents == 5
    assert [record.getMessage() for record in caplog.records] == [
        'Price 1.1 cannot hold a value of cents in version 1.0; its reader'
        ' gets the default, or null'
    ]


def test_class_can_override_the_policy() -> None:
    @objects.register
    class Strict(objects.Resource):
        UNKNOWN_FIELDS = 'refuse'
        fields = {'name': fields.StringField()}

    @objects.register
    class Lax(objects.Request):
        UNKNOWN_FIELDS = 'keep'
        fields = {'name': fields.StringField()}

    with pytest.raises(exceptions.UnknownField):
        Strict.obj_from_primitive(primitive('Strict', '1.0', x=1))
    lax = Lax.obj_from_primitive(primitive('Lax', '1.0', x=1))
    assert lax.obj_unknown_fields == {'x': 1}
