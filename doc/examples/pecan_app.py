# SPDX-License-Identifier: Apache-2.0
"""Serve things with Pecan: ``python doc/examples/pecan_app.py``."""

import functools

import pecan
import pecan.rest
import things

from vobjects.controllers import api_version, parse_body
from vobjects.microversions import Discovery, Microversions

# Pecan does not pass the request to controllers; use its proxy.
api_version = functools.partial(api_version, request=pecan.request)


class Things(pecan.rest.RestController):
    """Handle /v1/things. Pecan lets its exceptions propagate."""

    @api_version('1.0', '1.8')
    def get_one(self, name):
        return things.find(name)

    @pecan.expose('json')
    @get_one.api_version('1.9')
    def get_one(self, name):
        return {'thing': things.find(name)}

    @pecan.expose('json')
    def post(self):
        thing = parse_body(
            things.ThingCreateRequest, pecan.request, pecan.request.body
        )
        pecan.response.status = 201
        return things.save(thing)


class V1:
    """Handle /v1."""

    things = Things()


class Root:
    """Handle the root."""

    v1 = V1()


app = pecan.make_app(Root())
application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
