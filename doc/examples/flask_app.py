# SPDX-License-Identifier: Apache-2.0
"""Serve things with Flask: ``python doc/examples/flask_app.py``."""

import functools

import flask
import things

from vobjects.controllers import dispatch, request_parsing
from vobjects.microversions.discovery import Discovery
from vobjects.microversions.middleware import Microversions

app = flask.Flask(__name__)
# Pass exceptions of views to the middleware.
app.config['PROPAGATE_EXCEPTIONS'] = True

# Flask does not pass the request to views; use its proxy.
api_version = functools.partial(dispatch.api_version, request=flask.request)


@api_version('1.0', '1.8')
def show(name):
    return things.find(name)


@app.get('/v1/things/<name>')
@show.api_version('1.9')
def show(name):
    return {'thing': things.find(name)}


@app.post('/v1/things')
def create():
    thing = request_parsing.parse_body(
        things.ThingCreateRequest, flask.request, flask.request.get_data()
    )
    return things.save(thing), 201


application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
