# SPDX-License-Identifier: Apache-2.0
"""Serve boxes, with a REST contract derived from decorators.

With this module in the entry points ``vobjects.services``, ``vobjects contract
openapi 1.6`` prints the contract.
"""

import things
import webob
import webob.dec
import webob.exc

from vobjects import Service
from vobjects.controllers import (
    api_version,
    expected_errors,
    gone,
    query_schema,
    resolve,
    response,
    response_body_schema,
    schema,
    version_of,
)
from vobjects.controllers.method_spec import success_status
from vobjects.microversions import (
    ApiError,
    Discovery,
    Microversions,
    load_json,
)
from vobjects_contract import (
    Contract,
    closed,
    controllers,
    discovery_operations,
    list_of,
)

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 40}
OLD = closed({'name': NAME}, ['name'])
BOX = closed({'name': NAME, 'size': {'type': 'integer'}}, ['name'])
QUERY = closed({'limit': {'type': 'integer', 'minimum': 0}})
BOXES = {}


class BoxExists(ApiError):
    """Report that a box of this name exists."""

    status, code, title = 409, 'box-exists', 'Box exists'


class Boxes:
    """Create and list boxes."""

    @api_version('1.0')
    @schema(OLD, '1.0', '1.4')
    @schema(BOX, '1.5')
    @response_body_schema(OLD, '1.0', '1.4')
    @response_body_schema(BOX, '1.5')
    @response(201)
    @expected_errors(409)
    def create(self, req, body):
        """Create a box."""
        if BOXES.setdefault(body['name'], body) is not body:
            raise BoxExists(f'A box {body["name"]!r} exists already.')
        return body

    @api_version('1.2')
    @query_schema(QUERY)
    @response_body_schema(list_of(OLD))
    @gone('1.9', 'It was unused.')
    def index(self, req, query):
        """List the boxes."""
        boxes = [{'name': name} for name in BOXES]
        return boxes[: query.get('limit')]


boxes = Boxes()
ROUTES = (
    ('POST', '/v1/boxes', boxes.create),
    ('GET', '/v1/boxes', boxes.index),
)
HISTORY = {
    **{f'1.{minor}': () for minor in range(11)},
    '1.2': ('Added GET /v1/boxes.',),
    '1.5': ('Added size to boxes.',),
    '1.9': ('Removed GET /v1/boxes.',),
}
CONTRACT = Contract(
    things.POLICY,
    [
        *discovery_operations(things.POLICY),
        *controllers.operations(things.POLICY, ROUTES),
    ],
    HISTORY,
)
SERVICE = Service(
    name='inventory', types=(), history=HISTORY, contract='boxes'
)


@webob.dec.wsgify
def app(req):
    """Route a request with the table that defines the contract."""
    for method, path, handler in ROUTES:
        if (req.method, req.path_info) == (method, path):
            named = {'body': load_json(req.body)} if req.body else {}
            version = version_of(req)
            function = resolve(handler, version)
            result = function(req, **named)
            status = success_status(function, version)
            return webob.Response(json=result, status=status)
    raise webob.exc.HTTPNotFound()


application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
