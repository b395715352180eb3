# SPDX-License-Identifier: Apache-2.0
"""The ASGI middlewares respond as the WSGI middlewares do."""

from __future__ import annotations

import asyncio
import dataclasses
import json

import anyio
import fastapi
import pytest
from starlette.applications import Starlette

from tests.unit.vobjects.microversions import wsgi
from vobjects.controllers import (
    decorators,
    dispatch,
    frameworks,
    wrapper,
)
from vobjects.exceptions import DeclarationError, NoLivePeer, VobjectsError
from vobjects.microversions import (
    application_errors,
    asgi,
    errors,
    middleware,
    negotiation,
    presets,
    retirement,
    version_policy,
)
from vobjects.versions import Maximum, Version

HEADER = 'openstack-api-version'


class Missing(errors.ApiError):
    status, code, title = 404, 'missing', 'Nothing is here'
    headers = (('X-Reason', 'missing'),)


def scope_of(path='/v1/clusters', *, method='GET', headers=(), **extra):
    return {
        'type': 'http',
        'method': method,
        'path': path,
        'query_string': b'',
        'scheme': 'http',
        'server': ('127.0.0.1', 80),
        'headers': [
            (b'host', b'127.0.0.1'),
            *(
                (name.lower().encode(), value.encode())
                for name, value in headers
            ),
        ],
        **extra,
    }


def call(app, path='/v1/clusters', **options):
    """Call an application; return its response, with header pairs."""
    messages = []

    async def receive():
        return {'type': 'http.request'}

    async def send(message):
        messages.append(message)

    asyncio.run(app(scope_of(path, **options), receive, send))
    start, *bodies = messages
    assert all(name == name.lower() for name, _ in start['headers'])
    return wsgi.Response(
        str(start['status']),
        [(name.decode(), value.decode()) for name, value in start['headers']],
        b''.join(body.get('body', b'') for body in bodies),
    )


async def echo(scope, receive, send):
    """Do what :func:`wsgi.echo` does."""
    if scope['path'] == '/v1/raise':
        raise Missing('Look elsewhere.')
    is_missing = scope['path'] == '/v1/missing'
    headers = [(b'content-type', b'text/plain')]
    if not is_missing:
        headers.append((b'x-own', b'kept'))
    await send(
        {
            'type': 'http.response.start',
            'status': 404 if is_missing else 200,
            'headers': headers,
        }
    )
    version = str(scope[version_policy.MICROVERSION]).encode()
    body = b'missing' if is_missing else version
    await send({'type': 'http.response.body', 'body': body})


def wsgi_echo(environ, start_response):
    if environ['PATH_INFO'] == '/v1/raise':
        raise Missing('Look elsewhere.')
    return wsgi.echo(environ, start_response)


def both(policy, maximum=None):
    """Return the ASGI application and the WSGI application of a policy."""
    limit = None if maximum is None else (lambda: maximum)
    return (
        asgi.Microversions(asgi.Discovery(echo, policy), policy, limit),
        middleware.Microversions(
            middleware.Discovery(wsgi_echo, policy), policy, limit
        ),
    )


RETIRED = dataclasses.replace(
    presets.SENLIN,
    retired=(
        retirement.retire(
            '1.0', '1.3', deprecated='2026-01-01', successor='1.9'
        ),
    ),
)


@pytest.mark.parametrize(
    'policy',
    [*presets.PRESETS.values(), RETIRED],
    ids=[*presets.PRESETS, 'retired'],
)
@pytest.mark.parametrize('method', ['GET', 'HEAD', 'POST'])
@pytest.mark.parametrize(
    'path',
    ['/', '/v1', '/v1/', '/v1/clusters', '/v1/missing', '/v1/raise', '/é'],
)
def test_response_is_that_of_the_wsgi_middleware(
    monkeypatch, policy, method, path
):
    monkeypatch.setattr(negotiation.os, 'urandom', bytes)
    capped = Maximum(policy.minimum, 'engine-2 is older')
    service = policy.service_types[0]
    for maximum in (None, capped):
        asgi_app, wsgi_app = both(policy, maximum)
        for value in (
            None,
            f'{service} {policy.minimum}',
            f'{service} {policy.maximum}',
            f'{service} latest',
            f'{service} 99.1',
            f'{service} pony',
            'other 1.0',
            f'{service} 99.{"9" * 99}',
        ):
            headers = {} if value is None else {HEADER: value}
            latin_path = path.encode().decode('latin-1')
            expected = wsgi.call(
                wsgi_app, latin_path, method=method, headers=headers
            )

            response = call(
                asgi_app, path, method=method, headers=headers.items()
            )

            assert response.status == expected.status
            assert response.headers == expected.headers
            assert response.body == expected.body


def test_repeated_header_is_combined():
    app, _ = both(presets.SENLIN)

    response = call(
        app,
        headers=[(HEADER, 'compute 2.1'), (HEADER, 'clustering 1.7')],
    )

    assert response.body == b'1.7'


def test_header_name_with_underscore_is_ignored():
    app, _ = both(presets.SENLIN)

    response = call(app, headers=[('openstack_api_version', 'clustering 1.7')])

    assert response.body == b'1.0'


def test_links_contain_the_root_path_of_a_mounted_application():
    app, _ = both(presets.SENLIN)

    response = call(app, '/clustering/v1', root_path='/clustering')

    links = response.json['version']['links']
    assert links[0]['href'] == 'http://127.0.0.1/clustering/v1/'


def test_header_of_the_application_is_replaced_and_vary_is_combined():
    async def application(scope, receive, send):
        headers = [(b'vary', b'Accept'), (HEADER.encode(), b'clustering 9.9')]
        await send(
            {'type': 'http.response.start', 'status': 200, 'headers': headers}
        )
        await send({'type': 'http.response.body'})

    response = call(asgi.Microversions(application, presets.SENLIN))

    assert response.headers['vary'] == 'Accept, OpenStack-API-Version'
    assert response.headers[HEADER] == 'clustering 1.0'


@pytest.mark.parametrize('kind', ['lifespan', 'websocket'])
def test_scope_of_another_type_passes_through(kind):
    received = []

    async def application(scope, receive, send):
        received.append(scope)

    app, _ = both(presets.SENLIN)
    app.app.app = application
    scope = {'type': kind, 'path': '/v1'}
    asyncio.run(app(scope, None, None))

    assert received == [scope]


def test_request_id_of_an_outer_middleware_is_kept():
    app, _ = both(presets.SENLIN)

    response = call(app, '/v1/raise', **{negotiation.REQUEST_ID: 'req-7'})

    assert response.json['errors'][0]['request_id'] == 'req-7'


def test_environ_without_server_has_defaults():
    environ = asgi.environ_from(scope_of(server=None, headers=[]))

    assert (environ['SERVER_NAME'], environ['SERVER_PORT']) == (
        'localhost',
        '80',
    )


def test_environ_has_headers_as_in_wsgi():
    headers = [
        ('Content-Type', 'application/json'),
        ('Content-Length', '2'),
        ('Content_Type', 'evil'),
        ('Cookie', 'a=1'),
        ('Cookie', 'b=2'),
        ('X-List', 'a'),
        ('X-List', 'b'),
        ('X_List', 'evil'),
    ]
    environ = asgi.environ_from(scope_of(headers=headers))

    assert environ['CONTENT_TYPE'] == 'application/json'
    assert environ['CONTENT_LENGTH'] == '2'
    assert environ['HTTP_COOKIE'] == 'a=1; b=2'
    assert environ['HTTP_X_LIST'] == 'a,b'
    assert 'HTTP_CONTENT_TYPE' not in environ
    assert 'evil' not in environ.values()


# Bodies


def read(*messages, **options):
    queue = [dict(message, type='http.request') for message in messages]

    async def receive():
        if queue:
            return queue.pop(0)
        return await asyncio.Event().wait()

    return asyncio.run(asgi.read_body(receive, **options))


def test_body_is_joined_from_its_parts():
    assert read({'body': b'{"a":', 'more_body': True}, {'body': b'1}'}) == (
        b'{"a":1}'
    )


def test_body_that_is_too_long_is_413_before_it_is_read_to_the_end():
    part = {'body': b'x' * 600, 'more_body': True}

    with pytest.raises(errors.BodyTooLarge, match='more than 1000 bytes'):
        read(part, part, max_bytes=1000)


def test_body_that_is_late_is_408():
    with pytest.raises(errors.BodyTimeout) as caught:
        read({'body': b'x', 'more_body': True}, timeout=0.01)

    assert caught.value.status_for(presets.SENLIN) == 408


def test_body_of_a_client_that_disconnects_is_malformed():
    async def receive():
        return {'type': 'http.disconnect'}

    with pytest.raises(errors.MalformedBody, match='incomplete'):
        asyncio.run(asgi.read_body(receive))


# Controllers

NAME = {
    'type': 'object',
    'properties': {'name': {'type': 'string'}},
    'additionalProperties': False,
}


class Controller:
    @dispatch.api_version('1.0', '1.4')
    async def show(self, request, /):
        return 'old'

    @show.api_version('1.5')
    @decorators.expected_errors(409)
    @decorators.response_body_schema(NAME)
    async def show(self, request, /):
        if error := frameworks.environ_of(request).get('test.error'):
            raise error
        return frameworks.environ_of(request).get('test.result', {})

    @dispatch.api_version('1.0')
    @decorators.schema(NAME)
    @decorators.query_schema(NAME)
    async def create(self, request, body, query):
        return body, query


def environ_at(version, **extra):
    return {version_policy.MICROVERSION: Version.parse(version), **extra}


def scope_at(version, **extra):
    environ = environ_at(version, **extra)
    return {
        'type': 'http',
        version_policy.MICROVERSION: environ[version_policy.MICROVERSION],
        version_policy.ENVIRON: environ,
    }


class StarletteLike:
    def __init__(self, scope):
        self.scope = scope


@pytest.mark.parametrize('wrap', [dict, StarletteLike])
def test_coroutine_method_is_chosen_by_version(wrap):
    controller = Controller()

    old = asyncio.run(controller.show(wrap(scope_at('1.4'))))
    new = asyncio.run(controller.show(wrap(scope_at('1.5'))))

    assert (old, new) == ('old', {})
    assert asyncio.iscoroutinefunction(controller.show)


def test_coroutine_method_receives_validated_body_and_query():
    scope = scope_at('1.0', QUERY_STRING='name=b')
    controller = Controller()

    called = asyncio.run(controller.create(scope, body={'name': 'a'}))

    assert called == ({'name': 'a'}, {'name': 'b'})
    with pytest.raises(errors.ValidationError, match=r'body\.name'):
        asyncio.run(controller.create(scope, body={'name': 7}))


def test_undeclared_error_of_a_coroutine_method_is_unexpected():
    controller = Controller()
    declared = Missing('Conflict.')
    declared.status = 409

    for error, expected in [
        (declared, Missing),
        (ValueError('x'), application_errors.UnexpectedError),
    ]:
        scope = scope_at('1.5', **{'test.error': error})
        with pytest.raises(expected):
            asyncio.run(controller.show(scope))


def test_response_of_a_coroutine_method_is_checked():
    scope = scope_at(
        '1.5', **{wrapper.CHECK_RESPONSES: True, 'test.result': {'name': 7}}
    )

    with pytest.raises(VobjectsError, match='does not match its response'):
        asyncio.run(Controller().show(scope))


def test_coroutine_function_is_called_with_a_request_by_name():
    @dispatch.api_version('1.0', '1.4')
    @decorators.response(200)
    async def show(request, name):
        return 'old', name

    @show.api_version('1.5')
    async def show(request, name):
        return 'new', name

    for version, expected in [('1.4', 'old'), ('1.5', 'new')]:
        called = asyncio.run(show(request=scope_at(version), name='n'))
        assert called == (expected, 'n')
    assert asyncio.iscoroutinefunction(show.__call__)
    with pytest.raises(TypeError, match='needs the request'):
        asyncio.run(show(name='n'))


def test_coroutine_function_with_a_plain_function_is_rejected():
    @dispatch.api_version('1.0', '1.4')
    async def mixed(request):
        return 'old'

    def plain(request):
        return 'new'

    with pytest.raises(DeclarationError, match='both be coroutine functions'):
        mixed.api_version('1.5')(plain)


def test_fastapi_serves_versions_and_documents_of_errors():
    app = fastapi.FastAPI(openapi_url=None)
    app.add_middleware(asgi.Discovery, policy=presets.SENLIN)
    app.add_middleware(asgi.Microversions, policy=presets.SENLIN)

    @dispatch.api_version('1.0', '1.4')
    async def show(request: fastapi.Request, name: str):
        raise Missing(f'There is no {name}.')

    @show.api_version('1.5')
    async def show(request: fastapi.Request, name: str):
        return {'name': name}

    app.get('/v1/things/{name}')(show)
    old, new = (
        call(app, '/v1/things/a', headers=[(HEADER, f'clustering {version}')])
        for version in ('1.4', '1.5')
    )

    assert (old.status, new.status) == (404, 200)
    assert json.loads(new.body) == {'name': 'a'}
    assert old.json['errors'][0]['detail'] == 'There is no a.'
    assert old.headers['x-reason'] == 'missing'
    assert new.headers[HEADER] == 'clustering 1.5'
    assert call(app, '/').json['versions'][0]['max_version'] == '1.14'


@pytest.fixture(scope='module')
def things():
    """Return an application of FastAPI that raises any status."""
    app = fastapi.FastAPI(openapi_url=None)
    asgi.add_microversions(app, presets.SENLIN, lambda: Maximum(Version(1, 5)))

    @app.get('/v1/things/{status}')
    async def show(status: int):
        headers = {'Location': '/v1/others'}
        raise fastapi.HTTPException(status, f'It is {status}.', headers)

    return app


@pytest.mark.parametrize(
    ('path', 'status', 'code', 'detail'),
    [
        ('nothing', 404, 'not-found', 'Nothing matches the given URI.'),
        ('things/x', 400, 'validation-failed', 'path.status: Input should be'),
        ('things/409', 409, 'conflict', 'It is 409.'),
        ('things/419', 419, 'status-419', 'It is 419.'),
    ],
)
def test_add_microversions_reports_errors_of_fastapi_as_documents(
    things, path, status, code, detail
):
    response = call(things, f'/v1/{path}')

    assert response.status == status
    (error,) = response.json['errors']
    assert error['code'] == f'clustering.{code}'
    assert error['detail'].startswith(detail)
    if detail.startswith('It is'):
        assert response.headers['location'] == '/v1/others'


def test_add_microversions_keeps_what_is_no_error(things):
    moved = call(things, '/v1/things/307')
    method = call(things, '/v1/things/1', method='PUT')

    assert (moved.status, moved.body) == (307, b'')
    assert moved.headers['location'] == '/v1/others'
    assert (method.status, method.headers['allow']) == (405, 'GET')
    assert call(things, '/').json['versions'][0]['max_version'] == '1.5'


def test_add_microversions_when_the_app_is_of_starlette_reports_errors():
    app = Starlette()
    asgi.add_microversions(app, presets.SENLIN)
    missing = call(app, '/v1/nothing')
    assert missing.status == 404
    assert missing.json['errors'][0]['code'] == 'clustering.not-found'


@pytest.mark.parametrize('handle_unexpected', [True, False])
def test_fastapi_error_in_a_task_group_has_the_status_of_the_error(
    handle_unexpected,
):
    app = fastapi.FastAPI(openapi_url=None)
    app.add_middleware(
        asgi.Microversions,
        policy=presets.SENLIN,
        handle_unexpected=handle_unexpected,
    )

    async def fail():
        raise Missing('There is no a.')

    @app.get('/v1/things')
    async def list_things():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            await anyio.sleep_forever()

    response = call(app, '/v1/things')

    assert response.status == 404
    assert response.json['errors'][0]['detail'] == 'There is no a.'
    assert response.headers['x-reason'] == 'missing'


def test_unexpected_error_after_the_start_of_a_response_is_raised():
    messages = []

    async def send(message):
        messages.append(message)

    async def start_and_fail(scope, receive, send):
        await echo(scope, receive, send)
        raise ZeroDivisionError('a bug')

    app = asgi.Microversions(start_and_fail, presets.BARBICAN)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(app(scope_of(), None, send))
    assert [message.get('status') for message in messages] == [200, None]


async def await_cancelled_task(scope, receive, send):
    task = asyncio.create_task(asyncio.sleep(60))
    task.cancel()
    await task


async def raise_cancelled(scope, receive, send):
    raise asyncio.CancelledError


@pytest.mark.parametrize('app', [await_cancelled_task, raise_cancelled])
def test_cancelled_task_of_an_application_is_an_unexpected_error(app):
    response = call(asgi.Microversions(app, presets.BARBICAN))
    assert response.status == 500
    assert response.headers['openstack-api-version'] == 'key-manager 1.0'


def test_cancelled_request_stays_cancelled():
    async def wait(scope, receive, send):
        await asyncio.sleep(60)

    async def cancel():
        app = asgi.Microversions(wait, presets.BARBICAN)
        request = asyncio.create_task(app(scope_of(), None, None))
        await asyncio.sleep(0)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request

    asyncio.run(cancel())


def test_maximum_when_no_server_was_ever_alive_leaves_the_event_loop_free():
    in_loop = []
    servers = []

    def maximum():
        try:
            asyncio.get_running_loop()
            in_loop.append(True)
        except RuntimeError:
            in_loop.append(False)
        if not servers:
            raise NoLivePeer('no server of topic x is alive')
        return Maximum(Version(1, 1))

    app = asgi.Microversions(echo, presets.BARBICAN, maximum)
    assert call(app).status == 503
    servers.append('first')
    assert [call(app).status for _ in range(2)] == [200, 200]
    assert in_loop == [False, False, True]
