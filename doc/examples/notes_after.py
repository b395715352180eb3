# SPDX-License-Identifier: Apache-2.0
"""The service of ``notes_before.py`` after the migration."""

import webob
import webob.dec
import webob.exc

import vobjects
from vobjects import added, fields
from vobjects.controllers import parse_body, version_of
from vobjects.microversions import Discovery, Microversions, VersionPolicy
from vobjects.objects.manifest import at_microversion

POLICY = VersionPolicy(
    service_types=('notes',),
    minimum=vobjects.Version(1, 0),
    maximum=vobjects.Version(1, 3),
    help_url='https://docs.example.org/notes/',
)

COLOUR = added('1.1', fields.StringField(default='white'))


@vobjects.register
class NoteCreateRequest(vobjects.Request):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {'text': fields.StringField(), 'colour': COLOUR}


@vobjects.register
class Note(vobjects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {'1.2': '1.1'}
    fields = {'text': fields.StringField(), 'colour': COLOUR}


def to_engine(request, engine_version):
    """Return the primitive for an engine of some version."""
    return request.obj_to_primitive(engine_version)


def create(request):
    note = parse_body(NoteCreateRequest, request, request.body)
    created = Note(text=note.text, colour=note.colour)
    manifest = at_microversion(version_of(request))
    shown = vobjects.to_json(created, manifest)
    return webob.Response(json=shown, status=201)


@webob.dec.wsgify
def app(request):
    match request.method, request.path_info:
        case 'POST', '/v1/notes':
            return create(request)
    return webob.exc.HTTPNotFound()


application = Microversions(Discovery(app, POLICY), POLICY)
