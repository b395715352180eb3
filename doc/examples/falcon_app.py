# SPDX-License-Identifier: Apache-2.0
"""Serve things with Falcon: ``python doc/examples/falcon_app.py``."""

import falcon
import things

from vobjects.controllers import api_version, parse_body
from vobjects.microversions import Discovery, Microversions


class Thing:
    """Show one thing."""

    @api_version('1.0', '1.8')
    def on_get(self, request, response, name):
        response.media = things.find(name)

    @on_get.api_version('1.9')
    def on_get(self, request, response, name):
        response.media = {'thing': things.find(name)}


class Things:
    """Create things."""

    def on_post(self, request, response):
        thing = parse_body(
            things.ThingCreateRequest, request, request.bounded_stream.read()
        )
        response.media = things.save(thing)
        response.status = falcon.HTTP_CREATED


def pass_on(request, response, error, parameters):
    """Pass the error to the middleware."""
    raise error


app = falcon.App()
app.add_error_handler(Exception, pass_on)
app.add_route('/v1/things/{name}', Thing())
app.add_route('/v1/things', Things())

application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
