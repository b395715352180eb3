# SPDX-License-Identifier: Apache-2.0
"""Serve things with FastAPI: ``python doc/examples/fastapi_app.py``."""

import socket
import sys

import fastapi
import things
import uvicorn

from vobjects.controllers import api_version, parse_body
from vobjects.microversions import asgi

app = fastapi.FastAPI(openapi_url=None)
asgi.add_microversions(app, things.POLICY)


@api_version('1.0', '1.8')
async def show(request: fastapi.Request, name: str):
    return things.find(name)


@app.get('/v1/things/{name}')
@show.api_version('1.9')
async def show(request: fastapi.Request, name: str):
    return {'thing': things.find(name)}


@app.post('/v1/things', status_code=201)
async def create(request: fastapi.Request):
    thing = parse_body(
        things.ThingCreateRequest,
        request,
        await asgi.read_body(request.receive),
    )
    return things.save(thing)


if __name__ == '__main__':
    listener = socket.create_server(('127.0.0.1', int([*sys.argv, 8080][1])))
    print(f'http://127.0.0.1:{listener.getsockname()[1]}', flush=True)
    uvicorn.Server(uvicorn.Config(app)).run([listener])
