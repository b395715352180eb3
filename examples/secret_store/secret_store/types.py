# SPDX-License-Identifier: Apache-2.0
"""Requests and resources."""

from __future__ import annotations

import datetime
from typing import Annotated

from vobjects import UNSET, Request, Resource, fields, register

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


Id = Annotated[str, fields.UUIDField()]
Name = Annotated[str, fields.NameField()]
SecretType = Annotated[str, fields.EnumField(SECRET_TYPES)]
SecretText = Annotated[str, fields.sensitive(fields.LimitedField(Payload()))]


class SecretRequest(Request):
    """Base of the requests about one secret."""

    secret_id: Id


@register
class SecretCreateRequest(Request):
    """Store a secret."""

    name: Annotated[str, fields.NameField(minimum=0)] = ''
    secret_type: SecretType = 'opaque'
    algorithm: Name | None = UNSET
    bit_length: Annotated[int, fields.CapacityField(minimum=1)] | None = UNSET
    expiration: datetime.datetime | None = UNSET
    payload: SecretText


@register
class SecretListRequest(Request):
    """List the secrets of a project, oldest first."""

    limit: Annotated[int, fields.CapacityField(1, MAX_PAGE)] = 10
    offset: Annotated[int, fields.CapacityField()] = 0


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

    secret_id: Id
    name: str
    secret_type: SecretType
    algorithm: str | None = UNSET
    bit_length: int | None = UNSET
    expiration: datetime.datetime | None = UNSET
    created: datetime.datetime


@register
class SecretPage(Resource):
    """Some secrets of a project, and the number of all."""

    secrets: list[Secret]
    total: int


@register
class SecretPayload(Resource):
    """The payload of a secret."""

    payload: Annotated[str, fields.sensitive(fields.StringField())]
