# SPDX-License-Identifier: Apache-2.0
"""A service with boxes, its typed client, and a transport between them."""

from __future__ import annotations

import dataclasses
import json
import re

import httpx

import vobjects
from tests.unit.vobjects.microversions import wsgi
from vobjects import UNSET, added, renamed
from vobjects.controllers import request_parsing
from vobjects.microversions import middleware, presets
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.objects import manifest
from vobjects.versions import NULL, Maximum, Version
from vobjects_client import Client, Http, Location, Operations, operation


@vobjects.register
class ClientLid(vobjects.Object):
    """A part of a box."""

    VERSION = '1.1'
    VERSION_MAP = {'1.5': '1.1'}

    colour: str = renamed('1.1', 'color')


@vobjects.register
class ClientBox(vobjects.Resource):
    """A box in a response."""

    VERSION = '1.2'
    VERSION_MAP = {'1.5': '1.1', '1.7': '1.2'}

    name: str
    note: str | None = UNSET
    width: int = renamed('1.1', 'size')
    locked: bool = added('1.2', default=False)
    tag: str | None = added('1.2')
    lids: list[ClientLid] = UNSET


@vobjects.register
class ClientBoxCreateRequest(vobjects.Request):
    """Create a box."""

    VERSION = '1.2'
    VERSION_MAP = {'1.5': '1.1', '1.7': '1.2'}

    name: str
    width: int = renamed('1.1', 'size', default=1)
    locked: bool = added('1.2', default=False)
    tag: str | None = added('1.2')
    lids: list[ClientLid] = []


@vobjects.register
class ClientBoxUpdateRequest(vobjects.Request):
    """Change a box."""

    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}

    name: str
    tag: str | None = added('1.1')
    mode: str = vobjects.removed('1.1', default='soft')


@vobjects.register
class ClientBoxListRequest(vobjects.Request):
    """List boxes."""

    limit: int | None = UNSET
    names: list[str] = []
    full: bool = False


@vobjects.register
class ClientBoxGetRequest(vobjects.Request):
    """Show a box."""

    name: str


@vobjects.register
class ClientBoxOpenRequest(vobjects.Request):
    """Open a box."""

    VERSION_MAP = {'1.7': '1.0'}

    name: str


class Boxes(Operations[Http]):
    """Operations on boxes."""

    create = operation(
        'POST', '/v1/boxes', ClientBoxCreateRequest, ClientBox,
        body='box', result='box',
    )  # fmt: skip
    list = operation(
        'GET', '/v1/boxes', ClientBoxListRequest, list[ClientBox],
        result='boxes',
    )  # fmt: skip
    get = operation(
        'GET', '/v1/boxes/{name}', ClientBoxGetRequest, ClientBox,
        result='box',
    )  # fmt: skip
    update = operation(
        'PATCH', '/v1/boxes/{name}', ClientBoxUpdateRequest, dict[str, object],
        body=lambda fields: [{'set': fields}],
    )  # fmt: skip
    open = operation(
        'POST', '/v1/boxes/{name}/open', ClientBoxOpenRequest, Location
    )
    delete = operation('DELETE', '/v1/boxes/{name}', ClientBoxGetRequest)


class BoxClient(Client[Http]):
    """A client of the service."""

    POLICY = dataclasses.replace(
        presets.SENLIN, minimum=Version(1, 1), maximum=Version(1, 9)
    )

    boxes: Boxes[Http]


class BoxService:
    """The service, which serves versions 1.1 to ``maximum``.

    :ivar requests: method, path, version header and body of each request
    :ivar failures: responses of the next requests, except discovery
    """

    def __init__(self, maximum='1.9', policy=presets.SENLIN):
        self.policy = dataclasses.replace(
            policy,
            minimum=Version(1, 1),
            maximum=Version(1, 9),
            default=NULL,
            accepts_early=False,
        )
        self.maximum = Maximum(Version.parse(maximum), 'engine e1 is old')
        self.requests = []
        self.failures = []
        self.app = middleware.Microversions(
            middleware.Discovery(self._serve, self.policy),
            self.policy,
            lambda: self.maximum,
        )

    def transport(self):
        """Return a transport for synchronous and asynchronous clients."""
        return httpx.MockTransport(self._respond)

    def _respond(self, request):
        body = request.content
        headers = {
            key: value
            for key, value in request.headers.items()
            if 'version' in key.lower() or key == 'accept'
        }
        path = request.url.path
        self.requests.append((request.method, path, headers, body))
        if self.failures and path.startswith('/v1/boxes'):
            return self.failures.pop(0)
        response = wsgi.call(
            self.app,
            path,
            method=request.method,
            headers=headers,
            QUERY_STRING=request.url.query.decode(),
            **{'box.body': body},
        )
        return httpx.Response(
            response.status,
            headers=response.header_list,
            content=response.body,
        )

    def _serve(self, environ, start_response):
        version = environ[MICROVERSION]
        name = re.sub(r'.*/boxes/?', '', environ['PATH_INFO'])
        body, status, headers = {}, '200 OK', []
        if environ['REQUEST_METHOD'] == 'POST' and not name:
            values = json.loads(environ['box.body'])['box']
            box = request_parsing.parse_values(
                ClientBoxCreateRequest, environ, values
            )
            created = ClientBox(
                name=box.name,
                width=box.width,
                locked=box.locked,
                tag=box.tag,
                lids=box.lids,
            )
            versions = manifest.at_microversion(version)
            body = {'box': vobjects.to_json(created, versions)}
        elif environ['REQUEST_METHOD'] == 'PATCH':
            body = {'sent': json.loads(environ['box.body'])}
        elif environ['REQUEST_METHOD'] == 'POST':
            status, headers = '202 Accepted', [('Location', '/v1/actions/7')]
        elif environ['REQUEST_METHOD'] == 'GET' and not name:
            asked = request_parsing.parse_query(ClientBoxListRequest, environ)
            body = {
                'boxes': [
                    {'name': name, 'width': asked.limit or 0}
                    for name in asked.names
                ]
            }
        headers = [('Content-Type', 'application/json'), *headers]
        start_response(status, headers)
        return [json.dumps(body).encode()]


def connect(service, **options):
    """Return a synchronous client of a service."""
    http = httpx.Client(base_url='http://box', transport=service.transport())
    return BoxClient(http, **options)
