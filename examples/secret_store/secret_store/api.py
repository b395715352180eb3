# SPDX-License-Identifier: Apache-2.0
"""Run the API: ``secret-store-api FILE``."""

import contextlib
import dataclasses
import http
import signal
import sys
from typing import Annotated

import fastapi
import uvicorn
from fastapi import Depends, Header, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from secret_store import types
from secret_store.service import SERVICE, configuration
from vobjects import to_json
from vobjects.controllers.request_parsing import parse_body, parse_query
from vobjects.controllers.version_request import version_of
from vobjects.microversions import asgi, presets
from vobjects.microversions.errors import ApiError, ValidationError
from vobjects.objects.manifest import at_microversion
from vobjects.rpc import ClientProcess, MessagingException, RemoteError

POLICY = dataclasses.replace(
    presets.BARBICAN,
    maximum=SERVICE.maximum,
    help_url='https://docs.example.org/secret-store/',
    history_url='',
)

#: Limit of a request body in bytes.
MAX_BODY = 4 * types.MAX_PAYLOAD

router = fastapi.APIRouter()


class Unavailable(ApiError):
    """Report that no engine responds."""

    status, code, title = 503, 'engine-unavailable', 'No engine responds'


class HttpError(ApiError):
    """Report an error of FastAPI."""

    def __init__(self, error):
        status = http.HTTPStatus(error.status_code)
        super().__init__(f'{status.description or status.phrase}.')
        self.status, self.title = status.value, status.phrase
        self.code = status.phrase.lower().replace(' ', '-')
        self.headers = tuple((error.headers or {}).items())


async def report_http_error(request, error):
    """Respond to an unknown path or method."""
    raise HttpError(error)


async def report_invalid(request, error):
    """Respond to a parameter that FastAPI rejects."""
    first = error.errors()[0]
    path = '.'.join(map(str, first['loc']))
    raise ValidationError(path, first['msg'])


async def read_body(request: Request):
    """Read the body of a request."""
    return await asgi.read_body(request.receive, MAX_BODY)


Body = Annotated[bytes, Depends(read_body)]
Project = Annotated[str, Header(alias='X-Project-Id', max_length=255)]


def parse(cls, request):
    """Return the query and the path of a request as an object."""
    return parse_query(
        cls, request, request.url.query, path=request.path_params
    )


def call(request, project, message):
    """Call an engine; return its response at the version of the client."""
    versions = at_microversion(version_of(request))
    client = request.app.state.engines.client
    try:
        result = client.call({'project_id': project}, message, versions)
    except RemoteError:
        raise  # a bug of the engine, to which the middleware responds
    except MessagingException as error:
        raise Unavailable('Send the request again later.') from error
    return result and to_json(result, versions)


def shown(request, secret):
    """Return a secret, which refers to itself."""
    secret_id = secret.pop('secret_id')
    ref = str(request.url_for('show', secret_id=secret_id))
    return {'secret_ref': ref, **secret}


@router.post('/v1/secrets', status_code=201)
def create(request: Request, project: Project, body: Body):
    message = parse_body(
        types.SecretCreateRequest, request, body, max_bytes=MAX_BODY
    )
    secret = shown(request, call(request, project, message))
    return {'secret_ref': secret['secret_ref']}


@router.get('/v1/secrets')
def index(request: Request, project: Project):
    page = call(request, project, parse(types.SecretListRequest, request))
    secrets = [shown(request, secret) for secret in page['secrets']]
    return {'secrets': secrets, 'total': page['total']}


@router.get('/v1/secrets/{secret_id}')
def show(request: Request, project: Project):
    message = parse(types.SecretGetRequest, request)
    return shown(request, call(request, project, message))


@router.get('/v1/secrets/{secret_id}/payload')
def payload(request: Request, project: Project):
    message = parse(types.SecretPayloadRequest, request)
    text = call(request, project, message)['payload']
    return fastapi.Response(text, media_type='text/plain')


@router.delete('/v1/secrets/{secret_id}', status_code=204)
def delete(request: Request, project: Project):
    call(request, project, parse(types.SecretDeleteRequest, request))


def application(engines):
    """Return the API; its lifespan starts and stops the client process."""

    @contextlib.asynccontextmanager
    async def lifespan(app):
        with engines:
            yield

    app = fastapi.FastAPI(
        openapi_url=None,
        lifespan=lifespan,
        exception_handlers={
            HTTPException: report_http_error,
            RequestValidationError: report_invalid,
        },
    )
    app.state.engines = engines
    app.include_router(router)
    # The middleware added last receives the request first.
    app.add_middleware(asgi.Discovery, policy=POLICY)
    app.add_middleware(
        asgi.Microversions, policy=POLICY, maximum=engines.maximum
    )
    return app


def main():
    conf = configuration()
    # uvicorn sends itself the signal again after it has shut down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    app = application(ClientProcess(conf, SERVICE))
    uvicorn.run(app, host=str(conf.api.host), port=conf.api.port)
