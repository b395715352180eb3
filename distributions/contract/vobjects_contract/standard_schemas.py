# SPDX-License-Identifier: Apache-2.0
"""Schemas of the errors and of the discovery documents.

The schema of errors describes the bodies that
:meth:`vobjects.microversions.errors.ApiError.document` returns. Errors and the
version entries of discovery are open objects: a later release may add
properties to them at any microversion.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import PATTERN, Version
from vobjects_contract.registry import Operation, OperationShape
from vobjects_contract.type_schemas import Schema, closed

_TEXT: Schema = {'type': 'string', 'minLength': 1}

VERSION: Schema = {'type': 'string', 'pattern': f'^{PATTERN.pattern}$'}

_LINK: Schema = {
    'type': 'object',
    'properties': {
        'rel': _TEXT,
        'href': {'type': 'string', 'pattern': r'^https?://[^/\s]+'},
    },
    'required': ['rel', 'href'],
}

_LINKS: Schema = {'type': 'array', 'minItems': 1, 'items': _LINK}

#: The body of every error.
ERROR: Schema = {
    'title': 'Error',
    'description': 'An error',
    'type': 'object',
    'properties': {
        'errors': {
            'type': 'array',
            'minItems': 1,
            'items': {
                'type': 'object',
                'properties': {
                    'code': {'type': 'string', 'pattern': '^[a-z0-9._-]+$'},
                    'status': {'type': 'integer'},
                    'title': _TEXT,
                    'detail': {'type': 'string'},
                    'request_id': _TEXT,
                    'min_version': VERSION,
                    'max_version': VERSION,
                    'links': _LINKS,
                },
                'required': ['code', 'status', 'title', 'detail', 'links'],
            },
        },
        'code': {'type': 'integer'},
        'title': _TEXT,
        'explanation': {'type': 'string'},
        'error': {
            'type': 'object',
            'properties': {
                'code': {'type': 'integer'},
                'message': {'type': 'string'},
                'type': _TEXT,
            },
            'required': ['code', 'message', 'type'],
        },
    },
    'required': ['errors'],
}

#: The entry of a major version in discovery.
MAJOR: Schema = {
    'title': 'Version',
    'description': 'A major version, and its microversions served now',
    'type': 'object',
    'properties': {
        'id': {'type': 'string', 'pattern': r'^v?[1-9][0-9.]*$'},
        'status': {
            'type': 'string',
            'enum': ['CURRENT', 'SUPPORTED', 'EXPERIMENTAL', 'DEPRECATED'],
        },
        'min_version': VERSION,
        'max_version': VERSION,
        'links': _LINKS,
    },
    'required': ['id', 'status', 'min_version', 'max_version', 'links'],
}


def discovery_operations(policy: VersionPolicy) -> list[Operation]:
    """Return the operations that serve the documents at ``/`` and ``/v1``.

    They are the same at every microversion.
    """
    root = {'versions': {'type': 'array', 'minItems': 1, 'items': MAJOR}}
    return [
        _discovery_operation(
            '/',
            policy.versions_status,
            closed(root, ['versions']),
            'List the versions of the API',
        ),
        _discovery_operation(
            f'/{policy.major}',
            200,
            closed({'version': MAJOR}, ['version']),
            'Show the version of the API',
        ),
    ]


def _discovery_operation(
    path: str, status: int, body: Schema, summary: str
) -> Operation:
    shape = OperationShape(
        path={},
        query=closed({}),
        body=None,
        responses={status: body, 503: ERROR},
    )

    return Operation(
        'GET', path, lambda _: shape, summary=summary, tag='discovery'
    )


def errors(
    policy: VersionPolicy, statuses: Iterable[int]
) -> dict[int, Schema]:
    """Return status -> schema of the errors of an operation.

    :param statuses: those beside bad input and a failed negotiation
    """
    every = {
        *map(int, statuses),
        400,
        policy.malformed_status,
        policy.unsupported_status,
        policy.other_service_status,
    }
    return dict.fromkeys(sorted(every - {0}), ERROR)


def headers(policy: VersionPolicy, version: Version) -> dict[str, Any]:
    """Return name -> schema of the headers in every response."""
    return {
        'OpenStack-API-Version': {
            'type': 'string',
            'pattern': f'^{policy.service_type} {PATTERN.pattern}$',
            'examples': [f'{policy.service_type} {version}'],
        },
        'Vary': {'type': 'string', 'pattern': 'OpenStack-API-Version'},
        'X-OpenStack-Request-ID': {'type': 'string', 'pattern': '^req-'},
    }
