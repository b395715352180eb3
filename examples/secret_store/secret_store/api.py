# SPDX-License-Identifier: Apache-2.0
"""Run the API: ``secret-store-api FILE``."""

import dataclasses
import signal
import sys
from typing import Annotated

import fastapi
import uvicorn
from fastapi import Depends, Header, Request

from secret_store import types
from secret_store.service import SERVICE, configuration
from vobjects.controllers import parse_body, parse_query
from vobjects.microversions import asgi, presets
from vobjects.rpc import ClientProcess

POLICY = dataclasses.replace(
    presets.BARBICAN,
    maximum=SERVICE.maximum,
    help_url='https://docs.example.org/secret-store/',
    history_url='',
)

#: Limit of a request body in bytes.
MAX_BODY = 4 * types.MAX_PAYLOAD

app = fastapi.FastAPI(openapi_url=None)


async def read_body(request: Request):
    """Read the body of a request."""
    return await asgi.read_body(request.receive, MAX_BODY)


Body = Annotated[bytes, Depends(read_body)]
Project = Annotated[str, Header(alias='X-Project-Id', max_length=255)]


def call(cls, request, project):
    """Send the query and the path of a request to an engine."""
    message = parse_query(cls, request, path=request.path_params)
    return forward(request, project, message)


def forward(request, project, message):
    """Send a message to an engine; return the response as JSON data."""
    context = {'project_id': project}
    return request.app.state.engines.forward(request, context, message)


def shown(request, secret):
    """Return a secret, which refers to itself."""
    secret_id = secret.pop('secret_id')
    ref = str(request.url_for('show', secret_id=secret_id))
    return {'secret_ref': ref, **secret}


@app.post('/v1/secrets', status_code=201)
def create(request: Request, project: Project, body: Body):
    message = parse_body(types.SecretCreateRequest, request, body)
    secret = shown(request, forward(request, project, message))
    return {'secret_ref': secret['secret_ref']}


@app.get('/v1/secrets')
def index(request: Request, project: Project):
    page = call(types.SecretListRequest, request, project)
    secrets = [shown(request, secret) for secret in page['secrets']]
    return {'secrets': secrets, 'total': page['total']}


@app.get('/v1/secrets/{secret_id}')
def show(request: Request, project: Project):
    return shown(request, call(types.SecretGetRequest, request, project))


@app.get('/v1/secrets/{secret_id}/payload')
def payload(request: Request, project: Project):
    secret = call(types.SecretPayloadRequest, request, project)
    return fastapi.Response(secret['payload'], media_type='text/plain')


@app.delete('/v1/secrets/{secret_id}', status_code=204)
def delete(request: Request, project: Project):
    call(types.SecretDeleteRequest, request, project)


def main():
    conf = configuration()
    # uvicorn sends itself the signal again after it has shut down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with ClientProcess(conf, SERVICE) as engines:
        app.state.engines = engines
        asgi.add_microversions(app, POLICY, engines.maximum)
        uvicorn.run(app, host=str(conf.api.host), port=conf.api.port)
