# SPDX-License-Identifier: Apache-2.0
"""Clients talk to servers of other versions, in the dialect of each preset."""

import asyncio
import dataclasses
import datetime
import json

import httpx
import pytest

import vobjects
import vobjects_client as client
from tests.unit.vobjects_client.boxes import (
    BoxClient,
    BoxService,
    ClientLid,
    connect,
)
from vobjects import exceptions, fields
from vobjects.microversions import presets
from vobjects.microversions.client import NoCommonVersion, NoRange
from vobjects.versions import Version

PRESETS = [
    presets.NOVA,
    presets.SENLIN,
    presets.MAGNUM,
    presets.BARBICAN,
    presets.IRONIC,
]
NOW = datetime.datetime(2026, 11, 26, 12, tzinfo=datetime.UTC)


def bodies(service):
    """Return the JSON bodies of the requests about boxes."""
    return [json.loads(body) for *_, body in service.requests if body]


@pytest.mark.parametrize(
    ('maximum', 'sent', 'absent'),
    [
        (
            '1.4',
            {'name': 'b', 'size': 3, 'lids': [{'color': 'red'}]},
            {'locked', 'tag'},
        ),
        (
            '1.6',
            {'name': 'b', 'width': 3, 'lids': [{'colour': 'red'}]},
            {'locked', 'tag'},
        ),
        (
            '1.9',
            {
                'name': 'b',
                'width': 3,
                'lids': [{'colour': 'red'}],
                'locked': False,
            },
            set(),
        ),
    ],
)
def test_a_request_and_its_response_have_the_version_of_both(
    maximum, sent, absent
):
    service = BoxService(maximum)
    boxes = connect(service)
    box = boxes.boxes.create(
        name='b', width=3, lids=[ClientLid(colour='red')], locked=False
    )
    assert boxes.version == Version.parse(maximum)
    assert bodies(service) == [{'box': sent}]
    assert (box.name, box.width) == ('b', 3)
    assert [lid.colour for lid in box.lids] == ['red']
    assert box.obj_what_changed() == set()
    assert {name for name in box.fields if name not in box} == {
        'note',
        *absent,
    }
    for name in absent:
        with pytest.raises(
            client.NotSent, match=f'version {maximum}: API version 1.7 added'
        ):
            getattr(box, name)
    with pytest.raises(client.NotSent, match='the server left it out'):
        _ = box.note
    assert getattr(box, 'note', 'none') == 'none'


@pytest.mark.parametrize('policy', PRESETS, ids=lambda p: p.service_type)
def test_a_client_speaks_the_dialect_of_each_preset(policy):
    service = BoxService('1.6', policy)

    class Boxes(BoxClient):
        POLICY = service.policy

    http = httpx.Client(base_url='http://box', transport=service.transport())
    boxes = Boxes(http)
    assert boxes.boxes.create(name='b', width=2).width == 2
    assert boxes.version == Version(1, 6)
    with pytest.raises(client.RequestFailed, match='at most 65') as caught:
        boxes.boxes.create(name='x' * 70_000)
    assert caught.value.status == 400
    with pytest.raises(client.ServerTooOld, match='engine e1 is old'):
        boxes.boxes.create(name='b', locked=True)
    service.maximum = dataclasses.replace(
        service.maximum, version=Version(1, 4)
    )
    assert boxes.boxes.create(name='b', width=2).width == 2
    assert boxes.version == Version(1, 4)


@pytest.mark.parametrize(
    'fields', [{'locked': True}, {'tag': 'x'}, {'tag': None}]
)
def test_a_value_that_the_server_cannot_hold_is_not_sent(fields):
    service = BoxService('1.4')
    with pytest.raises(client.ServerTooOld) as caught:
        connect(service).boxes.create(name='b', **fields)
    error = caught.value
    ((name, value),) = fields.items()
    assert error.subject == f'ClientBoxCreateRequest.{name}={value!r}'
    assert error.needed == Version(1, 7)
    assert error.version == Version(1, 4)
    assert 'engine e1 is old' in error.reason
    assert {method for method, *_ in service.requests} == {'GET'}


def test_an_operation_that_the_server_lacks_is_not_sent():
    service = BoxService('1.6')
    with pytest.raises(
        client.ServerTooOld,
        match=r'^POST /v1/boxes/\{name\}/open needs API version 1\.7, but the',
    ):
        connect(service).boxes.open(name='b')
    assert {method for method, *_ in service.requests} == {'GET'}


def test_a_field_that_the_api_removed_is_not_dropped_in_silence():
    boxes = connect(BoxService()).boxes
    assert boxes.update(name='b', mode='soft') == {'sent': [{'set': {}}]}
    with pytest.raises(exceptions.ConversionError, match='removed this field'):
        boxes.update(name='b', mode='hard')


def test_each_result_has_its_declared_form():
    boxes = connect(BoxService()).boxes
    listed = boxes.list(names=['a', 'b'], limit=3, full=True)
    assert [(box.name, box.width) for box in listed] == [('a', 3), ('b', 3)]
    assert boxes.list() == []
    assert boxes.open(name='b') == '/v1/actions/7'
    assert boxes.delete(name='b') is None


@pytest.mark.parametrize(
    ('field', 'default', 'values'),
    [
        (fields.StringField(nullable=True), None, [None]),
        (fields.StringField(nullable=True, default='x'), 'x', [None]),
        (fields.ListOfStringsField(nullable=True), None, [None, []]),
        (fields.ListOfStringsField(default=[]), [], [[]]),
        (fields.ListOfStringsField(default=['x']), ['x'], [[]]),
        (fields.SetOfIntegersField(default=set()), set(), [set()]),
        (fields.SetOfIntegersField(nullable=True), None, [None, set()]),
    ],
)
def test_a_value_that_a_query_cannot_have_is_no_omission(
    registry, field, default, values
):
    @vobjects.register
    class ShelfListRequest(vobjects.Request):
        fields = {'some': field}

    class Shelves(client.Operations[client.Http]):
        list = client.operation('GET', '/v1/shelves', ShelfListRequest)

    class ShelfClient(BoxClient):
        shelves: Shelves[client.Http]

    http = httpx.Client(
        base_url='http://box', transport=BoxService().transport()
    )
    shelves = ShelfClient(http).shelves
    for value in values:
        if value == default:
            assert shelves.list(some=value) is None
            continue
        with pytest.raises(ValueError, match=r'Request\.some='):
            shelves.list(some=value)


def test_a_name_is_one_segment_of_the_path():
    service = BoxService()
    boxes = connect(service).boxes
    boxes.delete(name='a/../b ?c')
    assert service.requests[-1][1] == '/v1/boxes/a/../b ?c'
    for name in ('', '.', '..'):
        with pytest.raises(ValueError, match='part of a path'):
            boxes.delete(name=name)
    with pytest.raises(exceptions.FieldsMissing, match='name'):
        boxes.delete()


def test_the_version_is_negotiated_once_and_again_if_it_is_not_served():
    service = BoxService('1.6')
    boxes = connect(service)
    for _ in range(3):
        boxes.boxes.create(name='b')
    paths = [path for _, path, *_ in service.requests]
    assert paths == ['/', '/v1/boxes', '/v1/boxes', '/v1/boxes']
    service.maximum = dataclasses.replace(
        service.maximum, version=Version(1, 4)
    )
    boxes.boxes.create(name='b', width=4)
    assert bodies(service)[-1] == {'box': {'name': 'b', 'size': 4}}


def test_a_call_that_needs_more_asks_for_the_new_maximum():
    service = BoxService('1.4')
    boxes = connect(service)
    boxes.boxes.create(name='b')
    service.maximum = service.policy.limit()
    assert boxes.boxes.create(name='b', locked=True).locked is True
    assert boxes.version == Version(1, 9)


def test_without_a_common_version_the_error_says_which_side_is_too_old():
    service = BoxService('1.4')

    class Newer(BoxClient):
        POLICY = dataclasses.replace(BoxClient.POLICY, minimum=Version(1, 5))

    http = httpx.Client(base_url='http://box', transport=service.transport())
    with pytest.raises(NoCommonVersion, match='the server is too old'):
        Newer(http).boxes.list()


def test_discovery_asks_for_the_latest_version():
    """Barbican shows its range only to clients that send a version."""
    service = BoxService()
    connect(service).boxes.list()
    path, headers = service.requests[0][1:3]
    assert path == '/'
    assert headers['openstack-api-version'] == 'clustering latest'


def test_a_server_without_versions_is_an_error():
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text='hi'))
    http = httpx.Client(base_url='http://box', transport=transport)
    with pytest.raises(NoRange):
        BoxClient(http).boxes.list()


def test_an_asynchronous_client_returns_awaitables():
    service = BoxService('1.4')
    service.failures = [httpx.Response(429, headers={'Retry-After': '3'})]
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    async def call():
        async with httpx.AsyncClient(
            base_url='http://box', transport=service.transport()
        ) as http:
            boxes = BoxClient(http, sleep=sleep).boxes
            box = await boxes.create(name='b', width=3)
            with pytest.raises(client.ServerTooOld):
                await boxes.create(name='b', locked=True)
            return box.width

    assert asyncio.run(call()) == 3
    assert slept == [3]


BUSY = {'errors': [{'code': 'busy', 'detail': 'Come back later.'}]}


@pytest.mark.parametrize(
    ('method', 'status', 'headers', 'waits'),
    [
        ('list', 503, ['2'], [2]),
        ('list', 429, ['2', '0', '6'], [2, 1, 6]),
        ('list', 429, ['Thu, 26 Nov 2026 12:00:09 GMT'], [9]),
        ('list', 429, ['Thu, 26 Nov 2026 11:00:00 GMT'], [1]),
        ('delete', 503, ['1'], [1]),
        ('create', 429, ['4'], [4]),
        ('create', 413, ['4'], [4]),
        # The server may have processed the request.
        ('create', 503, ['4'], None),
        ('list', 500, ['4'], None),
        ('list', 503, [''], None),
        ('list', 503, ['soon'], None),
        ('list', 503, ['-1'], None),
        ('list', 503, ['11'], None),
        ('list', 503, ['6', '5'], None),
        ('list', 503, ['0'] * 12, None),
        ('list', 429, ['Thu, 26 Nov 2026 11:00:00 GMT'] * 12, None),
    ],
)
def test_a_client_retries_when_the_server_asks_for_it(
    method, status, headers, waits
):
    service = BoxService()
    service.failures = [
        httpx.Response(status, headers={'Retry-After': value}, json=BUSY)
        for value in headers
    ]
    slept = []
    boxes = connect(
        service, retry_for=10, sleep=slept.append, now=lambda: NOW
    ).boxes
    fields = {} if method == 'list' else {'name': 'b'}
    if waits is not None:
        getattr(boxes, method)(**fields)
        assert slept == waits
        return
    with pytest.raises(client.RequestFailed) as caught:
        getattr(boxes, method)(**fields)
    assert (caught.value.status, caught.value.code) == (status, 'busy')
    assert str(caught.value) == f'{status}: Come back later.'


@pytest.mark.parametrize(
    'document',
    [
        {'errors': [{'status': 409, 'title': 'Clash', 'detail': 'b exists'}]},
        {
            'code': 409,
            'title': 'Conflict',
            'explanation': 'There was a conflict.',
            'error': {'code': 409, 'message': 'b exists', 'type': 'X'},
        },
        {'code': 409, 'title': 'b exists'},
        {'conflictingRequest': {'code': 409, 'message': 'b exists'}},
        {'error_message': json.dumps({'faultstring': 'b exists'})},
        {'code': 409, 'title': 'Conflict', 'description': 'b exists'},
        {'faultstring': 'b exists', 'faultcode': 'Client'},
    ],
)
def test_errors_of_all_services_have_their_text(document):
    service = BoxService()
    service.failures = [
        httpx.Response(
            409, json=document, headers={'X-OpenStack-Request-ID': 'req-1'}
        )
    ]
    with pytest.raises(client.RequestFailed) as caught:
        connect(service).boxes.list()
    assert str(caught.value) == '409: b exists (request req-1)'


@pytest.mark.parametrize(
    ('path', 'response', 'message'),
    [
        (path, response, message)
        for path in ('/', '/v1/boxes')
        for response, message in (
            (
                httpx.Response(307, headers={'Location': 'https://box/'}),
                '307: Temporary Redirect, to https://box/',
            ),
            (httpx.Response(304), '304: Not Modified'),
            (httpx.Response(503, text='<html>'), '503: Service Unavailable'),
        )
    ],
)
def test_a_response_without_success_is_an_error_of_the_call(
    path, response, message
):
    inner = BoxService().transport()

    def serve(request):
        return response if request.url.path == path else inner.handler(request)

    http = httpx.Client(
        base_url='http://box', transport=httpx.MockTransport(serve)
    )
    with pytest.raises(client.RequestFailed) as caught:
        BoxClient(http).boxes.create(name='b')
    assert str(caught.value) == message


@pytest.mark.parametrize(
    'response',
    [
        httpx.Response(200, text='no JSON'),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={'other': []}),
        httpx.Response(200, json={'boxes': {}}),
        httpx.Response(200, json={'boxes': ['b']}),
        httpx.Response(200, json={'boxes': [{'name': {}}]}),
        httpx.Response(200, json={'boxes': [{'lids': [1]}]}),
        httpx.Response(200, json={'boxes': [{'lids': 1}]}),
    ],
)
def test_a_response_that_is_not_as_declared_is_a_precise_error(response):
    service = BoxService()
    service.failures = [response]
    with pytest.raises(client.InvalidResponse, match=r'^GET /v1/boxes: '):
        connect(service).boxes.list()


def test_unknown_fields_of_a_newer_server_are_kept_apart():
    service = BoxService()
    service.failures = [
        httpx.Response(200, json={'boxes': [{'name': 'b', 'hue': 1}]})
    ]
    (box,) = connect(service).boxes.list()
    assert box.as_dict() == {'name': 'b'}
    assert box.obj_unknown_fields == {'hue': 1}
