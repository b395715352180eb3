# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the examples: versions, a type and a server."""

import sys
from wsgiref import simple_server

from vobjects import Version, added, fields, objects
from vobjects.microversions import ApiError, VersionPolicy, retire

POLICY = VersionPolicy(
    service_types=('inventory',),
    minimum=Version(1, 0),
    maximum=Version(1, 10),
    help_url='https://docs.example.org/inventory/',
    retired=(retire('1.0', deprecated='2026-01-01', successor='1.9'),),
)


@objects.register
class ThingCreateRequest(objects.Request):
    """Body of POST /v1/things. Version 1.2 of the API adds colours."""

    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {
        'name': fields.NameField(),
        'colour': added('1.1', fields.StringField(default='')),
    }


class NoSuchThing(ApiError):
    """Report an unknown thing; controllers raise it."""

    status, code, title = 404, 'thing-not-found', 'Thing is not found'


THINGS = {}


def save(thing):
    THINGS[thing.name] = {'name': thing.name, 'colour': thing.colour}
    return THINGS[thing.name]


def find(name):
    if name not in THINGS:
        raise NoSuchThing(f'There is no thing {name!r}.')
    return THINGS[name]


def serve(application):
    port = int([*sys.argv, 8080][1])
    with simple_server.make_server('127.0.0.1', port, application) as server:
        print(f'http://127.0.0.1:{server.server_port}', flush=True)
        server.serve_forever()
