# SPDX-License-Identifier: Apache-2.0
"""The call of a thread, and the record of its response."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from vobjects import exceptions, fields, objects
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest
from vobjects.rpc import call_state, fleet_types, serializer
from vobjects.rpc.call_state import Call, call_scope, current_call


@objects.register
class Postcard(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'id': fields.StringField(),
        'weight': added('1.1', fields.FloatField(nullable=True)),
    }


OLD = Manifest({'Postcard': '1.0', 'Answered': '1.0'})
NEW = Manifest({'Postcard': '1.1', 'Answered': '1.0', 'RecordedText': '1.0'})


def postcard(name: str = 'a') -> Postcard:
    return Postcard(id=name, weight=2.5)


def test_call_is_that_of_the_innermost_block() -> None:
    assert current_call() == ''
    with call_scope('outer'):
        assert current_call() == 'outer'
        with contextlib.suppress(KeyError), call_scope(Call('inner')):
            assert current_call() == 'inner'
            raise KeyError
        with call_scope(''):
            assert current_call() == ''
        assert current_call() == 'outer'
    assert current_call() == ''


def test_serialize_writes_a_response_once_at_each_version() -> None:
    call = Call()
    response = postcard()

    newest = call.serialize(response, NEW)

    assert call.serialize(response, Manifest(dict(NEW))) is newest
    assert response.obj_what_changed() == set()
    old = call.serialize(response, OLD)
    assert old != newest
    assert serializer.from_bytes(old).id == 'a'
    other = call.serialize(postcard('b'), OLD)
    assert serializer.from_bytes(other).id == 'b'


def test_write_writes_a_response_once() -> None:
    call = Call(shown=NEW)
    response = postcard()

    message = call.write(response)

    assert call.write(response) is message
    assert json.loads(message.partition('\n')[2]) == {'id': 'a', 'weight': 2.5}
    assert '"b"' in call.write(postcard('b'))
    recorded = fleet_types.RecordedText(text='text {}\nnull')
    assert call.write(recorded) == 'text {}\nnull'


def test_write_when_a_type_is_not_shown_names_request_and_type() -> None:
    call = Call(type_name='SendRequest', shown=Manifest({'Other': '1.0'}))

    with pytest.raises(
        RuntimeError, match='caller of SendRequest does not expect Postcard'
    ) as raised:
        call.write(postcard())

    assert isinstance(raised.value.__cause__, exceptions.UnsupportedType)


@pytest.mark.parametrize(
    ('shown', 'readers', 'name'),
    [
        (None, NEW, 'Answered'),
        (None, None, 'Answered'),
        (NEW, OLD, 'Answered'),
        (NEW, NEW, 'RecordedText'),
        (NEW, None, 'RecordedText'),
    ],
)
def test_record_is_text_if_caller_and_readers_know_it(
    shown: Manifest | None, readers: Manifest | None, name: str
) -> None:
    response = postcard()
    with call_scope(Call('c', shown=shown)):
        text = call_state.record_of(response, readers)

    record = json.loads(text)
    assert record['versioned_object.name'] == name
    read: Any = call_state.recorded_response(serializer.from_bytes(text))
    if name == 'RecordedText':
        assert read.text == Call(shown=shown).write(response)
    else:
        assert read.weight == (None if readers is OLD else 2.5)


def test_record_without_a_call_is_that_of_an_unknown_call() -> None:
    text = call_state.record_of(postcard(), None)

    record = serializer.from_bytes(text)
    assert call_state.recorded_response(record).weight == 2.5


def test_record_that_readers_do_not_know_is_an_error() -> None:
    readers = Manifest({'Postcard': '1.1'})
    with pytest.raises(exceptions.UnsupportedType, match='Answered'):
        call_state.record_of(postcard(), readers)
