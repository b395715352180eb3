# SPDX-License-Identifier: Apache-2.0
"""The API, as ``vobjects contract`` prints it."""

from secret_store import types
from secret_store.api import POLICY
from secret_store.service import SERVICE
from vobjects_contract import (
    Contract,
    TypedRoute,
    closed,
    discovery_operations,
    list_of,
    resource,
    typed_operations,
)

REF = {'type': 'string', 'format': 'uri'}

SECRETS, SECRET = '/v1/secrets', '/v1/secrets/{secret_id}'


def created(version):
    """Return the schema of the reference to a new secret."""
    return closed({'secret_ref': REF}, ['secret_ref'])


def secret(version):
    """Return the schema of a secret, which refers to itself."""
    schema = resource(types.Secret, version)
    properties = {'secret_ref': REF, **schema['properties']}
    del properties['secret_id']
    required = {'secret_ref', *schema['required']} - {'secret_id'}
    return {'title': 'Secret', **closed(properties, sorted(required))}


def page(version):
    """Return the schema of a page of secrets."""
    number = {'type': 'integer'}
    properties = {'secrets': list_of(secret(version)), 'total': number}
    return closed(properties, properties)


def payload(version):
    """Return the schema of a payload."""
    return {'type': 'string', 'contentMediaType': 'text/plain'}


ROUTES = (
    TypedRoute('GET', SECRETS, types.SecretListRequest, 200, page),
    TypedRoute('POST', SECRETS, types.SecretCreateRequest, 201, created),
    TypedRoute('GET', SECRET, types.SecretGetRequest, 200, secret, (404,)),
    TypedRoute(
        *('GET', f'{SECRET}/payload', types.SecretPayloadRequest),
        *(200, payload, (404,)),
    ),
    TypedRoute(
        'DELETE', SECRET, types.SecretDeleteRequest, 204, errors=(404,)
    ),
)

CONTRACT = Contract(
    POLICY,
    [*discovery_operations(POLICY), *typed_operations(POLICY, ROUTES)],
    SERVICE.history,
)
