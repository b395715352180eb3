# SPDX-License-Identifier: Apache-2.0
"""Requests and resources; microversion 1.1 adds the algorithm."""

from vobjects import Request, Resource, added, fields, register


@register
class DigestRequest(Request):
    """Compute the digest of a text."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    ROUTE = 'capable'
    fields = {
        'text': fields.StringField(),
        'algorithm': added('1.1', fields.StringField(default='sha256')),
    }


@register
class Digest(Resource):
    """A digest in hexadecimal digits, and the process that computed it."""

    VERSION = '1.1'
    VERSION_MAP = {'1.1': '1.1'}
    ROUTE = 'capable'
    fields = {
        'value': fields.StringField(),
        'process': fields.IntegerField(),
        'algorithm': added('1.1', fields.StringField(default='sha256')),
    }
