# SPDX-License-Identifier: Apache-2.0
"""Requests and resources."""

from vobjects import Request, Resource, fields, register

SECRET_TYPES = ('opaque', 'passphrase', 'symmetric', 'private', 'certificate')

#: Limits of a payload and of a page.
MAX_PAYLOAD, MAX_PAGE = 20_000, 100


class Payload(fields.Limited):
    """Text with a limited length."""

    def parameters(self):
        return f'maximum={MAX_PAYLOAD}'

    def coerce(self, obj, attr, value):
        if not isinstance(value, str) or not 0 < len(value) <= MAX_PAYLOAD:
            raise ValueError(
                f'{attr} must be a text of 1 to {MAX_PAYLOAD} characters'
            )
        return value

    def get_schema(self):
        return {'type': ['string'], 'minLength': 1, 'maxLength': MAX_PAYLOAD}


class PayloadField(fields.LimitedField):
    """A field with a payload."""

    def __init__(self, **options):
        super().__init__(Payload(), **options)


class SecretRequest(Request):
    """Base of the requests about one secret."""

    fields = {'secret_id': fields.UUIDField()}


@register
class SecretCreateRequest(Request):
    """Store a secret."""

    fields = {
        'name': fields.NameField(minimum=0, default=''),
        'secret_type': fields.EnumField(SECRET_TYPES, default='opaque'),
        'algorithm': fields.NameField(nullable=True),
        'bit_length': fields.CapacityField(minimum=1, nullable=True),
        'expiration': fields.DateTimeField(nullable=True),
        'payload': fields.sensitive(PayloadField()),
    }


@register
class SecretListRequest(Request):
    """List the secrets of a project, oldest first."""

    fields = {
        'limit': fields.CapacityField(1, MAX_PAGE, default=10),
        'offset': fields.CapacityField(default=0),
    }


@register
class SecretGetRequest(SecretRequest):
    """Show the metadata of a secret."""


@register
class SecretPayloadRequest(SecretRequest):
    """Show the payload of a secret."""


@register
class SecretDeleteRequest(SecretRequest):
    """Delete a secret."""


@register
class Secret(Resource):
    """The metadata of a secret."""

    fields = {
        'secret_id': fields.UUIDField(),
        'name': fields.StringField(),
        'secret_type': fields.EnumField(SECRET_TYPES),
        'algorithm': fields.StringField(nullable=True),
        'bit_length': fields.IntegerField(nullable=True),
        'expiration': fields.DateTimeField(nullable=True),
        'created': fields.DateTimeField(),
    }


@register
class SecretPage(Resource):
    """Some secrets of a project, and the number of all."""

    fields = {
        'secrets': fields.ListOfObjectsField('Secret'),
        'total': fields.IntegerField(),
    }


@register
class SecretPayload(Resource):
    """The payload of a secret."""

    fields = {'payload': fields.sensitive(fields.StringField())}
