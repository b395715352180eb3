# SPDX-License-Identifier: Apache-2.0
"""Both middlewares respond alike to the errors of an application."""

import asyncio
import datetime
import html
import json
import logging

import fastapi
import oslo_messaging
import pytest
import starlette.applications
import starlette.exceptions
import starlette.routing
import webob.exc
import werkzeug.exceptions

from tests import api_sig
from tests.unit.vobjects.microversions import wsgi
from tests.unit.vobjects.microversions.test_asgi import call as call_framework
from vobjects import added, fields, objects
from vobjects.controllers import decorators, dispatch, frameworks
from vobjects.exceptions import (
    DeadlinePassed,
    LossyDowngrade,
    NoCapablePeer,
    NoLivePeer,
    ServiceError,
    Unreachable,
    UnsupportedType,
)
from vobjects.microversions import (
    application_errors,
    asgi,
    errors,
    middleware,
    negotiation,
    presets,
    version_policy,
)
from vobjects.microversions.version_ranges import VersionRange
from vobjects.rpc import serializer
from vobjects.versions import Version

TEST_HANDLER = 'test.handler'


class Part(objects.Object):
    VERSION = '1.1'
    fields = {
        'name': fields.StringField(),
        'size': added('1.1', fields.IntegerField(nullable=True)),
    }


class PartsRequest(objects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'part': fields.ObjectField('Part', nullable=True),
        'parts': fields.ListOfObjectsField('Part', default=[]),
        'note': added('1.1', fields.StringField(default='')),
    }


@pytest.fixture
def _registered(service_types):
    for cls in (Part, PartsRequest):
        objects.register(cls)


OLD = {'PartsRequest': '1.0', 'Part': '1.0'}


def send(manifest, **values):
    """Encode a request for a peer, as :mod:`vobjects.rpc.client` does."""
    return serializer.to_bytes(PartsRequest(**values), manifest)


def sized(count=1):
    return [Part(name=f'p{number}', size=number) for number in range(count)]


def raise_remotely(error):
    """Raise an error as oslo.messaging rebuilds it from a message."""
    shown = {'__str__': lambda self: f'{error}\nTraceback (most recent call'}
    cls = type(f'{type(error).__name__}_Remote', (type(error),), shown)
    raise cls(*error.args)


def raise_grouped(*handlers):
    """Raise the errors of handlers as a task group does."""
    caught = []
    for handler in handlers:
        try:
            handler()
        except Exception as error:  # noqa: BLE001 - as a task group does
            caught.append(error)
    raise ExceptionGroup('unhandled errors in a TaskGroup', caught)


#: Cause -> (handler that raises it, name in the text of the response).
CONVERSIONS = {
    'field': (lambda: send(OLD, note='n'), 'PartsRequest.note'),
    'type': (lambda: send({'Part': '1.1'}), 'PartsRequest'),
    'nested field': (lambda: send(OLD, part=sized()[0]), 'Part.size'),
    'nested type': (
        lambda: send({'PartsRequest': '1.1'}, part=sized()[0]),
        'Part',
    ),
    'field in a list': (lambda: send(OLD, parts=sized(3)), 'Part.size'),
    'type in a list': (
        lambda: send({'PartsRequest': '1.1'}, parts=sized(3)),
        'Part',
    ),
    'field, remote': (
        lambda: raise_remotely(
            LossyDowngrade('Part', 'size', '7', '1.1', '1.0', 'engine-2')
        ),
        'because engine-2',
    ),
    'type, remote': (
        lambda: raise_remotely(UnsupportedType('Part', 'engine-2')),
        'engine-2',
    ),
    'field, in a task group': (
        lambda: raise_grouped(lambda: send(OLD, note='n')),
        'PartsRequest.note',
    ),
    'type, in nested task groups': (
        lambda: raise_grouped(
            lambda: raise_grouped(
                lambda: raise_remotely(UnsupportedType('Part', 'engine-2'))
            )
        ),
        'engine-2',
    ),
}


class Controller:
    """Calls the handler in the environ of the request."""

    @dispatch.api_version('1.0', '1.0')
    def show(self, request, /):
        raise AssertionError('the oldest version is not requested')

    @show.api_version('1.1')
    @decorators.expected_errors(409)
    def show(self, request, /):
        return frameworks.environ_of(request)[TEST_HANDLER]()

    @dispatch.api_version('1.0', '1.0')
    async def show_async(self, request, /):
        raise AssertionError('the oldest version is not requested')

    @show_async.api_version('1.1')
    @decorators.expected_errors(409)
    async def show_async(self, request, /):
        await asyncio.sleep(0)
        return frameworks.environ_of(request)[TEST_HANDLER]()


def plain(request):
    return request[TEST_HANDLER]()


async def plain_async(request):
    return frameworks.environ_of(request)[TEST_HANDLER]()


def call_wsgi(policy, show, handler, **options):
    def application(environ, start_response):
        body = json.dumps(show(environ)).encode()
        start_response('200 OK', [('Content-Type', 'application/json')])
        return [body]

    return _call_wsgi(application, policy, handler, **options)


def call_wsgi_generator(policy, show, handler, **options):
    def application(environ, start_response):
        body = json.dumps(show(environ)).encode()
        start_response('200 OK', [('Content-Type', 'application/json')])
        yield body

    return _call_wsgi(application, policy, handler, **options)


def call_wsgi_late(policy, show, handler, **options):
    """Start the response, and call the handler afterwards."""

    def parts(environ):
        yield json.dumps(show(environ)).encode()

    def application(environ, start_response):
        start_response('200 OK', [('Content-Type', 'application/json')])
        return parts(environ)

    return _call_wsgi(application, policy, handler, **options)


def _call_wsgi(application, policy, handler, **options):
    app = middleware.Microversions(application, policy, **options)
    return wsgi.call(
        app, headers=request_headers(policy), **{TEST_HANDLER: handler}
    )


def call_asgi(policy, show, handler, **options):
    async def application(scope, receive, send):
        scope[version_policy.ENVIRON][TEST_HANDLER] = handler
        shown = show(scope[version_policy.ENVIRON])
        if asyncio.iscoroutine(shown):
            shown = await shown
        await send({'type': 'http.response.start', 'status': 200})
        await send(
            {'type': 'http.response.body', 'body': json.dumps(shown).encode()}
        )

    app = asgi.Microversions(application, policy, **options)
    return call_framework(app, headers=request_headers(policy).items())


def request_headers(policy):
    version = policy.maximum
    return {'OpenStack-API-Version': f'{policy.service_type} {version}'}


controller = Controller()

#: A way to call a handler -> (middleware and server, controller).
CALLS = {
    'wsgi': (call_wsgi, plain),
    'wsgi, decorated': (call_wsgi, controller.show),
    'wsgi, generator': (call_wsgi_generator, controller.show),
    'wsgi, late': (call_wsgi_late, controller.show),
    'asgi': (call_asgi, plain),
    'asgi, decorated': (call_asgi, controller.show),
    'asgi, coroutine': (call_asgi, plain_async),
    'asgi, decorated coroutine': (call_asgi, controller.show_async),
}


def without_request_id(response):
    """Return status, headers and document, without what is random."""
    headers = dict(response.headers)
    request_id = headers.pop('x-openstack-request-id')
    del headers['content-length']
    text = response.body.decode()
    assert request_id in text
    return response.status, headers, text.replace(request_id, '')


@pytest.mark.usefixtures('_registered')
@pytest.mark.parametrize('cause', CONVERSIONS)
@pytest.mark.parametrize('way', CALLS)
def test_value_that_an_older_server_cannot_take_is_406(way, cause, caplog):
    call, show = CALLS[way]
    handler, text = CONVERSIONS[cause]
    for policy in (presets.SENLIN, presets.BARBICAN, presets.IRONIC):
        response = call(policy, show, handler)

        assert response.status == policy.unsupported_status == 406
        document = response.json
        api_sig.assert_error_document(document, 406, response.headers)
        (item,) = document['errors']
        assert (
            item['code'] == f'{policy.service_type}.microversion-unsupported'
        )
        assert text in item['detail']
        assert 'Traceback' not in response.body.decode()
        version = f'{policy.service_type} {policy.maximum}'
        assert response.headers['openstack-api-version'] == version
        assert 'OpenStack-API-Version' in response.headers['vary']
        expected = call_wsgi(policy, plain, handler)
        assert without_request_id(response) == without_request_id(expected)
    assert not caplog.records


def fail():
    raise ZeroDivisionError('a secret of the server')


def failures(caplog):
    """Return the logged errors; each must have a traceback."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno >= logging.ERROR
        and record.exc_info[1].__traceback__ is not None
    ]


@pytest.mark.parametrize('preset', presets.PRESETS)
@pytest.mark.parametrize(
    'way', ['wsgi', 'wsgi, generator', 'wsgi, late', 'asgi']
)
def test_unexpected_error_is_500_in_the_format_of_the_preset(
    way, preset, caplog
):
    call, show = CALLS[way][0], plain
    policy = presets.PRESETS[preset]

    response = call(policy, show, fail)

    assert response.status == 500
    api_sig.assert_error_document(response.json, 500, response.headers)
    (item,) = response.json['errors']
    assert item['code'] == f'{policy.service_type}.internal'
    assert 'secret' not in response.body.decode()
    assert response.headers['openstack-api-version'].startswith(
        policy.service_type
    )
    request_id = response.headers['x-openstack-request-id']
    assert item['request_id'] == request_id
    assert failures(caplog) == [f'Request {request_id} failed']
    expected = call_wsgi(policy, plain, fail)
    assert without_request_id(response) == without_request_id(expected)


class NoSuchPart(ServiceError):
    status = 404


#: Ways to call a handler that declares no statuses of errors.
UNDECLARED = ['wsgi', 'wsgi, generator', 'wsgi, late', 'asgi']


@pytest.mark.parametrize('way', UNDECLARED)
@pytest.mark.parametrize('is_grouped', [False, True])
def test_error_of_a_server_with_a_status_has_that_status(
    way, is_grouped, caplog
):
    def handler():
        raise_remotely(NoSuchPart('There is no part 7.', 'a detail'))

    response = CALLS[way][0](
        presets.BARBICAN,
        plain,
        (lambda: raise_grouped(handler)) if is_grouped else handler,
    )

    assert response.status == 404
    api_sig.assert_error_document(response.json, 404, response.headers)
    (item,) = response.json['errors']
    assert item['code'] == 'key-manager.no-such-part'
    assert item['title'] == 'Not Found'
    assert item['detail'] == 'There is no part 7.'
    assert not caplog.records


@pytest.mark.parametrize(
    'policy', presets.PRESETS.values(), ids=presets.PRESETS
)
@pytest.mark.parametrize('way', UNDECLARED)
def test_error_with_an_unregistered_status_has_that_status(way, policy):
    error_type = type('SessionExpired', (ServiceError,), {'status': 419})

    response = CALLS[way][0](
        policy, plain, lambda: raise_(error_type('Sign in again.'))
    )

    assert response.status == 419
    (item,) = response.json['errors']
    assert item['title'] == 'Status 419'
    assert item['detail'] == 'Sign in again.'


@pytest.mark.parametrize('status', [None, 'ERROR', 99, 200])
@pytest.mark.parametrize('way', UNDECLARED)
def test_error_of_a_server_without_an_http_status_is_500(way, status, caplog):
    error_type = type('Failed', (ServiceError,), {'status': status})

    response = CALLS[way][0](
        presets.BARBICAN,
        plain,
        lambda: raise_remotely(error_type('a secret')),
    )

    assert response.status == 500
    assert 'secret' not in response.body.decode()
    assert len(failures(caplog)) == 1


#: Error about the live servers -> code of the response.
OUTAGES = [
    (NoLivePeer('t'), 'engine-missing'),
    (NoCapablePeer('Box 1.1'), 'engine-missing'),
    (Unreachable('a secret of the database'), 'service-unavailable'),
    (DeadlinePassed('late'), 'engine-silent'),
    (oslo_messaging.MessagingTimeout('late'), 'engine-silent'),
    (oslo_messaging.MessageDeliveryFailure('no broker'), 'engine-silent'),
]


@pytest.mark.parametrize('way', CALLS)
@pytest.mark.parametrize(
    ('error', 'code'), OUTAGES, ids=lambda value: type(value).__name__
)
def test_outage_is_503_with_the_time_to_retry_and_is_logged(
    way, error, code, caplog
):
    call, show = CALLS[way]

    response = call(presets.BARBICAN, show, lambda: raise_(error))

    assert response.status == 503
    assert int(response.headers['retry-after']) > 0
    (item,) = response.json['errors']
    assert item['code'] == f'key-manager.{code}'
    assert 'secret' not in item['detail']
    (record,) = caplog.records
    assert record.levelname == 'WARNING'
    assert str(error) in record.getMessage()


#: Error of oslo.messaging -> status of the response. With 503, the call or its
#: response was lost; with 500, the service has a defect.
BUS_ERRORS = {
    'ClientSendError': 503,
    'DriverLoadFailure': 500,
    'ExecutorLoadFailure': 500,
    'InvalidTarget': 500,
    'InvalidTransportURL': 500,
    'MessageDeliveryFailure': 503,
    'MessageUndeliverable': 503,
    'MessagingException': 500,
    'MessagingServerError': 500,
    'MessagingTimeout': 503,
    'NoSuchMethod': 500,
    'RPCDispatcherError': 500,
    'RPCVersionCapError': 500,
    'RemoteError': 500,
    'ServerListenError': 500,
    'TaskTimeout': 500,
    'TransportDriverError': 500,
    'UnsupportedVersion': 500,
}


def bus_errors():
    """Yield the error classes of oslo.messaging itself."""
    pending = [
        oslo_messaging.MessagingException,
        oslo_messaging.MessageUndeliverable,
    ]
    while pending:
        cls = pending.pop()
        if cls.__module__.startswith('oslo_messaging.'):
            yield cls
            pending += cls.__subclasses__()


def test_table_has_all_errors_of_the_message_bus():
    assert {cls.__name__ for cls in bus_errors()} == BUS_ERRORS.keys()


@pytest.mark.parametrize(
    'cls', sorted(bus_errors(), key=str), ids=lambda cls: cls.__name__
)
def test_only_a_lost_call_is_503_and_a_defect_is_logged_in_full(cls, caplog):
    status = BUS_ERRORS[cls.__name__]
    error = cls.__new__(cls, 'a secret')

    response = call_wsgi(presets.BARBICAN, plain, lambda: raise_(error))

    assert response.status == status
    assert b'secret' not in response.body
    assert len(failures(caplog)) == (status == 500)


def test_error_of_a_server_with_the_status_503_has_the_time_to_retry(caplog):
    error = type('DiskFull', (ServiceError,), {'status': 503})('No space.')

    response = call_wsgi(presets.BARBICAN, plain, lambda: raise_(error))

    assert response.json['errors'][0]['code'] == 'key-manager.disk-full'
    assert int(response.headers['retry-after']) > 0
    (record,) = caplog.records
    assert record.getMessage() == 'DiskFull: No space.'


def test_error_of_a_server_with_its_own_code_and_title_has_them():
    error = type(
        'Taken',
        (ServiceError,),
        {
            'status': 409,
            'code': 'name-taken',
            'title': 'Name is taken',
            'compat_message': 'Conflict!',
        },
    )('')

    document = call_wsgi(presets.SENLIN, plain, lambda: raise_(error)).json

    (item,) = document['errors']
    assert item['code'] == 'clustering.name-taken'
    assert item['title'] == item['detail'] == 'Name is taken'
    assert document['error']['message'] == 'Conflict!'
    assert document['error']['type'] == 'Taken'


@pytest.mark.parametrize('way', CALLS)
def test_task_group_with_an_unexpected_error_is_500(way, caplog):
    call, show = CALLS[way]

    response = call(
        presets.SENLIN,
        show,
        lambda: raise_grouped(lambda: raise_(NoLivePeer('t')), fail),
    )

    assert response.status == 500
    assert 'secret' not in response.body.decode()
    assert len(failures(caplog)) == 1


@pytest.mark.parametrize(
    'way', ['wsgi, decorated', 'asgi, decorated coroutine']
)
def test_undeclared_error_of_a_controller_is_logged_once(way, caplog):
    call, show = CALLS[way]

    response = call(presets.SENLIN, show, fail)

    assert response.status == 500
    assert failures(caplog) == ['A method raised an undeclared error']


@pytest.mark.parametrize('call', [call_wsgi, call_wsgi_generator, call_asgi])
def test_unexpected_error_when_not_handled_is_raised_and_not_logged(
    call, caplog
):
    with pytest.raises(ZeroDivisionError):
        call(presets.SENLIN, plain, fail, handle_unexpected=False)

    assert not caplog.records
    missing = errors.MethodNotAtVersion(
        'show', Version(1, 14), (VersionRange(Version(1, 0), Version(1, 2)),)
    )
    response = call(
        presets.SENLIN,
        plain,
        lambda: raise_(missing),
        handle_unexpected=False,
    )
    assert response.status == 404


def raise_(error):
    raise error


@pytest.mark.parametrize(
    'error',
    [
        webob.exc.HTTPConflict('busy'),
        werkzeug.exceptions.Conflict('busy'),
    ],
)
def test_http_exception_of_a_framework_is_its_own_response(error, caplog):
    response = call_wsgi(presets.SENLIN, plain, lambda: raise_(error))

    assert response.status == 409
    assert b'busy' in response.body
    assert response.headers['openstack-api-version'] == 'clustering 1.14'
    assert not caplog.records


def _cycle():
    items = []
    items.append(items)
    return items


#: Detail of an error -> text in the response.
DETAILS = [
    (
        {'field': 'name', 'taken_by': None},
        '{"field": "name", "taken_by": null}',
    ),
    (['a', {'b': True}], '["a", {"b": true}]'),
    ([], '[]'),
    (0, '0'),
    (False, 'false'),
    (1.5, '1.5'),
    ('Zoë', 'Zoë'),
    (b'raw \xff', 'raw \ufffd'),
    ({'at': datetime.date(2026, 1, 2)}, '{"at": "2026-01-02"}'),
    ({('a', 1): 2}, "{('a', 1): 2}"),
    (_cycle(), '[[...]]'),
]


def raise_in_fastapi(detail):
    """Return the detail of the response of an application of FastAPI."""
    app = fastapi.FastAPI()
    asgi.add_microversions(app, presets.SENLIN)

    @app.get('/v1/x')
    async def show():
        raise fastapi.HTTPException(409, detail)

    return call_framework(app, '/v1/x')


def raise_in_starlette(detail):
    """Return the detail of the response of an application of Starlette."""

    async def show(request):
        raise starlette.exceptions.HTTPException(409, detail)

    app = starlette.applications.Starlette(
        routes=[starlette.routing.Route('/v1/x', show)]
    )
    asgi.add_microversions(app, presets.SENLIN)
    return call_framework(app, '/v1/x')


@pytest.mark.parametrize('raise_in', [raise_in_fastapi, raise_in_starlette])
@pytest.mark.parametrize(('detail', 'text'), DETAILS, ids=repr)
def test_detail_of_an_asgi_framework_becomes_json(raise_in, detail, text):
    response = raise_in(detail)
    assert response.status == 409
    assert response.json['errors'][0]['detail'] == text


@pytest.mark.parametrize('raise_in', [raise_in_fastapi, raise_in_starlette])
def test_error_of_an_asgi_framework_without_detail_has_a_text(raise_in):
    detail = raise_in(None).json['errors'][0]['detail']
    assert detail
    assert 'None' not in detail


@pytest.mark.parametrize(
    'make',
    [
        webob.exc.HTTPConflict,
        werkzeug.exceptions.Conflict,
        application_errors.HttpError,
    ],
)
@pytest.mark.parametrize(('detail', 'text'), DETAILS, ids=repr)
def test_detail_of_a_wsgi_framework_becomes_json(make, detail, text):
    status = [409] if make is application_errors.HttpError else []
    error = make(*status, detail)
    response = call_wsgi(presets.SENLIN, plain, lambda: raise_(error))
    assert response.status == 409
    body = response.body.decode()
    if make is application_errors.HttpError:
        assert json.loads(body)['errors'][0]['detail'] == text
    else:
        assert text in html.unescape(body)


def test_error_after_the_headers_were_sent_is_raised_to_the_server(caplog):
    def application(environ, start_response):
        start_response('200 OK', [('Content-Type', 'text/plain')])
        yield b'part'
        fail()

    def start_response(status, headers, exc_info=None):
        if exc_info:
            raise exc_info[1]

    app = middleware.Microversions(application, presets.SENLIN)
    parts = app(
        {'REQUEST_METHOD': 'GET', 'PATH_INFO': '/v1/x'}, start_response
    )
    assert next(parts) == b'part'
    with pytest.raises(ZeroDivisionError):
        next(parts)

    assert not caplog.records


def test_response_that_starts_late_is_closed_with_its_server():
    closed = []

    class Parts:
        def __iter__(self):
            self.start()
            return iter([b'a', b'b'])

        def close(self):
            closed.append(True)

    def application(environ, start_response):
        parts = Parts()
        parts.start = lambda: start_response(
            '200 OK', [('Content-Type', 'text/plain')]
        )
        return parts

    response = wsgi.call(middleware.Microversions(application, presets.SENLIN))

    assert (response.status, response.body) == (200, b'ab')
    assert response.headers['openstack-api-version'] == 'clustering 1.0'
    assert closed == [True]


def test_request_id_of_an_outer_middleware_is_in_the_log(caplog):
    def application(environ, start_response):
        fail()

    wsgi.call(
        middleware.Microversions(application, presets.SENLIN),
        **{negotiation.REQUEST_ID: 'req-7'},
    )

    assert failures(caplog) == ['Request req-7 failed']
