# SPDX-License-Identifier: Apache-2.0
"""The body of an error, in each service's dialect.

Every body has ``errors``, with the one item that the API-SIG errors guideline
describes; keystoneauth reads it. Beside it stands what the service's own
clients read, with the same words. A policy names one of these functions.

Where a client takes the first key of the body for the error (novaclient), it
is not ``errors``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, NamedTuple


class Problem(NamedTuple):
    """An error before it has a dialect.

    :ivar item: of the guideline: code, status, title, detail, links...
    :ivar type_name: the exception's name in Senlin's dialect
    :ivar message: Senlin's dialect of the detail
    """

    item: dict[str, Any]
    type_name: str
    message: str


Body = Callable[[Problem], dict[str, Any]]


def plain(problem: Problem) -> dict[str, Any]:
    """Return the guideline's body and nothing else."""
    return {'errors': [problem.item]}


def senlin(problem: Problem) -> dict[str, Any]:
    """Return ``error`` with code, message and type; fault.py of Senlin.

    The title is that of the status, as WebOb has it.
    python-senlinclient and openstacksdk print ``error.message``.
    """
    item = problem.item
    return {
        'errors': [item],
        'code': item['status'],
        'title': HTTPStatus(item['status']).phrase,
        'explanation': item['detail'],
        'error': {
            'code': item['status'],
            'message': problem.message,
            'type': problem.type_name,
        },
    }


#: Status -> the key of a fault in Nova's bodies; others are computeFault.
_NOVA_FAULTS = {
    400: 'badRequest',
    401: 'unauthorized',
    403: 'forbidden',
    404: 'itemNotFound',
    405: 'badMethod',
    409: 'conflictingRequest',
    413: 'overLimit',
    415: 'badMediaType',
    429: 'overLimit',
    501: 'notImplemented',
    503: 'serviceUnavailable',
}


def nova(problem: Problem) -> dict[str, Any]:
    """Return a fault named after the status, with code and message."""
    item = problem.item
    fault = _NOVA_FAULTS.get(item['status'], 'computeFault')
    return {
        fault: {'code': item['status'], 'message': item['detail']},
        'errors': [item],
    }


def magnum(problem: Problem) -> dict[str, Any]:
    """Return the item with ``description``, Magnum's word for detail."""
    item = problem.item
    return {'errors': [{**item, 'description': item['detail']}]}


def barbican(problem: Problem) -> dict[str, Any]:
    """Return message, code and title, as WebOb has written them."""
    item = problem.item
    status = HTTPStatus(item['status'])
    return {
        'message': item['detail'],
        'code': f'{status.value} {status.phrase}',
        'title': item['title'],
        'errors': [item],
    }


def ironic(problem: Problem) -> dict[str, Any]:
    """Return ``error_message``, which is JSON within JSON.

    openstacksdk and python-ironicclient read its ``faultstring``.
    """
    item = problem.item
    return {
        'error_message': json.dumps(
            {
                'faultcode': 'Client' if item['status'] < 500 else 'Server',
                'faultstring': item['detail'],
                'debuginfo': None,
                'code': item['status'],
                'title': item['title'],
                'description': item['detail'],
            }
        ),
        'errors': [item],
    }
