# SPDX-License-Identifier: Apache-2.0
"""Requests and resources."""

from vobjects import Request, Resource, added, fields, register


@register
class KeyCreateRequest(Request):
    """Create a key; microversion 1.1 adds a note."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = {
        'name': fields.NameField(),
        'note': added('1.1', fields.StringField(default='')),
    }


@register
class KeyGetRequest(Request):
    """Show a key."""

    fields = {'name': fields.NameField()}


@register
class Key(Resource):
    """A key."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    fields = {
        'name': fields.NameField(),
        'note': added('1.1', fields.StringField(default='')),
    }
