# SPDX-License-Identifier: Apache-2.0
"""Serve things with Flask: ``python doc/examples/flask_app.py``."""

import functools

import flask
import things

from vobjects.controllers import api_version, parse_body
from vobjects.microversions import Discovery, Microversions

app = flask.Flask(__name__)
# Pass exceptions of views to the middleware.
app.config['PROPAGATE_EXCEPTIONS'] = True

# Flask does not pass the request to views; use its proxy.
api_version = functools.partial(api_version, request=flask.request)


@api_version('1.0', '1.8')
def show(name):
    return things.find(name)


@app.get('/v1/things/<name>')
@show.api_version('1.9')
def show(name):
    return {'thing': things.find(name)}


@app.post('/v1/things')
def create():
    thing = parse_body(
        things.ThingCreateRequest, flask.request, flask.request.get_data()
    )
    return things.save(thing), 201


application = Microversions(Discovery(app, things.POLICY), things.POLICY)

if __name__ == '__main__':
    things.serve(application)
