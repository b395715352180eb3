# SPDX-License-Identifier: Apache-2.0
"""Responses as JSON text, from servers that write it and from others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import oslo_messaging
import pytest

from tests.unit.vobjects.rpc.fake_bus import TIMEOUT, TOPIC, FakeBus
from vobjects import exceptions, fields, objects
from vobjects.objects.codec import list_decoding
from vobjects.objects.history import added
from vobjects.objects.manifest import Manifest, at_microversion, local, within
from vobjects.rpc import (
    call_state,
    fleet,
    fleet_types,
    response_text,
    serializer,
    server,
)
from vobjects.rpc.client import Client
from vobjects.rpc.response_text import ResponseText
from vobjects.versions import Version


@objects.register
class Frame(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'wood': fields.StringField(),
        'width': added('1.1', fields.IntegerField(default=1)),
    }


@objects.register
class Painting(objects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'id': fields.StringField(),
        'data': fields.JsonField(nullable=True),
        'frames': fields.ListOfObjectsField('Frame', default=[]),
        'price': added('1.1', fields.FloatField(nullable=True)),
    }


@objects.register
class Sold(objects.Resource):
    fields = {
        'receipt': fields.StringField(),
        'painting': fields.ObjectField('Painting', nullable=True),
    }


@objects.register
class Stranger(objects.Resource):
    VERSION_MAP = {'1.2': '1.0'}
    fields = {'id': fields.StringField()}


@objects.register
class PaintRequest(objects.Request):
    fields = {'what': fields.StringField()}


def painting(name: str = 'a', **values: Any) -> Painting:
    frame = Frame(wood='oak', width=3)
    return Painting(id=name, data={'k': 'é'}, frames=[frame], **values)


def pending() -> Any:
    """A list whose objects have not been created."""
    return list_decoding.from_columns(Frame, {'wood': ['oak', 'ash']})


#: What a server returns: response, and the field that the client needs.
RESPONSES: dict[str, tuple[Any, str]] = {
    'object': (lambda: painting(price=2.5), ''),
    'list': (lambda: [painting('a'), painting('b', price=1.0)], ''),
    'pending': (pending, ''),
    'empty': (list, ''),
    'none': (lambda: None, ''),
    'text': (lambda: 'done', ''),
    'part': (lambda: Sold(receipt='r1', painting=painting()), 'painting'),
    'string part': (lambda: Sold(receipt='r1'), 'receipt'),
    'null part': (lambda: Sold(receipt='r1', painting=None), 'painting'),
    'not finite': (lambda: painting(price=float('nan')), ''),
}

FRAMES = {
    '1.1': [{'wood': 'oak'}],
    '1.2': [{'wood': 'oak', 'width': 3}],
}


def shown(version: str) -> Manifest:
    return at_microversion(Version.parse(version))


def expected(case: str, version: str) -> ResponseText:
    def body(name: str, price: Any = ...) -> dict[str, Any]:
        values = {'id': name, 'data': {'k': 'é'}, 'frames': FRAMES[version]}
        if version == '1.2' and price is not ...:
            values['price'] = price
        return values

    fields, count, last = {}, 0, None
    data: Any
    match case:
        case 'object':
            data = body('a', 2.5)
        case 'list':
            data, count, last = [body('a'), body('b', 1.0)], 2, 'b'
        case 'pending':
            data, count = [{'wood': 'oak'}, {'wood': 'ash'}], 2
        case 'empty':
            data = []
        case 'none':
            data = None
        case 'text':
            data = 'done'
        case 'part':
            data, fields = body('a'), {'receipt': 'r1'}
        case 'string part':
            data, fields = 'r1', {'receipt': 'r1'}
        case 'null part':
            data, fields = None, {'receipt': 'r1'}
        case 'not finite':
            data = body('a', None)
    return ResponseText(json.dumps(data).encode(), fields, count, last)


class Painter:
    """Returns the response that a request names."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}
        self.readers: Manifest | None = None

    @server.handles(PaintRequest)
    def paint(self, context: Any, request: Any) -> Any:
        call = call_state.current_call()
        if call in self.records:
            raise KeyError('the call has a record')
        if request.what == 'stranger':
            response: Any = Stranger(id='s')
        else:
            response = RESPONSES[request.what][0]()
        self.records[call] = call_state.record_of(response, self.readers)
        return response

    def find_response(self, call: str) -> fleet_types.Record | None:
        text = self.records.get(call)
        if text is None:
            return None
        record: fleet_types.Record = serializer.from_bytes(text)
        return record


class Endpoint(server.Endpoint):
    """Keeps the messages of its responses."""

    def __init__(self, painter: Painter, manifest: Manifest) -> None:
        super().__init__(
            [painter], manifest=manifest, find_response=painter.find_response
        )
        self.messages: list[Any] = []

    def perform(self, context: Any, request: Any, reader: Any) -> Any:
        self.messages.append(super().perform(context, request, reader))
        return self.messages[-1]


class OldEndpoint(Endpoint):
    """An endpoint of a release that writes only primitives."""

    def perform(self, context: Any, request: Any, reader: Any) -> Any:
        reader = {key: reader[key] for key in reader if key != 'text'}
        return super().perform(context, request, reader)


class Bus(FakeBus):
    """A client, and the endpoint that it calls."""

    def serve(self, endpoint: Any, manifest: Manifest) -> Client:
        self.start(endpoint)
        member = fleet.Member('one', 'p', 'h', TOPIC, '0.1.0', manifest)
        view = fleet.View(1, fleet.group_members([member]))
        return Client(
            self.transport,
            TOPIC,
            get_view=lambda: view,
            refresh_view=lambda: view,
            timeout=TIMEOUT,
        )


@pytest.fixture
def bus() -> Iterator[Bus]:
    bus = Bus()
    yield bus
    bus.close()


def as_data(text: ResponseText) -> tuple[Any, Any, int, Any]:
    return json.loads(text.body), dict(text.fields), text.count, text.last


@pytest.mark.parametrize('endpoint_class', [Endpoint, OldEndpoint])
@pytest.mark.parametrize('version', FRAMES)
@pytest.mark.parametrize('case', RESPONSES)
def test_client_gets_the_form_of_a_microversion_from_any_release(
    bus: Bus, case: str, version: str, endpoint_class: Any
) -> None:
    endpoint = endpoint_class(Painter(), local())
    client = bus.serve(endpoint, local())

    text = client.call_for_text(
        {}, PaintRequest(what=case), shown(version), part=RESPONSES[case][1]
    )

    assert as_data(text) == as_data(expected(case, version))
    (message,) = endpoint.messages
    is_text = response_text.load(message) is not None
    assert is_text == (endpoint_class is Endpoint)


def test_server_that_cannot_write_a_version_sends_a_primitive(
    bus: Bus,
) -> None:
    old = server.emulated_manifest(
        Manifest({**local(), 'Painting': '1.0', 'Frame': '1.0'})
    )
    endpoint = Endpoint(Painter(), old)
    client = bus.serve(endpoint, old)

    text = client.call_for_text({}, PaintRequest(what='object'), shown('1.2'))

    # The client fills in the default of the field that the server lacks.
    assert json.loads(text.body)['frames'] == [{'wood': 'oak', 'width': 1}]
    assert response_text.load(endpoint.messages[0]) is None


#: Responses that a record for an earlier release can hold.
SINGLE = ('object', 'none', 'part', 'string part', 'null part')


@pytest.mark.parametrize('version', FRAMES)
@pytest.mark.parametrize(
    ('case', 'reads_text'),
    [(case, True) for case in RESPONSES] + [(case, False) for case in SINGLE],
)
def test_repeated_call_gets_the_recorded_text(
    case: str, version: str, reads_text: bool
) -> None:
    painter = Painter()
    names = set() if reads_text else {'RecordedText'}
    painter.readers = Manifest(
        {name: local()[name] for name in local().keys() - names}
    )
    endpoint = Endpoint(painter, local())
    request = serializer.to_bytes(PaintRequest(what=case), None).decode()
    part = RESPONSES[case][1]
    reader = {
        'digest': local().digest,
        'call': 'c1',
        'text': {'versions': dict(shown(version)), 'part': part},
    }

    first = endpoint.perform({}, request, reader)
    assert endpoint.perform({}, request, reader) == first

    record = json.loads(painter.records['c1'])
    name = 'RecordedText' if reads_text else 'Answered'
    assert record['versioned_object.name'] == name
    if reads_text:
        assert record['versioned_object.data'] == {'text': first}


def test_response_of_an_unexpected_type_is_a_defect_of_the_server(
    bus: Bus,
) -> None:
    client = bus.serve(Endpoint(Painter(), local()), local())
    request = PaintRequest(what='stranger')
    with pytest.raises(RuntimeError, match='does not expect Stranger'):
        client.call_for_text(
            {}, request, shown('1.2'), shown=Manifest({'Frame': '1.0'})
        )


def test_versions_that_are_no_manifest_are_rejected() -> None:
    endpoint = server.Endpoint([Painter()], manifest=local())
    request = serializer.to_bytes(PaintRequest(what='none'), None).decode()
    reader = {
        'digest': local().digest,
        'text': {'versions': {'Frame': 'new'}, 'part': ''},
    }
    with pytest.raises(oslo_messaging.ExpectedException) as raised:
        endpoint.perform({}, request, reader)
    assert isinstance(raised.value.exc_info[1], exceptions.VobjectsError)


@pytest.mark.parametrize(
    'message', [None, '', 'null', '{"a":1}', '"text "', {'text ': 1}, ['text']]
)
def test_primitives_are_not_taken_for_text(message: Any) -> None:
    assert response_text.load(message) is None


def test_body_may_have_several_lines() -> None:
    text = response_text.load('text {"count":2}\n[1,\n2]')
    assert text == ResponseText(b'[1,\n2]', count=2)


def test_object_inside_json_data_needs_a_version() -> None:
    versions = Manifest({'Frame': '1.1'})
    with pytest.raises(exceptions.UnsupportedType, match='Stranger'):
        response_text.write({'inside': Stranger(id='s')}, versions)


def test_manifest_within_a_type_has_the_types_inside_it() -> None:
    versions = shown('1.2')
    assert within(Frame, versions) == Manifest({'Frame': '1.1'})
    assert within(Sold, versions) == Manifest(
        {'Sold': '1.0', 'Painting': '1.1', 'Frame': '1.1'}
    )
