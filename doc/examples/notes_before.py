# SPDX-License-Identifier: Apache-2.0
"""A service with versions maintained by hand, before the migration."""

import microversion_parse
import webob
import webob.dec
import webob.exc
from microversion_parse import middleware
from oslo_utils import versionutils
from oslo_versionedobjects import base, fields

VERSIONS = ['1.0', '1.1', '1.2', '1.3']
COLOURS = microversion_parse.parse_version_string('1.2')


@base.VersionedObjectRegistry.register
class NoteCreateRequest(base.VersionedObject):
    # Version 1.1: add colour
    VERSION = '1.1'
    fields = {
        'text': fields.StringField(),
        'colour': fields.StringField(default='white'),
    }

    def obj_make_compatible(self, primitive, target_version):
        super().obj_make_compatible(primitive, target_version)
        if versionutils.convert_version_to_tuple(target_version) < (1, 1):
            primitive.pop('colour', None)


def to_engine(request, engine_version):
    """Return the primitive for an engine of some version."""
    return request.obj_to_primitive(engine_version)


def create(request):
    version = request.environ['notes.microversion']
    allowed = {'text'}
    if version.matches(COLOURS):
        allowed.add('colour')
    body = request.json
    if not isinstance(body, dict) or set(body) - allowed:
        raise webob.exc.HTTPBadRequest('Invalid body')
    if not isinstance(body.get('text'), str):
        raise webob.exc.HTTPBadRequest('text must be a string')
    note = NoteCreateRequest(**body)
    note.obj_set_defaults()
    shown = {'text': note.text}
    if version.matches(COLOURS):
        shown['colour'] = note.colour
    return webob.Response(json=shown, status=201)


def discover(request):
    version = {'id': 'v1', 'min_version': '1.0', 'max_version': VERSIONS[-1]}
    return webob.Response(json={'versions': [version]})


@webob.dec.wsgify
def app(request):
    match request.method, request.path_info:
        case 'GET', '/':
            return discover(request)
        case 'POST', '/v1/notes':
            return create(request)
    raise webob.exc.HTTPNotFound()


application = middleware.MicroversionMiddleware(app, 'notes', VERSIONS)
