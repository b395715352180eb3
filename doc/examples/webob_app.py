# SPDX-License-Identifier: Apache-2.0
"""Serve things with WebOb: ``python doc/examples/webob_app.py``."""

import things
import webob
import webob.dec
import webob.exc

from vobjects.controllers import api_version, parse_body
from vobjects.microversions import Discovery, Microversions


class Things:
    """Show and create things."""

    @api_version('1.0', '1.8')
    def show(self, request, name):
        return webob.Response(json=things.find(name))

    @show.api_version('1.9')
    def show(self, request, name):
        return webob.Response(json={'thing': things.find(name)})

    def create(self, request):
        thing = parse_body(things.ThingCreateRequest, request, request.body)
        return webob.Response(json=things.save(thing), status=201)


controller = Things()


@webob.dec.wsgify
def app(request):
    """Route a request. WebOb lets exceptions propagate."""
    match request.method, request.path_info.strip('/').split('/'):
        case 'GET', ['v1', 'things', name]:
            return controller.show(request, name)
        case 'POST', ['v1', 'things']:
            return controller.create(request)
    return webob.exc.HTTPNotFound()


application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
